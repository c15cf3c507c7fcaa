/** Minimum interval between samples of other clients' usage, in milliseconds, and the weight of a sample. */
const SAMPLE_EVERY = 500;
const SAMPLE_WEIGHT = 0.3;

/** Maximum of other clients' requests per own request that is carried over to the next window. */
const MAX_CARRIED_RATIO = 4;

/** Time for which the last measured rate is extrapolated, as a share of a window: bursts of other clients end too. */
const MAX_SILENCE = 1 / 8;

/** Estimates other clients' usage of the same budget from drops in `remaining` that own requests do not explain. */
export class OtherClients {
  /** Requests of other clients per millisecond. */
  rate = 0;
  #initialRemaining = 0;
  /** Own requests that may be part of the drop since the start, including those in flight at the start. */
  #own = 0;
  #lastUnexplained = 0;
  #sampledAt = 0;
  #share = 0;
  #shareBefore = 0;

  /** True if other clients have used the budget. */
  get areSeen(): boolean {
    return this.rate > 0 || this.#share > 0 || this.#shareBefore > 0;
  }

  /** Starts a window with `remaining` requests left. Up to `inFlight` own requests may not be counted in it yet. */
  begin(remaining: number, inFlight: number, now: number): void {
    this.#shareBefore = Math.min(MAX_CARRIED_RATIO, this.#share);
    this.#share = 0;
    this.#initialRemaining = remaining;
    this.#own = inFlight;
    this.#lastUnexplained = 0;
    this.#sampledAt = now;
  }

  /** Counts own requests that were sent; negative if they turned out not to have been sent. */
  count(calls: number): void {
    this.#own += calls;
  }

  /** Returns the requests since the start of the window that are certainly not own requests. */
  unexplained(remaining: number): number {
    return Math.max(0, this.#initialRemaining - remaining - this.#own);
  }

  /** Returns other clients' requests per own request, in this window or the one before, whichever is higher. */
  share(remaining: number): number {
    this.#share = this.#own === 0 ? 0 : this.unexplained(remaining) / this.#own;
    return Math.max(this.#share, this.#shareBefore);
  }

  /**
   * Returns the requests that other clients may have sent by the time a request arrives: the higher of their recent
   * rate and their `share` for each own request in flight. `rtt` is the round trip, `silence` the time since the last
   * response, and `window` the window's length, in milliseconds.
   */
  expected(share: number, inFlight: number, times: { rtt: number; silence: number; window: number }): number {
    const silence = Math.min(times.silence, times.window * MAX_SILENCE);
    const recent = this.rate * (times.rtt + Math.max(times.rtt, silence));
    return Math.ceil(Math.max(recent, share * inFlight));
  }

  /** Takes a sample at most every `rtt` milliseconds, as a drop within one round trip is not conclusive. */
  observe(remaining: number, now: number, rtt: number): void {
    const elapsed = now - this.#sampledAt;
    if (elapsed < Math.max(SAMPLE_EVERY, rtt)) {
      return;
    }
    const unexplained = Math.max(this.#lastUnexplained, this.unexplained(remaining));
    this.rate += SAMPLE_WEIGHT * ((unexplained - this.#lastUnexplained) / elapsed - this.rate);
    this.#lastUnexplained = unexplained;
    this.#sampledAt = now;
  }
}
