// Simulates a rate-limit budget for estimates.
import type { BudgetSnapshot } from '../model/snapshot.ts';
import { releaseInBucket, releaseInWindow } from '../rate-limit/pacing.ts';

/** Simulated rate-limit budget. Times are milliseconds from the start. */
export class SimulatedBudget {
  readonly #limit: number;
  /** Length of a window; null: no known limit. */
  readonly #window: number | null;
  /** Refill rate of a token bucket, in requests per millisecond; null for windows. */
  readonly #refill: number | null;
  /** Requests of other clients per millisecond. */
  readonly #otherClientsRate: number;
  readonly #closedUntil: number;
  readonly #rtt: number;
  #left: number;
  /** End of the window; for a bucket, the time at which `left` was last updated. */
  #until: number;
  /** True until the response to a probe: the remaining count is unknown. */
  #stale: boolean;
  #probing = false;
  #inFlight = 0;

  /** `similar`: state of a budget that is probably the same, used if this budget's own window is over. */
  constructor(budget: BudgetSnapshot, similar: BudgetSnapshot | undefined) {
    const { limit, window, refillRate, otherClientsRate, cooldown, rtt } = budget;
    const { remaining, resetIn } = budget.remaining === null && similar !== undefined ? similar : budget;
    this.#limit = limit ?? 0;
    this.#window = this.#limit > 0 ? window : null;
    this.#refill = refillRate === null || refillRate <= 0 ? null : refillRate / 1000;
    this.#otherClientsRate = otherClientsRate / 1000;
    this.#closedUntil = cooldown;
    this.#rtt = rtt ?? 0;
    this.#stale = budget.remaining === null;
    const usedByOthers = this.#refill === null ? this.#otherClientsRate * (resetIn ?? 0) : 0;
    this.#left = (remaining ?? this.#limit) - usedByOthers;
    this.#until = this.#refill === null ? (resetIn ?? 0) : 0;
  }

  /**
   * Returns the earliest time at which a request may be sent while `waiting` requests wait; Infinity: not before a
   * response arrives. Follows the same rules as the rate limiter.
   */
  opensAt(now: number, waiting: number): number {
    if (now < this.#closedUntil || this.#window === null) {
      return this.#closedUntil;
    }
    if (this.#probing) {
      return Number.POSITIVE_INFINITY;
    }
    if (this.#isOver(now)) {
      return now;
    }
    const left = this.#leftAt(now);
    if (left < 1) {
      return this.#refill === null ? this.#until : now + (1 - left) / this.#refill;
    }
    if (this.#refill !== null && this.#inFlight >= Math.max(1, left / 4, 2 * this.#refill * this.#rtt)) {
      return Number.POSITIVE_INFINITY;
    }
    return waiting <= left ? now : this.#releaseTime(now, left, this.#window);
  }

  onSent(now: number): void {
    this.#inFlight += 1;
    if (this.#window !== null && this.#isOver(now)) {
      this.#startWindow(now, this.#window);
    }
    if (this.#refill !== null) {
      this.#left = this.#leftAt(now);
      this.#until = now;
    }
    this.#left -= 1;
  }

  onResponse(): void {
    this.#inFlight -= 1;
    this.#probing = false;
  }

  #isOver(now: number): boolean {
    return this.#stale || (this.#refill === null && now >= this.#until);
  }

  /** Starts a window with one probe. */
  #startWindow(now: number, window: number): void {
    this.#probing = true;
    this.#stale = false;
    if (this.#refill === null && now >= this.#until) {
      this.#until += (Math.floor((now - this.#until) / window) + 1) * window;
      this.#left = Math.max(1, this.#limit - this.#otherClientsRate * window);
    }
  }

  #leftAt(now: number): number {
    const refilled = this.#refill === null ? 0 : (now - this.#until) * this.#refill;
    return Math.min(this.#limit, this.#left + refilled);
  }

  /** Returns when the next simulated call is released. See docs/rate-limiting.md#request-pacing. */
  #releaseTime(now: number, left: number, length: number): number {
    const decision =
      this.#refill === null
        ? releaseInWindow(now, left, this.#limit, { end: this.#until, length })
        : releaseInBucket(now, left, {
            limit: this.#limit,
            refill: this.#refill * 1000,
            seenAt: null,
            end: Number.POSITIVE_INFINITY,
          });
    return decision.kind === 'wait' ? decision.until : now;
  }
}
