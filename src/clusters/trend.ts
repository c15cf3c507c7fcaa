/** Says how the number of issues of a cluster changes from week to week. */
import { largest } from '../core/lists.ts';

/** `unclear`: there is too little to compare, or the newest week may only have begun. */
interface Trend {
  readonly direction: 'rising' | 'falling' | 'steady' | 'quiet' | 'unclear';
  /** Text such as "rising: 12 this week, 4 last week". */
  readonly words: string;
}

/** Weeks that the newest one is compared with. */
const WINDOW = 3;

/**
 * Describes numbers by week, newest last. The newest week may only have begun, so that few issues in it mean nothing: it
 * makes a rise, but a fall only if the week before it fell too.
 */
export function trendOf(pulse: readonly number[]): Trend {
  const weeks = pulse.map((count) => (Number.isFinite(count) ? Math.max(0, count) : 0));
  const [last, before, earlier] = weeks.toReversed();
  if (last === undefined || before === undefined) {
    return { direction: 'unclear', words: last === undefined ? 'no numbers by week' : `${number(last)} this week` };
  }
  const quiet = weeks.length - 1 - weeks.findLastIndex((count) => count > 0);
  if (quiet > 1) {
    return { direction: 'quiet', words: `quiet for ${quiet} weeks` };
  }
  const words = `${number(last)} this week, ${number(before)} last week`;
  const recent = weeks.slice(-1 - WINDOW, -1);
  const usual = recent.reduce((sum, count) => sum + count, 0) / recent.length;
  if (last > before && last > usual) {
    const isFirst = weeks.length > 2 && weeks.slice(0, -1).every((count) => count === 0);
    const first = `${number(last)} this week, none in the ${weeks.length - 1} weeks before`;
    return { direction: 'rising', words: `rising: ${isFirst ? first : words}` };
  }
  if (earlier !== undefined && last < before && before < earlier) {
    return { direction: 'falling', words: `falling: ${words}, ${number(earlier)} the week before` };
  }
  return last === before ? { direction: 'steady', words: `steady: ${words}` } : { direction: 'unclear', words };
}

/** Describes numbers by week with a bar for each: "rising: 9 this week, 5 last week, ▁▂▄█". */
export function describeTrend(pulse: readonly number[]): string {
  return pulse.length === 0 ? 'unknown' : `${trendOf(pulse).words}, ${sparkline(pulse)}`;
}

function number(count: number): string {
  return count === 0 ? 'none' : count.toLocaleString('en');
}

const BARS = '▁▂▃▄▅▆▇█';

/** One bar for each week, the highest for the most issues. */
function sparkline(pulse: readonly number[]): string {
  const most = largest(pulse, 1);
  return pulse.map((count) => BARS[Math.round((Math.max(0, count) / most) * (BARS.length - 1))]).join('');
}
