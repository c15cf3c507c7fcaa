/** Comparison with the ratios, counts and memory of an earlier run, which do not depend on the speed of the machine. */
import { type Conditions, type Figure, median, toleranceOf } from './figures.ts';
import type { CaseResult } from './runner.ts';

/** Medians by case and figure. */
export type Baseline = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** True if even the best run exceeds the baseline by more than the tolerance. */
export function isRegression(figure: Figure, baseline: number | undefined, conditions: Conditions): boolean {
  const tolerance = toleranceOf(figure, conditions);
  return tolerance !== null && baseline !== undefined && Math.min(...figure.samples) > baseline * (1 + tolerance);
}

/** Returns the baseline with the figures of all measured cases replaced, except those that the machine's load distorts. */
export function acceptResults(baseline: Baseline, results: readonly CaseResult[]): Baseline {
  const measured = results.filter(({ status }) => status === 'measured');
  const accepted = measured.map(({ name, figures, conditions }) => {
    const values = figures.flatMap((figure) => {
      const isComparable = toleranceOf(figure, conditions) !== null;
      const value = isComparable ? round(median(figure.samples)) : baseline[name]?.[figure.name];
      return value === undefined ? [] : [[figure.name, value] as const];
    });
    return [name, Object.fromEntries(values)] as const;
  });
  return { ...baseline, ...Object.fromEntries(accepted) };
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
