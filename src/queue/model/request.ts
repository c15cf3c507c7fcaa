import type { AppError } from '../../core/errors.ts';
import type { RateHeaders } from './rate-headers.ts';

/**
 * Class of a request for rate limits: the platform counts kinds of method separately.
 * See docs/rate-limiting.md#request-classes.
 */
export type RequestClass = 'read' | 'write' | 'search' | 'ingest';

export const REQUEST_CLASSES: readonly RequestClass[] = ['read', 'write', 'search', 'ingest'];

/**
 * Priority of a request, from high to low: a person who waits, apply, cluster automation, ingestion, drift reads.
 * See docs/rate-limiting.md#priorities.
 */
export type Priority = 'person' | 'apply' | 'clusters' | 'ingestion' | 'drift';

export const PRIORITIES: readonly Priority[] = ['person', 'apply', 'clusters', 'ingestion', 'drift'];

/**
 * Whether a request whose answer was lost may be sent again as it is.
 *
 * - `safe`: it changes nothing.
 * - `idempotent`: twice is the same as once.
 * - `never`: the caller must look up whether it happened.
 */
export type Repeat = 'safe' | 'idempotent' | 'never';

/** What came back for one attempt. */
export interface Reply<T> {
  readonly headers: RateHeaders;
  /** When the headers came in, on the clock's monotonic scale. */
  readonly receivedAt: number;
  readonly result: { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: AppError };
}

/** One request as the queue sees it. */
export interface QueuedRequest<T> {
  /** What it is, for errors and events: the operation's name. */
  readonly name: string;
  readonly class: RequestClass;
  readonly priority: Priority;
  readonly repeat: Repeat;
  /** Safe requests with equal keys that wait or are in flight are one request. Null: never shared. */
  readonly key?: string | null;
  readonly signal?: AbortSignal;
  /** Milliseconds from now after which it is given up; the queue's own where absent. */
  readonly deadline?: number;
  /**
   * Makes one attempt. A refusal (429) is a result whose error is a RateLimitedError; where no answer came it rejects
   * with a TransientError.
   */
  attempt(signal: AbortSignal): Promise<Reply<T>>;
}
