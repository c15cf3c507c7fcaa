// Defines the requests that the queue sends: class, priority, repeatability, reply and rate-limit headers.
import { type AppError, TransientError } from '../core/errors.ts';

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

/** Rate-limit headers of one response; null for each header that is absent. */
export interface RateHeaders {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** As sent: seconds since the epoch, or seconds from now if less than 1e9. May have a fraction. */
  readonly reset: number | null;
  /** Time to wait, in milliseconds. */
  readonly retryAfter: number | null;
  /** Server time in milliseconds since the epoch, rounded down to whole seconds. */
  readonly date: number | null;
}

/** Headers of a response without rate-limit headers, or of a missing response. */
export const NO_RATE_HEADERS: RateHeaders = { limit: null, remaining: null, reset: null, retryAfter: null, date: null };

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Reads `X-RateLimit-*`, `Retry-After` and `Date`. Names must be in lower case. A value that cannot be parsed is
 * treated as absent. Source: docs/platform-notes.md#rate-limits
 */
export function readRateHeaders(headers: HeaderRecord): RateHeaders {
  const date = parseDate(single(headers.date));
  return {
    limit: parseAmount(single(headers['x-ratelimit-limit'])),
    remaining: parseAmount(single(headers['x-ratelimit-remaining'])),
    reset: parseAmount(single(headers['x-ratelimit-reset'])),
    retryAfter: parseRetryAfter(single(headers['retry-after']), date),
    date,
  };
}

function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' || value === undefined ? value : value[0];
}

function parseAmount(value: string | undefined): number | null {
  if (value === undefined || value.trim() === '') {
    return null;
  }
  const amount = Number(value);
  return Number.isFinite(amount) && amount >= 0 ? amount : null;
}

function parseDate(value: string | undefined): number | null {
  const date = value === undefined ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? null : date;
}

/** Parses seconds or a date. A date is compared with the server's own clock. */
function parseRetryAfter(value: string | undefined, date: number | null): number | null {
  const seconds = parseAmount(value);
  if (seconds !== null) {
    return seconds * 1000;
  }
  const until = parseDate(value);
  return until === null || date === null ? null : Math.max(0, until - date);
}

/**
 * Error of a request that got no response in time. Retrying it costs more of the retry quota than other network errors.
 * See docs/rate-limiting.md#retries.
 */
export class TimeoutError extends TransientError {
  override readonly code: string = 'timeout';
}

/** Part of AbortSignal that sending a request needs. */
export interface CancelSignal extends Pick<AbortSignal, 'aborted' | 'reason'> {
  addEventListener(type: 'abort', listener: CancelListener): void;
  removeEventListener(type: 'abort', listener: CancelListener): void;
}

interface CancelListener {
  handleEvent(): void;
}

const NONE: readonly CancelListener[] = [];

/**
 * Controller and signal for the attempts of one request. An AbortSignal would take as much time as everything else that
 * the queue does for a request, and stay in memory with the request and its response until a full garbage collection.
 */
export class AttemptSignal implements CancelSignal {
  aborted = false;
  reason: AbortSignal['reason'];
  #listeners: readonly CancelListener[] = NONE;

  /** Calls the listeners, once. */
  abort(reason: Error): void {
    if (this.aborted) {
      return;
    }
    this.aborted = true;
    this.reason = reason;
    const listeners = this.#listeners;
    this.#listeners = NONE;
    for (const listener of listeners) {
      listener.handleEvent();
    }
  }

  addEventListener(_: 'abort', listener: CancelListener): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_: 'abort', listener: CancelListener): void {
    const others = this.#listeners.filter((each) => each !== listener);
    this.#listeners = others.length === 0 ? NONE : others;
  }
}

/** Returns an AbortSignal that aborts with a signal. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) {
    return signal;
  }
  const controller = new AbortController();
  const handleEvent = () => controller.abort(signal.reason);
  if (signal.aborted) {
    handleEvent();
  } else {
    signal.addEventListener('abort', { handleEvent });
  }
  return controller.signal;
}
