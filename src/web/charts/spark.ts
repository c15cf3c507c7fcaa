/** Chart of a number by week that fits into a line. The words beside it say what it shows. */
import { html } from 'hono/html';
import { largest } from '../../core/lists.ts';
import type { Html } from '../page.ts';
import { bar } from './figure.ts';

const WIDTH = 8;
const HEIGHT = 20;

/** Renders one bar for each week, the oldest first. */
export function spark(weeks: readonly number[]): Html {
  const most = largest(weeks, 1);
  const shapes = weeks.map((count, index) => {
    const height = Math.max(1, (Math.max(0, count) / most) * HEIGHT);
    return bar(index * WIDTH + 1, HEIGHT - height, WIDTH - 2, height, count > 0 ? 'busy' : 'none');
  });
  return html`<svg class="spark" viewBox="0 0 ${Math.max(1, weeks.length) * WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${shapes}</svg>`;
}
