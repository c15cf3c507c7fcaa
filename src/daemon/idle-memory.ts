/** Releases memory to the system while the daemon is idle. */
import type { Clock } from '../core/clock.ts';
import type { PassEvents } from '../reconcile/pass.ts';

/** Milliseconds after the last pass: longer than the gaps between passes of a busy daemon. */
const IDLE = 5000;

/** Calls `release` once after each time that all passes have ended and none has started for a while. */
export class IdleMemory {
  readonly #clock: Clock;
  readonly #release: () => void;
  readonly #stopping: AbortSignal;
  #running = 0;
  #waiting = new AbortController();

  constructor(clock: Clock, stopping: AbortSignal, release: () => void) {
    this.#clock = clock;
    this.#stopping = stopping;
    this.#release = release;
  }

  /** Listener for the passes of one organization. */
  events(): Pick<PassEvents, 'onPassStart' | 'onPassEnd'> {
    return {
      onPassStart: () => {
        this.#running += 1;
        this.#waiting.abort();
      },
      onPassEnd: () => {
        this.#running -= 1;
        if (this.#running === 0) {
          this.#waiting = new AbortController();
          const signal = AbortSignal.any([this.#waiting.signal, this.#stopping]);
          void this.#clock.sleep(IDLE, signal).then(this.#release, () => undefined);
        }
      },
    };
  }
}
