import type { AppError } from '../../core/errors.ts';
import type { RedactionType } from './conversation.ts';
import type { SkipReason } from './ticket.ts';

/** What was found at once, after it has become durable. Numbers only. */
export interface Taken {
  readonly source: string;
  readonly found: number;
  /** Content that waits now. */
  readonly waiting: number;
  readonly unchanged: number;
  /** Content that waited and does not any more. */
  readonly withdrawn: number;
  readonly gone: number;
  readonly rejected: number;
  /** Tickets of which the source gave fewer parts than it reported. */
  readonly incomplete: number;
  readonly skipped: Readonly<Partial<Record<SkipReason, number>>>;
  readonly redacted: Readonly<Partial<Record<RedactionType, number>>>;
}

export type SenderState =
  | { readonly kind: 'stopped' | 'idle' | 'sending' }
  /** The platform fails or cannot be reached; tried again by itself. */
  | { readonly kind: 'failing'; readonly reason: string }
  /** The platform does not let us: a person must act; tried again now and then. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The platform has no ingestion. */
  | { readonly kind: 'unsupported'; readonly reason: string };

/** What can be told while conversations are taken in and sent; no content, ever. */
export interface ConversationEvents {
  onTaken?(taken: Taken): void;
  onRejected?(rejected: { readonly source: string; readonly place: string; readonly reason: string }): void;
  /** Files that were pushed by hand have been read, or no more is read of them. */
  onFilesEnd?(end: { readonly source: string }): void;
  onShortfall?(shortfall: {
    readonly source: string;
    readonly key: string;
    readonly reported: number;
    readonly fetched: number;
  }): void;
  /** The outbox is full, and this source waits; or it goes on. */
  onPressure?(pressure: { readonly source: string; readonly isFull: boolean }): void;
  /** A poll came to its end, or failed and is tried again after so many milliseconds. */
  onPollEnd?(end: { readonly source: string; readonly error: AppError | null; readonly again: number }): void;
  onSent?(sent: { readonly items: number; readonly bytes: number }): void;
  /** An answer was lost; the same batch goes again. */
  onDoubt?(doubt: { readonly items: number; readonly times: number; readonly reason: string }): void;
  /** The platform refuses one conversation for good. */
  onRefused?(refused: { readonly source: string; readonly key: string; readonly reason: string }): void;
  onSenderState?(state: SenderState): void;
  /** Where conversations go from now on: to the organization, or to a site as its context records. */
  onDestination?(destination: {
    readonly kind: 'conversations' | 'context-records';
    readonly site: string | null;
  }): void;
}
