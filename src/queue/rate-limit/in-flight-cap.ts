/** Successful responses, per allowed request in flight, after which the cap grows by one. */
const GROWTH_RUN = 10;

/** Limit on requests in flight, after a 429 that the budget does not explain: halved on each 429, then grown by one. */
export class InFlightCap {
  max = Number.POSITIVE_INFINITY;
  #successes = 0;

  halve(inFlight: number): void {
    this.max = Math.max(1, Math.floor(Math.min(this.max, inFlight) / 2));
    this.#successes = 0;
  }

  /** Counts a response other than 429. */
  grow(): void {
    if (this.max === Number.POSITIVE_INFINITY) {
      return;
    }
    this.#successes += 1;
    if (this.#successes >= GROWTH_RUN * this.max) {
      this.max += 1;
      this.#successes = 0;
    }
  }
}
