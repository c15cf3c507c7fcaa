/** Small chart of a number by day, next to the number itself. */
import { html } from 'hono/html';
import { largest } from '../../core/lists.ts';
import type { Html } from '../page.ts';
import { bar, type ChartTone, formatCount } from './figure.ts';

const WIDTH = 4;
const HEIGHT = 20;
/** Least height of a bar. */
const LEAST = 3;

/** Renders one bar for each day, oldest first. `name`: what is counted, such as `Sent`. */
export function sparkline(days: readonly number[], name: string, tone: ChartTone): Html {
  const most = largest(days, 1);
  const width = Math.max(1, days.length) * WIDTH;
  const shapes = days.map((count, index) => {
    const height = Math.max(LEAST, (count / most) * HEIGHT);
    return count > 0 ? bar(index * WIDTH + 0.5, HEIGHT - height, WIDTH - 1, height, tone) : '';
  });
  return html`<svg class="spark" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${sentenceOf(days, name)}"><rect class="base" y="${HEIGHT - 1}" width="${width}" height="1"></rect>${shapes}</svg>`;
}

function sentenceOf(days: readonly number[], name: string): string {
  const most = largest(days, 0);
  const numbers = most === 0 ? 'none' : `at most ${formatCount(most)} on a day, ${formatCount(days.at(-1) ?? 0)} today`;
  return `${name} in the last ${days.length} days: ${numbers}.`;
}
