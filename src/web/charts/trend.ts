/** Small chart of a number by week. */

import { html } from 'hono/html';
import { largest } from '../../core/lists.ts';
import type { Html } from '../page.ts';
import { bar, figure } from './figure.ts';

const WIDTH = 10;
const HEIGHT = 40;

/** Renders one bar for each week, the oldest first. `name`: what is counted, such as `issues`. */
export function trendChart(id: string, weeks: readonly number[], name: string): Html {
  const most = largest(weeks, 1);
  const shapes = weeks.map((count, index) => {
    const height = Math.max(1, (Math.max(0, count) / most) * HEIGHT);
    return bar(index * WIDTH + 1, HEIGHT - height, WIDTH - 2, height, count > 0 ? 'busy' : 'none');
  });
  return figure({
    id,
    sentence: sentenceOf(weeks, name),
    shapes: html`${shapes}`,
    size: [Math.max(1, weeks.length) * WIDTH, HEIGHT],
    ends: [weekName(Math.max(0, weeks.length - 1)), 'this week'],
    table: {
      columns: ['Week', name],
      rows: weeks.map((count, index) => [weekName(weeks.length - 1 - index), count]),
    },
  });
}

/** Weeks that are compared with as many before them. */
const COMPARED = 3;

function sentenceOf(weeks: readonly number[], name: string): string {
  const sum = (from: number, to?: number) => weeks.slice(from, to).reduce((total, count) => total + count, 0);
  const [last, before] = [sum(-COMPARED), sum(-2 * COMPARED, -COMPARED)];
  const direction = last > before ? 'more than' : last < before ? 'fewer than' : 'as many as';
  return `${last} ${name} in the last ${COMPARED} weeks, ${direction} in the ${COMPARED} weeks before (${before}).`;
}

function weekName(ago: number): string {
  return ago === 0 ? 'this week' : ago === 1 ? 'last week' : `${ago} weeks ago`;
}
