/** Frame of every chart: a sentence, the picture, and its values as a table. */
import { html } from 'hono/html';
import type { Html } from '../page.ts';

/** Meaning of a part of a chart. The stylesheet has a color for each, in both color schemes. */
export type ChartTone = 'ok' | 'busy' | 'wait' | 'bad' | 'none';

export interface ChartTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

export interface FigureOptions {
  /** Unique in the page: letters, digits and `-`. */
  readonly id: string;
  /** Says what the chart shows, for people who do not see it. */
  readonly sentence: string;
  /** Shapes of the picture. */
  readonly shapes: Html;
  /** Size of the coordinate system. The picture is as wide as the page allows. */
  readonly size: readonly [width: number, height: number];
  /** Texts below the left and the right end. */
  readonly ends?: readonly [string, string];
  readonly legend?: readonly { readonly tone: ChartTone; readonly text: string }[];
  readonly table: ChartTable;
}

/** Renders a chart. Texts are outside of the picture, so that they keep their size on a phone. */
export function figure({ id, sentence, shapes, size, ends, legend = [], table }: FigureOptions): Html {
  const axis = ends === undefined ? '' : html`<p class="axis"><span>${ends[0]}</span><span>${ends[1]}</span></p>`;
  const keys = legend.map(({ tone, text }) => html`<li>${swatch(tone)} ${text}</li>`);
  return html`<figure class="chart">
<figcaption id="${id}">${sentence}</figcaption>
<svg class="plot" viewBox="0 0 ${size[0]} ${size[1]}" preserveAspectRatio="none" role="img" aria-labelledby="${id}">${shapes}</svg>
${axis}${keys.length === 0 ? '' : html`<ul class="legend">${keys}</ul>`}
<details id="${id}-values"><summary>Values</summary>${valueTable(id, table)}</details>
</figure>`;
}

/** Renders a rectangle. */
export function bar(x: number, y: number, width: number, height: number, tone: ChartTone): Html {
  return html`<rect class="fill ${tone}" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"></rect>`;
}

/** Formats a number as people read it: `1,200`. */
export function formatCount(value: number): string {
  return value.toLocaleString('en');
}

/** Formats a time as `14:05`, in UTC. */
export function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 16);
}

/** Rounds a coordinate, so that pages stay small. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Renders the color of a part of a chart, for a legend. */
export function swatch(tone: ChartTone): Html {
  return html`<svg class="swatch" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">${bar(0, 0, 10, 10, tone)}</svg>`;
}

function valueTable(id: string, { columns, rows }: ChartTable): Html {
  const head = columns.map((column) => html`<th scope="col">${column}</th>`);
  const body = rows.map(([first = '', ...others]) => {
    const cells = others.map((cell) => html`<td>${typeof cell === 'number' ? formatCount(cell) : cell}</td>`);
    return html`<tr><th scope="row">${first}</th>${cells}</tr>`;
  });
  return html`<div class="scroll" role="region" tabindex="0" aria-labelledby="${id}"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}
