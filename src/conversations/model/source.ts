import type { Json } from '../../core/json.ts';
import type { ProcessedChange } from '../../store/outbox.ts';
import type { Found } from './ticket.ts';

/** What was found up to a cursor: it may be kept once all of this is durable, and not before. */
export interface Batch {
  readonly found: readonly Found[];
  /** The provider's own cursor, or a position; opaque to whoever keeps it. */
  readonly cursor: Json;
  /** Changes to the set of processed items that `PollOptions.processed` returns; durable together with the cursor. */
  readonly processed?: ProcessedChange;
}

export interface PollOptions {
  /** Where the last poll ended; null: the first one. */
  readonly cursor: Json;
  /** How far a first poll goes back, in milliseconds since the epoch. */
  readonly since: number;
  /** Items that were read to their end, for a source that has no order to keep a cursor in; absent: none. */
  readonly processed?: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** A helpdesk that is polled. Polling is the truth; a webhook is only a hint that makes it quicker. */
export interface PollingSource {
  /** As configured; unique in its organization. */
  readonly name: string;
  /**
   * Everything that changed since the cursor, batch after batch; ends when there is no more for now. Throws AppError: a
   * cursor that was given out stays good, and the next poll goes on from there.
   */
  poll(options: PollOptions): AsyncIterable<Batch>;
  /** One ticket anew, by the id that a hint names. Throws AppError. */
  fetch(id: string, signal: AbortSignal): Promise<Found>;
  close(): Promise<void>;
}

/** A webhook request as it came in. Names of headers are in lower case. */
export interface Delivery {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The bytes as they were sent: signatures are made over these. */
  readonly body: Uint8Array;
  /** When it came in, in milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** What a webhook request says, once its signature is good. */
export type Heard =
  /** `status` and a reason for the sender, which says nothing about the secret. */
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 415; readonly reason: string }
  /** Tickets to fetch. `delivery`: the sender's own id of this request, by which a repetition is known; or null. */
  | { readonly kind: 'hints'; readonly delivery: string | null; readonly ids: readonly string[] }
  /** Conversations themselves. */
  | { readonly kind: 'found'; readonly delivery: string | null; readonly found: readonly Found[] };

/** Checks and reads the requests of one webhook; pure. */
export interface Webhook {
  /** The name of its source. */
  readonly name: string;
  hear(delivery: Delivery): Heard;
}
