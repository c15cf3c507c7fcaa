import { isObject, type Json } from '../../core/json.ts';
import { readAll } from '../model/answers.ts';
import type { SourceRecord } from '../model/ticket.ts';
import type { RecentVersions } from './recent-versions.ts';
import { type Listed, scanUpdated, type UpdatedList } from './updated-list.ts';

/** Position in a list. Both times are ISO 8601, `since` as the provider wrote it. */
export type PollPosition = {
  readonly since: string;
  /** Start of the first poll; a lookback never goes before it. */
  readonly floor: string;
};

export interface UpdatedPoll<T extends Listed> {
  readonly list: UpdatedList<T>;
  readonly reached: PollPosition;
  /** Overlap with the last poll, in milliseconds. */
  readonly lookback: number;
  readonly seen: RecentVersions;
  /** Number of the last batch that was yielded. */
  readonly batch: number;
  /** Reports whether a record is to be read; absent: all are. */
  isWanted?(item: T): boolean;
  /** Returns the unique id of a record. */
  idOf(item: T): string;
  read(item: T, signal: AbortSignal): Promise<SourceRecord>;
  readonly signal: AbortSignal;
}

export interface PollProgress {
  readonly found: readonly SourceRecord[];
  readonly reached: PollPosition;
  readonly batch: number;
}

/**
 * Time after its last change at which a record counts as complete, in milliseconds. Times are in whole seconds, so a
 * second edit may have the same time as the first; and children may become readable later than the record.
 */
export const SETTLING = 600_000;

/** Yields the records that changed, in batches; nothing if there is no change. */
export async function* pollUpdated<T extends Listed>(poll: UpdatedPoll<T>): AsyncGenerator<PollProgress> {
  const { list, lookback, seen, idOf, read, signal, isWanted = () => true } = poll;
  const { floor } = poll.reached;
  let { reached, batch } = poll;
  const from = startOf(reached, lookback);
  seen.forgetBefore(Date.parse(from));
  for await (const { items, since, at } of scanUpdated(list, from)) {
    const fresh = items.filter((item) => isWanted(item) && !seen.has(idOf(item), item.updated_at));
    const found = await readAll(fresh, signal, read);
    const moved = Date.parse(since) > Date.parse(reached.since);
    if (found.length === 0 && !moved) {
      continue;
    }
    batch += 1;
    for (const item of fresh) {
      if (at - Date.parse(item.updated_at) >= SETTLING) {
        seen.add(idOf(item), item.updated_at, batch);
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
export function positionOf(cursor: Json | undefined, since: number): PollPosition {
  const start = wholeSeconds(Math.max(0, since));
  if (!isObject(cursor) || !isTime(cursor.since) || !isTime(cursor.floor)) {
    return { since: start, floor: start };
  }
  return { since: cursor.since, floor: cursor.floor };
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
