// Paces requests over a window or a token bucket, as far as responses have shown it, with a reserve for urgent requests and other clients.
import type { ServerClock } from './server-clock.ts';

/** Decision about the next request of a class. `until` is monotonic; Infinity: until a response arrives. */
export type Decision =
  | { readonly kind: 'send' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'wait'; readonly until: number; readonly why: string };

export const SEND: Decision = { kind: 'send' };
export const PROBE: Decision = { kind: 'probe' };

const WHY = 'requests are paced over the rate limit';

/** Waits for a response to the requests in flight. */
export const AFTER_RESPONSE: Decision = { kind: 'wait', until: Number.POSITIVE_INFINITY, why: WHY };

/** Share at the end of a window in which nothing is reserved. See docs/rate-limiting.md#request-pacing. */
const UNRESERVED_SHARE = 0.1;
/** Share of a token bucket that is reserved for urgent requests. */
const BUCKET_RESERVE = 0.2;
/** Interval at which one request checks the remaining count of a token bucket that others may share, in ms. */
const CHECK_INTERVAL = 2000;

/** Window to pace requests over. Times are monotonic milliseconds. */
export interface PacingSpan {
  readonly end: number;
  readonly length: number;
}

/** Returns true near the end of a window, where neither this queue nor another Octavo reserves anything. */
export function isUnreserved(now: number, { end, length }: PacingSpan): boolean {
  return now >= end - length * UNRESERVED_SHARE;
}

/** Paces requests over a window. The reserve for urgent requests and other clients falls linearly. */
export function releaseInWindow(now: number, raw: number, limit: number, { end, length }: PacingSpan): Decision {
  const share = length > 0 ? (end - now) / length : 0;
  const reserve = Math.max(0, (limit * (share - UNRESERVED_SHARE)) / (1 - UNRESERVED_SHARE));
  if (raw - reserve >= 1) {
    return SEND;
  }
  const left = length * (UNRESERVED_SHARE + ((1 - UNRESERVED_SHARE) * (raw - 1)) / limit);
  return { kind: 'wait', until: Math.max(end - left, now + 1), why: WHY };
}

/** Token bucket to pace requests over. */
interface Bucket {
  readonly limit: number;
  /** Requests per second. */
  readonly refill: number;
  /** Time of the last response, monotonic; null while a request is in flight. */
  readonly seenAt: number | null;
  /** Time at which the bucket will be full, monotonic. */
  readonly end: number;
}

/**
 * Paces requests over a token bucket. The reserve for urgent requests is constant, because unused tokens do not expire
 * at the end of a window. Usage by other clients only shows in the remaining count, so one request checks it regularly.
 */
export function releaseInBucket(now: number, raw: number, { limit, refill, seenAt, end }: Bucket): Decision {
  const missing = limit * BUCKET_RESERVE + 1 - raw;
  const checkAt = seenAt === null ? Number.POSITIVE_INFINITY : seenAt + CHECK_INTERVAL;
  if (missing <= 0 || now >= checkAt) {
    return SEND;
  }
  const filled = refill > 0 ? now + (missing * 1000) / refill : Number.POSITIVE_INFINITY;
  return { kind: 'wait', until: Math.max(now + 1, Math.min(filled, checkAt, end)), why: WHY };
}

/** Milliseconds by which a reset may be early, if the server rounds it down. */
export const FLOOR_BIAS = 1000;

const SECOND = 1000;

/** First response seen in a window. Times are monotonic milliseconds, unless noted. */
interface FirstResponse {
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

/** Minimum interval between samples of other clients' usage, in milliseconds, and the weight of a sample. */
const SAMPLE_EVERY = 500;
const SAMPLE_WEIGHT = 0.3;

/** Maximum of other clients' requests per own request that is carried over to the next window. */
const MAX_CARRIED_RATIO = 4;

/** Time for which the last measured rate is extrapolated, as a share of a window: bursts of other clients end too. */
const MAX_SILENCE = 1 / 8;

/** Estimates other clients' usage of the same budget from drops in `remaining` that own requests do not explain. */
export class OtherClients {
  /** Requests of other clients per millisecond. */
  rate = 0;
  #initialRemaining = 0;
  /** Own requests that may be part of the drop since the start, including those in flight at the start. */
  #own = 0;
  #lastUnexplained = 0;
  #sampledAt = 0;
  #share = 0;
  #shareBefore = 0;

  /** True if other clients have used the budget. */
  get areSeen(): boolean {
    return this.rate > 0 || this.#share > 0 || this.#shareBefore > 0;
  }

  /** Starts a window with `remaining` requests left. Up to `inFlight` own requests may not be counted in it yet. */
  begin(remaining: number, inFlight: number, now: number): void {
    this.#shareBefore = Math.min(MAX_CARRIED_RATIO, this.#share);
    this.#share = 0;
    this.#initialRemaining = remaining;
    this.#own = inFlight;
    this.#lastUnexplained = 0;
    this.#sampledAt = now;
  }

  /** Counts own requests that were sent; negative if they turned out not to have been sent. */
  count(calls: number): void {
    this.#own += calls;
  }

  /** Returns the requests since the start of the window that are certainly not own requests. */
  unexplained(remaining: number): number {
    return Math.max(0, this.#initialRemaining - remaining - this.#own);
  }

  /** Returns other clients' requests per own request, in this window or the one before, whichever is higher. */
  share(remaining: number): number {
    this.#share = this.#own === 0 ? 0 : this.unexplained(remaining) / this.#own;
    return Math.max(this.#share, this.#shareBefore);
  }

  /**
   * Returns the requests that other clients may have sent by the time a request arrives: the higher of their recent
   * rate and their `share` for each own request in flight. `rtt` is the round trip, `silence` the time since the last
   * response, and `window` the window's length, in milliseconds.
   */
  expected(share: number, inFlight: number, times: { rtt: number; silence: number; window: number }): number {
    const silence = Math.min(times.silence, times.window * MAX_SILENCE);
    const recent = this.rate * (times.rtt + Math.max(times.rtt, silence));
    return Math.ceil(Math.max(recent, share * inFlight));
  }

  /** Takes a sample at most every `rtt` milliseconds, as a drop within one round trip is not conclusive. */
  observe(remaining: number, now: number, rtt: number): void {
    const elapsed = now - this.#sampledAt;
    if (elapsed < Math.max(SAMPLE_EVERY, rtt)) {
      return;
    }
    const unexplained = Math.max(this.#lastUnexplained, this.unexplained(remaining));
    this.rate += SAMPLE_WEIGHT * ((unexplained - this.#lastUnexplained) / elapsed - this.rate);
    this.#lastUnexplained = unexplained;
    this.#sampledAt = now;
  }
}
