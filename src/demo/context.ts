import type { Clock } from '../core/clock.ts';
import type { Paint } from '../plan/render/text-layout.ts';

/** What the story is told with. */
export interface DemoContext {
  readonly say: (text: string) => void;
  readonly paint: Paint;
  readonly columns: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Milliseconds that each step has to come true. */
export const STEP_LIMIT = 30_000;

/** What happens, one by one, and can be waited for. */
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

  /** Resolves with the first moment from now on that is as asked; false when none is in time. */
  until(isDone: (event: T) => boolean): Promise<boolean> {
    const { clock, signal } = this.#demo;
    const settled = new AbortController();
    return new Promise((resolve) => {
      const settle = (done: boolean) => {
        this.#listeners.delete(listener);
        settled.abort();
        resolve(done);
      };
      const listener = (event: T) => {
        if (isDone(event)) {
          settle(true);
        }
      };
      this.#listeners.add(listener);
      clock.sleep(STEP_LIMIT, AbortSignal.any([signal, settled.signal])).then(
        () => settle(false),
        () => settle(false),
      );
    });
  }
}
