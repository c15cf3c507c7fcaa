/** Paginated lists with cursors. */

import { type ApiAnswer, invalid, ok } from './answers.ts';
import type { Context, OperationCall } from './operation.ts';
import type { ListQuery } from './schema.ts';
import type { EmulatorStore } from './store.ts';

/** Sort key of a list: the value, then the creation order. */
export type SortKey = readonly [value: string | number, seq: number];

/** Items, order and view of a list. */
export interface Listing<T> {
  /** In any order. */
  readonly items: readonly T[];
  key(item: T): SortKey;
  readonly descending?: boolean;
  view(context: Context, item: T): unknown;
}

function compare(a: SortKey, b: SortKey): number {
  if (a[0] !== b[0]) {
    return a[0] < b[0] ? -1 : 1;
  }
  return a[1] - b[1];
}

/**
 * Encodes a cursor: the key after which the page starts, so that it stays valid when other items are added or removed.
 */
function encodeCursor(operation: string, key: SortKey): string {
  return Buffer.from(JSON.stringify([operation, ...key])).toString('base64url');
}

function decodeCursor(operation: string, cursor: string): SortKey {
  try {
    const [name, value, seq] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (name === operation && (typeof value === 'string' || typeof value === 'number') && typeof seq === 'number') {
      return [value, seq];
    }
  } catch {
    // An invalid cursor is refused below.
  }
  throw invalid('query.page', 'not a page of this list');
}

/** Items in their order, with their keys. */
type Ordered<T> = Pick<Listing<T>, 'key' | 'descending' | 'view'> & { readonly sorted: readonly T[] };

/**
 * Returns one page: `items`, `count` (the total) and `next` while there is more.
 * Source: docs/platform-notes.md#pagination
 */
export function list<T>(call: OperationCall<string, ListQuery>, listing: Listing<T>): ApiAnswer {
  const direction = listing.descending === true ? -1 : 1;
  const keyed = listing.items.map((item) => ({ item, key: listing.key(item) }));
  keyed.sort((a, b) => direction * compare(a.key, b.key));
  return page(call, { ...listing, sorted: keyed.map(({ item }) => item) });
}

function page<T>(call: OperationCall<string, ListQuery>, ordered: Ordered<T>): ApiAnswer {
  const { sorted, key, view } = ordered;
  const limit = call.query.limit ?? call.pageSize;
  const start = call.query.page === undefined ? 0 : firstAfter(ordered, decodeCursor(call.operation, call.query.page));
  const items = sorted.slice(start, start + limit);
  const last = items.at(-1);
  const more = last !== undefined && start + limit < sorted.length;
  return ok({
    ...(more ? { next: { page: encodeCursor(call.operation, key(last)) } } : {}),
    count: sorted.length,
    items: items.map((item) => view(call, item)),
  });
}

/** Returns the index of the first item after a key, by binary search. */
function firstAfter<T>({ sorted, key, descending }: Ordered<T>, after: SortKey): number {
  const direction = descending === true ? -1 : 1;
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (direction * compare(key(sorted[middle] as T), after) > 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** Lists items in the order of creation. */
export function listBySeq<T extends { readonly seq: number }>(
  call: OperationCall<string, ListQuery>,
  items: readonly T[],
  view: Listing<T>['view'],
): ApiAnswer {
  return listByNumber(call, items, ({ seq }) => seq, view);
}

/** Lists items in display order. */
export function listByRank<T extends { readonly rank: number }>(
  call: OperationCall<string, ListQuery>,
  items: readonly T[],
  view: Listing<T>['view'],
): ApiAnswer {
  return listByNumber(call, items, ({ rank }) => rank, view);
}

function listByNumber<T>(
  call: OperationCall<string, ListQuery>,
  items: readonly T[],
  number: (item: T) => number,
  view: Listing<T>['view'],
): ApiAnswer {
  const sorted = sortedLists(call.store).sort(call.operation, items, number);
  return page(call, { sorted, key: (item) => [number(item), 0], view });
}

/** Lists that are kept: those that several clients page through at a time. */
const MAX_LISTS = 8;

interface SortedList {
  readonly items: readonly unknown[];
  readonly sorted: readonly unknown[];
}

/** Lists in the order of their last request, so that each is sorted once and not for every page. */
class SortedLists {
  readonly #lists = new Map<string, SortedList>();

  /** Returns the items in the order of their numbers. `name` identifies the list. */
  sort<T>(name: string, items: readonly T[], number: (item: T) => number): readonly T[] {
    const known = this.#lists.get(name);
    if (known !== undefined && isSame(known.items, items)) {
      return known.sorted as readonly T[];
    }
    const sorted = items.toSorted((a, b) => number(a) - number(b));
    this.#lists.delete(name);
    this.#lists.set(name, { items, sorted });
    for (const oldest of [...this.#lists.keys()].slice(0, -MAX_LISTS)) {
      this.#lists.delete(oldest);
    }
    return sorted;
  }
}

/** Records are replaced and never changed, so that the same records have the same order. */
function isSame(before: readonly unknown[], items: readonly unknown[]): boolean {
  return before === items || (before.length === items.length && before.every((item, index) => item === items[index]));
}

/** Returns the sorted lists of a store. */
function sortedLists(store: EmulatorStore): SortedLists {
  return store.derive('sorted lists', () => new SortedLists());
}
