/** Context of the demonstration. */
import type { Clock } from '../core/clock.ts';
import type { Paint } from '../plan/render/text-layout.ts';

/** Output and clock of the demonstration. */
export interface DemoContext {
  readonly say: (text: string) => void;
  readonly paint: Paint;
  readonly columns: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Timeout of each step, in milliseconds. */
export const STEP_LIMIT = 30_000;

/** Emits events and waits for them. */
export class EventWaiter<T> {
  readonly #demo: DemoContext;
  readonly #listeners = new Set<(event: T) => void>();

  constructor(demo: DemoContext) {
    this.#demo = demo;
  }

  emit(event: T): void {
    for (const listener of this.#listeners) {
      listener(event);
    }
  }

  /** Waits for the next event that matches; false if there is none before the timeout. */
  until(isDone: (event: T) => boolean): Promise<boolean> {
    const { clock, signal } = this.#demo;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const settled = new AbortController();
    const listener = (event: T) => {
      if (isDone(event)) {
        resolve(true);
      }
    };
    this.#listeners.add(listener);
    const late = clock.sleep(STEP_LIMIT, AbortSignal.any([signal, settled.signal])).catch(() => undefined);
    return Promise.race([promise, late.then(() => false)]).finally(() => {
      this.#listeners.delete(listener);
      settled.abort();
    });
  }
}
