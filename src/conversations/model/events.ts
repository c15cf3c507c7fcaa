import type { AppError } from '../../core/errors.ts';
import type { RedactionType } from './conversation.ts';
import type { TicketSkipReason } from './ticket.ts';

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
