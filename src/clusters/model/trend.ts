const BARS = '▁▂▃▄▅▆▇█';
/** Number of weeks that are compared with the same number of weeks before. */
const WINDOW = 3;
const NUMBERS = ['no', 'one', 'two', 'three'];

/** Describes the weekly numbers of issues, newest last: "rising: 3, 5, 9 in the last three weeks, ▁▂▄█". */
export function describeTrend(pulse: readonly number[]): string {
  const last = pulse.slice(-WINDOW);
  const before = pulse.slice(-2 * WINDOW, -WINDOW);
  if (last.length === 0) {
    return 'unknown';
  }
  const counts = `${last.join(', ')} in the last ${last.length === 1 ? 'week' : `${NUMBERS[last.length]} weeks`}`;
  return `${directionOf(sum(last), sum(before))}: ${counts}, ${sparkline(pulse)}`;
}

function directionOf(last: number, before: number): string {
  if (last === 0) {
    return 'quiet';
  }
  return last > before ? 'rising' : last < before ? 'falling' : 'steady';
}

/** One bar for each week, the highest for the most issues. */
function sparkline(pulse: readonly number[]): string {
  const most = largest(pulse, 1);
  return pulse.map((count) => BARS[Math.round((Math.max(0, count) / most) * (BARS.length - 1))]).join('');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

import { largest } from '../../core/lists.ts';
