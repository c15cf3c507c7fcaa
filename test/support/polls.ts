/** Helpers that poll a source. */
import type { Batch, PollingSource } from '../../src/conversations/model/source.ts';
import type { SourceRecord, Ticket } from '../../src/conversations/model/ticket.ts';
import type { Json } from '../../src/core/json.ts';
import type { createSocketClock, FakeProvider } from './fake-provider.ts';

export type SocketClock = ReturnType<typeof createSocketClock>;

export interface PollSpan {
  readonly cursor: Json;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Batches after which the polling process is killed. */
  readonly most: number;
}

/** Polls once, into `batches`, which also receives the batches of a poll that fails later. */
export async function collectBatches(
  source: PollingSource,
  { cursor, since, most }: PollSpan,
  batches: Batch[] = [],
): Promise<Batch[]> {
  for await (const batch of source.poll({ cursor, since, signal: new AbortController().signal })) {
    batches.push(batch);
    if (batches.length >= most) {
      break;
    }
  }
  return batches;
}

export const foundOf = (batches: readonly Batch[]): SourceRecord[] => batches.flatMap((batch) => batch.found);
export const cursorOf = (batches: readonly Batch[]): Json => batches.at(-1)?.cursor ?? null;

export function ticketsOf(batches: readonly Batch[]): Ticket[] {
  return foundOf(batches).flatMap((found) => (found.kind === 'ticket' ? [found.ticket] : []));
}

/** Key of a result; null if it has none. */
export function keyOfFound(found: SourceRecord): string | null {
  return found.kind === 'ticket' ? found.ticket.key : 'key' in found ? found.key : null;
}

/** Closes a source, its provider and their shared clock. */
export async function closeAround(clock: SocketClock, source: PollingSource, provider: FakeProvider): Promise<void> {
  await clock.run(source.close());
  await provider[Symbol.asyncDispose]();
  clock[Symbol.dispose]();
}
