import { append } from '../../core/lists.ts';
import { Average } from '../model/average.ts';
import type { RateHeaders } from '../model/rate-headers.ts';
import type { RequestClass } from '../model/request.ts';
import type { BudgetSnapshot } from '../model/snapshot.ts';
import { type BudgetView, toRememberedBudget, toSnapshot } from './budget-view.ts';
import { Cooldown } from './cooldown.ts';
import { InFlightCap } from './in-flight-cap.ts';
import type { RememberedBudget } from './memory.ts';
import { OtherClients } from './other-clients.ts';
import { AFTER_RESPONSE, type Decision, isUnreserved, releaseInBucket, releaseInWindow, SEND } from './pacing.ts';
import type { Permit } from './permit.ts';
import { Probe } from './probe.ts';
import { FLOOR_BIAS, RateWindow } from './rate-window.ts';
import { RefillRate } from './refill-rate.ts';
import { isRelativeReset, type ServerClock } from './server-clock.ts';

/**
 * State of one rate limit, and the decision whether a request may be sent. All times are monotonic milliseconds.
 * See docs/rate-limiting.md#sending.
 */
export class Budget {
  /** Rate-limit keys that share the budget: classes, or operations of a class. */
  readonly limitKeys: string[];
  /** Classes of these keys. */
  readonly classes: RequestClass[];
  readonly #clock: ServerClock;
  #limit: number | null = null;
  /** Requests remaining; null while unknown, and the next request is then a probe. */
  #remaining: number | null = null;
  readonly #window: RateWindow;
  #inFlight = 0;
  readonly #rtt = new Average();
  readonly #cooldown = new Cooldown();
  readonly #probe = new Probe();
  /** The server responds without rate-limit headers. */
  #hasNoHeaders = false;
  readonly #cap = new InFlightCap();
  readonly #otherClients = new OtherClients();
  readonly #refillRate = new RefillRate();
  #answeredAt = 0;
  /** The state comes from another process; the first response replaces it. */
  #isRecalled = false;

  constructor(limitKey: string, requestClass: RequestClass, clock: ServerClock) {
    this.limitKeys = [limitKey];
    this.classes = [requestClass];
    this.#clock = clock;
    this.#window = new RateWindow(clock);
  }

  get limit(): number | null {
    return this.#limit;
  }
  get remaining(): number | null {
    return this.#remaining;
  }
  get resetAt(): number | null {
    return this.#window.resetAt;
  }
  /** True if the limit is a token bucket. */
  get isBucket(): boolean {
    return this.#refillRate.isBucket;
  }
  get inFlight(): number {
    return this.#inFlight;
  }
  get rtt(): number | null {
    return this.#rtt.value;
  }
  /** Requests since the start of the window that are certainly from other clients. */
  get unexplained(): number {
    return this.#remaining === null ? 0 : this.#otherClients.unexplained(this.#remaining);
  }

  /** Decides about the next request; `waiting` requests share the budget, and an `urgent` one may use the reserve. */
  decide(now: number, waiting: number, urgent: boolean): Decision {
    if (now < this.#cooldown.until) {
      return { kind: 'wait', until: this.#cooldown.until, why: 'refused by the platform (429)' };
    }
    if (this.#inFlight >= this.#cap.max) {
      return { kind: 'wait', until: Number.POSITIVE_INFINITY, why: 'the platform allows few requests at a time' };
    }
    if (this.#remaining === null || now >= this.#window.end) {
      return this.#decideUnknown(now);
    }
    const remaining = this.#remaining + this.#refillRate.refilled(now - this.#answeredAt);
    const share = this.#otherClients.share(remaining);
    const raw =
      remaining -
      this.#inFlight -
      this.#otherClients.expected(share, this.#inFlight, {
        rtt: this.#rtt.value ?? 0,
        silence: now - this.#answeredAt,
        window: this.#window.length,
      });
    if (raw >= 1 && !urgent) {
      if (this.#isBurst(remaining)) {
        return AFTER_RESPONSE;
      }
      return waiting <= raw ? SEND : this.#release(now, raw);
    }
    if (raw >= 1) {
      return SEND;
    }
    if (this.#inFlight === 0 && remaining > share && !isUnreserved(now, this.#window)) {
      // The estimate of other clients' usage leaves nothing, so one request checks it. Not near the window's end:
      // other clients use up the rest and the request would usually get a 429.
      return SEND;
    }
    const until = Math.min(this.#window.end, now + this.#refillRate.untilNext);
    return { kind: 'wait', until, why: 'the rate limit is used up' };
  }

  /** Limits bursts on a token bucket, because its remaining count does not reveal usage by other clients. */
  #isBurst(remaining: number): boolean {
    const needed = (2 * (this.#refillRate.minRefill ?? 0) * (this.#rtt.value ?? 0)) / 1000;
    return this.#refillRate.isBucket && this.#inFlight >= Math.max(1, remaining / 4, needed);
  }

  #decideUnknown(now: number): Decision {
    if (this.#hasNoHeaders && this.#cooldown.refusals === 0) {
      return SEND;
    }
    return this.#probe.decide(now, this.#rtt.value ?? 0);
  }

  #release(now: number, raw: number): Decision {
    const limit = this.#limit ?? raw;
    const refill = this.#refillRate.minRefill;
    if (refill === null) {
      return releaseInWindow(now, raw, limit, this.#window);
    }
    const seenAt = this.#inFlight === 0 ? this.#answeredAt : null;
    return releaseInBucket(now, raw, { limit, refill, seenAt, end: this.#window.end });
  }

  /** Records a request; call it right before sending. */
  onSent(permit: Permit): Permit {
    this.#inFlight += 1;
    this.#otherClients.count(1);
    if (permit.probe) {
      this.#probe.onSent(permit.sentAt);
    }
    return permit;
  }

  /** Records any response other than 429. */
  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): void {
    this.#settle(permit);
    this.#rtt.add(Math.max(0, receivedAt - permit.sentAt));
    this.#answeredAt = receivedAt;
    this.#cap.grow();
    this.#cooldown.onResponse(permit.sentAt);
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    if (headers.remaining === null || resetAt === null) {
      this.#onMissingHeaders();
      return;
    }
    this.#hasNoHeaders = false;
    this.#learn(permit, headers, headers.remaining, resetAt, receivedAt);
    this.#refillRate.onResponse(headers.remaining, this.#limit ?? 0, receivedAt);
  }

  #onMissingHeaders(): void {
    if (this.#window.resetAt === null) {
      this.#hasNoHeaders = true;
    } else if (this.#remaining !== null) {
      this.#remaining -= 1;
    }
  }

  #learn(permit: Permit, headers: RateHeaders, remaining: number, resetAt: number, receivedAt: number): void {
    const known = this.#window.resetAt;
    // Resets in seconds from now are rounded, so one window appears to end at times up to a second apart.
    const tolerance = isRelativeReset(headers) ? FLOOR_BIAS : 0;
    if (known === null || this.#isRecalled || resetAt > known + tolerance) {
      this.#isRecalled = false;
      this.#adopt(permit, headers, remaining, resetAt, receivedAt);
      return;
    }
    const isLate = permit.sentAt >= this.#window.end;
    if (isLate) {
      this.#window.onOverrun();
    }
    if (this.#remaining === null || isLate) {
      // Only a request sent after the cooldown began or after the expected end of the window adds information.
      if (permit.probe || isLate) {
        this.#adopt(permit, headers, remaining, resetAt, receivedAt);
      }
      return;
    }
    if (resetAt >= known - tolerance) {
      this.#limit = headers.limit ?? this.#limit;
      // A bucket can refill at any time, even while its reset stays within the same second.
      this.#remaining = this.#refillRate.isBucket ? remaining : Math.min(this.#remaining, remaining);
      this.#otherClients.observe(this.#remaining, receivedAt, this.#rtt.value ?? 0);
    }
  }

  #adopt(permit: Permit, headers: RateHeaders, remaining: number, resetAt: number, receivedAt: number): void {
    const limit = headers.limit ?? Math.max(this.#limit ?? 0, remaining);
    const continues = remaining <= (this.#remaining ?? 0) + limit / 4;
    const startsWindow = remaining >= limit - 1 && (this.#remaining ?? 0) < remaining;
    this.#limit = limit;
    this.#remaining = remaining;
    const date = isRelativeReset(headers) ? null : headers.date;
    const first = { resetAt, sentAt: permit.sentAt, receivedAt, date, startsWindow };
    this.#refillRate.onReset(first, continues);
    if (this.#refillRate.isBucket) {
      this.#window.trustResets();
    }
    this.#window.begin(first);
    this.#otherClients.begin(remaining, this.#inFlight, receivedAt);
  }

  /** Records a 429. `jitter` in [0, 1) spreads the backoff if the platform names no wait. */
  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#settle(permit);
    const isNew = this.#cooldown.onRefused(permit.sentAt, receivedAt);
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    const isConcurrencyLimit = headers.remaining !== null && headers.remaining > 0;
    if (isNew && (isConcurrencyLimit || resetAt === null)) {
      this.#cap.halve(this.#inFlight + 1);
    }
    if (resetAt !== null && !isConcurrencyLimit) {
      this.#window.extend(resetAt, receivedAt);
      this.#limit = headers.limit ?? this.#limit;
      this.#remaining = null;
    }
    if (headers.retryAfter === null && isConcurrencyLimit) {
      this.#cooldown.close(receivedAt + (this.#cap.max > 1 ? (this.#rtt.value ?? 0) : this.#cooldown.backoff));
    } else if (headers.retryAfter !== null || headers.reset === null || this.#refillRate.isBucket) {
      // The reset of a bucket is when it is full; it has tokens again long before.
      this.#cooldown.closeFor(headers.retryAfter, receivedAt, jitter);
    } else {
      this.#cooldown.closeUntilReset(this.#window, receivedAt);
    }
  }

  /**
   * Records a request without a response, or with a response from a proxy: it is assumed to count.
   * See docs/rate-limiting.md#retries.
   */
  onLost(permit: Permit): void {
    this.#settle(permit);
    if (this.#remaining !== null) {
      this.#remaining -= 1;
    }
  }

  /** Records a request that never reached the platform. */
  onUnsent(permit: Permit): void {
    this.#settle(permit);
    this.#otherClients.count(-1);
  }

  #settle(permit: Permit): void {
    this.#inFlight -= 1;
    if (permit.probe) {
      this.#probe.onSettled();
    }
  }

  /** Merges in a budget that turned out to be the same. */
  merge(other: Budget): void {
    append(this.limitKeys, other.limitKeys);
    append(
      this.classes,
      other.classes.filter((name) => !this.classes.includes(name)),
    );
    this.#inFlight += other.#inFlight;
    this.#otherClients.count(other.#inFlight);
    this.#probe.merge(other.#probe);
    this.#cooldown.close(other.#cooldown.until);
    if (this.#remaining !== null && other.#remaining !== null) {
      this.#remaining = Math.min(this.#remaining, other.#remaining);
    }
  }

  /** Removes a class; requests in flight stay counted. Returns false if nothing shares the budget any more. */
  removeClass(requestClass: RequestClass): boolean {
    if (this.classes.includes(requestClass)) {
      this.classes.splice(this.classes.indexOf(requestClass), 1);
      this.limitKeys.splice(this.limitKeys.indexOf(requestClass), 1);
    }
    return this.limitKeys.length > 0;
  }

  /** Returns the state to save for the next process; null if too little is known. */
  remember(now: number): RememberedBudget | null {
    return toRememberedBudget(this.#view(now), now);
  }

  /** Restores the state that another process saved. */
  recall({ limit, remaining, resetAt, window, refill, closedUntil }: RememberedBudget, now: number): void {
    this.#limit = limit;
    this.#remaining = remaining;
    this.#window.recall(resetAt, window);
    this.#refillRate.recall(refill);
    this.#otherClients.begin(remaining, 0, now);
    this.#answeredAt = now;
    this.#isRecalled = true;
    if (closedUntil !== null) {
      this.#cooldown.close(this.#clock.toMonotonic(closedUntil));
    }
  }

  snapshot(now: number): BudgetSnapshot {
    return toSnapshot(this.#view(now), now);
  }

  #view(now: number): BudgetView {
    const { limitKeys, classes, limit, inFlight, rtt } = this;
    const filled = (this.#remaining ?? 0) + this.#refillRate.refilled(now - this.#answeredAt);
    const remaining = this.#remaining === null ? null : Math.min(filled, limit ?? filled);
    const [window, refillRate, cooldown, clock] = [this.#window, this.#refillRate, this.#cooldown, this.#clock];
    return {
      limitKeys,
      classes,
      limit,
      remaining,
      inFlight,
      otherClientsRate: this.#otherClients.rate,
      rtt,
      window,
      refillRate,
      cooldown,
      clock,
    };
  }
}
