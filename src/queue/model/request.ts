// Defines the requests that the queue sends: class, priority, repeatability and reply.
import type { AppError } from '../../core/errors.ts';
import type { AttemptSignal } from './attempt-signal.ts';
import type { RateHeaders } from './rate-headers.ts';

/**
 * Class of a request. The platform counts each kind of method against a separate limit.
 * See docs/rate-limiting.md#request-classes.
 */
export type RequestClass = 'read' | 'write' | 'search' | 'ingest';

export const REQUEST_CLASSES: readonly RequestClass[] = ['read', 'write', 'search', 'ingest'];

/**
 * Priority of a request, from high to low: interactive commands, apply, cluster automation, ingestion, drift reads.
 * See docs/rate-limiting.md#priorities.
 */
export type Priority = 'person' | 'apply' | 'clusters' | 'ingestion' | 'drift';

export const PRIORITIES: readonly Priority[] = ['person', 'apply', 'clusters', 'ingestion', 'drift'];

/**
 * Repeatability of a request whose response was lost.
 *
 * - `safe`: changes nothing, and can be repeated.
 * - `idempotent`: has the same effect when sent twice, and can be repeated.
 * - `never`: must not be repeated; the caller has to check whether it took effect.
 */
export type Repeat = 'safe' | 'idempotent' | 'never';

/** Response to one attempt. */
export interface Reply<T> {
  readonly headers: RateHeaders;
  /** Time at which the headers arrived, in monotonic milliseconds. */
  readonly receivedAt: number;
  readonly result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: AppError };
}

/** Request to be sent by the queue. */
export interface QueuedRequest<T> {
  /** Name of the operation, for errors and events. */
  readonly name: string;
  readonly class: RequestClass;
  readonly priority: Priority;
  readonly repeat: Repeat;
  /** Safe requests that have the same key and are waiting or in flight are sent once. Null: never shared. */
  readonly key?: string | null;
  readonly signal?: AbortSignal;
  /**
   * Returns the error of a request that must not be sent now; null if it may be sent. Called when the request is made, at
   * the moment it would be sent, after all waiting, and by `recheck`.
   */
  readonly refusal?: (() => AppError | null) | undefined;
  /** Deadline in milliseconds from now; defaults to the queue's deadline. */
  readonly deadline?: number;
  /**
   * Makes one attempt. For a 429, resolves with a result whose error is a RateLimitedError. Without a response, rejects
   * with a TransientError.
   */
  attempt(signal: AttemptSignal): Promise<Reply<T>>;
}
