import type { SenderState } from '../model/events.ts';
import type { SendOutcome } from './outcome.ts';

/** Milliseconds before a platform that refuses the credentials is tried again; the fix is manual. */
const REFUSED_PAUSE = 10 * 60_000;
const UNSUPPORTED_PAUSE = 60 * 60_000;
const CANCELLED_PAUSE = 1000;
/** Number of lost responses after which the batch itself is suspected, if other batches were answered in between. */
const POISONED = 6;

/** State of a batch that was sent. */
export interface SentBatch {
  /** Conversations in the batch. */
  readonly items: number;
  /** Earlier responses that were lost; with 0, the platform has certainly not accepted the batch before. */
  readonly doubts: number;
  /** Other batches were answered since the last response of this batch was lost. */
  readonly othersAnswered: boolean;
}

/** Change of a batch in the outbox. */
export type BatchChange =
  | { readonly kind: 'sent' | 'split' | 'release' | 'rest' }
  | { readonly kind: 'bury'; readonly reason: string }
  /** `rest`: number of lost responses, which determines the backoff of the batch; 0: it may be sent again at once. */
  | { readonly kind: 'doubt'; readonly rest: number };

/** Consequences of one outcome for a batch and the sender. */
export interface Transition {
  readonly change: BatchChange;
  /** Null: the state does not change. */
  readonly state: SenderState | null;
  /** Milliseconds until the next batch; `backoff`: grows with each consecutive failure. */
  readonly pause: number | 'backoff';
}

/**
 * Returns the change of a batch and of the sender after an outcome. Pure.
 *
 *   outcome                          batch                            sender
 *   taken (2xx)                      sent                             sending
 *   bad-content (400, 413, 422)      split; alone: dead letter        sending
 *   lost (no response, or a fault)   in doubt, rests for a backoff    failing, backoff
 *   lost again and again, while      split; alone: dead letter        failing, backoff
 *     others are answered
 *   not-sent (no connection, 429)    waits again, or rests in doubt   failing, backoff
 *   refused (401, 403, another 4xx)  waits again, or rests in doubt   refused, 10 minutes
 *   unsupported (404, 405, 410)      waits again, or rests in doubt   unsupported, 1 hour
 *   cancelled                        waits again, or rests in doubt   unchanged, 1 second
 *
 * The sender ignores its column for a batch that was started before its last pause.
 */
export function decide(batch: SentBatch, outcome: SendOutcome): Transition {
  switch (outcome.kind) {
    case 'taken':
      return { change: { kind: 'sent' }, state: { kind: 'sending' }, pause: 0 };
    case 'bad-content':
      return { change: divide(batch, outcome.reason), state: { kind: 'sending' }, pause: 0 };
    case 'lost':
      return { change: lose(batch, outcome.reason), state: failing(outcome.reason), pause: 'backoff' };
    case 'not-sent':
      return { change: returnBatch(batch), state: failing(outcome.reason), pause: 'backoff' };
    case 'refused':
    case 'unsupported': {
      const { kind, reason, maybeTaken } = outcome;
      return {
        change: maybeTaken ? { kind: 'doubt', rest: 0 } : returnBatch(batch),
        state: { kind, reason },
        pause: kind === 'refused' ? REFUSED_PAUSE : UNSUPPORTED_PAUSE,
      };
    }
    case 'cancelled':
      return { change: returnBatch(batch), state: null, pause: CANCELLED_PAUSE };
  }
}

/**
 * Returns the change of a batch that was not accepted this time. If an earlier attempt is in doubt, it may have been
 * accepted.
 */
function returnBatch({ doubts }: SentBatch): BatchChange {
  return { kind: doubts > 0 ? 'rest' : 'release' };
}

/** Halves a batch until the conversation that is refused is alone. */
function divide({ items }: SentBatch, reason: string): BatchChange {
  return items === 1 ? { kind: 'bury', reason } : { kind: 'split' };
}

function lose(batch: SentBatch, reason: string): BatchChange {
  const attempts = batch.doubts + 1;
  return attempts >= POISONED && batch.othersAnswered
    ? divide(batch, `no response after ${attempts} attempts, while other batches succeeded: ${reason}`)
    : { kind: 'doubt', rest: attempts };
}

function failing(reason: string): SenderState {
  return { kind: 'failing', reason };
}
