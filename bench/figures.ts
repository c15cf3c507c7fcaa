/** Measured figures with their goals, and the verdict on each. */

/**
 * Kinds of figures. `noise` is the effect of other processes: `all` figures are not comparable then, and `some` vary more.
 * A figure with a `tolerance` is compared with the baseline: it may exceed it by that share. Absolute times have none,
 * because they differ between machines.
 */
const KINDS = {
  seconds: { unit: 's', noise: 'all', tolerance: null },
  milliseconds: { unit: 'ms', noise: 'all', tolerance: null },
  microseconds: { unit: 'µs', noise: 'all', tolerance: null },
  'time ratio': { unit: 'x', noise: 'all', tolerance: 0.3 },
  'CPU ratio': { unit: 'x', noise: 'some', tolerance: 0.25 },
  memory: { unit: 'MB', noise: 'none', tolerance: 0.15 },
  /** Memory of other programs. */
  megabytes: { unit: 'MB', noise: 'none', tolerance: null },
  growth: { unit: '%', noise: 'none', tolerance: null },
  count: { unit: '', noise: 'none', tolerance: 0.02 },
  /** Refused requests, and requests of other clients. */
  'varying count': { unit: '', noise: 'none', tolerance: null },
} as const;

export type Kind = keyof typeof KINDS;

/** Figure with one sample per run. `goal` is an upper limit; null if there is none. */
export interface Figure {
  readonly name: string;
  readonly kind: Kind;
  readonly samples: readonly number[];
  readonly goal: number | null;
}

/** Conditions on the machine while a case ran. */
export interface Conditions {
  /** Load average over one minute, at the end. */
  readonly load: number;
  /** Processor cores that other processes used on average. */
  readonly othersCores: number;
}

export type Verdict = 'met' | 'missed' | 'noisy' | '';

/** Cores used by other processes above which timings are not judged. */
const NOISE = 0.3;

/** Returns the verdict. A missed time, or any ratio of times, is `noisy` if other processes used the processor. */
export function judge(figure: Figure, conditions: Conditions): Verdict {
  if (figure.goal === null) {
    return '';
  }
  const met = median(figure.samples) <= figure.goal;
  const isNoisy = KINDS[figure.kind].noise !== 'none' && conditions.othersCores > NOISE;
  if (isNoisy && (!met || figure.kind === 'time ratio')) {
    return 'noisy';
  }
  return met ? 'met' : 'missed';
}

/** Returns the share by which a figure may exceed its baseline; null if it is not compared under these conditions. */
export function toleranceOf({ kind }: Figure, { othersCores }: Conditions): number | null {
  const { noise, tolerance } = KINDS[kind];
  if (tolerance === null || noise === 'none' || othersCores <= NOISE) {
    return tolerance;
  }
  return noise === 'some' ? 2 * tolerance : null;
}

export function formatValue({ kind }: Figure, value: number): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${KINDS[kind].unit}`.trim();
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [below = Number.NaN, above = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? above : (below + above) / 2;
}

/** Returns the ratios of runs that were made in turn, pair by pair. */
export function ratios(ours: readonly number[], theirs: readonly number[]): readonly number[] {
  return ours.map((value, index) => value / (theirs[index] ?? Number.NaN));
}
