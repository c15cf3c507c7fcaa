import { invalid } from './answers.ts';
import type { Ranked, Table } from './table.ts';

/** A thing with a place among its siblings, of whatever kind. */
export interface Slot {
  readonly id: string;
  readonly type: string;
  readonly rank: number;
  /** Remembers a new rank. */
  place(rank: number): void;
}

/** The record's place in its table. */
export function slot<R extends Ranked>(table: Table<R, string>, type: string, record: R): Slot {
  return {
    id: record.id,
    type,
    rank: record.rank,
    place: (rank) => {
      const current = table.get(record.id);
      if (current !== undefined && current.rank !== rank) {
        table.put({ ...current, rank });
      }
    },
  };
}

export function byRank(a: { readonly rank: number }, b: { readonly rank: number }): number {
  return a.rank - b.rank;
}

/**
 * Puts the item at that index among its siblings (which do not contain it). The ranks in use stay the same numbers,
 * handed out anew, so ranks remain unique. Returns whether anything moved.
 */
export function reorder(siblings: readonly Slot[], item: Slot, index: number): boolean {
  const order = siblings.toSorted(byRank).toSpliced(index, 0, item);
  const ranks = order.map((entry) => entry.rank).sort((a, b) => a - b);
  const moved = order.filter((entry, at) => entry.rank !== ranks[at]);
  for (const [at, entry] of order.entries()) {
    entry.place(ranks[at] ?? entry.rank);
  }
  return moved.length > 0;
}

/** Which sibling to stand before or after. */
export interface Pointer {
  readonly type: string;
  readonly id: string;
}

/** The index among the siblings that a position means; a pointer to anything but a sibling is refused. */
export function indexFor(
  siblings: readonly Slot[],
  position: { readonly before?: Pointer | undefined; readonly after?: Pointer | undefined },
): number {
  const order = siblings.toSorted(byRank);
  const find = (pointer: Pointer, side: string): number => {
    const at = order.findIndex((entry) => entry.type === pointer.type && entry.id === pointer.id);
    if (at === -1) {
      throw invalid(`body.position.${side}`, `invalid position: ${pointer.type} "${pointer.id}" is not a sibling`);
    }
    return at;
  };
  const before = position.before === undefined ? undefined : find(position.before, 'before');
  const after = position.after === undefined ? undefined : find(position.after, 'after');
  if (before !== undefined && after !== undefined && after >= before) {
    throw invalid('body.position', 'invalid position: "after" does not stand before "before"');
  }
  if (before !== undefined) {
    return before;
  }
  return after === undefined ? order.length : after + 1;
}
