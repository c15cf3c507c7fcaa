// Estimates the long-run rate of a limit, and recognizes token buckets.
import type { FirstResponse } from './rate-window.ts';

/** Consecutive resets that moved before they were reached, after which a limit is permanently treated as a bucket. */
const BUCKET_EVIDENCE = 5;
/** Minimum sample, in requests and milliseconds, to measure the refill rate of a bucket. */
const MIN_REQUESTS = 20;
const MIN_TIME = 1000;
/** Common window lengths, in milliseconds. */
const COMMON_LENGTHS = [1000, 2000, 5000, 10_000, 60_000, 3_600_000, 86_400_000];
/** Most common length, assumed for a window that ends on a full minute, however little of it is left. */
const MINUTE = 60_000;

/** Requests since a time, and the remaining count at that time. */
interface Sample {
  readonly at: number;
  readonly left: number;
  requests: number;
}

/** Long-run rate of a limit: its window length, or its refill rate if it is a token bucket. */
export class RefillRate {
  /** Shortest time between the resets of two consecutive windows, in milliseconds. */
  #period: number | null = null;
  #resetAt: number | null = null;
  #movedResets = 0;
  /** Sample since the bucket was last full. */
  #since: Sample | null = null;
  /** Sample between two times at which the bucket was full. */
  #betweenFull: Sample | null = null;
  #refill: number | null = null;
  #minRefill: number | null = null;

  /** Refill rate in requests per second; null for windows, or while unknown. */
  get refill(): number | null {
    return this.isBucket ? this.#refill : null;
  }

  /**
   * Minimum refill rate in requests per second: a bucket that is full again was refilled by the requests made.
   * Null for windows, or while unknown.
   */
  get minRefill(): number | null {
    return this.refill ?? (this.isBucket ? this.#minRefill : null);
  }

  /** Returns the requests by which a bucket refills in this time. */
  refilled(milliseconds: number): number {
    return Math.floor(((this.refill ?? 0) * Math.max(0, milliseconds)) / 1000);
  }

  /** Milliseconds until a bucket refills by one request; Infinity for windows. */
  get untilNext(): number {
    const refill = this.refill ?? 0;
    return refill <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, 1000 / refill);
  }

  /** True if the limit is a token bucket. */
  get isBucket(): boolean {
    return this.#movedResets >= BUCKET_EVIDENCE;
  }

  /** True if the last reset moved before it was reached: the limit may be a token bucket. */
  get doResetsMove(): boolean {
    return this.#movedResets > 0;
  }

  /** Restores what another process found: requests per second of a bucket; null for windows. */
  recall(refill: number | null): void {
    if (refill !== null) {
      this.#movedResets = BUCKET_EVIDENCE;
      this.#refill = refill;
    }
  }

  /**
   * Returns the window length in milliseconds. Until two windows were seen, it is estimated from the longest part seen.
   */
  period(longest: number): number {
    if (this.#period !== null) {
      return this.#period;
    }
    const reset = this.#resetAt ?? 0;
    if (longest <= MINUTE && reset % MINUTE === 0) {
      return MINUTE;
    }
    const common = COMMON_LENGTHS.find((length) => length >= longest && reset % length === 0);
    return common !== undefined && common < 10 * longest ? common : longest;
  }

  /** Records a new reset. `continues`: the remaining count is about the same as before, or lower. */
  onReset({ resetAt, date }: FirstResponse, continues: boolean): void {
    const last = this.#resetAt;
    this.#resetAt = resetAt;
    if (last === null || resetAt <= last || this.isBucket) {
      return;
    }
    if (date !== null && date < last) {
      this.#movedResets = continues ? this.#movedResets + 1 : this.#movedResets;
      return;
    }
    this.#movedResets = 0;
    this.#period = Math.min(this.#period ?? Number.POSITIVE_INFINITY, resetAt - last);
  }

  onResponse(left: number, limit: number, at: number): void {
    for (const sample of [this.#since, this.#betweenFull]) {
      if (sample !== null) {
        sample.requests += 1;
      }
    }
    if (left >= limit - 1) {
      this.#betweenFull ??= { at, left, requests: 0 };
      if (isConclusive(this.#betweenFull, at)) {
        this.#minRefill = measureRefill(this.#betweenFull, left, at);
        this.#betweenFull = { at, left, requests: 0 };
      }
      this.#since = { at, left, requests: 0 };
      return;
    }
    this.#since ??= { at, left, requests: 0 };
    if (isConclusive(this.#since, at)) {
      this.#refill = measureRefill(this.#since, left, at);
    }
  }
}

function isConclusive({ at, requests }: Sample, now: number): boolean {
  return requests >= MIN_REQUESTS && now - at >= MIN_TIME;
}

/** Returns the refill rate in requests per second. */
function measureRefill({ at, left, requests }: Sample, leftNow: number, now: number): number {
  return ((leftNow - left + requests) / (now - at)) * 1000;
}
