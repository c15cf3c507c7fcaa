import { LeaseLostError, TransientError } from '../../core/errors.ts';
import { Average } from '../model/average.ts';
import type { Outcome, QueueEvent } from '../model/snapshot.ts';
import type { Job } from './job.ts';

/** Statistics since the queue was created. */
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

  /** Average round trip in milliseconds; null before the first response. */
  get rtt(): number | null {
    return this.#rtt.value;
  }

  count(outcome: Outcome): void {
    this.outcomes[outcome] += 1;
  }

  /** Counts the result of an attempt and returns its event. Times are monotonic milliseconds. */
  record({ request, priority, waitingSince }: Job, sentAt: number, now: number, outcome: Outcome): QueueEvent {
    this.count(outcome);
    const { name, class: requestClass } = request;
    const [waited, took] = [sentAt - waitingSince, now - sentAt];
    return { kind: 'attempt', name, class: requestClass, priority, outcome, waited, took };
  }

  /** Records a response that took this many milliseconds. */
  observe(took: number): void {
    this.#rtt.add(took);
  }
}

/** Returns how the error of an attempt that is not retried counts. */
export function outcomeOf(error: unknown): Outcome {
  // It was not sent, so the platform did not answer it.
  const isUnsent = error instanceof LeaseLostError;
  return error instanceof TransientError ? 'failed' : isUnsent ? 'cancelled' : 'rejected';
}
