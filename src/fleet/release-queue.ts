import type { Clock } from '../core/clock.ts';
import { append } from '../core/lists.ts';

/** Milliseconds for which releases are gathered: work of many leases ends at slightly different times. */
const GATHER = 20;

/** Releases leases in batches: those that are added within a moment, or while one statement runs, share the next one. */
export class ReleaseQueue<T> {
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #release: (items: readonly T[]) => Promise<void>;
  #waiting: T[] = [];
  #running: Promise<void> | null = null;

  constructor(clock: Pick<Clock, 'sleep'>, release: (items: readonly T[]) => Promise<void>) {
    this.#clock = clock;
    this.#release = release;
  }

  /** Resolves when these and all earlier ones were released. */
  add(items: readonly T[]): Promise<void> {
    append(this.#waiting, items);
    if (this.#waiting.length > 0) {
      this.#running ??= this.#run();
    }
    return this.#running ?? Promise.resolve();
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        await this.#clock.sleep(GATHER);
        const batch = this.#waiting;
        this.#waiting = [];
        await this.#release(batch);
      }
    } finally {
      this.#running = null;
    }
  }
}
