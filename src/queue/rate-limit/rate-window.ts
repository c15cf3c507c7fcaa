// Tracks the current window of a rate limit, and when it ends.
import type { ServerClock } from './server-clock.ts';

/** Milliseconds by which a reset may be early, if the server rounds it down. */
export const FLOOR_BIAS = 1000;

const SECOND = 1000;

/** First response seen in a window. Times are monotonic milliseconds, unless noted. */
export interface FirstResponse {
  /** Server time. */
  readonly resetAt: number;
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The response's `Date`, in server time. */
  readonly date: number | null;
  /** True if this request started the window, judging by the remaining count. */
  readonly startsWindow: boolean;
}

/**
 * Window of a rate limit.
 *
 * A reset is in whole seconds. If windows start with a request and the reset is rounded up, waiting for it loses up to
 * a second per window. Such a server shows a new window although its own `Date` is still before the last reset. The
 * length is then learned as the whole seconds between the requests that started the two windows. If a window
 * lasts longer than the learned length, the class permanently returns to using resets.
 */
export class RateWindow {
  /** Longest window seen, or the learned length, in milliseconds. */
  length = 0;
  readonly #clock: ServerClock;
  #resetAt: number | null = null;
  #bias = 0;
  #startedBy: FirstResponse | null = null;
  /** Learned length in milliseconds; null: the end is the reset. */
  #learnedLength: number | null = null;
  #trustsResets = false;

  constructor(clock: ServerClock) {
    this.#clock = clock;
  }

  /** Reset in server time; null while unknown. */
  get resetAt(): number | null {
    return this.#resetAt;
  }

  /** Monotonic end of the window; -Infinity while unknown. */
  get end(): number {
    if (this.#resetAt === null) {
      return Number.NEGATIVE_INFINITY;
    }
    const reported = this.#clock.toMonotonic(this.#resetAt) + this.#bias;
    return this.#learnedLength === null || this.#startedBy === null
      ? reported
      : Math.min(reported, this.#startedBy.receivedAt + this.#learnedLength);
  }

  /** Monotonic time before which the window certainly does not end; -Infinity while unknown. */
  get earliestEnd(): number {
    return this.#resetAt === null ? this.end : Math.min(this.end, this.#clock.toEarliest(this.#resetAt));
  }

  /** Stops learning the length, because the limit is a token bucket or a learned length was wrong. */
  trustResets(): void {
    this.#learnedLength = null;
    this.#trustsResets = true;
  }

  /** Restores what another process saw. `resetAt` is server time; `length` is in milliseconds. */
  recall(resetAt: number, length: number): void {
    this.#resetAt = resetAt;
    this.length = length;
  }

  /** Starts a window at its first response. */
  begin(first: FirstResponse): void {
    const { resetAt, receivedAt, date } = first;
    const last = this.#startedBy;
    if (last !== null && first.startsWindow && date !== null && date < last.resetAt) {
      this.#learn(receivedAt - last.sentAt);
    }
    this.#startedBy = first.startsWindow ? first : null;
    this.#resetAt = resetAt;
    this.length = this.#learnedLength ?? Math.max(this.length, resetAt - this.#clock.toServer(receivedAt));
    if (this.#clock.toMonotonic(resetAt) + this.#bias <= receivedAt) {
      this.#bias = FLOOR_BIAS;
    }
  }

  #learn(between: number): void {
    const learned = Math.floor(between / SECOND) * SECOND;
    if (!this.#trustsResets && learned > 0) {
      this.#learnedLength = learned;
    }
  }

  /** Records that the window lasted longer than expected. */
  onOverrun(): void {
    if (this.#learnedLength === null) {
      this.#bias = FLOOR_BIAS;
    }
    this.trustResets();
  }

  /** Records the reset of a 429. */
  extend(resetAt: number, receivedAt: number): void {
    if (this.#learnedLength !== null && resetAt === this.#resetAt && receivedAt >= this.end) {
      this.onOverrun();
    }
    this.#resetAt = Math.max(this.#resetAt ?? resetAt, resetAt);
  }
}
