import { Closure } from './closure.ts';
import { ForeignUse } from './foreign-use.ts';
import { InFlightCap } from './in-flight-cap.ts';
import { Pace } from './pace.ts';
import type { RateHeaders } from './rate-headers.ts';
import { FLOOR_BIAS, RateWindow } from './rate-window.ts';
import { AFTER_ANSWER, type Decision, isFree, PROBE, releaseInBucket, releaseInWindow, SEND } from './release.ts';
import type { RequestClass } from './request.ts';
import { isFromNow, type ServerClock } from './server-clock.ts';
import type { BudgetSnapshot } from './snapshot.ts';

/** One request in flight. */
export interface Ticket {
  readonly call: { readonly class: RequestClass; readonly name: string };
  /** The lane it was sent in. */
  readonly lane: string;
  readonly sentAt: number;
  /** It was sent to learn the budget. */
  readonly probe: boolean;
}

/** A probe that takes longer than this many round trips (and milliseconds) no longer keeps others from probing. */
const PROBE_ROUND_TRIPS = 4;
const PROBE_PATIENCE = 5000;
/** What a new round trip weighs at least against those before. */
const RTT_WEIGHT = 0.02;
/** How long others are taken to go on as they last did, as a share of a window: a burst of theirs ends as well. */
const LONGEST_SILENCE = 1 / 8;

/** What is known of one limit, and what may be sent under it (queue policy). All times are monotonic milliseconds. */
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
  #rtt: number | null = null;
  readonly #closure = new Closure();
  #probeSentAt: number | null = null;
  /** The server answers without telling limits. */
  #silent = false;
  readonly #cap = new InFlightCap();
  readonly #foreign = new ForeignUse();
  readonly #pace = new Pace();
  #answers = 0;
  #answeredAt = 0;

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
    return this.#pace.isBucket;
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
    if (now < this.#closure.until) {
      return { kind: 'wait', until: this.#closure.until, why: 'refused by the platform (429)' };
    }
    if (this.#inFlight >= this.#cap.most) {
      return { kind: 'wait', until: Number.POSITIVE_INFINITY, why: 'the platform allows few requests at a time' };
    }
    if (this.#remaining === null || now >= this.#window.end) {
      return this.#decideUnknown(now);
    }
    const remaining = this.#remaining + this.#refilled(now);
    const share = this.#foreign.share(remaining);
    const raw = remaining - this.#inFlight - this.#takenByOthers(now, share);
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
    const until = Math.min(this.#window.end, now + this.#untilRefill());
    return { kind: 'wait', until, why: 'the rate limit is used up' };
  }

  /** Calls that have flowed into a bucket since the last answer. */
  #refilled(now: number): number {
    const { refill } = this.#pace;
    return refill === null ? 0 : Math.floor((refill * Math.max(0, now - this.#answeredAt)) / 1000);
  }

  /** Milliseconds until there is one call more; Infinity where the limit is no bucket. */
  #untilRefill(): number {
    const { refill } = this.#pace;
    return refill === null || refill <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, 1000 / refill);
  }

  /** What others may have used by the time a call arrives: as much as lately, and as much for each of ours in flight. */
  #takenByOthers(now: number, share: number): number {
    const rtt = this.#rtt ?? 0;
    const silence = Math.min(now - this.#answeredAt, this.#window.length * LONGEST_SILENCE);
    const lately = this.#foreign.rate * (rtt + Math.max(rtt, silence));
    return Math.ceil(Math.max(lately, share * this.#inFlight));
  }

  /** A bucket does not show whether others draw on it, so that it is used in small steps. */
  #isBurst(remaining: number): boolean {
    const needed = (2 * (this.#pace.leastRefill ?? 0) * (this.#rtt ?? 0)) / 1000;
    return this.#pace.isBucket && this.#inFlight >= Math.max(1, remaining / 4, needed);
  }

  #decideUnknown(now: number): Decision {
    if (this.#silent && this.#closure.refusals === 0) {
      return SEND;
    }
    if (this.#probeSentAt === null) {
      return PROBE;
    }
    const until = this.#probeSentAt + Math.max(PROBE_PATIENCE, PROBE_ROUND_TRIPS * (this.#rtt ?? 0));
    return now >= until ? PROBE : { kind: 'wait', until, why: 'asking for the rate limit' };
  }

  #release(now: number, raw: number): Decision {
    const limit = this.#limit ?? raw;
    const refill = this.#pace.leastRefill;
    if (refill === null) {
      return releaseInWindow(now, raw, limit, this.#window);
    }
    const seenAt = this.#inFlight === 0 ? this.#answeredAt : null;
    return releaseInBucket(now, raw, { limit, refill, seenAt, end: this.#window.end });
  }

  /** Call it right before sending; `probe` as decided. */
  onSent(ticket: Ticket): Ticket {
    this.#inFlight += 1;
    this.#foreign.count(1);
    if (ticket.probe) {
      this.#probeSentAt = ticket.sentAt;
    }
    return ticket;
  }

  /** Any answer but a refusal. */
  onResponse(ticket: Ticket, headers: RateHeaders, receivedAt: number): void {
    this.#settle(ticket);
    const sample = Math.max(0, receivedAt - ticket.sentAt);
    this.#answers += 1;
    this.#answeredAt = receivedAt;
    this.#rtt = (this.#rtt ?? 0) + Math.max(RTT_WEIGHT, 1 / this.#answers) * (sample - (this.#rtt ?? 0));
    this.#cap.grow();
    this.#closure.onAnswer(ticket.sentAt);
    const resetAt = this.#clock.resetOf(headers, receivedAt);
    if (headers.remaining === null || resetAt === null) {
      this.#onSilence();
      return;
    }
    this.#silent = false;
    this.#learn(ticket, headers, headers.remaining, resetAt, receivedAt);
    this.#pace.onAnswer(headers.remaining, this.#limit ?? 0, receivedAt);
  }

  #onSilence(): void {
    if (this.#window.resetAt === null) {
      this.#silent = true;
    } else if (this.#remaining !== null) {
      this.#remaining -= 1;
    }
  }

  #learn(ticket: Ticket, headers: RateHeaders, remaining: number, resetAt: number, receivedAt: number): void {
    const known = this.#window.resetAt;
    // Seconds from now are rounded, so that one window seems to end at instants up to a second apart.
    const tolerance = isFromNow(headers) ? FLOOR_BIAS : 0;
    if (known === null || resetAt > known + tolerance) {
      this.#adopt(ticket, headers, remaining, resetAt, receivedAt);
      return;
    }
    const late = ticket.sentAt >= this.#window.end;
    if (late) {
      this.#window.outlast();
    }
    if (this.#remaining === null || late) {
      // Only what was asked after the class was closed, or the window seemed over, tells something new.
      if (ticket.probe || late) {
        this.#adopt(ticket, headers, remaining, resetAt, receivedAt);
      }
      return;
    }
    if (resetAt >= known - tolerance) {
      this.#limit = headers.limit ?? this.#limit;
      // A bucket has more again at any time, also while its reset stays in the same second.
      this.#remaining = this.#pace.isBucket ? remaining : Math.min(this.#remaining, remaining);
      this.#foreign.observe(this.#remaining, receivedAt, this.#rtt ?? 0);
    }
  }

  #adopt(ticket: Ticket, headers: RateHeaders, remaining: number, resetAt: number, receivedAt: number): void {
    const limit = headers.limit ?? Math.max(this.#limit ?? 0, remaining);
    const continues = remaining <= (this.#remaining ?? 0) + limit / 4;
    const opened = remaining >= limit - 1 && (this.#remaining ?? 0) < remaining;
    this.#limit = limit;
    this.#remaining = remaining;
    const date = isFromNow(headers) ? null : headers.date;
    const sighting = { resetAt, sentAt: ticket.sentAt, receivedAt, date, opened };
    this.#pace.onReset(sighting, continues);
    if (this.#pace.isBucket) {
      this.#window.trustResets();
    }
    this.#window.begin(sighting);
    this.#foreign.begin(remaining, this.#inFlight, receivedAt);
  }

  /** A 429. `jitter` in [0, 1) spreads the wait where the platform names none. */
  onRefused(ticket: Ticket, headers: RateHeaders, receivedAt: number, jitter: number): void {
    this.#settle(ticket);
    const news = this.#closure.onRefused(ticket.sentAt, receivedAt);
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
    this.#closure.close(this.#reopening(headers, receivedAt, crowded, jitter));
  }

  #reopening(headers: RateHeaders, receivedAt: number, crowded: boolean, jitter: number): number {
    const { backoff, refusals } = this.#closure;
    if (headers.retryAfter !== null) {
      // A wait of nothing that is refused again is not taken at its word.
      const least = refusals > 1 ? backoff / 4 : 0;
      return receivedAt + Math.max(headers.retryAfter, least);
    }
    if (crowded) {
      return receivedAt + (this.#cap.most > 1 ? (this.#rtt ?? 0) : backoff);
    }
    if (headers.reset === null || this.#pace.isBucket) {
      // A bucket has something again long before its reset, when it is full.
      return receivedAt + backoff * (0.5 + jitter / 2);
    }
    if (this.#window.end > receivedAt) {
      return this.#window.end;
    }
    this.#window.outlast();
    return Math.max(this.#window.end, receivedAt + backoff);
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

  /** Takes over a budget that proved to be this one. */
  absorb(other: Budget): void {
    this.lanes.push(...other.lanes);
    this.classes.push(...other.classes.filter((name) => !this.classes.includes(name)));
    this.#inFlight += other.#inFlight;
    this.#foreign.count(other.#inFlight);
    this.#probeSentAt ??= other.#probeSentAt;
    this.#closure.close(other.#closure.until);
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

  snapshot(now: number): BudgetSnapshot {
    const { length, end } = this.#window;
    const known = this.#remaining !== null && now < end;
    const window = length > 0 ? this.#pace.period(length) : null;
    const { refill } = this.#pace;
    const remaining = Math.min((this.#remaining ?? 0) + this.#refilled(now), this.#limit ?? Number.POSITIVE_INFINITY);
    const rate = this.#limit === null || window === null ? null : (this.#limit / window) * 1000;
    return {
      classes: [...this.classes],
      operations: this.lanes.flatMap((lane) => lane.split(' ')[1] ?? []),
      limit: this.#limit,
      left: known ? Math.max(0, remaining - this.#inFlight) : null,
      resetIn: known ? end - now : null,
      window,
      refill,
      closedFor: Math.max(0, this.#closure.until - now),
      rtt: this.#rtt,
      foreign: this.#foreign.rate * 1000,
      rate: refill ?? rate,
    };
  }
}
