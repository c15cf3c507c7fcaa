import { type Decision, PROBE } from './pacing.ts';

/** Timeout of a probe, in round trips and at least in milliseconds. Another probe may be sent afterwards. */
const TIMEOUT_ROUND_TRIPS = 4;
const MIN_TIMEOUT = 5000;

/** Tracks the single request that is sent to learn a budget. Times are monotonic milliseconds. */
export class Probe {
  #sentAt: number | null = null;

  decide(now: number, rtt: number): Decision {
    if (this.#sentAt === null) {
      return PROBE;
    }
    const until = this.#sentAt + Math.max(MIN_TIMEOUT, TIMEOUT_ROUND_TRIPS * rtt);
    return now >= until ? PROBE : { kind: 'wait', until, why: 'asking for the rate limit' };
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
