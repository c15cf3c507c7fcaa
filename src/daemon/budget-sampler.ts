/** Samples the budgets of all queues, for the page of the budgets. */
import type { Clock } from '../core/clock.ts';
import type { RequestQueue } from '../queue/schedule/request-queue.ts';
import { BudgetSamples, sampleInterval } from '../views/model/budget-samples.ts';

/** Samples of the queues, by name. */
export class BudgetSampler {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #queues: readonly (readonly [string, Pick<RequestQueue, 'snapshot'>])[];
  readonly #samples: ReadonlyMap<string, BudgetSamples>;

  constructor(queues: readonly (readonly [string, Pick<RequestQueue, 'snapshot'>])[], clock: Pick<Clock, 'now'>) {
    const interval = sampleInterval(queues.length);
    this.#clock = clock;
    this.#queues = queues;
    this.#samples = new Map(queues.map(([name]) => [name, new BudgetSamples(interval)]));
  }

  /** Takes the samples that are due. Returns true if there were any. */
  sample(): boolean {
    const now = this.#clock.now();
    let hasAdded = false;
    for (const [name, queue] of this.#queues) {
      hasAdded = this.of(name).add(now, queue.snapshot()) || hasAdded;
    }
    return hasAdded;
  }

  /** Returns the samples of a queue. */
  of(name: string): BudgetSamples {
    const samples = this.#samples.get(name);
    if (samples === undefined) {
      throw new Error(`there is no queue ${name}`);
    }
    return samples;
  }
}
