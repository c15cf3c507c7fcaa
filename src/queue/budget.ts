import { ForeignUse } from './foreign-use.ts';
import { InFlightCap } from './in-flight-cap.ts';
import type { RateHeaders } from './rate-headers.ts';
import type { RequestClass } from './request.ts';
import type { ServerClock } from './server-clock.ts';
import type { BudgetSnapshot } from './snapshot.ts';

/** What may happen with the next request of a class. `until` is monotonic; Infinity: until an answer comes in. */
export type Decision =
  | { readonly kind: 'send' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'wait'; readonly until: number; readonly why: string };

/** One request in flight. */
export interface Ticket {
  readonly class: RequestClass;
  readonly sentAt: number;
  /** It was sent to learn the budget. */
  readonly probe: boolean;
}

const SEND: Decision = { kind: 'send' };
const PROBE: Decision = { kind: 'probe' };

/** A probe that takes longer than this many round trips (and milliseconds) no longer keeps others from probing. */
const PROBE_ROUND_TRIPS = 4;
const PROBE_PATIENCE = 5000;
const RTT_WEIGHT = 0.2;
/** Servers that floor Reset name an instant up to a second before the real one. */
const FLOOR_BIAS = 1000;
/** The share of a window, at its end, in which nothing is held back any more (queue policy: Dispatch). */
const FREE_SHARE = 0.1;
const BACKOFF_FIRST = 1000;
const BACKOFF_MOST = 60_000;

/** What is known of one limit, and what may be sent under it (queue policy). All times are monotonic milliseconds. */
export class Budget {
  readonly classes: RequestClass[];
  readonly #clock: ServerClock;
  #limit: number | null = null;
  /** Null: nothing known, the next request is a probe. */
  #remaining: number | null = null;
  /** Server time. */
  #resetAt: number | null = null;
  #window = 0;
  #inFlight = 0;
  #rtt: number | null = null;
  #bias = 0;
  #closedUntil = Number.NEGATIVE_INFINITY;
  #closedAt = Number.NEGATIVE_INFINITY;
  #refusals = 0;
  #probeSentAt: number | null = null;
  /** The server answers without telling limits. */
  #silent = false;
  readonly #cap = new InFlightCap();
  readonly #foreign = new ForeignUse();

  constructor(requestClass: RequestClass, clock: ServerClock) {
    this.classes = [requestClass];
    this.#clock = clock;
  }

  get limit(): number | null {
    return this.#limit;
  }
  get remaining(): number | null {
    return this.#remaining;
  }
  get resetAt(): number | null {
    return this.#resetAt;
  }
  get inFlight(): number {
    return this.#inFlight;
  }
  get rtt(): number | null {
    return this.#rtt;
  }
  /** Calls since the window was first seen that were not ours, as far as that is certain. */
  get unexplained(): number {
    return this.#remaining === null ? 0 : this.#foreign.unexplained(this.#remaining);
  }

  /** What may happen now, with so many requests waiting, to one that is urgent or not. */
  decide(now: number, waiting: number, urgent: boolean): Decision {
    if (now < this.#closedUntil) {
      return { kind: 'wait', until: this.#closedUntil, why: 'refused by the platform (429)' };
    }
    if (this.#inFlight >= this.#cap.most) {
      return { kind: 'wait', until: Number.POSITIVE_INFINITY, why: 'the platform allows few requests at a time' };
    }
    const remaining = this.#remaining;
    if (remaining === null || now >= this.#windowEnd()) {
      return this.#decideUnknown(now);
    }
    const raw = remaining - this.#inFlight - Math.ceil(2 * this.#foreign.rate * (this.#rtt ?? 0));
    if (raw >= 1) {
      return urgent || waiting <= raw ? SEND : this.#release(now, raw);
    }
    if (this.#inFlight === 0 && remaining > 0) {
      return SEND;
    }
    return { kind: 'wait', until: this.#windowEnd(), why: 'the rate limit is used up' };
  }

  #decideUnknown(now: number): Decision {
    if (this.#silent && this.#refusals === 0) {
      return SEND;
    }
    if (this.#probeSentAt === null) {
      return PROBE;
    }
    const until = this.#probeSentAt + Math.max(PROBE_PATIENCE, PROBE_ROUND_TRIPS * (this.#rtt ?? 0));
    return now >= until ? PROBE : { kind: 'wait', until, why: 'asking for the rate limit' };
  }

  /** Linear release: in the course of a window ever less is kept back for urgent requests and for others. */
  #release(now: number, raw: number): Decision {
    const limit = this.#limit ?? raw;
    const end = this.#windowEnd();
    const share = this.#window > 0 ? (end - now) / this.#window : 0;
    const reserve = Math.max(0, (limit * (share - FREE_SHARE)) / (1 - FREE_SHARE));
    if (raw - reserve >= 1) {
      return SEND;
    }
    const left = this.#window * (FREE_SHARE + ((1 - FREE_SHARE) * (raw - 1)) / limit);
    return { kind: 'wait', until: Math.max(end - left, now + 1), why: 'the rate limit is released bit by bit' };
  }

  /** Call it right before sending; `probe` as decided. */
  onSent(requestClass: RequestClass, now: number, probe: boolean): Ticket {
    this.#inFlight += 1;
    this.#foreign.count(1);
    if (probe) {
      this.#probeSentAt = now;
    }
    return { class: requestClass, sentAt: now, probe };
  }

  /** Any answer but a refusal. */
  onResponse(ticket: Ticket, headers: RateHeaders, receivedAt: number): void {
    this.#settle(ticket);
    const sample = Math.max(0, receivedAt - ticket.sentAt);
    this.#rtt = this.#rtt === null ? sample : this.#rtt + RTT_WEIGHT * (sample - this.#rtt);
    this.#cap.grow();
    if (ticket.sentAt >= this.#closedAt) {
      this.#refusals = 0;
    }
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    if (headers.remaining === null || resetAt === null) {
      this.#onSilence();
      return;
    }
    this.#silent = false;
    this.#learn(ticket, headers, headers.remaining, resetAt, receivedAt);
  }

  #onSilence(): void {
    if (this.#resetAt === null) {
      this.#silent = true;
    } else if (this.#remaining !== null) {
      this.#remaining -= 1;
    }
  }

  #learn(ticket: Ticket, headers: RateHeaders, remaining: number, resetAt: number, receivedAt: number): void {
    const known = this.#resetAt;
    // Seconds from now are rounded, so that one window seems to end at instants up to a second apart.
    const tolerance = headers.reset !== null && headers.reset < 1e9 ? FLOOR_BIAS : 0;
    if (known === null || resetAt > known + tolerance) {
      this.#adopt(headers, remaining, resetAt, receivedAt);
      return;
    }
    const late = ticket.sentAt >= this.#windowEnd();
    if (late) {
      this.#bias = FLOOR_BIAS;
    }
    if (this.#remaining === null || late) {
      // Only what was asked after the class was closed, or the window seemed over, tells something new.
      if (ticket.probe || late) {
        this.#adopt(headers, remaining, resetAt, receivedAt);
      }
      return;
    }
    if (resetAt >= known - tolerance) {
      this.#limit = headers.limit ?? this.#limit;
      this.#remaining = Math.min(this.#remaining, remaining);
      this.#foreign.observe(this.#remaining, receivedAt, this.#rtt ?? 0);
    }
  }

  #adopt(headers: RateHeaders, remaining: number, resetAt: number, receivedAt: number): void {
    this.#limit = headers.limit ?? Math.max(this.#limit ?? 0, remaining);
    this.#remaining = remaining;
    this.#resetAt = resetAt;
    this.#window = Math.max(this.#window, resetAt - this.#clock.toServer(receivedAt));
    if (this.#windowEnd() <= receivedAt) {
      this.#bias = FLOOR_BIAS;
    }
    this.#foreign.begin(remaining, this.#inFlight, receivedAt);
  }

  /** A 429. `jitter` in [0, 1) spreads the wait where the platform names none. */
  onRefused(ticket: Ticket, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#settle(ticket);
    // Requests that were on their way when the class closed say nothing new.
    const news = ticket.sentAt >= this.#closedAt;
    if (news) {
      this.#refusals += 1;
      this.#closedAt = receivedAt;
    }
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    const crowded = headers.remaining !== null && headers.remaining > 0;
    if (news && (crowded || resetAt === null)) {
      this.#cap.halve(this.#inFlight + 1);
    }
    if (resetAt !== null && !crowded) {
      this.#resetAt = Math.max(this.#resetAt ?? resetAt, resetAt);
      this.#limit = headers.limit ?? this.#limit;
      this.#remaining = null;
    }
    this.#closedUntil = Math.max(this.#closedUntil, this.#reopening(headers, receivedAt, crowded, jitter));
  }

  #reopening(headers: RateHeaders, receivedAt: number, crowded: boolean, jitter: number): number {
    const backoff = Math.min(BACKOFF_MOST, BACKOFF_FIRST * 2 ** Math.max(0, this.#refusals - 1));
    if (headers.retryAfter !== null) {
      // A wait of nothing that is refused again is not taken at its word.
      const least = this.#refusals > 1 ? backoff / 4 : 0;
      return receivedAt + Math.max(headers.retryAfter, least);
    }
    if (crowded) {
      return receivedAt + (this.#cap.most > 1 ? (this.#rtt ?? 0) : backoff);
    }
    if (headers.reset === null) {
      return receivedAt + backoff * (0.5 + jitter / 2);
    }
    if (this.#windowEnd() > receivedAt) {
      return this.#windowEnd();
    }
    this.#bias = FLOOR_BIAS;
    return Math.max(this.#windowEnd(), receivedAt + backoff);
  }

  /** No answer, or one without headers from something in between: the call counts as made (queue policy: 5xx). */
  onLost(ticket: Ticket): void {
    this.#settle(ticket);
    if (this.#remaining !== null) {
      this.#remaining -= 1;
    }
  }

  /** It never reached the platform. */
  onUnsent(ticket: Ticket): void {
    this.#settle(ticket);
    this.#foreign.count(-1);
  }

  #settle(ticket: Ticket): void {
    this.#inFlight -= 1;
    if (ticket.probe) {
      this.#probeSentAt = null;
    }
  }

  #windowEnd(): number {
    return this.#resetAt === null ? Number.NEGATIVE_INFINITY : this.#clock.toMonotonic(this.#resetAt) + this.#bias;
  }

  /** Takes over a budget that proved to be this one. */
  absorb(other: Budget): void {
    this.classes.push(...other.classes);
    this.#inFlight += other.#inFlight;
    this.#foreign.count(other.#inFlight);
    this.#probeSentAt ??= other.#probeSentAt;
    this.#closedUntil = Math.max(this.#closedUntil, other.#closedUntil);
    if (this.#remaining !== null && other.#remaining !== null) {
      this.#remaining = Math.min(this.#remaining, other.#remaining);
    }
  }

  snapshot(now: number): BudgetSnapshot {
    const known = this.#remaining !== null && now < this.#windowEnd();
    return {
      classes: [...this.classes],
      limit: this.#limit,
      left: known ? Math.max(0, (this.#remaining ?? 0) - this.#inFlight) : null,
      resetIn: known ? this.#windowEnd() - now : null,
      window: this.#window > 0 ? this.#window : null,
      closedFor: Math.max(0, this.#closedUntil - now),
      foreign: this.#foreign.rate * 1000,
      rate: this.#limit !== null && this.#window > 0 ? (this.#limit / this.#window) * 1000 : null,
    };
  }
}
