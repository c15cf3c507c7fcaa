/** Interfaces of a source: polling, and a webhook that speeds it up or replaces it. */
import type { Json } from '../../core/json.ts';
import type { WebhookRequest } from '../../core/signature.ts';
import type { ProcessedChange } from '../../store/outbox/outbox.ts';
import type { SourceRecord } from './ticket.ts';

/** Records up to a cursor, which must be stored in the same transaction as the records. */
export interface Batch {
  readonly found: readonly SourceRecord[];
  /** The provider's cursor, or a position; opaque outside the source. */
  readonly cursor: Json;
  /** Changes to the set of processed items that `PollOptions.processed` returns; durable together with the cursor. */
  readonly processed?: ProcessedChange;
}

export interface PollOptions {
  /** End of the last poll; null: this is the first one. */
  readonly cursor: Json;
  /** Start of the first poll, in milliseconds since the epoch. */
  readonly since: number;
  /** Items that were completely read, for a source whose order no cursor can follow; absent: none. */
  readonly processed?: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/**
 * A source that is polled. Polling alone finds everything; a webhook only provides hints, so that changes are found
 * sooner.
 */
export interface PollingSource {
  /** As configured; unique in its organization. */
  readonly name: string;
  /**
   * Yields everything that changed since the cursor, in batches, and ends when there is no more for now. Throws AppError;
   * a cursor that was yielded stays valid, and the next poll continues from it.
   */
  poll(options: PollOptions): AsyncIterable<Batch>;
  /** Fetches the current state of one ticket, by the id that a hint names. Throws AppError. */
  fetch(id: string, signal: AbortSignal): Promise<SourceRecord>;
  close(): Promise<void>;
}

/** Content of a webhook request. `delivery` is the sender's id of the request, by which a repetition is recognized. */
export type WebhookResult =
  /** `reason` is returned to the sender, and reveals nothing about the secret. */
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 415; readonly reason: string }
  /** Tickets to fetch. */
  | { readonly kind: 'hints'; readonly delivery: string | null; readonly ids: readonly string[] }
  /** The conversations themselves. */
  | { readonly kind: 'found'; readonly delivery: string | null; readonly found: readonly SourceRecord[] };

type Refused = Extract<WebhookResult, { readonly kind: 'refused' }>;

export function refused(status: Refused['status'], reason: string): Refused {
  return { kind: 'refused', status, reason };
}

/** Verifies and reads the requests of one webhook; pure. */
export interface Webhook {
  /** Name of its source. */
  readonly name: string;
  read(request: WebhookRequest): WebhookResult;
}
