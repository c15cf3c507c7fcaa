import type { Clock } from '../../core/clock.ts';

/** One timer for everything that waits: it goes off at the earliest time asked for. */
export class Timer {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #at = Number.POSITIVE_INFINITY;
  #sleep: AbortController | null = null;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Monotonic milliseconds; later than what is set already changes nothing. */
  set(at: number): void {
    if (at >= this.#at) {
      return;
    }
    this.#sleep?.abort();
    this.#at = at;
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#clock.sleep(Math.max(0, at - this.#clock.monotonic()), sleep.signal).then(
      () => {
        if (this.#sleep === sleep) {
          this.#sleep = null;
          this.#at = Number.POSITIVE_INFINITY;
          this.#ring();
        }
      },
      () => {
        // Replaced by an earlier one, or no longer needed.
      },
    );
  }

  clear(): void {
    this.#sleep?.abort();
    this.#sleep = null;
    this.#at = Number.POSITIVE_INFINITY;
  }
}
