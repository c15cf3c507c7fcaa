import PQueue from 'p-queue';
import type { Job } from './job.ts';
import type { NextJob, PriorityQueue } from './priority-queue.ts';

/** Starts waiting jobs while the priority queue releases them and a slot is free. p-queue counts the slots. */
export class Pump {
  readonly #waiting: PriorityQueue;
  readonly #runner: PQueue;
  readonly #run: (job: Job, isProbe: boolean) => Promise<void>;

  /** `run` sends a request and settles its job; it never rejects. */
  constructor(waiting: PriorityQueue, concurrency: number, run: (job: Job, isProbe: boolean) => Promise<void>) {
    this.#waiting = waiting;
    this.#runner = new PQueue({ concurrency });
    this.#run = run;
    // A finished job has freed its slot.
    this.#runner.addEventListener('next', () => this.pump());
  }

  /** Maximum jobs that run at the same time. */
  get concurrency(): number {
    return this.#runner.concurrency;
  }

  set concurrency(concurrency: number) {
    this.#runner.concurrency = concurrency;
  }

  /** Starts every job that may be sent now. */
  pump(): void {
    while (this.#runner.pending + this.#runner.size < this.#runner.concurrency) {
      const next = this.#waiting.take();
      if (next === null) {
        return;
      }
      void this.#runner.add(() => this.#runAll(next));
    }
  }

  /** Runs a job, and then others in the same slot: p-queue takes far more time to end a slot and to start another. */
  async #runAll({ job, isProbe }: NextJob): Promise<void> {
    await this.#run(job, isProbe);
    for (let next = this.#takeNext(); next !== null; next = this.#takeNext()) {
      const running = this.#run(next.job, next.isProbe);
      // What the job before has learned may admit more than one.
      this.pump();
      await running;
    }
  }

  /** Returns the next job for a slot whose job has finished; null if the slot has to end. */
  #takeNext(): NextJob | null {
    // The concurrency is lower again once overdue requests have ended.
    return this.#runner.pending > this.#runner.concurrency ? null : this.#waiting.take();
  }
}
