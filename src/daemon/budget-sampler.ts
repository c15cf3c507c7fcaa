/** Samples the budgets of all queues, for the page of the budgets. */
import type { Clock } from '../core/clock.ts';
import type { RequestQueue } from '../queue/dispatcher.ts';
import { BudgetSamples, sampleInterval } from '../web/model/budget-samples.ts';

/** Samples of the queues, by name. */
export class BudgetSampler {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #queues: () => readonly (readonly [string, Pick<RequestQueue, 'snapshot'>])[];
  readonly #samples = new Map<string, BudgetSamples>();

  /** `queues` returns the open queues, each with its name. */
  constructor(queues: () => readonly (readonly [string, Pick<RequestQueue, 'snapshot'>])[], clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#queues = queues;
  }

  /** Takes the samples that are due. Returns true if there were any. */
  sample(): boolean {
    const now = this.#clock.now();
    const queues = this.#queues();
    const names = new Set(queues.map(([name]) => name));
    for (const name of this.#samples.keys()) {
      if (!names.has(name)) {
        this.#samples.delete(name);
      }
    }
    let hasAdded = false;
    for (const [name, queue] of queues) {
      const samples = this.#samples.get(name) ?? new BudgetSamples(sampleInterval(queues.length));
      this.#samples.set(name, samples);
      hasAdded = samples.add(now, queue.snapshot()) || hasAdded;
    }
    return hasAdded;
  }

  /** Returns the samples of a queue; undefined before the first one. */
  of(name: string): BudgetSamples | undefined {
    return this.#samples.get(name);
  }
}
