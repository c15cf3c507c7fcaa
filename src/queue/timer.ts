/** Timer that several callers share. */
import { type Clock, SLEEP_ENDED } from '../core/clock.ts';

/** Single timer that fires at the earliest of the requested times. */
export class Timer {
  readonly #clock: Clock;
  readonly #onFire: () => void;
  #at = Number.POSITIVE_INFINITY;
  #sleep: AbortController | null = null;

  constructor(clock: Clock, onFire: () => void) {
    this.#clock = clock;
    this.#onFire = onFire;
  }

  /** Fires at `at` (monotonic milliseconds), unless an earlier time is already set. */
  set(at: number): void {
    if (at >= this.#at) {
      return;
    }
    this.#sleep?.abort(SLEEP_ENDED);
    this.#at = at;
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#clock.sleep(Math.max(0, at - this.#clock.monotonic()), sleep.signal).then(
      () => {
        if (this.#sleep === sleep) {
          this.#sleep = null;
          this.#at = Number.POSITIVE_INFINITY;
          this.#onFire();
        }
      },
      () => {
        // Replaced by an earlier time, or cleared.
      },
    );
  }

  clear(): void {
    this.#sleep?.abort(SLEEP_ENDED);
    this.#sleep = null;
    this.#at = Number.POSITIVE_INFINITY;
  }
}
