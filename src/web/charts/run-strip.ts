/** Strip of the results of the last runs: a bar each, whose height repeats what its color says. */
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import type { PassRecord } from '../../store/history.ts';
import type { Html } from '../page.ts';
import { bar, type ChartTone } from './figure.ts';

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
  const sentence = sentenceOf(runs);
  return html`<svg class="strip" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" role="img" aria-label="${sentence}">${shapes}</svg>`;
}

function sentenceOf(runs: readonly RunResult[]): string {
  const count = (wanted: RunResult['outcome']) =>
    runs.reduce((sum, { outcome, times }) => sum + (outcome === wanted ? times : 0), 0);
  const [done, held, failed] = [count('done'), count('held'), count('failed')];
  return `Last ${counted(done + held + failed, 'run')}: ${done} done, ${held} held, ${failed} failed.`;
}
