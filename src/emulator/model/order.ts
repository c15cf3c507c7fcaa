/** Display order of siblings, and moves within it. */

import { invalid } from './answers.ts';
import type { IndexedTable, Ranked } from './store.ts';

/** An item with a place among its siblings, of any kind. */
export interface Slot {
  readonly id: string;
  readonly type: string;
  readonly rank: number;
  /** Stores a new rank. */
  place(rank: number): void;
}

/** Returns the place of a record. */
export function slot<R extends Ranked>(table: IndexedTable<R, string>, type: string, record: R): Slot {
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
 * Moves the item to that index among its siblings, which do not include it. The ranks in use are redistributed, so that
 * they stay unique. Returns whether anything moved.
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

/** Sibling that a position refers to. */
export interface Pointer {
  readonly type: string;
  readonly id: string;
}

/** Returns the index that a position means. Throws a 400 for a pointer to an item that is not a sibling. */
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
    throw invalid('body.position', 'invalid position: "after" must precede "before"');
  }
  if (before !== undefined) {
    return before;
  }
  return after === undefined ? order.length : after + 1;
}
