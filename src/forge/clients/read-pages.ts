/** Reads lists that have numbered pages. */
import { append } from '../../core/lists.ts';
import { UnusableResponseError } from './bounded-fetch.ts';

/** Maximum number of pages: a server that ignores the number of the page returns the same one without an end. */
const MAX_PAGES = 500;
/** Maximum number of items: a page has at most 100. */
const MAX_ITEMS = 50_000;

interface ListPage<T> {
  readonly items: readonly T[];
  readonly isLast: boolean;
}

/**
 * Returns the items of all pages, counted from 1. Throws UnusableResponseError if a page is not a list, or if none of them
 * is the last one.
 */
export async function readPages<T>(read: (page: number) => Promise<ListPage<T>>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { items, isLast } = await read(page);
    append(all, requireList(items));
    if (isLast) {
      return all;
    }
    if (all.length > MAX_ITEMS) {
      throw new UnusableResponseError(`the list has more than ${MAX_ITEMS} items`);
    }
  }
  throw new UnusableResponseError(`the list has more than ${MAX_PAGES} pages`);
}

/** Returns a value if it is a list: the types of the clients are not checked. Throws UnusableResponseError. */
function requireList<T>(items: readonly T[]): readonly T[] {
  if (!Array.isArray(items)) {
    throw new UnusableResponseError('the response is not a list');
  }
  return items;
}
