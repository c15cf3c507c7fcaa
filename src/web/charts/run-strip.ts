/** Strip of the results of the last runs: a bar each, whose height repeats what its color says. */
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import type { PassRecord } from '../../store/history.ts';
import type { Html } from '../page.ts';
import { bar, type ChartTone, swatch } from './figure.ts';

/** `times`: number of consecutive runs that ended the same way. */
export type RunResult = Pick<PassRecord, 'outcome' | 'times'>;

const WIDTH = 10;
const HEIGHT = 20;
const SHAPES: Readonly<Record<RunResult['outcome'], readonly [ChartTone, number]>> = {
  done: ['ok', 8],
  held: ['wait', 14],
  failed: ['bad', 20],
};

/** Renders runs, newest first in `runs`, oldest at the left. */
export function runStrip(runs: readonly RunResult[]): Html {
  const width = runs.length * WIDTH;
  const shapes = runs.map(({ outcome }, index) => {
    const [tone, height] = SHAPES[outcome];
    return bar(width - (index + 1) * WIDTH + 1, HEIGHT - height, WIDTH - 2, height, tone);
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
  return html`<div class="strip"><svg viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" aria-label="${sentence}">${shapes}</svg>
<ul class="legend small" aria-hidden="true"><li>Last ${last}, the newest at the right${equal}:</li>${legend}</ul></div>`;
}
