import { median } from './measure.ts';

/** A measured figure and its goal. */
export interface Figure {
  readonly case: string;
  readonly figure: string;
  readonly value: number;
  readonly unit: 's' | 'MB' | 'ms' | 'x' | 'requests' | '%' | 'a second' | '';
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

const WIDTHS = [42, 38, 16, 10] as const;

/** The head of the table. */
export const HEADING = row('case', 'figure', 'value', 'goal', '');

/** One line of the table. */
export function line({ case: name, figure, value, unit, goal, met }: Figure): string {
  const wanted = goal === null ? '' : `<= ${format(goal)}`;
  return row(name, figure, `${format(value)} ${unit}`, wanted, met === null ? '' : met ? 'met' : 'MISSED');
}

function row(...cells: string[]): string {
  return `${cells
    .map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
    .join('')
    .trimEnd()}\n`;
}

function format(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 3 : 1);
}
