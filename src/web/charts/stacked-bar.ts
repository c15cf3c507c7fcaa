/** Chart of the parts of a whole in one bar. */
import { html } from 'hono/html';
import type { Html } from '../page.ts';
import { bar, type ChartTone, figure, formatCount } from './figure.ts';

/** Part of a bar. */
interface BarPart {
  readonly text: string;
  readonly count: number;
  readonly tone: ChartTone;
}

const WIDTH = 600;
const HEIGHT = 24;
/** Least width of a part that is not empty. */
const LEAST = 4;

/** Renders the parts from left to right, with a gap between them. `name`: name of the parts, for the table. */
export function stackedBar(id: string, sentence: string, name: string, parts: readonly BarPart[]): Html {
  const present = parts.filter(({ count }) => count > 0);
  const all = present.reduce((sum, { count }) => sum + count, 0);
  const room = WIDTH - present.length * LEAST;
  let start = 0;
  const shapes = present.map(({ count, tone }) => {
    const width = LEAST + (count / all) * room;
    const shape = bar(start, 0, Math.max(1, width - 1), HEIGHT, tone);
    start += width;
    return shape;
  });
  return figure({
    id,
    sentence,
    shapes:
      all === 0 ? html`<rect class="empty" x="0" y="0" width="${WIDTH}" height="${HEIGHT}"></rect>` : html`${shapes}`,
    size: [WIDTH, HEIGHT],
    legend: parts.map(({ text, count, tone }) => ({ tone, text: `${text}: ${formatCount(count)}` })),
    table: { columns: [name, 'Number'], rows: parts.map(({ text, count }) => [text, count]) },
  });
}
