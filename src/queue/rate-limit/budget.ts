import { append } from '../../core/lists.ts';
import { Average } from '../model/average.ts';
import type { RateHeaders } from '../model/rate-headers.ts';
import type { RequestClass } from '../model/request.ts';
import type { BudgetSnapshot } from '../model/snapshot.ts';
import { type BudgetView, rememberBudget, snapshotOf } from './budget-view.ts';
import { Cooldown } from './cooldown.ts';
import { InFlightCap } from './in-flight-cap.ts';
import type { RememberedBudget } from './memory.ts';
import { OtherClients } from './other-clients.ts';
import { AFTER_ANSWER, type Decision, isFree, releaseInBucket, releaseInWindow, SEND } from './pacing.ts';
import type { Permit } from './permit.ts';
import { Probe } from './probe.ts';
import { FLOOR_BIAS, RateWindow } from './rate-window.ts';
import { RefillRate } from './refill-rate.ts';
import { isFromNow, type ServerClock } from './server-clock.ts';

/**
 * State of one rate limit, and the decision whether a request may be sent. All times are monotonic milliseconds.
 * See docs/rate-limiting.md#sending.
 */
export class Budget {
  /** What draws on it: classes, or single operations of one. */
  readonly lanes: string[];
  /** The classes of these. */
  readonly classes: RequestClass[];
  readonly #clock: ServerClock;
  #limit: number | null = null;
  /** Null: nothing known, the next request is a probe. */
  #remaining: number | null = null;
  readonly #window: RateWindow;
  #inFlight = 0;
  readonly #rtt = new Average();
  readonly #cooldown = new Cooldown();
  readonly #probe = new Probe();
  /** The server answers without telling limits. */
  #silent = false;
  readonly #cap = new InFlightCap();
  readonly #foreign = new OtherClients();
  readonly #refillRate = new RefillRate();
  #answeredAt = 0;
  /** What is known was true in another process: the first answer counts, whatever it says. */
  #isRecalled = false;

  constructor(lane: string, requestClass: RequestClass, clock: ServerClock) {
    this.lanes = [lane];
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
  /** It is a bucket: calls flow in evenly. */
  get isBucket(): boolean {
    return this.#refillRate.isBucket;
  }
  get inFlight(): number {
    return this.#inFlight;
  }
  get rtt(): number | null {
    return this.#rtt.value;
  }
  /** Calls since the window was first seen that were not ours, as far as that is certain. */
  get unexplained(): number {
    return this.#remaining === null ? 0 : this.#foreign.unexplained(this.#remaining);
  }

  /** What may happen now, with so many requests waiting, to one that is urgent or not. */
  decide(now: number, waiting: number, urgent: boolean): Decision {
    if (now < this.#cooldown.until) {
      return { kind: 'wait', until: this.#cooldown.until, why: 'refused by the platform (429)' };
    }
    if (this.#inFlight >= this.#cap.most) {
      return { kind: 'wait', until: Number.POSITIVE_INFINITY, why: 'the platform allows few requests at a time' };
    }
    if (this.#remaining === null || now >= this.#window.end) {
      return this.#decideUnknown(now);
    }
    const remaining = this.#remaining + this.#refillRate.refilled(now - this.#answeredAt);
    const share = this.#foreign.share(remaining);
    const raw =
      remaining -
      this.#inFlight -
      this.#foreign.expected(share, this.#inFlight, {
        rtt: this.#rtt.value ?? 0,
        silence: now - this.#answeredAt,
        window: this.#window.length,
      });
    if (raw >= 1 && !urgent) {
      if (this.#isBurst(remaining)) {
        return AFTER_ANSWER;
      }
      return waiting <= raw ? SEND : this.#release(now, raw);
    }
    if (raw >= 1) {
      return SEND;
    }
    if (this.#inFlight === 0 && remaining > share && !isFree(now, this.#window)) {
      // The estimate of others says that nothing is left, and one call shows whether that is so. Not near the end, where
      // others use up what there is: it would mostly be refused.
      return SEND;
    }
    const until = Math.min(this.#window.end, now + this.#refillRate.untilNext);
    return { kind: 'wait', until, why: 'the rate limit is used up' };
  }

  /** A bucket does not show whether others draw on it, so that it is used in small steps. */
  #isBurst(remaining: number): boolean {
    const needed = (2 * (this.#refillRate.leastRefill ?? 0) * (this.#rtt.value ?? 0)) / 1000;
    return this.#refillRate.isBucket && this.#inFlight >= Math.max(1, remaining / 4, needed);
  }

  #decideUnknown(now: number): Decision {
    if (this.#silent && this.#cooldown.refusals === 0) {
      return SEND;
    }
    return this.#probe.decide(now, this.#rtt.value ?? 0);
  }

  #release(now: number, raw: number): Decision {
    const limit = this.#limit ?? raw;
    const refill = this.#refillRate.leastRefill;
    if (refill === null) {
      return releaseInWindow(now, raw, limit, this.#window);
    }
    const seenAt = this.#inFlight === 0 ? this.#answeredAt : null;
    return releaseInBucket(now, raw, { limit, refill, seenAt, end: this.#window.end });
  }

  /** Call it right before sending; `probe` as decided. */
  onSent(permit: Permit): Permit {
    this.#inFlight += 1;
    this.#foreign.count(1);
    if (permit.probe) {
      this.#probe.sent(permit.sentAt);
    }
    return permit;
  }

  /** Any answer but a refusal. */
  onResponse(permit: Permit, headers: RateHeaders, receivedAt: number): void {
    this.#settle(permit);
    this.#rtt.add(Math.max(0, receivedAt - permit.sentAt));
    this.#answeredAt = receivedAt;
    this.#cap.grow();
    this.#cooldown.onAnswer(permit.sentAt);
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    if (headers.remaining === null || resetAt === null) {
      this.#onSilence();
      return;
    }
    this.#silent = false;
    this.#learn(permit, headers, headers.remaining, resetAt, receivedAt);
    this.#refillRate.onAnswer(headers.remaining, this.#limit ?? 0, receivedAt);
  }

  #onSilence(): void {
    if (this.#window.resetAt === null) {
      this.#silent = true;
    } else if (this.#remaining !== null) {
      this.#remaining -= 1;
    }
  }

  #learn(permit: Permit, headers: RateHeaders, remaining: number, resetAt: number, receivedAt: number): void {
    const known = this.#window.resetAt;
    // Seconds from now are rounded, so that one window seems to end at instants up to a second apart.
    const tolerance = isFromNow(headers) ? FLOOR_BIAS : 0;
    if (known === null || this.#isRecalled || resetAt > known + tolerance) {
      this.#isRecalled = false;
      this.#adopt(permit, headers, remaining, resetAt, receivedAt);
      return;
    }
    const late = permit.sentAt >= this.#window.end;
    if (late) {
      this.#window.outlast();
    }
    if (this.#remaining === null || late) {
      // Only what was asked after the class was closed, or the window seemed over, tells something new.
      if (permit.probe || late) {
        this.#adopt(permit, headers, remaining, resetAt, receivedAt);
      }
      return;
    }
    if (resetAt >= known - tolerance) {
      this.#limit = headers.limit ?? this.#limit;
      // A bucket has more again at any time, also while its reset stays in the same second.
      this.#remaining = this.#refillRate.isBucket ? remaining : Math.min(this.#remaining, remaining);
      this.#foreign.observe(this.#remaining, receivedAt, this.#rtt.value ?? 0);
    }
  }

  #adopt(permit: Permit, headers: RateHeaders, remaining: number, resetAt: number, receivedAt: number): void {
    const limit = headers.limit ?? Math.max(this.#limit ?? 0, remaining);
    const continues = remaining <= (this.#remaining ?? 0) + limit / 4;
    const opened = remaining >= limit - 1 && (this.#remaining ?? 0) < remaining;
    this.#limit = limit;
    this.#remaining = remaining;
    const date = isFromNow(headers) ? null : headers.date;
    const sighting = { resetAt, sentAt: permit.sentAt, receivedAt, date, opened };
    this.#refillRate.onReset(sighting, continues);
    if (this.#refillRate.isBucket) {
      this.#window.trustResets();
    }
    this.#window.begin(sighting);
    this.#foreign.begin(remaining, this.#inFlight, receivedAt);
  }

  /** A 429. `jitter` in [0, 1) spreads the wait where the platform names none. */
  onRefused(permit: Permit, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#settle(permit);
    const news = this.#cooldown.onRefused(permit.sentAt, receivedAt);
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    const crowded = headers.remaining !== null && headers.remaining > 0;
    if (news && (crowded || resetAt === null)) {
      this.#cap.halve(this.#inFlight + 1);
    }
    if (resetAt !== null && !crowded) {
      this.#window.extend(resetAt, receivedAt);
      this.#limit = headers.limit ?? this.#limit;
      this.#remaining = null;
    }
    if (headers.retryAfter === null && crowded) {
      this.#cooldown.close(receivedAt + (this.#cap.most > 1 ? (this.#rtt.value ?? 0) : this.#cooldown.backoff));
    } else if (headers.retryAfter !== null || headers.reset === null || this.#refillRate.isBucket) {
      // A bucket has something again long before its reset, when it is full.
      this.#cooldown.closeFor(headers.retryAfter, receivedAt, jitter);
    } else {
      this.#cooldown.closeUntilReset(this.#window, receivedAt);
    }
  }

  /**
   * No answer, or one without headers from a proxy: the call is assumed to count. See docs/rate-limiting.md#retries.
   */
  onLost(permit: Permit): void {
    this.#settle(permit);
    if (this.#remaining !== null) {
      this.#remaining -= 1;
    }
  }

  /** It never reached the platform. */
  onUnsent(permit: Permit): void {
    this.#settle(permit);
    this.#foreign.count(-1);
  }

  #settle(permit: Permit): void {
    this.#inFlight -= 1;
    if (permit.probe) {
      this.#probe.over();
    }
  }

  /** Takes over a budget that proved to be this one. */
  absorb(other: Budget): void {
    append(this.lanes, other.lanes);
    append(
      this.classes,
      other.classes.filter((name) => !this.classes.includes(name)),
    );
    this.#inFlight += other.#inFlight;
    this.#foreign.count(other.#inFlight);
    this.#probe.absorb(other.#probe);
    this.#cooldown.close(other.#cooldown.until);
    if (this.#remaining !== null && other.#remaining !== null) {
      this.#remaining = Math.min(this.#remaining, other.#remaining);
    }
  }

  /** A class is no longer counted here; what is in flight still is. False when nothing is left that draws on it. */
  leave(requestClass: RequestClass): boolean {
    if (this.classes.includes(requestClass)) {
      this.classes.splice(this.classes.indexOf(requestClass), 1);
      this.lanes.splice(this.lanes.indexOf(requestClass), 1);
    }
    return this.lanes.length > 0;
  }

  /** What another process may go on from; null where too little is known. */
  remember(now: number): RememberedBudget | null {
    return rememberBudget(this.#view(now), now);
  }

  /** Goes on from what another process remembered. */
  recall({ limit, remaining, resetAt, window, refill, closedUntil }: RememberedBudget, now: number): void {
    this.#limit = limit;
    this.#remaining = remaining;
    this.#window.recall(resetAt, window);
    this.#refillRate.recall(refill);
    this.#foreign.begin(remaining, 0, now);
    this.#answeredAt = now;
    this.#isRecalled = true;
    if (closedUntil !== null) {
      this.#cooldown.close(this.#clock.toMonotonic(closedUntil));
    }
  }

  snapshot(now: number): BudgetSnapshot {
    return snapshotOf(this.#view(now), now);
  }

  #view(now: number): BudgetView {
    const { lanes, classes, limit, inFlight, rtt } = this;
    const filled = (this.#remaining ?? 0) + this.#refillRate.refilled(now - this.#answeredAt);
    const remaining = this.#remaining === null ? null : Math.min(filled, limit ?? filled);
    const [window, refillRate, cooldown, clock] = [this.#window, this.#refillRate, this.#cooldown, this.#clock];
    return {
      lanes,
      classes,
      limit,
      remaining,
      inFlight,
      foreign: this.#foreign.rate,
      rtt,
      window,
      refillRate,
      cooldown,
      clock,
    };
  }
}
