// Private values as finders return them, and the rule for overlaps.

import type { RedactionType } from '../../model/ticket.ts';
import { matchesIn } from './matches.ts';
import { PLACEHOLDER } from './placeholder.ts';
import type { Reading } from './reading.ts';

/** A private value in a text, from `start` to `end` in UTF-16 units. */
export interface PrivateValue {
  readonly type: RedactionType;
  readonly start: number;
  readonly end: number;
  /** Normalized value, which is equal for all spellings: an address in lower case, a number as E.164. */
  readonly key: string;
  /** The word in its placeholder: `EMAIL` in `[EMAIL_1]`. */
  readonly label: string;
  /** Name of the rule that recognized it, in words: `IBAN`, `Stripe key`. Default: the name of its finder. */
  readonly rule?: string;
}

/** Finds the values of one kind in a text. Pure; takes linear time. */
export type Finder = (reading: Reading) => readonly PrivateValue[];

interface Interval {
  readonly start: number;
  readonly end: number;
}

/**
 * Resolves overlaps between finders. The first finder in the list determines the type, and the result covers all
 * overlapping values completely. Placeholders are kept, and so are allowed values outside of secrets.
 *
 * @returns the values by position, without overlaps
 */
export function settle(
  found: readonly PrivateValue[],
  allowed: readonly PrivateValue[],
  text: string,
): readonly PrivateValue[] {
  if (found.length === 0) {
    return [];
  }
  const placeholders = (text.includes('_') ? matchesIn(text, PLACEHOLDER) : []).map(({ index, 0: whole }) => ({
    start: index,
    end: index + whole.length,
  }));
  const kept = allowed.length === 0 ? placeholders : joined([...placeholders, ...allowed]);
  const ranked = found
    .flatMap((item, rank) =>
      outside(item, item.type === 'secret' ? placeholders : kept, text).map((piece) => ({ piece, rank })),
    )
    .sort((a, b) => a.piece.start - b.piece.start || a.rank - b.rank);
  const merged: { piece: PrivateValue; rank: number }[] = [];
  for (const next of ranked) {
    const last = merged.at(-1);
    if (last === undefined || next.piece.start >= last.piece.end) {
      merged.push(next);
      continue;
    }
    const winner = next.rank < last.rank ? next : last;
    const end = Math.max(last.piece.end, next.piece.end);
    merged[merged.length - 1] = { rank: winner.rank, piece: { ...winner.piece, start: last.piece.start, end } };
  }
  return merged.map(({ piece }) => piece);
}

/** Sorts intervals and merges those that overlap. */
function joined(intervals: readonly Interval[]): readonly Interval[] {
  const merged: Interval[] = [];
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last !== undefined && start < last.end) {
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, end) };
    } else {
      merged.push({ start, end });
    }
  }
  return merged;
}

/** Returns the non-empty parts of a value outside of placeholders. */
function outside(item: PrivateValue, kept: readonly Interval[], text: string): readonly PrivateValue[] {
  const inside = within(kept, item);
  if (inside.length === 0) {
    return [item];
  }
  const pieces: PrivateValue[] = [];
  let start = item.start;
  for (const gap of [...inside, { start: item.end, end: item.end }]) {
    const piece = text.slice(start, gap.start);
    if (start < gap.start && /[\p{L}\p{N}]/u.test(piece)) {
      pieces.push({ ...item, start, end: gap.start, key: `${item.key} ${piece}` });
    }
    start = Math.max(start, gap.end);
  }
  return pieces;
}

/** Returns the intervals that overlap a given one, by binary search: there may be thousands. */
function within(sorted: readonly Interval[], { start, end }: Interval): readonly Interval[] {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.end ?? 0) <= start) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const overlapping: Interval[] = [];
  for (let index = low; (sorted[index]?.start ?? Number.POSITIVE_INFINITY) < end; index += 1) {
    overlapping.push(sorted[index] as Interval);
  }
  return overlapping;
}

/** Replaces each span of a text. Spans are sorted and do not overlap. */
export function replaceSpans<S extends { readonly start: number; readonly end: number }>(
  text: string,
  spans: readonly S[],
  by: (span: S) => string,
): string {
  const pieces: string[] = [];
  let from = 0;
  for (const span of spans) {
    pieces.push(text.slice(from, span.start), by(span));
    from = span.end;
  }
  return pieces.join('') + text.slice(from);
}
