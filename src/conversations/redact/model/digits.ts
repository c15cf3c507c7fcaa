/** Consecutive groups of digits with at most a few separators between them, as numbers are written. */
import type { Reading } from './reading.ts';

export interface DigitRun {
  /** Position of each group. */
  readonly groups: readonly { readonly start: number; readonly end: number }[];
}

/** Separator between groups. */
export interface Separator {
  /** Pattern of a whole one. */
  readonly pattern: RegExp;
  /** Its most characters. */
  readonly longest: number;
  /** Texts that were tested. */
  readonly known: Map<string, boolean>;
}

/** Maximum number of texts between digits that are remembered. */
const REMEMBERED = 1000;

function separates({ pattern, known }: Separator, gap: string): boolean {
  const answer = known.get(gap) ?? pattern.test(gap);
  if (known.size < REMEMBERED) {
    known.set(gap, answer);
  }
  return answer;
}

/**
 * Returns the runs of a text with at least `fewest` digits: groups of digits with only a separator between them. Each
 * digit is in one run, so that all runs together are at most as long as the text.
 */
export function findDigitRuns({ text, digits }: Reading, separator: Separator, fewest: number): readonly DigitRun[] {
  const runs: DigitRun[] = [];
  for (let first = 0; first < digits.length; ) {
    let count = 0;
    let end = -1;
    let next = first;
    for (; next < digits.length; next += 2) {
      const start = digits[next] as number;
      if (end >= 0 && (start - end > separator.longest || !separates(separator, text.slice(end, start)))) {
        break;
      }
      end = digits[next + 1] as number;
      count += end - start;
    }
    if (count >= fewest) {
      const groups: { readonly start: number; readonly end: number }[] = [];
      for (let at = first; at < next; at += 2) {
        groups.push({ start: digits[at] as number, end: digits[at + 1] as number });
      }
      runs.push({ groups });
    }
    first = next;
  }
  return runs;
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
