/** Polling of a list in the order of the last change, which changes while it is read. */
import * as z from 'zod';
import { NotThePlatformError, RejectedError } from '../../core/errors.ts';
import type { SourceRecord } from '../model/ticket.ts';
import { readAll } from './provider.ts';

/** Position in a list. Both times are ISO 8601, `since` as the provider wrote it. */
const positionSchema = z.object({
  since: z.string().refine(isTime),
  /** Start of the first poll; a lookback never goes before it. */
  floor: z.string().refine(isTime),
});
export type PollPosition = Readonly<z.output<typeof positionSchema>>;

/**
 * Time after its last change at which a record counts as complete, in milliseconds. Times are in whole seconds, so a
 * second edit may have the same time as the first; and children may become readable later than the record.
 */
export const SETTLING = 600_000;

/** Yields the records that changed, in batches; nothing if there is no change. */
export async function* pollUpdated<T extends Listed>(
  list: UpdatedList<T>,
  /** `batch` is the number of the last batch that was yielded; `lookback` the overlap with the last poll, in milliseconds. */
  last: { readonly reached: PollPosition; readonly batch: number; readonly lookback: number },
  seen: RecentVersions,
  signal: AbortSignal,
) {
  const { lookback } = last;
  const { floor } = last.reached;
  let { reached, batch } = last;
  const from = startOf(reached, lookback);
  seen.forgetBefore(Date.parse(from));
  for await (const { items, since, at } of scanUpdated(list, from)) {
    const fresh = items.flatMap((item) => {
      const id = list.idOf(item);
      return id === null || seen.has(id, item.updated_at) ? [] : [{ id, item }];
    });
    const found = await readAll(fresh, signal, ({ item }, ended) => list.read(item, ended));
    const moved = Date.parse(since) > Date.parse(reached.since);
    if (found.length === 0 && !moved) {
      continue;
    }
    batch += 1;
    for (const { id, item } of fresh) {
      if (at - Date.parse(item.updated_at) >= SETTLING) {
        seen.add(id, item.updated_at, batch);
      }
    }
    reached = moved ? { since, floor } : reached;
    seen.forgetBefore(Date.parse(startOf(reached, lookback)));
    yield { found, reached, batch };
  }
}

function startOf({ since, floor }: PollPosition, lookback: number): string {
  return wholeSeconds(Math.max(Date.parse(since) - lookback, Date.parse(floor)));
}

/** Formats milliseconds since the epoch as ISO 8601 in whole seconds. */
function wholeSeconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** Reads the position of a cursor; if it is invalid, returns the start at `since`, in milliseconds since the epoch. */
export function positionOf(cursor: unknown, since: number): PollPosition {
  const start = wholeSeconds(Math.max(0, since));
  return positionSchema.safeParse(cursor).data ?? { since: start, floor: start };
}

function isTime(value: string): boolean {
  return !Number.isNaN(Date.parse(value));
}

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
  /** Returns the unique id of a record; null: it is not read. */
  idOf(item: T): string | null;
  read(item: T, signal: AbortSignal): Promise<SourceRecord>;
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
export async function* scanUpdated<T extends Listed>(list: UpdatedList<T>, from: string) {
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

/** Splits a page into segments, each with the time from which a new list contains everything after it, inclusive. */
function* segmentsOf<T extends Listed>(page: UpdatedPage<T>, since: string) {
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
) {
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

/**
 * Cache of the record versions that were yielded recently, so that the overlap of two polls is not read twice. An
 * optimization only; never relied on for correctness: it contains only versions that are durable, and none after a restart.
 */
export class RecentVersions {
  readonly #seen = new Map<string, { readonly version: string; readonly batch: number }>();

  /**
   * Starts a poll after this batch, the last durable one. Versions of later batches are forgotten, because those batches
   * may not have been stored.
   */
  startAfter(batch: number): void {
    for (const [id, seen] of this.#seen) {
      if (seen.batch > batch) {
        this.#seen.delete(id);
      }
    }
  }

  has(id: string, version: string): boolean {
    return this.#seen.get(id)?.version === version;
  }

  /** Adds a version: the time of the last change. */
  add(id: string, version: string, batch: number): void {
    // Insertion order is age order, so that the oldest are found without a scan.
    this.#seen.delete(id);
    this.#seen.set(id, { version, batch });
  }

  /** Forgets records that last changed before this time, in milliseconds since the epoch. */
  forgetBefore(time: number): void {
    for (const [id, { version }] of this.#seen) {
      if (Date.parse(version) >= time) {
        return;
      }
      this.#seen.delete(id);
    }
  }
}
