/** Chart of a number over time, with marks where something happened. */

import { html } from 'hono/html';
import { largest } from '../../core/lists.ts';
import type { Html } from '../page.ts';
import { bar, clockTime, figure, formatCount, round } from './figure.ts';

export interface LinePoint {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Null: unknown. */
  readonly value: number | null;
  /** Number of events that are marked, such as refusals. */
  readonly marks: number;
}

export interface StepLineOptions {
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
