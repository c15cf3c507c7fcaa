import { Average } from '../model/average.ts';
import type { Outcome, QueueEvent } from '../model/snapshot.ts';
import type { Job } from './job.ts';

/** Counts since the queue was made. */
export class QueueStatistics {
  readonly outcomes: Record<Outcome, number> = {
    answered: 0,
    rejected: 0,
    refused: 0,
    failed: 0,
    retried: 0,
    cancelled: 0,
  };
  readonly #rtt = new Average();

  /** Milliseconds; null before the first answer. */
  get rtt(): number | null {
    return this.#rtt.value;
  }

  count(outcome: Outcome): void {
    this.outcomes[outcome] += 1;
  }

  /** Counts how an attempt ended, and puts it as an event. Times are monotonic milliseconds. */
  note({ request, priority, waitingSince }: Job, sentAt: number, now: number, outcome: Outcome): QueueEvent {
    this.count(outcome);
    const { name, class: requestClass } = request;
    const [waited, took] = [sentAt - waitingSince, now - sentAt];
    return { kind: 'attempt', name, class: requestClass, priority, outcome, waited, took };
  }

  /** An answer came in after so many milliseconds. */
  observe(took: number): void {
    this.#rtt.add(took);
  }
}
