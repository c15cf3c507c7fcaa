/** Comparison with the ratios, counts and memory of an earlier run, which do not depend on the speed of the machine. */
import { type Conditions, type Figure, isTiming, median, NOISE, toleranceOf } from './figures.ts';
import type { CaseResult } from './runner.ts';

/** Medians by case and figure. */
export type Baseline = Readonly<Record<string, Readonly<Record<string, number>>>>;

/**
 * True if even the best run exceeds the baseline by more than the tolerance. A ratio of times is not compared when other
 * processes used the processor.
 */
export function isRegression(figure: Figure, baseline: number | undefined, conditions: Conditions): boolean {
  const tolerance = toleranceOf(figure);
  if (tolerance === null || baseline === undefined || !isComparable(figure, conditions)) {
    return false;
  }
  return Math.min(...figure.samples) > baseline * (1 + tolerance);
}

function isComparable(figure: Figure, { othersCores }: Conditions): boolean {
  return toleranceOf(figure) !== null && !(isTiming(figure) && othersCores > NOISE);
}

/** Returns the baseline with the figures of all measured cases replaced, except those that the machine's load distorts. */
export function acceptResults(baseline: Baseline, results: readonly CaseResult[]): Baseline {
  const measured = results.filter(({ status }) => status === 'measured');
  const accepted = measured.map(({ name, figures, conditions }) => {
    const values = figures.flatMap((figure) => {
      const earlier = toleranceOf(figure) === null ? undefined : baseline[name]?.[figure.name];
      const value = isComparable(figure, conditions) ? round(median(figure.samples)) : earlier;
      return value === undefined ? [] : [[figure.name, value] as const];
    });
    return [name, Object.fromEntries(values)] as const;
  });
  return { ...baseline, ...Object.fromEntries(accepted) };
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
