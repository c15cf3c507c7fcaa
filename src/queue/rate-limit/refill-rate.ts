import type { Sighting } from './rate-window.ts';

/** Resets in a row that moved on before they came, after which a limit is taken, for good, for a bucket. */
const BUCKET_PROOF = 5;
/** Calls and milliseconds after which a bucket's rate is worth something. */
const ENOUGH_CALLS = 20;
const ENOUGH_TIME = 1000;
/** What windows usually last, in milliseconds. */
const USUAL = [1000, 2000, 5000, 10_000, 60_000, 3_600_000, 86_400_000];
/** The most usual: what ends with a minute is taken for one, however little of it is left. */
const MINUTE = 60_000;

/** Calls since a time, and what was left then. */
interface Count {
  readonly at: number;
  readonly left: number;
  calls: number;
}

/** How fast a limit gives calls in the long run. For estimates only: when to send is told by the answers. */
export class RefillRate {
  /** Between the resets of two windows one after the other. */
  #period: number | null = null;
  #resetAt: number | null = null;
  #moved = 0;
  /** Since the bucket was last full. */
  #since: Count | null = null;
  /** From one time that it was full to another. */
  #sinceFull: Count | null = null;
  #refill: number | null = null;
  #least: number | null = null;

  /** Calls a second flow in evenly, as far as that is known; null: there are windows, or it is not known. */
  get refill(): number | null {
    return this.isBucket ? this.#refill : null;
  }

  /** Calls a second that flow in at least: a bucket that is full again took in as many as were made. Else null. */
  get leastRefill(): number | null {
    return this.refill ?? (this.isBucket ? this.#least : null);
  }

  /** Calls that have flowed into a bucket in so many milliseconds. */
  refilled(milliseconds: number): number {
    return Math.floor(((this.refill ?? 0) * Math.max(0, milliseconds)) / 1000);
  }

  /** Milliseconds until there is one call more; Infinity where the limit is no bucket. */
  get untilNext(): number {
    const refill = this.refill ?? 0;
    return refill <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, 1000 / refill);
  }

  /** Calls flow in evenly. */
  get isBucket(): boolean {
    return this.#moved >= BUCKET_PROOF;
  }

  /** What another process found: calls per second of a bucket; null where there are windows. */
  recall(refill: number | null): void {
    if (refill !== null) {
      this.#moved = BUCKET_PROOF;
      this.#refill = refill;
    }
  }

  /** Milliseconds from one window to the next, of which the longest part seen is given; a guess at first. */
  period(longest: number): number {
    if (this.#period !== null) {
      return this.#period;
    }
    const reset = this.#resetAt ?? 0;
    if (longest <= MINUTE && reset % MINUTE === 0) {
      return MINUTE;
    }
    const usual = USUAL.find((length) => length >= longest && reset % length === 0);
    return usual !== undefined && usual < 10 * longest ? usual : longest;
  }

  /** An answer shows another reset than the one before; `continues`: and about as much left, or less. */
  onReset({ resetAt, date }: Sighting, continues: boolean): void {
    const last = this.#resetAt;
    this.#resetAt = resetAt;
    if (last === null || resetAt <= last || this.isBucket) {
      return;
    }
    if (date !== null && date < last) {
      this.#moved = continues ? this.#moved + 1 : this.#moved;
      return;
    }
    this.#moved = 0;
    this.#period = Math.min(this.#period ?? Number.POSITIVE_INFINITY, resetAt - last);
  }

  onAnswer(left: number, limit: number, at: number): void {
    for (const count of [this.#since, this.#sinceFull]) {
      if (count !== null) {
        count.calls += 1;
      }
    }
    if (left >= limit - 1) {
      this.#sinceFull ??= { at, left, calls: 0 };
      if (isEnough(this.#sinceFull, at)) {
        this.#least = rateOf(this.#sinceFull, left, at);
        this.#sinceFull = { at, left, calls: 0 };
      }
      this.#since = { at, left, calls: 0 };
      return;
    }
    this.#since ??= { at, left, calls: 0 };
    if (isEnough(this.#since, at)) {
      this.#refill = rateOf(this.#since, left, at);
    }
  }
}

function isEnough({ at, calls }: Count, now: number): boolean {
  return calls >= ENOUGH_CALLS && now - at >= ENOUGH_TIME;
}

/** Calls per second that flowed in. */
function rateOf({ at, left, calls }: Count, leftNow: number, now: number): number {
  return ((leftNow - left + calls) / (now - at)) * 1000;
}
