import { append } from '../../core/lists.ts';
import { Average } from '../model/average.ts';
import type { RateHeaders } from '../model/rate-headers.ts';
import type { RequestClass } from '../model/request.ts';
import type { BudgetSnapshot } from '../model/snapshot.ts';
import { Cooldown } from './cooldown.ts';
import { LearnedLimit } from './learned-limit.ts';
import type { RememberedBudget } from './memory.ts';
import { type Decision, PROBE, SEND } from './pacing.ts';
import type { Permit } from './permit.ts';
import type { ServerClock } from './server-clock.ts';

/**
 * Budget of the requests that share one rate limit: what was learned about the limit, the requests in flight, and the
 * cooldown after a 429. Decides whether a request may be sent. All times are monotonic milliseconds.
 * See docs/rate-limiting.md#request-pacing.
 */
export class Budget {
  /** Rate-limit keys that share the budget: classes, or operations of a class. */
  readonly limitKeys: string[];
  /** Classes of these keys. */
  readonly classes: RequestClass[];
  readonly #clock: ServerClock;
  readonly #learned: LearnedLimit;
  readonly #cooldown = new Cooldown();
  readonly #probe = new Probe();
  readonly #cap = new InFlightCap();
  readonly #rtt = new Average();
  #inFlight = 0;

  constructor(limitKey: string, requestClass: RequestClass, clock: ServerClock) {
    this.limitKeys = [limitKey];
    this.classes = [requestClass];
    this.#clock = clock;
    this.#learned = new LearnedLimit(clock);
  }

  get limit(): number | null {
    return this.#learned.limit;
  }
  get remaining(): number | null {
    return this.#learned.remaining;
  }
  get resetAt(): number | null {
    return this.#learned.window.resetAt;
  }
  /** True if the limit is a token bucket. */
  get isBucket(): boolean {
    return this.#learned.isBucket;
  }
  get inFlight(): number {
    return this.#inFlight;
  }
  get rtt(): number | null {
    return this.#rtt.value;
  }
  /** Requests since the start of the window that are certainly from other clients. */
  get unexplained(): number {
    return this.#learned.unexplained;
  }

  /** Decides about the next request; `waiting` requests share the budget, and an urgent one may use the reserve. */
  decide(now: number, waiting: number, isUrgent: boolean): Decision {
    if (now < this.#cooldown.until) {
      return { kind: 'wait', until: this.#cooldown.until, why: 'refused by the platform (429)' };
    }
    if (this.#inFlight >= this.#cap.max) {
      return { kind: 'wait', until: Number.POSITIVE_INFINITY, why: 'the platform limits concurrent requests' };
    }
    const rtt = this.#rtt.value ?? 0;
    const decision = this.#learned.decide(now, { waiting, isUrgent, inFlight: this.#inFlight, rtt });
    if (decision !== null) {
      return decision;
    }
    return this.#learned.isUnreported && this.#cooldown.refusals === 0 ? SEND : this.#probe.decide(now, rtt);
  }

  /** Records a request; call it right before sending. */
  onSent(permit: Permit): Permit {
    this.#inFlight += 1;
    this.#learned.onSent();
    if (permit.probe) {
      this.#probe.onSent(permit.sentAt);
    }
    return permit;
  }

  /** Records any response other than 429. */
  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): void {
    this.#settle(permit);
    this.#rtt.add(Math.max(0, receivedAt - permit.sentAt));
    this.#cap.grow();
    this.#cooldown.onResponse(permit.sentAt);
    this.#learned.onResponse(permit, headers, receivedAt, {
      inFlight: this.#inFlight,
      rtt: this.#rtt.value ?? 0,
    });
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
      this.#learned.onUsedUp(headers.limit, resetAt, receivedAt);
    }
    if (headers.retryAfter === null && isConcurrencyLimit) {
      this.#cooldown.close(receivedAt + (this.#cap.max > 1 ? (this.#rtt.value ?? 0) : this.#cooldown.backoff));
    } else if (headers.retryAfter !== null || headers.reset === null || this.isBucket) {
      // The reset of a bucket is when it is full; it has tokens again long before.
      this.#cooldown.closeFor(headers.retryAfter, receivedAt, jitter);
    } else {
      this.#cooldown.closeUntilReset(this.#learned.window, receivedAt);
    }
  }

  /**
   * Records a request without a response, or with a response from a proxy: it is assumed to count.
   * See docs/rate-limiting.md#retries.
   */
  onLost(permit: Permit): void {
    this.#settle(permit);
    this.#learned.onUncounted();
  }

  /** Records a request that never reached the platform. */
  onUnsent(permit: Permit): void {
    this.#settle(permit);
    this.#learned.otherClients.count(-1);
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
    this.#learned.otherClients.count(other.#inFlight);
    this.#learned.merge(other.#learned);
    this.#probe.merge(other.#probe);
    this.#cooldown.close(other.#cooldown.until);
  }

  /** Removes a class; requests in flight stay counted. Returns false if nothing shares the budget any more. */
  removeClass(requestClass: RequestClass): boolean {
    if (this.classes.includes(requestClass)) {
      this.classes.splice(this.classes.indexOf(requestClass), 1);
      this.limitKeys.splice(this.limitKeys.indexOf(requestClass), 1);
    }
    return this.limitKeys.length > 0;
  }

  /** Returns the state to save for the next process; null if too little is known or operations have separate limits. */
  remember(now: number): RememberedBudget | null {
    const { classes, limitKeys } = this;
    const isSplit = limitKeys.length > classes.length || limitKeys.some((key) => key.includes(' '));
    const limit = isSplit ? null : this.#learned.remember(now, this.#inFlight);
    const { until } = this.#cooldown;
    const closedUntil = until > now ? this.#clock.toServer(until) : null;
    return limit === null ? null : { classes: [...classes], ...limit, closedUntil };
  }

  /** Restores the state that another process saved. */
  recall(remembered: RememberedBudget, now: number): void {
    this.#learned.recall(remembered, now);
    if (remembered.closedUntil !== null) {
      this.#cooldown.close(this.#clock.toMonotonic(remembered.closedUntil));
    }
  }

  /** Returns the state that status and metrics report. */
  snapshot(now: number): BudgetSnapshot {
    return {
      classes: [...this.classes],
      operations: this.limitKeys.flatMap((key) => key.split(' ')[1] ?? []),
      ...this.#learned.snapshot(now, this.#inFlight),
      cooldown: Math.max(0, this.#cooldown.until - now),
      rtt: this.rtt,
    };
  }
}

/** Timeout of a probe, in round trips and at least in milliseconds. Another probe may be sent afterwards. */
const TIMEOUT_ROUND_TRIPS = 4;
const MIN_TIMEOUT = 5000;

/** Tracks the single request that is sent to learn a budget. Times are monotonic milliseconds. */
class Probe {
  #sentAt: number | null = null;

  decide(now: number, rtt: number): Decision {
    if (this.#sentAt === null) {
      return PROBE;
    }
    const until = this.#sentAt + Math.max(MIN_TIMEOUT, TIMEOUT_ROUND_TRIPS * rtt);
    return now >= until ? PROBE : { kind: 'wait', until, why: 'a probe for the rate limit is in flight' };
  }

  onSent(at: number): void {
    this.#sentAt = at;
  }

  onSettled(): void {
    this.#sentAt = null;
  }

  /** Takes over the probe of a budget that is merged into this one. */
  merge(other: Probe): void {
    this.#sentAt ??= other.#sentAt;
  }
}

/** Successful responses, per allowed request in flight, after which the cap grows by one. */
const GROWTH_RUN = 10;

/**
 * Limit on requests in flight, after a 429 that the budget does not explain: halved on each 429, then grown by one with
 * each run of successes. One more with each success was measured to get a 429 for every request that is accepted.
 */
class InFlightCap {
  max = Number.POSITIVE_INFINITY;
  #successes = 0;

  halve(inFlight: number): void {
    this.max = Math.max(1, Math.floor(Math.min(this.max, inFlight) / 2));
    this.#successes = 0;
  }

  /** Counts a response other than 429. */
  grow(): void {
    if (this.max === Number.POSITIVE_INFINITY) {
      return;
    }
    this.#successes += 1;
    if (this.#successes >= GROWTH_RUN * this.max) {
      this.max += 1;
      this.#successes = 0;
    }
  }
}
