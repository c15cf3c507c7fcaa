import { isObject, type Json } from '../../core/json.ts';
import { readAll } from '../model/answers.ts';
import type { SourceRecord } from '../model/ticket.ts';
import type { RecentVersions } from './recent-versions.ts';
import { type Listed, scanUpdated, type UpdatedList } from './updated-list.ts';

/** How far a list has been read. Both times are ISO 8601, `since` as the provider wrote it. */
export type PollPosition = {
  readonly since: string;
  /** Where the first poll began: no lookback goes behind it. */
  readonly floor: string;
};

export interface UpdatedPoll<T extends Listed> {
  readonly list: UpdatedList<T>;
  readonly reached: PollPosition;
  /** How far it goes back again, in milliseconds. */
  readonly lookback: number;
  readonly seen: RecentVersions;
  /** The number of the last batch given out. */
  readonly batch: number;
  /** Whether it is a record at all that is to be read; all where absent. */
  isWanted?(item: T): boolean;
  /** Unique among all that is seen. */
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
 * How long after its last change a record is taken for finished, in milliseconds. Times are in whole seconds, so that a
 * second edit may have the time of the first; and what belongs to a record may be readable only later than the record.
 */
export const SETTLING = 600_000;

/** Reads what changed, piece by piece; where nothing is new, nothing comes. */
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

/** ISO 8601, cut to whole seconds, in milliseconds since the epoch. */
function wholeSeconds(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

/** What a cursor says was reached; where it says nothing of use, the start at `since`, milliseconds since the epoch. */
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
