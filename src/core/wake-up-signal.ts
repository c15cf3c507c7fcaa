import { type Clock, SLEEP_ENDED } from './clock.ts';

/** Wakes the loops that wait for a change. A notification between a check and the wait is not missed. */
export class WakeUpSignal {
  /** Notifications so far. Read it before checking for work, and pass it to `wait`. */
  count = 0;
  readonly #waiters = new Set<() => void>();

  notify(): void {
    this.count += 1;
    for (const wake of this.#waiters) {
      wake();
    }
  }

  /** Resolves when `count` differs from `seen`, after `milliseconds`, or when the signal aborts. */
  async wait(seen: number, milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (this.count !== seen || signal.aborted) {
      return;
    }
    const done = new AbortController();
    const notified = new Promise<void>((resolve) => {
      this.#waiters.add(resolve);
      done.signal.addEventListener('abort', () => this.#waiters.delete(resolve));
    });
    const slept = clock.sleep(milliseconds, AbortSignal.any([signal, done.signal])).catch(() => {});
    try {
      await Promise.race([notified, slept]);
    } finally {
      done.abort(SLEEP_ENDED);
    }
  }
}
