// Paginated lists with cursors.

import { type ApiAnswer, invalid, ok } from './answers.ts';
import type { Context, OperationCall } from './operation.ts';
import type { ListQuery } from './schema.ts';

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

/**
 * Returns one page: `items`, `count` (the total) and `next` while there is more.
 * Source: docs/platform-notes.md#pagination
 */
export function list<T>(call: OperationCall<string, ListQuery>, listing: Listing<T>): ApiAnswer {
  const direction = listing.descending === true ? -1 : 1;
  const keyed = listing.items.map((item) => ({ item, key: listing.key(item) }));
  keyed.sort((a, b) => direction * compare(a.key, b.key));
  const limit = call.query.limit ?? call.pageSize;
  let start = 0;
  if (call.query.page !== undefined) {
    const after = decodeCursor(call.operation, call.query.page);
    start = keyed.findIndex((entry) => direction * compare(entry.key, after) > 0);
    start = start === -1 ? keyed.length : start;
  }
  const page = keyed.slice(start, start + limit);
  const last = page.at(-1);
  const more = last !== undefined && start + limit < keyed.length;
  return ok({
    ...(more ? { next: { page: encodeCursor(call.operation, last.key) } } : {}),
    count: keyed.length,
    items: page.map((entry) => listing.view(call, entry.item)),
  });
}

/** Lists items in the order of creation. */
export function listBySeq<T extends { readonly seq: number }>(
  call: OperationCall<string, ListQuery>,
  items: readonly T[],
  view: Listing<T>['view'],
): ApiAnswer {
  return list(call, { items, key: (item) => [item.seq, 0], view });
}

/** Lists items in display order. */
export function listByRank<T extends { readonly rank: number }>(
  call: OperationCall<string, ListQuery>,
  items: readonly T[],
  view: Listing<T>['view'],
): ApiAnswer {
  return list(call, { items, key: (item) => [item.rank, 0], view });
}
