// Weights the windows that a rate limit without headers may have, by the requests that are accepted and refused.
import { largest } from '../../core/lists.ts';
import type { ServerClock } from './server-clock.ts';

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
  /** Own requests that were accepted in one window, at most, since the last 429. */
  limit: number;
  /** Requests in the window of the last 429. */
  refusedAt: number;
}

/** Own requests per window and in the current one, and the monotonic time at which it ends. */
export interface ProbableWindow {
  readonly limit: number;
  readonly count: number;
  readonly length: number;
  readonly end: number;
}

/** Weights of common lengths in seconds. Other whole seconds up to a minute have the weight `RARE`. */
const COMMON = new Map([
  [1, 4],
  [2, 4],
  [5, 3],
  [10, 4],
  [15, 2],
  [20, 2],
  [30, 3],
  [60, 6],
  [300, 0.5],
  [600, 0.5],
  [900, 0.5],
  [1800, 0.5],
  [3600, 2],
]);
const RARE = 0.15;
const RARE_UP_TO = 60;

/**
 * Factors for a candidate that the times contradict, that the counts contradict, which other clients may cause, and
 * whose count differs from that of the last window with a 429.
 */
const WRONG_TIME = 0.015;
const WRONG_COUNT = 0.2;
const UNEQUAL_COUNT = 0.3;
const MIN_WEIGHT = 1e-4;
/** Share of a candidate's limit below which a 429 contradicts it. */
const EARLY = 0.9;
/** Requests by which equal counts may differ. */
const NOISE = 1;
/** Share of the highest weight below which a candidate is ignored. */
const NEGLIGIBLE = 0.02;
/** Cost of a probe that is refused, and maximum cost of one that is sent too late, in windows. */
const COST_OF_429 = 0.3;
const MAX_LATE = 2;
/** Milliseconds by which the server's clock may be ahead of what its `Date` has shown. */
const CLOCK_ERROR = 200;
/**
 * Share of the shortest round trip by which a probe is sent before the end of a window: the window opened before the
 * response arrived, and the probe arrives after it was sent.
 */
const LEAD = 0.8;

/** Candidates for the window of one limit. All times are monotonic milliseconds. */
export class WindowCandidates {
  readonly #clock: ServerClock;
  readonly #all: readonly Candidate[];
  /** Shortest round trip in milliseconds. */
  minRtt = 0;

  /** Starts at the first 429, after `accepted` requests since `since`, which may span several windows. */
  constructor(clock: ServerClock, accepted: number, since: number, now: number) {
    this.#clock = clock;
    const rare = Array.from({ length: RARE_UP_TO }, (_, index) => [index + 1, RARE] as const);
    this.#all = [...new Map([...rare, ...COMMON])].flatMap(([seconds, weight]) => {
      const length = seconds * 1000;
      const count = Math.ceil(accepted * Math.min(1, length / Math.max(1, now - since)));
      const end = since + length * Math.max(1, Math.ceil((now - since) / length));
      const both = { length, weight, count, limit: count, refusedAt: count };
      return [
        { ...both, anchor: 'clock', end: this.#multipleAfter(now, length) },
        { ...both, anchor: 'first-call', end },
      ] satisfies Candidate[];
    });
  }

  /** Returns the most probable window; of equally probable ones, the shortest. */
  best(): ProbableWindow {
    let [best] = this.#all as readonly [Candidate];
    for (const each of this.#all) {
      best = each.weight > best.weight ? each : best;
    }
    const { limit, count, length } = best;
    return { limit: Math.max(1, limit), count, length, end: this.#endOf(best) };
  }

  /** Counts an accepted request. */
  onAccepted(sentAt: number, receivedAt: number): void {
    const openedAt = receivedAt - LEAD * this.minRtt;
    for (const each of this.#all) {
      if (sentAt >= this.#endOf(each)) {
        each.count = 0;
        each.end = each.anchor === 'clock' ? this.#multipleAfter(receivedAt, each.length) : openedAt + each.length;
      }
      each.count += 1;
      each.limit = Math.max(each.limit, each.count);
    }
  }

  /** Records a 429 in a window that accepted requests before. Every candidate has its own count of it. */
  onUsedUp(): void {
    this.#contradict((each) => each.count < EARLY * each.limit, WRONG_COUNT);
    this.#contradict((each) => Math.abs(each.count - each.refusedAt) > NOISE, UNEQUAL_COUNT);
    for (const each of this.#all) {
      each.limit = each.count;
      each.refusedAt = each.count;
    }
  }

  /** Records that a probe that was sent at `sentAt` was refused. */
  onStillClosed(sentAt: number): void {
    this.#contradict((each) => this.#endOf(each) <= sentAt, WRONG_TIME);
    for (const each of this.#all) {
      const late = sentAt - this.#endOf(each);
      each.end += late < 0 ? 0 : each.length * (Math.floor(late / each.length) + 1);
    }
  }

  /**
   * Records that a probe was accepted after a 429. `waited`, unless null, is the time since the first 429 of all: the
   * longer the windows that follow the clock, the less likely one ended so soon.
   */
  onReopened(receivedAt: number, rtt: number, waited: number | null): void {
    this.#contradict((each) => this.#endOf(each) > receivedAt + rtt + CLOCK_ERROR, WRONG_TIME);
    for (const each of waited === null ? [] : this.#all) {
      each.weight *= each.anchor === 'clock' ? Math.min(1, (waited ?? 0) / each.length) : 1;
    }
  }

  /**
   * Returns the time at which a probe is expected to cost least: a 429 if the window is still closed, or the time that
   * is lost if it has been open for a while.
   */
  probeAt(): number {
    const highest = largest(this.#all.map(({ weight }) => weight));
    const openings = this.#all
      .filter(({ weight }) => weight >= NEGLIGIBLE * highest)
      .map((each) => ({ at: this.#endOf(each), weight: each.weight, length: each.length }))
      .toSorted((a, b) => a.at - b.at);
    let best = { at: Number.POSITIVE_INFINITY, cost: Number.POSITIVE_INFINITY };
    for (const { at } of openings) {
      const costs = openings.map((each) => {
        const late = at - each.at;
        return each.weight * (late < 0 ? COST_OF_429 : Math.min(MAX_LATE, late / each.length));
      });
      const cost = costs.reduce((sum, each) => sum + each, 0);
      best = cost < best.cost ? { at, cost } : best;
    }
    return best.at;
  }

  #contradict(isWrong: (candidate: Candidate) => boolean, factor: number): void {
    for (const each of this.#all) {
      each.weight *= isWrong(each) ? factor : 1;
    }
    const highest = largest(this.#all.map(({ weight }) => weight));
    for (const each of this.#all) {
      each.weight = Math.max(MIN_WEIGHT, each.weight / highest);
    }
  }

  #endOf({ anchor, end }: Candidate): number {
    return anchor === 'clock' ? this.#clock.toMonotonic(end) - LEAD * this.minRtt : end;
  }

  /** Returns the next multiple of a length on the server's clock, in server time. */
  #multipleAfter(at: number, length: number): number {
    return (Math.floor(this.#clock.toServer(at) / length) + 1) * length;
  }
}
