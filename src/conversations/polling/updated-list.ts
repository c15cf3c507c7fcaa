import { NotThePlatformError, RejectedError } from '../../core/errors.ts';

/** A record of a list in the order of its last change. */
export interface Listed {
  /** ISO 8601, as the provider writes it: in whole seconds, mostly. */
  readonly updated_at: string;
}

export interface UpdatedPage<T> {
  readonly items: readonly T[];
  /** The path of the next page; null: there is none. */
  readonly next: string | null;
  /** When the provider answered, in milliseconds since the epoch. */
  readonly at: number;
}

/** A provider's list of what changed at or after a time, oldest change first. */
export interface UpdatedList<T> {
  /** For messages: `Freshdesk: list tickets`. */
  readonly label: string;
  /** The path of the first page. */
  first(since: string): string;
  page(path: string): Promise<UpdatedPage<T>>;
  /** Pages that the provider gives out of one list. */
  readonly mostPages: number;
}

/** Records that follow one another, and the time from which a list has all that is behind them, inclusively. */
export interface PageStretch<T> {
  readonly items: readonly T[];
  readonly since: string;
  readonly at: number;
}

/**
 * Number of records after which the cursor advances, once all their children are stored.
 * Source: docs/helpdesk-notes.md#delivery-rules
 */
const STRETCH = 20;

/**
 * Goes through such a list while it changes. Whatever is edited goes to its end, so that all behind it moves up by one
 * and the first record of the next page is now on the one that was read already. So no second page is ever asked for:
 * the list is asked anew from the last time seen, inclusively. That moves only up to what it could not have missed.
 *
 * | page | next |
 * |---|---|
 * | the last | done |
 * | full, and ends later than it was asked from | asked anew from its end |
 * | full of one instant | on to the page where the instant ends, and from there back to the first: what moves up meanwhile is met on the way |
 *
 * Throws RejectedError where an instant has more pages than the provider gives.
 */
export async function* scanUpdated<T extends Listed>(
  list: UpdatedList<T>,
  from: string,
): AsyncGenerator<PageStretch<T>> {
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
    yield* stretches(page, since);
    if (page.next === null || end === null) {
      return;
    }
    since = end;
  }
}

/** A page in pieces, each with the time that is safe once it is stored. */
function* stretches<T extends Listed>(page: UpdatedPage<T>, since: string): Generator<PageStretch<T>> {
  let reached = since;
  for (let start = 0; start < page.items.length; start += STRETCH) {
    const items = page.items.slice(start, start + STRETCH);
    reached = later(items.at(-1)?.updated_at ?? reached, reached);
    yield { items, since: reached, at: page.at };
  }
}

/** All pages that begin with one instant, from the last to the first. Returns the time that is safe behind them. */
async function* scanInstant<T extends Listed>(
  list: UpdatedList<T>,
  since: string,
  path: string,
  first: UpdatedPage<T>,
): AsyncGenerator<PageStretch<T>, string> {
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
    for (const stretch of stretches(again, since)) {
      // The time moves on when the first page is done, and not before.
      yield { ...stretch, since };
    }
  }
  const safe = later(reached ?? since, since);
  yield { items: [], since: safe, at: page.at };
  return safe;
}

/** The time of a page's last record; null: it has none. Throws where the order is not the one that was asked for. */
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
