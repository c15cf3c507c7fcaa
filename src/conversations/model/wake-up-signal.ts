import type { Clock } from '../../core/clock.ts';

/** Wakes those who wait for something to have changed. */
export class Bell {
  /** How often it was rung: what was seen before looking, so that no ring in between is missed. */
  rings = 0;
  readonly #waiters = new Set<() => void>();

  ring(): void {
    this.rings += 1;
    for (const wake of this.#waiters) {
      wake();
    }
  }

  /** Resolves once it has been rung since `seen`, after so many milliseconds, or when the signal aborts. */
  async wait(seen: number, milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (this.rings !== seen || signal.aborted) {
      return;
    }
    const done = new AbortController();
    const rung = new Promise<void>((resolve) => {
      this.#waiters.add(resolve);
      done.signal.addEventListener('abort', () => this.#waiters.delete(resolve));
    });
    const slept = clock.sleep(milliseconds, AbortSignal.any([signal, done.signal])).catch(() => {});
    try {
      await Promise.race([rung, slept]);
    } finally {
      done.abort();
    }
  }
}
