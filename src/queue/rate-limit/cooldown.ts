import type { RateWindow } from './rate-window.ts';

const MIN_BACKOFF = 1000;
const MAX_BACKOFF = 60_000;

/** Cooldown of a budget after a 429. Times are monotonic milliseconds. */
export class Cooldown {
  until = Number.NEGATIVE_INFINITY;
  /** Consecutive 429s, not counting requests that were already in flight at the first of them. */
  refusals = 0;
  #since = Number.NEGATIVE_INFINITY;

  /** Records a 429. Returns false if the request was sent before the cooldown began, so that it adds no information. */
  onRefused(sentAt: number, receivedAt: number): boolean {
    const isNew = sentAt >= this.#since;
    if (isNew) {
      this.refusals += 1;
      this.#since = receivedAt;
    }
    return isNew;
  }

  onResponse(sentAt: number): void {
    if (sentAt >= this.#since) {
      this.refusals = 0;
    }
  }

  /** Backoff in milliseconds, for a 429 without a usable wait. Doubles with each 429. */
  get backoff(): number {
    return Math.min(MAX_BACKOFF, MIN_BACKOFF * 2 ** Math.max(0, this.refusals - 1));
  }

  close(until: number): void {
    this.until = Math.max(this.until, until);
  }

  /** Closes for `retryAfter` milliseconds; if it is null, for the backoff with `jitter` in [0, 1). */
  closeFor(retryAfter: number | null, receivedAt: number, jitter: number): void {
    // A server that repeats 429 with a Retry-After of 0 gets a minimum wait.
    const minimum = this.refusals > 1 ? this.backoff / 4 : 0;
    this.close(receivedAt + (retryAfter === null ? this.backoff * (0.5 + jitter / 2) : Math.max(retryAfter, minimum)));
  }

  /** Closes until the window ends, or for the backoff if it should have ended already. */
  closeUntilReset(window: RateWindow, receivedAt: number): void {
    if (window.end > receivedAt) {
      this.close(window.end);
      return;
    }
    window.onOverrun();
    this.close(Math.max(window.end, receivedAt + this.backoff));
  }
}
