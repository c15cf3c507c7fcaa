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
}

/** Own requests per window and in the current one, and the monotonic time at which it ends. */
export interface ProbableWindow {
  readonly limit: number;
  readonly count: number;
  readonly length: number;
  readonly end: number;
}

/** Lengths in seconds, with a weight by how common they are. */
const LENGTHS: readonly (readonly [seconds: number, weight: number])[] = [
  [1, 4],
  [2, 4],
  [3, 1],
  [4, 1],
  [5, 2],
  [6, 1],
  [10, 4],
  [12, 1],
  [15, 1],
  [20, 1],
  [30, 2],
  [60, 6],
  [120, 1],
  [300, 1],
  [600, 1],
  [900, 1],
  [1800, 1],
  [3600, 2],
];

/**
 * Factor for a candidate that the times contradict, and for one that the counts contradict, which other clients may
 * cause.
 */
const WRONG_TIME = 0.015;
const WRONG_COUNT = 0.2;
const MIN_WEIGHT = 1e-4;
/** Share of a candidate's limit below which a 429 contradicts it. */
const EARLY = 0.9;
/** Share of the highest weight below which a candidate is ignored. */
const NEGLIGIBLE = 0.02;
/** Share of the weight that has to expect a new window before a probe is sent: after the first 429, and later. */
const ENOUGH_AT_FIRST = 0.45;
const ENOUGH_LATER = 0.05;
/** Longest wait for the first probes: in milliseconds, and in multiples of the time since the first 429. */
const FIRST_WAIT = 2000;
const WAIT_GROWTH = 4;
/** Milliseconds by which the server's clock may be ahead of what its `Date` has shown. */
const CLOCK_ERROR = 200;

/** Candidates for the window of one limit. All times are monotonic milliseconds. */
export class WindowCandidates {
  readonly #clock: ServerClock;
  readonly #all: readonly Candidate[];

  /** Starts at the first 429, after `accepted` requests since `since`, which may span several windows. */
  constructor(clock: ServerClock, accepted: number, since: number, now: number) {
    this.#clock = clock;
    this.#all = LENGTHS.flatMap(([seconds, weight]) => {
      const length = seconds * 1000;
      const count = Math.ceil(accepted * Math.min(1, length / Math.max(1, now - since)));
      const end = since + length * Math.max(1, Math.ceil((now - since) / length));
      const both = { length, weight, count, limit: count };
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
  onAccepted(at: number): void {
    for (const each of this.#all) {
      if (at >= this.#endOf(each)) {
        each.count = 0;
        each.end = each.anchor === 'clock' ? this.#multipleAfter(at, each.length) : at + each.length;
      }
      each.count += 1;
      each.limit = Math.max(each.limit, each.count);
    }
  }

  /** Records a 429 in a window that accepted requests before. Every candidate has its own count of it. */
  onUsedUp(): void {
    this.#contradict((each) => each.count < EARLY * each.limit, WRONG_COUNT);
    for (const each of this.#all) {
      each.limit = each.count;
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
   * Returns the time at which a probe is worth the risk of a 429, because enough of the weight expects a new window by
   * then. `closed`, unless null, bounds the wait by the time since the first 429 of all.
   */
  probeAt(rtt: number, closed: { readonly at: number; readonly now: number } | null): number {
    const highest = largest(this.#all.map(({ weight }) => weight));
    const openings = this.#all
      .filter(({ weight }) => weight >= NEGLIGIBLE * highest)
      .map((each) => ({ at: this.#endOf(each), weight: each.weight }))
      .toSorted((a, b) => a.at - b.at);
    const total = openings.reduce((sum, { weight }) => sum + weight, 0);
    const latest =
      closed === null
        ? Number.POSITIVE_INFINITY
        : closed.at + Math.max(FIRST_WAIT, WAIT_GROWTH * (closed.now - closed.at));
    const enough = total * (closed === null ? ENOUGH_LATER : ENOUGH_AT_FIRST);
    let chosen = Number.POSITIVE_INFINITY;
    let seen = 0;
    for (const { at, weight } of openings) {
      if ((seen >= enough && at > chosen + rtt) || (at > latest && chosen !== Number.POSITIVE_INFINITY)) {
        break;
      }
      chosen = at;
      seen += weight;
    }
    return chosen;
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
    return anchor === 'clock' ? this.#clock.toMonotonic(end) : end;
  }

  /** Returns the next multiple of a length on the server's clock, in server time. */
  #multipleAfter(at: number, length: number): number {
    return (Math.floor(this.#clock.toServer(at) / length) + 1) * length;
  }
}
