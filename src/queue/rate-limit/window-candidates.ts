// Weights the windows that a rate limit without headers may have, by the requests that are accepted and refused.
import { largest } from '../../core/lists.ts';
import { cheapestProbe } from './probe-time.ts';
import type { ServerClock } from './server-clock.ts';
import { windowLengths } from './window-lengths.ts';

/** Window that a limit may have, and what its count would be. */
interface Candidate {
  /** Start of its windows: multiples of the length on the server's clock, or the first request after the last window. */
  readonly anchor: 'clock' | 'first-call';
  /** Milliseconds. */
  readonly length: number;
  weight: number;
  /** End of its current window: server time for `clock`, otherwise monotonic. */
  end: number;
  /** Own requests that were accepted in its current window. */
  count: number;
  /** Accepted requests that may belong to the window before or after instead. */
  blurred: number;
  /** Requests that one of its windows accepts: at least, until a request was refused. */
  limit: number;
  isExact: boolean;
  /** True if a request was refused in its current window. */
  isClosed: boolean;
}

/** Own requests per window and in the current one, and the monotonic time at which a request can open the next. */
export interface ProbableWindow {
  readonly limit: number;
  readonly count: number;
  readonly length: number;
  readonly end: number;
}

/** 429 without a reset. Times are monotonic milliseconds. */
export interface BareRefusal {
  readonly sentAt: number;
  readonly receivedAt: number;
  /** `Retry-After` in milliseconds; null without one. */
  readonly retryAfter: number | null;
}

/**
 * Factors for a candidate that the times contradict; for the only plausible one if they do so by less than a round trip;
 * for one that the counts contradict, which other clients may cause; and for one that accepted more than its limit, which
 * a raised limit may cause.
 */
const WRONG_TIME = 0.015;
const TOO_EARLY = 0.5;
const WRONG_COUNT = 0.2;
const UNEQUAL_COUNT = 0.3;
const EXCEEDED = 0.05;
const MIN_WEIGHT = 1e-4;
/** Share of a candidate's limit below which a 429 contradicts it. */
const EARLY = 0.9;
/** Requests by which equal counts may differ. */
const NOISE = 1;
/** Shares of the highest weight below which a candidate is ignored when a probe is timed, and when requests are sent. */
const NEGLIGIBLE = 0.02;
const PLAUSIBLE = 0.2;
/** Milliseconds by which the server's clock may be ahead of what its `Date` has shown. */
const CLOCK_ERROR = 200;
/** Milliseconds by which `Retry-After` may be rounded. */
const ROUNDING = 1000;
/** Share of a round trip by which the arrival of a request may differ from the middle between sending and response. */
const BLUR = 0.5;
/**
 * Share of the shortest round trip by which a probe is sent before the end of a window that a request has started, to
 * arrive just after it.
 */
const LEAD = 0.2;
/** Minimum of `firstCount`, for a limit that other clients had nearly used up. */
const MIN_FIRST_COUNT = 10;

/** Candidates for the window of one limit. All times are monotonic milliseconds. */
export class WindowCandidates {
  readonly #clock: ServerClock;
  readonly #all: readonly Candidate[];
  /** Time at which the last 429 arrived, and the end of the window by its `Retry-After`. */
  #refusedAt = Number.NEGATIVE_INFINITY;
  #announcedEnd: number | null = null;
  /** Time at which the last response other than a 429 arrived. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #probeAt: number | null = null;
  /** Requests that were accepted since `#since`: at first all, and from the first 429 on, those after it. */
  #accepted = 0;
  #since = Number.POSITIVE_INFINITY;
  /** Requests that were accepted before the first 429. */
  firstCount = MIN_FIRST_COUNT;
  /** Shortest round trip in milliseconds. */
  minRtt = 0;

  constructor(clock: ServerClock) {
    this.#clock = clock;
    this.#all = windowLengths().flatMap(([seconds, weight]) =>
      (['clock', 'first-call'] as const).map((anchor) => ({
        ...{ anchor, length: seconds * 1000, weight, end: Number.NEGATIVE_INFINITY },
        ...{ count: 0, blurred: 0, limit: 0, isExact: false, isClosed: false },
      })),
    );
  }

  /** Returns the most probable window; of equally probable ones, the shortest. */
  best(): ProbableWindow {
    const best = this.#best();
    const { limit, count, length } = best;
    return { limit: Math.max(1, limit), count, length, end: this.#opensAt(best) };
  }

  /** Returns the earliest end of a window that is not improbable, and the requests that all such windows accept. */
  consensus(now: number): { readonly end: number; readonly room: number } {
    const least = PLAUSIBLE * this.#best().weight;
    let end = Number.POSITIVE_INFINITY;
    let room = Number.POSITIVE_INFINITY;
    for (const each of this.#all) {
      const opensAt = each.weight < least ? now : this.#opensAt(each);
      if (now < opensAt) {
        end = Math.min(end, opensAt);
        room = Math.min(room, each.limit - each.count);
      }
    }
    return { end, room };
  }

  /** Time at which the last 429 arrived; -Infinity before the first. */
  get refusedAt(): number {
    return this.#refusedAt;
  }

  /** Returns the requests that were accepted since the first 429, per millisecond. */
  rate(now: number): number {
    return Math.max(1, this.#accepted) / Math.max(1, now - this.#since);
  }

  /** Counts an accepted request. */
  onAccepted(sentAt: number, receivedAt: number, rtt: number): void {
    const arrivedAt = (sentAt + receivedAt) / 2;
    const isLate = sentAt < this.#refusedAt;
    this.#probeAt = null;
    this.#answeredAt = receivedAt;
    this.#announcedEnd = isLate ? this.#announcedEnd : null;
    this.#accepted += 1;
    let isSurprise = false;
    for (const each of this.#all) {
      const left = this.#endOf(each) - arrivedAt;
      const isBlurred = Math.abs(left) < BLUR * rtt;
      const isReopened = each.isClosed && !isLate;
      if (left <= 0 || (isReopened && left <= rtt + CLOCK_ERROR)) {
        this.#open(each, arrivedAt);
      } else if (isReopened) {
        each.weight *= WRONG_TIME;
        each.isClosed = false;
        isSurprise = true;
      }
      each.blurred += isBlurred ? 1 : 0;
      each.count += 1;
      isSurprise = raiseLimit(each, isLate) || isSurprise;
    }
    if (isSurprise) {
      this.#normalize();
    }
  }

  #open(each: Candidate, arrivedAt: number): void {
    const last = each.end;
    const next =
      each.anchor === 'clock' ? this.#multipleAfter(arrivedAt + this.minRtt / 2, each.length) : arrivedAt + each.length;
    each.end = next <= last ? next + each.length : next;
    each.count = 0;
    each.blurred = 0;
    each.isClosed = false;
  }

  /** Records a 429. Every candidate has its own count of it. */
  onRefused({ sentAt, receivedAt, retryAfter }: BareRefusal): void {
    const arrivedAt = (sentAt + receivedAt) / 2;
    this.#probeAt = null;
    this.#refusedAt = receivedAt;
    if (this.#since === Number.POSITIVE_INFINITY) {
      this.#since = receivedAt;
      this.firstCount = Math.max(MIN_FIRST_COUNT, this.#accepted);
      this.#accepted = 0;
    }
    const best = this.#best();
    const isCertain = this.#all.every((each) => each === best || each.weight < PLAUSIBLE * best.weight);
    for (const each of this.#all) {
      this.#refuse(each, arrivedAt, isCertain && each === best);
    }
    this.#announcedEnd = retryAfter === null ? null : arrivedAt + retryAfter;
    for (const each of retryAfter === null ? [] : this.#all) {
      each.weight *= this.#isAnnounced(each) ? 1 : WRONG_TIME;
    }
    this.#normalize();
  }

  #refuse(each: Candidate, arrivedAt: number, isCertain: boolean): void {
    if (each.end === Number.NEGATIVE_INFINITY) {
      this.#open(each, arrivedAt);
    }
    const late = arrivedAt - this.#endOf(each);
    if (isCertain && late >= 0 && late < this.minRtt) {
      each.weight *= TOO_EARLY;
      each.end += this.minRtt;
    } else if (late >= 0) {
      each.weight *= WRONG_TIME;
      each.end += each.length * (Math.floor(late / each.length) + 1);
    } else if (!each.isClosed) {
      each.weight *= each.count < EARLY * each.limit ? WRONG_COUNT : 1;
      each.weight *= each.isExact && Math.abs(each.count - each.limit) > NOISE + each.blurred ? UNEQUAL_COUNT : 1;
      each.limit = each.count;
      each.isExact = true;
      each.isClosed = true;
    }
  }

  /** Returns true if a window ends when the last `Retry-After` said, which may be rounded up or down. */
  #isAnnounced(each: Candidate): boolean {
    return this.#announcedEnd === null || Math.abs(this.#endOf(each) - this.#announcedEnd) <= ROUNDING + this.minRtt;
  }

  /** Returns the time at which a probe is expected to cost least, or that of `Retry-After` if no window fits it. */
  probeAt(): number {
    const best = this.#best();
    if (this.#announcedEnd !== null && !this.#isAnnounced(best)) {
      return this.#announcedEnd;
    }
    const least = NEGLIGIBLE * best.weight;
    this.#probeAt ??= cheapestProbe(
      this.#all
        .filter(({ weight }) => weight >= least)
        .map((each) => ({ at: this.#acceptsAt(each, best), weight: each.weight, length: each.length })),
    );
    return this.#probeAt;
  }

  /** Returns the time at which a window accepts another request; now, if it is not improbable and not used up. */
  #acceptsAt(each: Candidate, best: Candidate): number {
    const isOpen = !each.isClosed && each.count < each.limit && each.weight >= PLAUSIBLE * best.weight;
    return isOpen ? Math.min(this.#answeredAt, this.#opensAt(each)) : this.#opensAt(each);
  }

  #best(): Candidate {
    let [best] = this.#all as readonly [Candidate];
    for (const each of this.#all) {
      best = each.weight > best.weight ? each : best;
    }
    return best;
  }

  #normalize(): void {
    const highest = largest(this.#all.map(({ weight }) => weight));
    for (const each of this.#all) {
      each.weight = Math.max(MIN_WEIGHT, each.weight / highest);
    }
  }

  /**
   * Returns the time at which a request has to be sent to arrive just after the window. On the server's clock, that is
   * when the window is certainly over: how much of a round trip precedes the count is unknown.
   */
  #opensAt(each: Candidate): number {
    return each.anchor === 'clock' ? this.#clock.toMonotonic(each.end) : each.end - LEAD * this.minRtt;
  }

  /** Returns the monotonic end of the current window. The server's clock is at least half a round trip ahead. */
  #endOf({ anchor, end }: Candidate): number {
    return anchor === 'clock' ? this.#clock.toMonotonic(end) - this.minRtt / 2 : end;
  }

  /** Returns the next multiple of a length on the server's clock, in server time. */
  #multipleAfter(at: number, length: number): number {
    return (Math.floor(this.#clock.toServer(at) / length) + 1) * length;
  }
}

/** Raises a limit that was exceeded. Returns true if that makes the candidate less likely. */
function raiseLimit(each: Candidate, isLate: boolean): boolean {
  const isSurprise = each.isExact && !isLate;
  if (each.count <= each.limit + (isSurprise ? each.blurred : 0)) {
    return false;
  }
  each.limit = each.count;
  if (isSurprise) {
    each.weight *= EXCEEDED;
    each.isExact = false;
  }
  return isSurprise;
}
