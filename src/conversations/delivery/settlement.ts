// Consequences of one outcome outside the sender: the write to the outbox, and the events.

import { backoffDelay } from '../../core/backoff.ts';
import type { Random } from '../../core/clock.ts';
import type { Outbox, OutgoingBatch } from '../../store/outbox/outbox.ts';
import type { ConversationEvents } from '../model/events.ts';
import type { SendOutcome } from './outcome.ts';
import type { BatchChange } from './transition.ts';

const FIRST_PAUSE = 1000;
const MAX_PAUSE = 5 * 60_000;

/** Returns the milliseconds to wait after consecutive failures. */
export function sendingBackoff(failures: number, random: Random): number {
  return backoffDelay(failures, FIRST_PAUSE, MAX_PAUSE, random);
}

/** Returns the write that makes a change of a batch durable. It may be repeated. */
export function recordChange(
  id: number,
  change: BatchChange,
  { outbox, now, random }: { readonly outbox: Outbox; readonly now: number; readonly random: Random },
): () => Promise<void> {
  switch (change.kind) {
    case 'sent':
      return () => outbox.sent(id, now);
    case 'split':
      return () => outbox.split(id);
    case 'bury':
      return () => outbox.bury(id, change.reason, now);
    case 'release':
      return () => outbox.release(id);
    case 'rest':
      return () => outbox.rest(id, now);
    case 'doubt': {
      // Twice the pause of the sender, so that other batches go first and show whether this one is the cause.
      const rest = change.rest === 0 ? 0 : 2 * sendingBackoff(change.rest, random);
      return () => outbox.doubt(id, now + rest);
    }
  }
}

/** Reports an outcome. */
export function reportOutcome(
  events: ConversationEvents,
  batch: OutgoingBatch,
  { outcome, change }: { readonly outcome: SendOutcome; readonly change: BatchChange },
): void {
  const items = batch.items.length;
  if (outcome.kind === 'taken') {
    events.onSent?.({
      items,
      bytes: batch.items.reduce((bytes, { payload }) => bytes + Buffer.byteLength(payload), 0),
    });
  }
  if (outcome.kind === 'lost') {
    events.onDoubt?.({ items, times: batch.doubts + 1, reason: outcome.reason });
  }
  const [only] = batch.items;
  if (change.kind === 'bury' && only !== undefined) {
    events.onRefused?.({ source: only.source, key: only.key, reason: change.reason });
  }
}
