/** Interfaces of a source, polled or with a webhook, and the events of the ingestion. */
import type * as z from 'zod';
import type { AppError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { isJson, jsonOfBody, type WebhookRequest } from '../../core/signature.ts';
import type { ProcessedChange } from '../../store/outbox/tables.ts';
import type { RedactionType, SourceRecord, TicketSkipReason } from './ticket.ts';

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

/**
 * Creates a webhook with JSON bodies. `refusal` returns why a request is not genuine, or null. The body of one that is,
 * undefined if it is not JSON, must match the schema; otherwise the request is refused with `problem`.
 */
export function jsonWebhook<Body>(
  name: string,
  refusal: (request: WebhookRequest) => string | null,
  schema: z.ZodType<Body>,
  problem: string,
  read: (body: Body, headers: WebhookRequest['headers']) => WebhookResult,
): Webhook {
  return {
    name,
    read(request) {
      if (!isJson(request.headers)) {
        return refused(415, 'the content type is not application/json');
      }
      const reason = refusal(request);
      if (reason !== null) {
        return refused(401, reason);
      }
      const body = schema.safeParse(jsonOfBody(request.body));
      return body.success ? read(body.data, request.headers) : refused(400, problem);
    },
  };
}

/** Numbers of one deposit, after it has become durable. */
export interface IntakeCounts {
  readonly source: string;
  readonly found: number;
  /** Content that now waits to be sent. */
  readonly waiting: number;
  readonly unchanged: number;
  /** Content that waited and is no longer to be sent. */
  readonly withdrawn: number;
  readonly gone: number;
  readonly rejected: number;
  /** Tickets whose source returned fewer parts than it reported. */
  readonly incomplete: number;
  readonly skipped: Readonly<Partial<Record<TicketSkipReason, number>>>;
  readonly redacted: Readonly<Partial<Record<RedactionType, number>>>;
}

/** A record that cannot be read or converted. */
export interface Rejection {
  readonly source: string;
  readonly place: string;
  readonly reason: string;
}

/** A ticket whose source returned fewer parts than it reported. */
export interface Shortfall {
  readonly source: string;
  readonly key: string;
  readonly reported: number;
  readonly fetched: number;
}

export type SenderState =
  | { readonly kind: 'stopped' | 'idle' | 'sending' }
  /** The platform fails or cannot be reached; retried automatically. */
  | { readonly kind: 'failing'; readonly reason: string }
  /** The platform refuses the credentials, and a person must act; retried from time to time. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The platform has no ingestion. */
  | { readonly kind: 'unsupported'; readonly reason: string };

/** Events of the ingestion. None contains text of a conversation. */
export interface ConversationEvents {
  onIntake?(counts: IntakeCounts): void;
  onRejected?(rejection: Rejection): void;
  /** Pushed files were read to their end, or reading them was stopped. */
  onFilesEnd?(end: { readonly source: string }): void;
  onShortfall?(shortfall: Shortfall): void;
  /** The source waits because the outbox is full, or continues. */
  onPressure?(pressure: { readonly source: string; readonly isFull: boolean }): void;
  /** A poll succeeded, or failed; the next one starts after `again` milliseconds. */
  onPollEnd?(end: { readonly source: string; readonly error: AppError | null; readonly again: number }): void;
  onSent?(sent: { readonly items: number; readonly bytes: number }): void;
  /** A response was lost; the same batch is sent again. */
  onDoubt?(doubt: { readonly items: number; readonly times: number; readonly reason: string }): void;
  /** The platform refuses one conversation permanently. */
  onRefused?(refused: { readonly source: string; readonly key: string; readonly reason: string }): void;
  onSenderState?(state: SenderState): void;
  /** A redaction thread cannot start; the main thread redacts everything for a minute. */
  onThreadsUnavailable?(failure: { readonly reason: string }): void;
  /** The destination of conversations from now on: the organization, or the context records of a site. */
  onDestination?(destination: {
    readonly kind: 'conversations' | 'context-records';
    readonly site: string | null;
  }): void;
}
