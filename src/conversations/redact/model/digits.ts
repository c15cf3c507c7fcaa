/** Consecutive groups of digits with at most a few separators between them, as numbers are written. */
import { matchesIn } from './matches.ts';
export interface DigitRun {
  /** Position of each group. */
  readonly groups: readonly { readonly start: number; readonly end: number }[];
}

const GROUP = /\d{1,64}/g;

/**
 * Returns the runs of a text: groups of digits with only an allowed separator between them. Each digit is in one run,
 * so that all runs together are at most as long as the text.
 */
export function findDigitRuns(text: string, separator: RegExp, longestSeparator: number): readonly DigitRun[] {
  const runs: { start: number; end: number }[][] = [];
  for (const {
    index,
    0: { length },
  } of matchesIn(text, GROUP)) {
    const group = { start: index, end: index + length };
    const run = runs.at(-1);
    const last = run?.at(-1);
    const gap = last === undefined ? 0 : index - last.end;
    if (
      run !== undefined &&
      last !== undefined &&
      gap <= longestSeparator &&
      separator.test(text.slice(last.end, index))
    ) {
      run.push(group);
    } else {
      runs.push([group]);
    }
  }
  return runs.map((groups) => ({ groups }));
}

/** A sequence of whole groups of a run. */
export interface DigitSequence {
  readonly first: number;
  readonly last: number;
  readonly start: number;
  readonly end: number;
  readonly digits: string;
  /** Number of digits in each group. */
  readonly sizes: readonly number[];
}

/** Returns the sequences that start with a group and have `fewest` to `most` digits, longest first. */
export function sequencesFrom(
  text: string,
  run: DigitRun,
  first: number,
  fewest: number,
  most: number,
): readonly DigitSequence[] {
  const sequences: DigitSequence[] = [];
  let digits = '';
  const sizes: number[] = [];
  const start = run.groups[first]?.start ?? 0;
  for (let last = first; last < run.groups.length; last += 1) {
    const group = run.groups[last] as DigitRun['groups'][number];
    digits += text.slice(group.start, group.end);
    sizes.push(group.end - group.start);
    if (digits.length > most) {
      break;
    }
    if (digits.length >= fewest) {
      sequences.unshift({ first, last, start, end: group.end, digits, sizes: [...sizes] });
    }
  }
  return sequences;
}
