import type { Outcome } from './snapshot.ts';

const RTT_WEIGHT = 0.1;

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

  count(outcome: Outcome): void {
    this.outcomes[outcome] += 1;
  }

  /** An answer came in after so many milliseconds. */
  observe(took: number): void {
    this.rtt = this.rtt === null ? took : this.rtt + RTT_WEIGHT * (took - this.rtt);
  }
}
