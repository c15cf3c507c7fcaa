import type { Outcome } from './snapshot.ts';

/** What a new answer weighs at least against those before. */
const RTT_WEIGHT = 0.02;

/** Counts since the queue was made. */
export class Tally {
  readonly outcomes: Record<Outcome, number> = {
    answered: 0,
    rejected: 0,
    refused: 0,
    failed: 0,
    retried: 0,
    cancelled: 0,
  };
  /** Milliseconds; null before the first answer. */
  rtt: number | null = null;
  #answers = 0;

  count(outcome: Outcome): void {
    this.outcomes[outcome] += 1;
  }

  /** An answer came in after so many milliseconds. */
  observe(took: number): void {
    this.#answers += 1;
    this.rtt = (this.rtt ?? 0) + Math.max(RTT_WEIGHT, 1 / this.#answers) * (took - (this.rtt ?? 0));
  }
}
