/** Chart of the parts of a whole in one bar. */
import { html } from 'hono/html';
import type { Html } from '../page.ts';
import { bar, type ChartTone, figure, formatCount } from './figure.ts';

export interface BarPart {
  readonly text: string;
  readonly count: number;
  readonly tone: ChartTone;
}

export interface StackedBarOptions {
  readonly id: string;
  readonly sentence: string;
  readonly parts: readonly BarPart[];
  /** Name of the parts, for the table. */
  readonly name: string;
}

const WIDTH = 600;
const HEIGHT = 24;
/** Least width of a part that is not empty. */
const LEAST = 4;

/** Renders the parts from left to right, with a gap between them. */
export function stackedBar({ id, sentence, parts, name }: StackedBarOptions): Html {
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
