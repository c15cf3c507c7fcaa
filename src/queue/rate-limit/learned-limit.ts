import type { RateHeaders } from '../model/rate-headers.ts';
import type { BudgetSnapshot } from '../model/snapshot.ts';
import type { RememberedBudget } from './memory.ts';
import { OtherClients } from './other-clients.ts';
import { AFTER_RESPONSE, type Decision, isUnreserved, type Pacing, release, SEND } from './pacing.ts';
import type { Permit } from './permit.ts';
import { FLOOR_BIAS, RateWindow } from './rate-window.ts';
import { RefillRate } from './refill-rate.ts';
import { isRelativeReset, type ServerClock } from './server-clock.ts';

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

/** Rate limit, as learned from the headers of responses. All times are monotonic milliseconds. */
export class LearnedLimit {
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
      return isUrgent || waiting <= raw ? SEND : release(now, raw, { inFlight, rtt }, this.#pacing(state));
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

  #pacing({ limit, answeredAt }: Counted): Pacing {
    const { window, otherClients } = this;
    return { limit, answeredAt, window, otherClients, refillRate: this.#refillRate };
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
