// Decides from the responses when a request may be sent: budgets, what was learned about their limits, and cooldowns.

import { append } from '../core/lists.ts';
import type { RememberedBudget } from './memory.ts';
import {
  AFTER_RESPONSE,
  type Decision,
  FLOOR_BIAS,
  isUnreserved,
  OtherClients,
  type PacingSpan,
  PROBE,
  RateWindow,
  RefillRate,
  releaseInBucket,
  releaseInWindow,
  SEND,
} from './pacing.ts';
import { type RateHeaders, REQUEST_CLASSES, type RequestClass } from './request.ts';
import { isRelativeReset, type ServerClock } from './server-clock.ts';
import type { BudgetSnapshot } from './snapshot.ts';

/** Consecutive responses that must agree before two budgets are merged. */
const REQUIRED_EVIDENCE = 3;

/** Part of a request that determines its budget. */
export interface Call {
  readonly class: RequestClass;
  /** Name of the operation. */
  readonly name: string;
}

/** Change of the budgets after a response: two were joined, or a class was split into one per operation. */
export type BudgetChange = 'joined' | 'split' | null;

/**
 * Rate limiter that decides from the responses when a request may be sent. It never waits itself; the time is
 * passed in, in monotonic milliseconds.
 *
 * | state of the budget | next request |
 * |---|---|
 * | unknown, or the window is over | one is sent as a probe, the others wait for its response |
 * | enough for all waiting requests | sent |
 * | not enough for all waiting requests | sent if urgent; otherwise paced over the window |
 * | possibly used up by other clients | one at a time |
 * | used up | waits for the reset |
 * | cooldown after a 429 | waits for Retry-After, else for the reset; then one probe |
 */
export class RateLimiter {
  readonly #clock: ServerClock;
  readonly #byKey = new Map<string, Budget>();
  readonly #split = new Set<RequestClass>();
  readonly #splitDetectors = new Map<RequestClass, PerOperationLimits>();
  readonly #joinEvidence = new Map<string, number>();
  #budgets: Budget[] = [];

  /** Creates one budget per class. */
  constructor(clock: ServerClock) {
    this.#clock = clock;
    for (const name of REQUEST_CLASSES) {
      this.#add(new Budget(name, name, clock));
      this.#splitDetectors.set(name, new PerOperationLimits());
    }
  }

  /** Returns the rate-limit key of a call: its class, or its operation if the class was split. */
  limitKey(call: Call): string {
    return this.#split.has(call.class) ? `${call.class} ${call.name}` : call.class;
  }

  /** Returns the budget of a call: that of its class, or of its operation if the class was split. */
  budget(call: Call): Budget {
    const key = this.limitKey(call);
    return this.#byKey.get(key) ?? this.#add(new Budget(key, call.class, this.#clock));
  }

  /** Returns each budget once. */
  budgets(): readonly Budget[] {
    return this.#budgets;
  }

  /** Returns the state to save for the next process. */
  remember(now: number): RememberedBudget[] {
    return this.#budgets.flatMap((budget) => budget.remember(now) ?? []);
  }

  /** Restores the state that another process saved; call it before anything is sent. */
  recall(remembered: readonly RememberedBudget[], now: number): void {
    for (const each of remembered) {
      const [own, ...others] = each.classes.flatMap((name) => this.#byKey.get(name) ?? []);
      for (const other of others) {
        if (own !== undefined && other !== own) {
          this.#join(own, other);
        }
      }
      own?.recall(each, now);
    }
  }

  /** Decides about the next request; `waiting` requests share its budget. */
  decide(call: Call, now: number, waiting: number, urgent: boolean): Decision {
    return this.budget(call).decide(now, waiting, urgent);
  }

  /** Records a request that is sent now. */
  onSent(call: Call, now: number, probe: boolean): Permit {
    return this.budget(call).onSent({ call, limitKey: this.limitKey(call), sentAt: now, probe });
  }

  /** Records a response other than 429. */
  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): BudgetChange {
    this.#clock.observe(headers, permit.sentAt, receivedAt);
    const own = this.#budgetOf(permit);
    own.onResponse(permit, headers, receivedAt);
    if (headers.remaining === null || this.limitKey(permit.call) !== permit.limitKey) {
      return null;
    }
    const { class: requestClass, name } = permit.call;
    // The remaining count of a bucket rises by itself, which would look like separate limits.
    if (!this.#split.has(requestClass) && !own.learned.isBucket) {
      const detector = this.#splitDetectors.get(requestClass);
      if (detector?.observe(name, headers, permit.sentAt, receivedAt)) {
        this.#splitClass(requestClass);
        return 'split';
      }
    }
    return this.#joinIfSame(own) ? 'joined' : null;
  }

  /** Records a 429. `jitter` in [0, 1) spreads the backoff if the platform names no wait. */
  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#clock.observe(headers, permit.sentAt, receivedAt);
    this.#budgetOf(permit).onRefused(permit, headers, receivedAt, jitter);
  }

  /** Records a request that was sent and got no response. */
  onLost(permit: Permit): void {
    this.#budgetOf(permit).onLost(permit);
  }

  /** Records a request that never reached the platform. */
  onUnsent(permit: Permit): void {
    this.#budgetOf(permit).onUnsent(permit);
  }

  /** Returns the budget under which a call was sent, even if it would be another one now. */
  #budgetOf(permit: Permit): Budget {
    return this.#byKey.get(permit.limitKey) as Budget;
  }

  #add(budget: Budget): Budget {
    for (const key of budget.limitKeys) {
      this.#byKey.set(key, budget);
    }
    this.#budgets.push(budget);
    return budget;
  }

  /** Gives each operation of the class a separate budget. */
  #splitClass(requestClass: RequestClass): void {
    this.#split.add(requestClass);
    this.#budgets = this.#budgets.filter((budget) => budget.removeClass(requestClass));
  }

  /** Joins a budget with another one once there is enough evidence that they are the same. */
  #joinIfSame(own: Budget): boolean {
    for (const other of this.#budgets) {
      const verdict = other === own ? 'none' : compareBudgets(own, other);
      if (verdict === 'none') {
        continue;
      }
      const pair = [own.limitKeys[0], other.limitKeys[0]].sort().join(', ');
      const evidence = verdict === 'same' ? (this.#joinEvidence.get(pair) ?? 0) + 1 : 0;
      this.#joinEvidence.set(pair, evidence);
      if (evidence >= REQUIRED_EVIDENCE) {
        this.#join(own, other);
        return true;
      }
    }
    return false;
  }

  #join(into: Budget, other: Budget): void {
    into.merge(other);
    this.#budgets = this.#budgets.filter((budget) => budget !== other);
    for (const key of other.limitKeys) {
      this.#byKey.set(key, into);
    }
  }
}

/**
 * Compares two budgets. They appear to be the same when limit and reset agree, both have about the same count
 * remaining, and `own` dropped by more than its own requests. `none`: there is no evidence either way.
 */
function compareBudgets(own: Budget, other: Budget): 'same' | 'different' | 'none' {
  const [left, otherLeft] = [own.learned.remaining, other.learned.remaining];
  if (left === null || otherLeft === null) {
    return 'none';
  }
  if (own.learned.limit !== other.learned.limit) {
    return 'different';
  }
  if (own.learned.window.resetAt !== other.learned.window.resetAt) {
    return 'none';
  }
  const slack = own.inFlight + other.inFlight + 2;
  // Within a window the remaining count only falls, so a later response cannot show more than an earlier one.
  if (left > otherLeft + slack) {
    return 'different';
  }
  return own.learned.unexplained >= 1 && left >= otherLeft - slack ? 'same' : 'none';
}

/** Permit of a request in flight, returned by the rate limiter when the request is sent. */
export interface Permit {
  readonly call: Call;
  /** Rate-limit key under which the request was sent. */
  readonly limitKey: string;
  /** Monotonic milliseconds. */
  readonly sentAt: number;
  /** True if the request was sent as a probe, to learn the budget. */
  readonly probe: boolean;
}

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
  readonly learned: LearnedLimit;
  /** Average round trip. */
  readonly rtt = new Average();
  inFlight = 0;
  readonly #clock: ServerClock;
  readonly #cooldown = new Cooldown();
  readonly #probe = new Probe();
  readonly #cap = new InFlightCap();

  constructor(limitKey: string, requestClass: RequestClass, clock: ServerClock) {
    this.limitKeys = [limitKey];
    this.classes = [requestClass];
    this.#clock = clock;
    this.learned = new LearnedLimit(clock);
  }

  /** Decides about the next request; `waiting` requests share the budget, and an urgent one may use the reserve. */
  decide(now: number, waiting: number, isUrgent: boolean): Decision {
    if (now < this.#cooldown.until) {
      return { kind: 'wait', until: this.#cooldown.until, why: 'refused by the platform (429)' };
    }
    if (this.inFlight >= this.#cap.max) {
      return { kind: 'wait', until: Number.POSITIVE_INFINITY, why: 'the platform limits concurrent requests' };
    }
    const rtt = this.rtt.value ?? 0;
    const decision = this.learned.decide(now, { waiting, isUrgent, inFlight: this.inFlight, rtt });
    if (decision !== null) {
      return decision;
    }
    return this.learned.isUnreported && this.#cooldown.refusals === 0 ? SEND : this.#probe.decide(now, rtt);
  }

  /** Records a request; call it right before sending. */
  onSent(permit: Permit): Permit {
    this.inFlight += 1;
    this.learned.onSent();
    if (permit.probe) {
      this.#probe.onSent(permit.sentAt);
    }
    return permit;
  }

  /** Records any response other than 429. */
  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): void {
    this.#settle(permit);
    this.rtt.add(Math.max(0, receivedAt - permit.sentAt));
    this.#cap.grow();
    this.#cooldown.onResponse(permit.sentAt);
    this.learned.onResponse(permit, headers, receivedAt, {
      inFlight: this.inFlight,
      rtt: this.rtt.value ?? 0,
    });
  }

  /** Records a 429. `jitter` in [0, 1) spreads the backoff if the platform names no wait. */
  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#settle(permit);
    const isNew = this.#cooldown.onRefused(permit.sentAt, receivedAt);
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    const isConcurrencyLimit = headers.remaining !== null && headers.remaining > 0;
    if (isNew && (isConcurrencyLimit || resetAt === null)) {
      this.#cap.halve(this.inFlight + 1);
    }
    if (resetAt !== null && !isConcurrencyLimit) {
      this.learned.onUsedUp(headers.limit, resetAt, receivedAt);
    }
    if (headers.retryAfter === null && isConcurrencyLimit) {
      this.#cooldown.close(receivedAt + (this.#cap.max > 1 ? (this.rtt.value ?? 0) : this.#cooldown.backoff));
    } else if (headers.retryAfter !== null || headers.reset === null || this.learned.isBucket) {
      // The reset of a bucket is when it is full; it has tokens again long before.
      this.#cooldown.closeFor(headers.retryAfter, receivedAt, jitter);
    } else {
      this.#cooldown.closeUntilReset(this.learned.window, receivedAt);
    }
  }

  /**
   * Records a request without a response, or with a response from a proxy: it is assumed to count.
   * See docs/rate-limiting.md#retries.
   */
  onLost(permit: Permit): void {
    this.#settle(permit);
    this.learned.onUncounted();
  }

  /** Records a request that never reached the platform. */
  onUnsent(permit: Permit): void {
    this.#settle(permit);
    this.learned.otherClients.count(-1);
  }

  #settle(permit: Permit): void {
    this.inFlight -= 1;
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
    this.inFlight += other.inFlight;
    this.learned.otherClients.count(other.inFlight);
    this.learned.merge(other.learned);
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
    const limit = isSplit ? null : this.learned.remember(now, this.inFlight);
    const { until } = this.#cooldown;
    const closedUntil = until > now ? this.#clock.toServer(until) : null;
    return limit === null ? null : { classes: [...classes], ...limit, closedUntil };
  }

  /** Restores the state that another process saved. */
  recall(remembered: RememberedBudget, now: number): void {
    this.learned.recall(remembered, now);
    if (remembered.closedUntil !== null) {
      this.#cooldown.close(this.#clock.toMonotonic(remembered.closedUntil));
    }
  }

  /** Returns the state that status and metrics report. */
  snapshot(now: number): BudgetSnapshot {
    return {
      classes: [...this.classes],
      operations: this.limitKeys.flatMap((key) => key.split(' ')[1] ?? []),
      ...this.learned.snapshot(now, this.inFlight),
      cooldown: Math.max(0, this.#cooldown.until - now),
      rtt: this.rtt.value,
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

const MIN_BACKOFF = 1000;
const MAX_BACKOFF = 60_000;

/** Cooldown of a budget after a 429. Times are monotonic milliseconds. */
class Cooldown {
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

/** State with a remaining count. Times are monotonic milliseconds. */
interface Counted {
  readonly kind: 'window' | 'bucket';
  limit: number;
  /** Requests remaining after the last response. */
  remaining: number;
  /** Time of the last response. */
  answeredAt: number;
}

/**
 * State of a rate limit. A cooldown after a 429 comes on top of every state.
 *
 * | state | known | next request |
 * |---|---|---|
 * | `unknown` | nothing, or no more than the limit and the reset of a 429 | a probe |
 * | `unreported` | responses have no rate-limit headers | sent, up to the cap on requests in flight |
 * | `window` | limit, and the count that remains until the window ends | paced over the window; a probe once it is over |
 * | `bucket` | limit, remaining count and refill rate of a token bucket | paced by the refill; a probe once the reset passed |
 *
 * | from | event | to |
 * |---|---|---|
 * | `unknown` | response without headers, before any reset was seen | `unreported` |
 * | `unknown`, `unreported` | response with headers that starts a window or answers a probe | `window` or `bucket` |
 * | `unreported` | any other response with headers | `unknown` |
 * | `window` | reset that moved before it was reached, several times in a row | `bucket` |
 * | `window`, `bucket` | 429 with a reset and without requests remaining | `unknown` |
 * | any | state restored from another process | `window` or `bucket` |
 */
type LimitState = { readonly kind: 'unknown' | 'unreported'; readonly limit: number | null } | Counted;

function isCounted(state: LimitState): state is Counted {
  return state.kind === 'window' || state.kind === 'bucket';
}

/** Own traffic, and the next request. */
interface Demand {
  readonly inFlight: number;
  /** Average round trip in milliseconds. */
  readonly rtt: number;
  /** Waiting requests that share the limit. */
  readonly waiting: number;
  /** True if the request may use the reserve. */
  readonly isUrgent: boolean;
}

/** Response with rate-limit headers. `resetAt` is server time. */
interface Report {
  readonly permit: Permit;
  readonly headers: RateHeaders;
  readonly remaining: number;
  readonly resetAt: number;
  readonly receivedAt: number;
}

/** Share of a window by which its end may be uncertain for requests to be paced to its earliest end. */
const MAX_UNCERTAIN_SHARE = 0.6;

/** Rate limit, as learned from the headers of responses. All times are monotonic milliseconds. */
class LearnedLimit {
  readonly window: RateWindow;
  readonly otherClients = new OtherClients();
  readonly #clock: ServerClock;
  readonly #refillRate = new RefillRate();
  #state: LimitState = { kind: 'unknown', limit: null };
  /** The state comes from another process; the first response replaces it. */
  #isRecalled = false;

  constructor(clock: ServerClock) {
    this.#clock = clock;
    this.window = new RateWindow(clock);
  }

  get limit(): number | null {
    return this.#state.limit;
  }
  /** Requests remaining after the last response; null while unknown. */
  get remaining(): number | null {
    return isCounted(this.#state) ? this.#state.remaining : null;
  }
  /** True if responses have no rate-limit headers. */
  get isUnreported(): boolean {
    return this.#state.kind === 'unreported';
  }
  /** True if the limit is a token bucket, even while its remaining count is unknown. */
  get isBucket(): boolean {
    return this.#refillRate.isBucket;
  }
  /** Requests since the start of the window that are certainly from other clients. */
  get unexplained(): number {
    return isCounted(this.#state) ? this.otherClients.unexplained(this.#state.remaining) : 0;
  }

  /** Decides about the next request; null if the remaining count is unknown, or the window is over. */
  decide(now: number, { waiting, inFlight, isUrgent, rtt }: Demand): Decision | null {
    const state = this.#state;
    if (!isCounted(state) || now >= this.window.end) {
      return null;
    }
    const silence = now - state.answeredAt;
    const remaining = state.remaining + this.#refillRate.refilled(silence);
    const share = this.otherClients.share(remaining);
    const times = { rtt, silence, window: this.window.length };
    const raw = remaining - inFlight - this.otherClients.expected(share, inFlight, times);
    if (raw >= 1 && !isUrgent && this.#isBurst(remaining, inFlight, rtt)) {
      return AFTER_RESPONSE;
    }
    if (raw >= 1) {
      return isUrgent || waiting <= raw ? SEND : this.#pace(state, now, raw, inFlight, rtt);
    }
    if (inFlight === 0 && remaining > share && !isUnreserved(now, this.window)) {
      // The estimate of other clients' usage leaves nothing, so one request checks it. Not near the end of the window:
      // other clients use up the rest, and the request would usually get a 429.
      return SEND;
    }
    const until = Math.min(this.window.end, now + this.#refillRate.untilNext);
    return { kind: 'wait', until, why: 'the rate limit is used up' };
  }

  /** Limits bursts on a token bucket, because its remaining count does not reveal usage by other clients. */
  #isBurst(remaining: number, inFlight: number, rtt: number): boolean {
    const needed = (2 * (this.#refillRate.minRefill ?? 0) * rtt) / 1000;
    return this.#refillRate.isBucket && inFlight >= Math.max(1, remaining / 4, needed);
  }

  /** Paces a request that is not urgent. `raw`: requests that may still be sent, if nothing is reserved. */
  #pace({ limit, answeredAt }: Counted, now: number, raw: number, inFlight: number, rtt: number): Decision {
    const refill = this.#refillRate.minRefill;
    if (refill !== null) {
      const seenAt = inFlight === 0 ? answeredAt : null;
      return releaseInBucket(now, raw, { limit, refill, seenAt, end: this.window.end });
    }
    // After a silence, one request first checks what other clients have left.
    const isStale = inFlight > 0 && now - answeredAt > 2 * rtt;
    return releaseInWindow(now, raw, limit, isStale ? this.window : this.#earliestSpan());
  }

  /**
   * Returns the part of the window to pace over. What is left when it ends is lost, so it ends at the earliest possible
   * time, unless that is too uncertain, other clients use what is left, or the limit may be a token bucket.
   */
  #earliestSpan(): PacingSpan {
    const { length, end, earliestEnd } = this.window;
    const isUncertain = end - earliestEnd > length * MAX_UNCERTAIN_SHARE;
    const keepsEnd = isUncertain || this.otherClients.areSeen || this.#refillRate.doResetsMove;
    return { length, end: keepsEnd ? end : earliestEnd };
  }

  /** Records a request that is sent now. */
  onSent(): void {
    this.otherClients.count(1);
  }

  /** Records any response other than 429; `inFlight` and `rtt` include it. */
  onResponse(
    permit: Permit,
    headers: RateHeaders,
    receivedAt: number,
    traffic: { readonly inFlight: number; readonly rtt: number },
  ): void {
    if (isCounted(this.#state)) {
      this.#state.answeredAt = receivedAt;
    }
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    const { remaining } = headers;
    if (remaining === null || resetAt === null) {
      if (this.window.resetAt === null) {
        this.#state = { kind: 'unreported', limit: this.limit };
      } else {
        this.onUncounted();
      }
      return;
    }
    const report: Report = { permit, headers, remaining, resetAt, receivedAt };
    if (this.#startsCount(report)) {
      this.#begin(report, traffic.inFlight);
    } else {
      this.#update(report, traffic.rtt);
    }
    this.#refillRate.onResponse(remaining, this.#state.limit ?? 0, receivedAt);
  }

  /** Records a request that probably counts, although no response reported it. */
  onUncounted(): void {
    if (isCounted(this.#state)) {
      this.#state.remaining -= 1;
    }
  }

  /** Returns true if a report begins a new count: its window is new, or nothing is known about the current one. */
  #startsCount({ permit, headers, resetAt }: Report): boolean {
    const known = this.window.resetAt;
    if (known === null || this.#isRecalled || resetAt > known + tolerance(headers)) {
      this.#isRecalled = false;
      return true;
    }
    const isLate = permit.sentAt >= this.window.end;
    if (isLate) {
      this.window.onOverrun();
    }
    // Only a request sent after the cooldown began or after the expected end of the window adds information.
    return isLate || (!isCounted(this.#state) && permit.probe);
  }

  #begin({ permit, headers, remaining, resetAt, receivedAt }: Report, inFlight: number): void {
    const limit = headers.limit ?? Math.max(this.limit ?? 0, remaining);
    const before = this.remaining ?? 0;
    const startsWindow = remaining >= limit - 1 && before < remaining;
    const date = isRelativeReset(headers) ? null : headers.date;
    const first = { resetAt, sentAt: permit.sentAt, receivedAt, date, startsWindow };
    this.#refillRate.onReset(first, remaining <= before + limit / 4);
    if (this.isBucket) {
      this.window.trustResets();
    }
    this.window.begin(first);
    this.otherClients.begin(remaining, inFlight, receivedAt);
    this.#count(limit, remaining, receivedAt);
  }

  /** Updates the count of the current window. */
  #update({ headers, remaining, resetAt, receivedAt }: Report, rtt: number): void {
    const state = this.#state;
    if (state.kind === 'unreported') {
      this.#state = { kind: 'unknown', limit: state.limit };
    } else if (isCounted(state) && resetAt >= (this.window.resetAt ?? resetAt) - tolerance(headers)) {
      state.limit = headers.limit ?? state.limit;
      // A bucket can refill at any time, even while its reset stays within the same second.
      state.remaining = state.kind === 'bucket' ? remaining : Math.min(state.remaining, remaining);
      this.otherClients.observe(state.remaining, receivedAt, rtt);
    }
  }

  #count(limit: number, remaining: number, answeredAt: number): void {
    this.#state = { kind: this.isBucket ? 'bucket' : 'window', limit, remaining, answeredAt };
  }

  /** Records a 429 with a reset and without requests remaining. */
  onUsedUp(limit: number | null, resetAt: number, receivedAt: number): void {
    this.window.extend(resetAt, receivedAt);
    const kind = this.#state.kind === 'unreported' ? 'unreported' : 'unknown';
    this.#state = { kind, limit: limit ?? this.#state.limit };
  }

  /** Takes over the remaining count of the same limit, if it is lower. */
  merge(other: LearnedLimit): void {
    if (isCounted(this.#state) && isCounted(other.#state)) {
      this.#state.remaining = Math.min(this.#state.remaining, other.#state.remaining);
    }
  }

  /** Returns the part of the saved state that describes the limit; null if too little is known. */
  remember(now: number, inFlight: number): Omit<RememberedBudget, 'classes' | 'closedUntil'> | null {
    const { limit, window } = this;
    const remaining = this.#remainingAt(now);
    if (remaining === null || limit === null || window.length <= 0 || now >= window.end) {
      return null;
    }
    return {
      limit,
      remaining: Math.max(0, Math.floor(remaining - inFlight)),
      resetAt: this.#clock.toServer(window.end),
      window: Math.max(window.length, window.end - now),
      refill: this.#refillRate.refill,
    };
  }

  /** Restores the state that another process saved. */
  recall({ limit, remaining, resetAt, window, refill }: RememberedBudget, now: number): void {
    this.window.recall(resetAt, window);
    this.#refillRate.recall(refill);
    this.otherClients.begin(remaining, 0, now);
    this.#count(limit, remaining, now);
    this.#isRecalled = true;
  }

  /** Returns the part of the snapshot that describes the limit. */
  snapshot(now: number, inFlight: number): Omit<BudgetSnapshot, 'classes' | 'operations' | 'cooldown' | 'rtt'> {
    const { length, end } = this.window;
    const { limit } = this.#state;
    const remaining = now < end ? this.#remainingAt(now) : null;
    const window = length > 0 ? this.#refillRate.period(length) : null;
    return {
      limit,
      remaining: remaining === null ? null : Math.max(0, remaining - inFlight),
      resetIn: remaining === null ? null : end - now,
      window,
      refillRate: this.#refillRate.refill,
      otherClientsRate: this.otherClients.rate * 1000,
      rate: this.#refillRate.refill ?? (limit === null || window === null ? null : (limit / window) * 1000),
    };
  }

  /** Returns the remaining count, with the refill of a token bucket since the last response; null while unknown. */
  #remainingAt(now: number): number | null {
    if (!isCounted(this.#state)) {
      return null;
    }
    const { limit, remaining, answeredAt } = this.#state;
    return Math.min(limit, remaining + this.#refillRate.refilled(now - answeredAt));
  }
}

/** Resets in seconds from now are rounded, so one window appears to end at times up to a second apart. */
function tolerance(headers: RateHeaders): number {
  return isRelativeReset(headers) ? FLOOR_BIAS : 0;
}

/** Contradictions after which the operations of a class are treated as having separate limits. */
const REQUIRED_CONTRADICTIONS = 3;
/** Tolerated rise of the remaining count (requests, and share of the limit): nodes may differ, and buckets refill. */
const SLACK = 2;
const SLACK_SHARE = 0.1;

interface Observation {
  readonly limit: number | null;
  readonly remaining: number;
  readonly reset: number | null;
  readonly receivedAt: number;
  /** Each response is used as evidence once at most. */
  isUsed: boolean;
}

/**
 * Detects whether the operations of a class have separate limits. The evidence is a response that contradicts a
 * response to another operation just before, while the responses to each operation agree with each other.
 */
class PerOperationLimits {
  readonly #last = new Map<string, Observation>();
  #evidence = 0;

  /** Records a response to an operation. Returns true once the evidence suffices. Times are monotonic milliseconds. */
  observe(operation: string, headers: RateHeaders, sentAt: number, receivedAt: number): boolean {
    const { limit, remaining, reset } = headers;
    if (remaining === null) {
      return false;
    }
    const own = this.#last.get(operation);
    const seen: Observation = { limit, remaining, reset, receivedAt, isUsed: false };
    this.#last.set(operation, seen);
    if (own !== undefined && sentAt >= own.receivedAt && (own.limit !== limit || hasRisen(own, seen))) {
      // The limit was changed, or the platform's nodes disagree. Neither depends on the operation.
      this.#evidence = 0;
      return false;
    }
    if (own !== undefined && this.#contradicts(operation, own, seen, sentAt)) {
      this.#evidence += 1;
    }
    return this.#evidence >= REQUIRED_CONTRADICTIONS;
  }

  /** Returns true if a response to another operation, between two responses to this one, contradicts them. */
  #contradicts(operation: string, own: Observation, seen: Observation, sentAt: number): boolean {
    for (const [name, other] of this.#last) {
      const isBetween =
        name !== operation && !other.isUsed && other.receivedAt > own.receivedAt && other.receivedAt <= sentAt;
      if (isBetween && (other.limit !== seen.limit || (own.reset === other.reset && rises(other, seen)))) {
        other.isUsed = true;
        return true;
      }
    }
    return false;
  }
}

/** Returns true if the remaining count rose within a window, which cannot happen with one budget. */
function rises(before: Observation, after: Observation): boolean {
  const slack = Math.max(SLACK, SLACK_SHARE * (after.limit ?? 0));
  return before.limit === after.limit && before.reset === after.reset && after.remaining > before.remaining + slack;
}

/** Returns true if the remaining count of the same operation rose within a window. */
function hasRisen(own: Observation, seen: Observation): boolean {
  return own.reset === seen.reset && seen.remaining > own.remaining;
}

/** Minimum weight of a new sample. */
const MIN_WEIGHT = 0.02;

/** Moving average that gives recent samples more weight. */
export class Average {
  /** Null before the first sample. */
  value: number | null = null;
  #count = 0;

  add(sample: number): void {
    this.#count += 1;
    this.value = (this.value ?? 0) + Math.max(MIN_WEIGHT, 1 / this.#count) * (sample - (this.value ?? 0));
  }
}
