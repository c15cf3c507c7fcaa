/** Interface of notification channels. */
import { AppError, type Disposition } from '../../core/errors.ts';
import type { Notification } from '../model/notification.ts';

/** Reference to the first message of a thread at its channel, to answer in it or to update it. Kept in the state file. */
export type Receipt = Readonly<Record<string, string>>;

/** A message to send. */
export interface Outgoing {
  /** The same for all attempts: receivers that know it drop repeated ones. Letters, digits, `_` and `-`. */
  readonly id: string;
  /** Id of the first message of the thread. */
  readonly thread: string;
  /** The whole thread as it is now, not only what changed: its state decides whether an incident is over. */
  readonly message: Notification;
  /** Of the first message of the thread; null if this is the first one, or its answer was lost. */
  readonly receipt: Receipt | null;
}

/** A channel of the configuration. */
export interface Channel {
  readonly name: string;
  /** True: each thread is one incident that people are paged for. */
  readonly isPager: boolean;
  /**
   * Sends one message. Resolves once the receiver has taken it. Throws {@link ChannelError}, and nothing else.
   */
  send(outgoing: Outgoing, signal: AbortSignal): Promise<Receipt | null>;
  /** Ends connections that are kept open. */
  close(): Promise<void>;
}

/**
 * `not-taken`: the receiver certainly does not have the message; sending it again may succeed. `unknown`: it may have
 * it. `rejected`: it does not have it, and sending it again cannot succeed.
 */
export type SendFailure = 'not-taken' | 'unknown' | 'rejected';

/** A message was not sent, or its answer was lost. The text has no secrets: no URL of a webhook, no token. */
export class ChannelError extends AppError {
  readonly code = 'channel-failing';
  readonly disposition: Disposition;
  readonly failure: SendFailure;
  /** Milliseconds until the next attempt, as the receiver says; null if it does not. */
  readonly retryAfter: number | null;

  constructor(message: string, failure: SendFailure, retryAfter: number | null = null, options?: ErrorOptions) {
    super(message, options);
    this.failure = failure;
    this.disposition = failure === 'rejected' ? 'stall' : 'retry';
    this.retryAfter = retryAfter;
  }
}
