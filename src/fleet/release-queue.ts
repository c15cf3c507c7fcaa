import { append } from '../core/lists.ts';

/** Releases leases in batches: while one statement runs, others wait for the next one. */
export class ReleaseQueue<T> {
  readonly #release: (items: readonly T[]) => Promise<void>;
  #waiting: T[] = [];
  #running: Promise<void> | null = null;

  constructor(release: (items: readonly T[]) => Promise<void>) {
    this.#release = release;
  }

  /** Resolves when these and all earlier ones were released. */
  add(items: readonly T[]): Promise<void> {
    append(this.#waiting, items);
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting;
        this.#waiting = [];
        await this.#release(batch);
      }
    } finally {
      this.#running = null;
    }
  }
}
