import type { Clock } from '../core/clock.ts';
import type { Paint } from '../plan/render/text-layout.ts';

/** What the story is told with. */
export interface Stage {
  readonly say: (text: string) => void;
  readonly paint: Paint;
  readonly columns: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Milliseconds that each step has to come true. */
export const STEP_LIMIT = 30_000;

/** What happens, one by one, and can be waited for. */
export class Moments<T> {
  readonly #stage: Stage;
  readonly #listeners = new Set<(moment: T) => void>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  happen(moment: T): void {
    for (const listener of this.#listeners) {
      listener(moment);
    }
  }

  /** Resolves with the first moment from now on that is as asked; false when none is in time. */
  until(isDone: (moment: T) => boolean): Promise<boolean> {
    const { clock, signal } = this.#stage;
    const settled = new AbortController();
    return new Promise((resolve) => {
      const settle = (done: boolean) => {
        this.#listeners.delete(listener);
        settled.abort();
        resolve(done);
      };
      const listener = (moment: T) => {
        if (isDone(moment)) {
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
