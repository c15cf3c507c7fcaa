/** Chart of a number by week or by day that fits into a line. */
import { html } from 'hono/html';
import { largest } from '../../core/lists.ts';
import type { Html } from '../page.ts';
import { bar, type ChartTone } from './figure.ts';

const WIDTH = 4;
const HEIGHT = 20;
/** Height of a bar of little, and of nothing. */
const LEAST = 3;
const NOTHING = 1;

/**
 * Renders one bar for each number, the oldest first. `label`: what the chart shows; null if words next to it say so.
 * `room`: number of bars that there is always room for, so that bars are equally wide.
 */
export function spark(numbers: readonly number[], tone: ChartTone, label: string | null, room = 1): Html {
  const most = largest(numbers, 1);
  const count = Math.max(room, numbers.length);
  const first = count - numbers.length;
  const shapes = numbers.map((number, index) => {
    const height = number > 0 ? Math.max(LEAST, (number / most) * HEIGHT) : NOTHING;
    return bar((first + index) * WIDTH + 0.5, HEIGHT - height, WIDTH - 1, height, number > 0 ? tone : 'none');
  });
  const name = label === null ? html`aria-hidden="true"` : html`role="img" aria-label="${label}"`;
  return html`<svg class="spark" viewBox="0 0 ${count * WIDTH} ${HEIGHT}" preserveAspectRatio="none" ${name}>${shapes}</svg>`;
}
