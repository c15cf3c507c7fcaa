import { NotThePlatformError, RejectedError } from '../../core/errors.ts';

/** A record of a list in the order of its last change. */
export interface Listed {
  /** ISO 8601 as the provider writes it, usually in whole seconds. */
  readonly updated_at: string;
}

export interface UpdatedPage<T> {
  readonly items: readonly T[];
  /** Path of the next page, or null. */
  readonly next: string | null;
  /** Time of the response, in milliseconds since the epoch. */
  readonly at: number;
}

/** A provider's list of the records that changed at or after a time, oldest change first. */
export interface UpdatedList<T> {
  /** Name in messages: `Freshdesk: list tickets`. */
  readonly label: string;
  /** Returns the path of the first page. */
  first(since: string): string;
  page(path: string): Promise<UpdatedPage<T>>;
  /** Maximum number of pages that the provider returns for one list. */
  readonly mostPages: number;
}

/** Consecutive records, and the time from which a new list contains everything after them, inclusive. */
export interface PageSegment<T> {
  readonly items: readonly T[];
  readonly since: string;
  readonly at: number;
}

/**
 * Number of records after which the cursor advances, when all their children are stored. Source:
 * docs/helpdesk-notes.md#delivery-rules
 */
const SEGMENT_SIZE = 20;

/**
 * Reads such a list while it changes. An edited record moves to the end, so that all records after it move up by one,
 * and the first record of the second page moves to the first page, which was already read. Therefore the second page is
 * not requested: the list is requested again from the last time seen, inclusive. That time advances only so far that no
 * record can be missed.
 *
 * | page | next |
 * |---|---|
 * | the last | done |
 * | full, and ends later than the requested time | request the list from that time |
 * | full of records with the same time | read on to the page where this time ends, then back to the first page, to find
 * records that move up |
 *
 * Throws RejectedError if one time has more pages than the provider returns.
 */
export async function* scanUpdated<T extends Listed>(
  list: UpdatedList<T>,
  from: string,
): AsyncGenerator<PageSegment<T>> {
  for (let since = from; ; ) {
    const path = list.first(since);
    const page = await list.page(path);
    const end = endOf(list, page);
    if (page.next !== null && end !== null && !isLater(end, since)) {
      const reached = yield* scanInstant(list, since, path, page);
      if (!isLater(reached, since)) {
        return;
      }
      since = reached;
      continue;
    }
    yield* segmentsOf(page, since);
    if (page.next === null || end === null) {
      return;
    }
    since = end;
  }
}

/** Splits a page into segments, each with the time that is safe once it is stored. */
function* segmentsOf<T extends Listed>(page: UpdatedPage<T>, since: string): Generator<PageSegment<T>> {
  let reached = since;
  for (let start = 0; start < page.items.length; start += SEGMENT_SIZE) {
    const items = page.items.slice(start, start + SEGMENT_SIZE);
    reached = later(items.at(-1)?.updated_at ?? reached, reached);
    yield { items, since: reached, at: page.at };
  }
}

/**
 * Yields all pages that start with the same time, from the last to the first. Returns the time that is safe after them.
 */
async function* scanInstant<T extends Listed>(
  list: UpdatedList<T>,
  since: string,
  path: string,
  first: UpdatedPage<T>,
): AsyncGenerator<PageSegment<T>, string> {
  const paths = [path];
  let page = first;
  for (let end: string | null = since; page.next !== null && end !== null && !isLater(end, since); ) {
    if (paths.length >= list.mostPages) {
      const reason = `more than ${paths.length} pages changed at ${since}; the list returns no more, so later changes cannot be read`;
      throw new RejectedError(`${list.label}: ${reason}`, 400);
    }
    if (paths.includes(page.next)) {
      throw new NotThePlatformError(`${list.label}: the links to the next pages form a loop`);
    }
    paths.push(page.next);
    page = await list.page(page.next);
    end = endOf(list, page);
  }
  let reached: string | null = null;
  for (const [back, each] of paths.reverse().entries()) {
    const again: UpdatedPage<T> = back === 0 ? page : await list.page(each);
    reached ??= endOf(list, again);
    for (const segment of segmentsOf(again, since)) {
      // The time advances only when the first page is done.
      yield { ...segment, since };
    }
  }
  const safe = later(reached ?? since, since);
  yield { items: [], since: safe, at: page.at };
  return safe;
}

/** Returns the time of the last record of a page, or null. Throws if the records are not in the requested order. */
function endOf<T extends Listed>({ label }: UpdatedList<T>, { items }: UpdatedPage<T>): string | null {
  for (const [index, { updated_at: time }] of items.entries()) {
    const before = items[index - 1];
    if (Number.isNaN(Date.parse(time)) || (before !== undefined && isLater(before.updated_at, time))) {
      throw new NotThePlatformError(`${label}: the list is not sorted by last change`);
    }
  }
  return items.at(-1)?.updated_at ?? null;
}

function isLater(time: string, than: string): boolean {
  return Date.parse(time) > Date.parse(than);
}

function later(a: string, b: string): string {
  return isLater(a, b) ? a : b;
}
