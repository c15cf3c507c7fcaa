/** Chart of a number by week that fits into a line. Words next to it say what it shows. */
import { html } from 'hono/html';
import { largest } from '../../core/lists.ts';
import type { Html } from '../page.ts';
import { bar } from './figure.ts';

const WIDTH = 8;
const HEIGHT = 20;
/** Weeks of three months, for which there is always room, so that bars are equally wide. */
const WEEKS = 13;

/** Renders one bar for each week, the oldest first and the newest at the right. */
export function spark(weeks: readonly number[]): Html {
  const most = largest(weeks, 1);
  const room = Math.max(WEEKS, weeks.length);
  const first = room - weeks.length;
  const shapes = weeks.map((count, index) => {
    const height = Math.max(1, (Math.max(0, count) / most) * HEIGHT);
    return bar((first + index) * WIDTH + 1, HEIGHT - height, WIDTH - 2, height, count > 0 ? 'busy' : 'none');
  });
  return html`<svg class="spark" viewBox="0 0 ${room * WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${shapes}</svg>`;
}
