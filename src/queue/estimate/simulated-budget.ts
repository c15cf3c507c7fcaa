import type { BudgetSnapshot } from '../model/snapshot.ts';
import { releaseInBucket, releaseInWindow } from '../rate-limit/pacing.ts';

/** A budget as it will run out and come back. Times are milliseconds from the start. */
export class SimulatedBudget {
  readonly #limit: number;
  /** From one window to the next; null: nothing is known to be limited. */
  readonly #window: number | null;
  /** Calls per millisecond that flow into a bucket; null: there are windows. */
  readonly #refill: number | null;
  /** Calls per millisecond by others. */
  readonly #foreign: number;
  readonly #closedUntil: number;
  readonly #rtt: number;
  #left: number;
  /** The window's end; of a bucket, when `left` was last right. */
  #until: number;
  /** Nothing is known until one call has been answered. */
  #stale: boolean;
  #probing = false;
  #inFlight = 0;

  /** `seen`: where its own window is over, what a budget shows that looks like the same. */
  constructor(budget: BudgetSnapshot, seen: BudgetSnapshot | undefined) {
    const { limit, window, refill, foreign, closedFor, rtt } = budget;
    const { left, resetIn } = budget.left === null && seen !== undefined ? seen : budget;
    this.#limit = limit ?? 0;
    this.#window = this.#limit > 0 ? window : null;
    this.#refill = refill === null || refill <= 0 ? null : refill / 1000;
    this.#foreign = foreign / 1000;
    this.#closedUntil = closedFor;
    this.#rtt = rtt ?? 0;
    this.#stale = budget.left === null;
    const taken = this.#refill === null ? this.#foreign * (resetIn ?? 0) : 0;
    this.#left = (left ?? this.#limit) - taken;
    this.#until = this.#refill === null ? (resetIn ?? 0) : 0;
  }

  /**
   * When a call may go, if so many wait: now or earlier, a time to come, or Infinity: after an answer. The same rules
   * as those that the queue sends by.
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
    return waiting <= left ? now : this.#released(now, left, this.#window);
  }

  send(now: number): void {
    this.#inFlight += 1;
    if (this.#window !== null && this.#isOver(now)) {
      this.#begin(now, this.#window);
    }
    if (this.#refill !== null) {
      this.#left = this.#leftAt(now);
      this.#until = now;
    }
    this.#left -= 1;
  }

  answer(): void {
    this.#inFlight -= 1;
    this.#probing = false;
  }

  #isOver(now: number): boolean {
    return this.#stale || (this.#refill === null && now >= this.#until);
  }

  /** One call goes ahead to see the new window, then the rest of them. */
  #begin(now: number, window: number): void {
    this.#probing = true;
    this.#stale = false;
    if (this.#refill === null && now >= this.#until) {
      this.#until += (Math.floor((now - this.#until) / window) + 1) * window;
      this.#left = Math.max(1, this.#limit - this.#foreign * window);
    }
  }

  #leftAt(now: number): number {
    const flown = this.#refill === null ? 0 : (now - this.#until) * this.#refill;
    return Math.min(this.#limit, this.#left + flown);
  }

  /** Returns when the next simulated call is released. See docs/rate-limiting.md#sending. */
  #released(now: number, left: number, length: number): number {
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
