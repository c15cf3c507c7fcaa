import type { RateWindow } from './rate-window.ts';

const BACKOFF_FIRST = 1000;
const BACKOFF_MOST = 60_000;

/** Keeps a budget closed after a refusal (429). Times are monotonic milliseconds. */
export class Cooldown {
  until = Number.NEGATIVE_INFINITY;
  /** Refusals in a row of what was sent after the one before. */
  refusals = 0;
  #since = Number.NEGATIVE_INFINITY;

  /** A refusal. False when the request was on its way already as the budget closed, so that it says nothing new. */
  onRefused(sentAt: number, receivedAt: number): boolean {
    const isNews = sentAt >= this.#since;
    if (isNews) {
      this.refusals += 1;
      this.#since = receivedAt;
    }
    return isNews;
  }

  onAnswer(sentAt: number): void {
    if (sentAt >= this.#since) {
      this.refusals = 0;
    }
  }

  /** What to wait where the platform names nothing that can be believed; doubled with each refusal. */
  get backoff(): number {
    return Math.min(BACKOFF_MOST, BACKOFF_FIRST * 2 ** Math.max(0, this.refusals - 1));
  }

  close(until: number): void {
    this.until = Math.max(this.until, until);
  }

  /** For as long as Retry-After says (milliseconds); where it is null a while, spread by `jitter` in [0, 1). */
  closeFor(retryAfter: number | null, receivedAt: number, jitter: number): void {
    // A wait of nothing that is refused again is not taken at its word.
    const least = this.refusals > 1 ? this.backoff / 4 : 0;
    this.close(receivedAt + (retryAfter === null ? this.backoff * (0.5 + jitter / 2) : Math.max(retryAfter, least)));
  }

  /** Until the window ends; one that should have ended already goes on a little longer. */
  closeUntilReset(window: RateWindow, receivedAt: number): void {
    if (window.end > receivedAt) {
      this.close(window.end);
      return;
    }
    window.outlast();
    this.close(Math.max(window.end, receivedAt + this.backoff));
  }
}
