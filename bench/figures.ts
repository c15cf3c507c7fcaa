import { median } from './measure.ts';

/** One measured figure, beside what it should be. */
export interface Figure {
  readonly case: string;
  readonly figure: string;
  readonly value: number;
  readonly unit: 's' | 'MB' | 'ms' | 'x' | 'requests' | '%';
  /** At most so much; null where there is no goal. */
  readonly goal: number | null;
  readonly met: boolean | null;
}

/** Collects the figures of one case. */
export class Figures {
  readonly list: Figure[] = [];
  readonly #case: string;

  constructor(name: string) {
    this.#case = name;
  }

  add(figure: string, value: number, unit: Figure['unit'], goal: number | null = null): void {
    this.list.push({ case: this.#case, figure, value, unit, goal, met: goal === null ? null : value <= goal });
  }
}

/** The median of the ratios of runs made in turn. */
export function ratio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, index) => value / (theirs[index] ?? Number.NaN)));
}

/** A table for a terminal. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map(({ case: name, figure, value, unit, goal, met }) => [
    name,
    figure,
    `${format(value)} ${unit}`,
    goal === null ? '' : `<= ${format(goal)}`,
    met === null ? '' : met ? 'met' : 'MISSED',
  ]);
  const all = [['case', 'figure', 'value', 'goal', ''], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 3 : 1);
}
