/** Remembers of passes what their end does not tell: flapping fields, and when a pass last made progress. */
import type { Clock } from '../../core/clock.ts';
import type { Revert } from '../../plan/identity/flapping.ts';
import type { PassEvents } from '../../reconcile/pass.ts';

export class PassActivity {
  readonly #clock: Pick<Clock, 'now'>;
  #flapping: readonly Revert[] = [];
  #activeAt: number | null = null;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Fields that are flapping since the last pass that planned. */
  get flapping(): readonly Revert[] {
    return this.#flapping;
  }

  /** Time at which the pass that runs last made progress, in milliseconds since the epoch; null if none runs. */
  get activeAt(): number | null {
    return this.#activeAt;
  }

  events(): PassEvents {
    const progress = () => {
      this.#activeAt = this.#clock.now();
    };
    return {
      onPassStart: progress,
      onSource: progress,
      onPlan: progress,
      onResult: progress,
      onFlapping: (flapping) => {
        this.#flapping = flapping;
      },
      onPassEnd: () => {
        this.#activeAt = null;
      },
    };
  }
}
