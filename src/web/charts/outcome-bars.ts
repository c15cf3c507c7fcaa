/** Chart of the results of the last passes. */
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import type { PassRecord } from '../../store/history.ts';
import type { Html } from '../page.ts';
import { bar, type ChartTone, figure } from './figure.ts';

/** Pass with its number and result; `times`: number of consecutive passes that ended the same way. */
export interface PassBar extends Pick<PassRecord, 'number' | 'outcome' | 'times'> {
  /** ISO 8601 in UTC. */
  readonly endedAt: string;
}

const WIDTH = 10;
const HEIGHT = 60;
/** Color and height of each result: the height tells them apart without color. */
const SHAPES: Readonly<Record<PassBar['outcome'], readonly [ChartTone, number]>> = {
  done: ['ok', 20],
  held: ['wait', 40],
  failed: ['bad', 60],
};

/** Renders passes, newest first in `outcomes`, oldest at the left. */
export function outcomeBars(id: string, outcomes: readonly PassBar[]): Html {
  const shown = outcomes.toReversed();
  const width = Math.max(shown.length, 20) * WIDTH;
  const shapes = shown.map(({ outcome }, index) => {
    const [tone, height] = SHAPES[outcome];
    return bar(width - (shown.length - index) * WIDTH + 1, HEIGHT - height, WIDTH - 2, height, tone);
  });
  return figure({
    id,
    sentence: sentenceOf(shown),
    shapes: html`${shapes}`,
    size: [width, HEIGHT],
    ends: ['older', 'newest'],
    legend: [
      { tone: 'ok', text: 'done' },
      { tone: 'wait', text: 'held' },
      { tone: 'bad', text: 'failed' },
    ],
    table: {
      columns: ['Pass', 'Result', 'Times', 'Ended'],
      rows: outcomes.map(({ number, outcome, times, endedAt }) => [number, outcome, times, endedAt]),
    },
  });
}

function sentenceOf(outcomes: readonly PassBar[]): string {
  const count = (wanted: PassBar['outcome']) =>
    outcomes.reduce((sum, { outcome, times }) => sum + (outcome === wanted ? times : 0), 0);
  const [done, held, failed] = [count('done'), count('held'), count('failed')];
  return outcomes.length === 0
    ? 'No pass has ended yet.'
    : `Last ${counted(done + held + failed, 'pass', 'passes')}: ${done} done, ${held} held, ${failed} failed.`;
}
