/** Charts as SVG, each with a sentence or a table that says the same. */

import { html } from 'hono/html';
import { largest } from '../../core/lists.ts';
import { counted } from '../../plan/render/words.ts';
import type { PassRecord } from '../../store/history.ts';
import type { Html } from '../model/page.ts';

/** Meaning of a part of a chart. The stylesheet has a color for each, in both color schemes. */
export type ChartTone = 'ok' | 'busy' | 'wait' | 'bad' | 'none';

interface ChartTable {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

interface FigureOptions {
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
function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 16);
}

/** Rounds a coordinate, so that pages stay small. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Renders the color of a part of a chart, for a legend. */
function swatch(tone: ChartTone): Html {
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

interface LinePoint {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Null: unknown. */
  readonly value: number | null;
  /** Number of events that are marked, such as refusals. */
  readonly marks: number;
}

interface StepLineOptions {
  readonly id: string;
  readonly sentence: string;
  /** Oldest first. */
  readonly steps: readonly LinePoint[];
  /** Value at the top; null: the largest of the steps. */
  readonly top: number | null;
  /** Names of the value and of the marks, for the legend and the table. */
  readonly names: readonly [value: string, marks: string];
}

const WIDTH = 600;
const HEIGHT = 120;
/** Height of the marks, which start at the top. */
const MARK = 30;

/** Renders the line. Each value holds until the next step; an unknown one leaves a gap. */
export function stepLine({ id, sentence, steps, top, names }: StepLineOptions): Html {
  const first = steps[0]?.at ?? 0;
  const span = Math.max(1, (steps.at(-1)?.at ?? 0) - first);
  const most = largest(
    steps.map(({ value }) => value ?? 0),
    Math.max(1, top ?? 0),
  );
  const x = (at: number) => round(((at - first) / span) * WIDTH);
  const y = (value: number) => round(HEIGHT - 2 - (value / most) * (HEIGHT - 4));
  const marks = steps
    .filter(({ marks }) => marks > 0)
    .map(({ at }) => bar(Math.min(x(at), WIDTH - 3), 0, 3, MARK, 'bad'));
  return figure({
    id,
    sentence,
    shapes: html`<path class="line" d="${pathOf(steps, x, y)}" fill="none" vector-effect="non-scaling-stroke"></path>${marks}`,
    size: [WIDTH, HEIGHT],
    ends: [clockTime(first), `${clockTime(first + span)} UTC`],
    legend: [
      { tone: 'busy', text: `${names[0]}, at most ${formatCount(most)}` },
      { tone: 'bad', text: names[1] },
    ],
    table: {
      columns: ['Time (UTC)', names[0], names[1]],
      rows: steps.map(({ at, value, marks }) => [clockTime(at), value ?? 'unknown', marks]),
    },
  });
}

function pathOf(steps: readonly LinePoint[], x: (at: number) => number, y: (value: number) => number): string {
  let isOpen = false;
  const commands = steps.map(({ at, value }) => {
    if (value === null) {
      const end = isOpen ? `H${x(at)}` : '';
      isOpen = false;
      return end;
    }
    const command = isOpen ? `H${x(at)}V${y(value)}` : `M${x(at)} ${y(value)}`;
    isOpen = true;
    return command;
  });
  return commands.join('');
}

const SPARK_WIDTH = 4;
const SPARK_HEIGHT = 20;
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
    const height = number > 0 ? Math.max(LEAST, (number / most) * SPARK_HEIGHT) : NOTHING;
    return bar(
      (first + index) * SPARK_WIDTH + 0.5,
      SPARK_HEIGHT - height,
      SPARK_WIDTH - 1,
      height,
      number > 0 ? tone : 'none',
    );
  });
  const name = label === null ? html`aria-hidden="true"` : html`role="img" aria-label="${label}"`;
  return html`<svg class="spark" viewBox="0 0 ${count * SPARK_WIDTH} ${SPARK_HEIGHT}" preserveAspectRatio="none" ${name}>${shapes}</svg>`;
}

/** `times`: number of consecutive runs that ended the same way. */
export type RunResult = Pick<PassRecord, 'outcome' | 'times'>;

const STRIP_WIDTH = 10;
const STRIP_HEIGHT = 20;
const SHAPES: Readonly<Record<RunResult['outcome'], readonly [ChartTone, number]>> = {
  done: ['ok', 8],
  held: ['wait', 14],
  failed: ['bad', 20],
};

/** Renders runs, newest first in `runs`, oldest at the left. */
export function runStrip(runs: readonly RunResult[]): Html {
  const width = runs.length * STRIP_WIDTH;
  const shapes = runs.map(({ outcome }, index) => {
    const [tone, height] = SHAPES[outcome];
    return bar(width - (index + 1) * STRIP_WIDTH + 1, STRIP_HEIGHT - height, STRIP_WIDTH - 2, height, tone);
  });
  const outcomes = Object.keys(SHAPES) as RunResult['outcome'][];
  const numbers = outcomes.map((wanted) => ({
    outcome: wanted,
    count: runs.reduce((sum, { outcome, times }) => sum + (outcome === wanted ? times : 0), 0),
  }));
  const total = numbers.reduce((sum, { count }) => sum + count, 0);
  const last = counted(total, 'run');
  const equal = total > runs.length ? '; equal ones in a row are one bar' : '';
  const sentence = `Last ${last}: ${numbers.map(({ outcome, count }) => `${count} ${outcome}`).join(', ')}.`;
  const legend = numbers.map(({ outcome, count }) => html`<li>${swatch(SHAPES[outcome][0])} ${count} ${outcome}</li>`);
  return html`<div class="strip"><svg viewBox="0 0 ${width} ${STRIP_HEIGHT}" width="${width}" height="${STRIP_HEIGHT}" role="img" aria-label="${sentence}">${shapes}</svg>
<ul class="legend small" aria-hidden="true"><li>Last ${last}, the newest at the right${equal}:</li>${legend}</ul></div>`;
}
