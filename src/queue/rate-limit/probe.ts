import { type Decision, PROBE } from './pacing.ts';

/** A probe that takes longer than this many round trips (and milliseconds) no longer keeps others from probing. */
const ROUND_TRIPS = 4;
const PATIENCE = 5000;

/** The one request that is sent to learn a budget. Times are monotonic milliseconds. */
export class Probe {
  #sentAt: number | null = null;

  decide(now: number, rtt: number): Decision {
    if (this.#sentAt === null) {
      return PROBE;
    }
    const until = this.#sentAt + Math.max(PATIENCE, ROUND_TRIPS * rtt);
    return now >= until ? PROBE : { kind: 'wait', until, why: 'asking for the rate limit' };
  }

  sent(at: number): void {
    this.#sentAt = at;
  }

  over(): void {
    this.#sentAt = null;
  }

  /** Takes over that of a budget that proved to be the same. */
  absorb(other: Probe): void {
    this.#sentAt ??= other.#sentAt;
  }
}
