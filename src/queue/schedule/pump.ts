import type { Job } from './job.ts';
import type { PriorityQueue } from './priority-queue.ts';

/** Starts waiting jobs while the priority queue lets one go and a slot is free. */
export class Pump {
  /** Maximum jobs that run at the same time. */
  concurrency: number;
  readonly #waiting: PriorityQueue;
  readonly #run: (job: Job, isProbe: boolean) => Promise<void>;
  #running = 0;

  /** `run` sends a request and settles its job; it never rejects. */
  constructor(waiting: PriorityQueue, concurrency: number, run: (job: Job, isProbe: boolean) => Promise<void>) {
    this.#waiting = waiting;
    this.concurrency = concurrency;
    this.#run = run;
  }

  /** Starts every job that may be sent now. */
  pump(): void {
    while (this.#running < this.concurrency) {
      const next = this.#waiting.take();
      if (next === null) {
        return;
      }
      this.#running += 1;
      void this.#run(next.job, next.isProbe).then(this.#onFinish);
    }
  }

  /** Frees the slot of a finished job. */
  readonly #onFinish = (): void => {
    this.#running -= 1;
    this.pump();
  };
}
