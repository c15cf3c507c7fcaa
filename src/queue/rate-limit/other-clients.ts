/** How often the drain by others is sampled at most, in milliseconds, and the weight of a sample. */
const SAMPLE_EVERY = 500;
const SAMPLE_WEIGHT = 0.3;

/** Calls of others for each of ours that are still expected in the next window, at most. */
const MOST_REMEMBERED = 4;

/** How long others are taken to go on as they last did, as a share of a window: a burst of theirs ends as well. */
const LONGEST_SILENCE = 1 / 8;

/** Estimates how fast others draw on the same budget: the drops of `remaining` that our own calls do not explain. */
export class OtherClients {
  /** Calls per millisecond. */
  rate = 0;
  #start = 0;
  /** Our calls that may be in the drop since the start, those then in flight included. */
  #own = 0;
  #seen = 0;
  #at = 0;
  #share = 0;
  #shareBefore = 0;

  /** A window was seen for the first time, with so much left and so many calls of ours in flight. */
  begin(remaining: number, inFlight: number, now: number): void {
    this.#shareBefore = Math.min(MOST_REMEMBERED, this.#share);
    this.#share = 0;
    this.#start = remaining;
    this.#own = inFlight;
    this.#seen = 0;
    this.#at = now;
  }

  /** Calls of ours were sent, or (negative) were not after all. */
  count(calls: number): void {
    this.#own += calls;
  }

  /** Calls since the window was first seen that were surely not ours. */
  unexplained(remaining: number): number {
    return Math.max(0, this.#start - remaining - this.#own);
  }

  /** Calls of others for each of ours, in this window or the one before: whichever is more. */
  share(remaining: number): number {
    this.#share = this.#own === 0 ? 0 : this.unexplained(remaining) / this.#own;
    return Math.max(this.#share, this.#shareBefore);
  }

  /**
   * What others may have used by the time a call arrives: as much as lately, and their `share` for each of ours in
   * flight. The round trip, the time since the last answer and the window's length are in milliseconds.
   */
  expected(share: number, inFlight: number, times: { rtt: number; silence: number; window: number }): number {
    const silence = Math.min(times.silence, times.window * LONGEST_SILENCE);
    const lately = this.rate * (times.rtt + Math.max(times.rtt, silence));
    return Math.ceil(Math.max(lately, share * inFlight));
  }

  /** Samples are at least `rtt` apart, in milliseconds: within one round trip a drop means nothing. */
  observe(remaining: number, now: number, rtt: number): void {
    const elapsed = now - this.#at;
    if (elapsed < Math.max(SAMPLE_EVERY, rtt)) {
      return;
    }
    const unexplained = Math.max(this.#seen, this.unexplained(remaining));
    this.rate += SAMPLE_WEIGHT * ((unexplained - this.#seen) / elapsed - this.rate);
    this.#seen = unexplained;
    this.#at = now;
  }
}
