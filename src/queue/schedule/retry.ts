import { TransientError } from '../../core/errors.ts';
import { TimeoutError } from '../model/errors.ts';
import type { Repeat } from '../model/request.ts';

/** Attempts for one request, the first included. Refusals (429) do not count. */
export const MOST_ATTEMPTS = 5;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 30_000;

/** Full jitter: anything up to 0.5 s, doubled with each attempt made, 30 s at most. In milliseconds. */
export function retryDelay(attemptsMade: number, random: number): number {
  return random * Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attemptsMade - 1));
}

/** Whether a request that failed like this may simply be sent again. */
export function mayRepeat(error: unknown, repeat: Repeat): error is TransientError {
  return error instanceof TransientError && (repeat !== 'never' || !error.maybeDone);
}

const FULL = 500;
const TRANSIENT_COST = 5;
const TIMEOUT_COST = 10;

/** Keeps retries a small share of all requests when much fails: paid by successes. */
export class RetryQuota {
  left = FULL;

  /** Takes the price of one retry; false when there is not enough. */
  pay(error: TransientError): boolean {
    const cost = error instanceof TimeoutError ? TIMEOUT_COST : TRANSIENT_COST;
    if (this.left < cost) {
      return false;
    }
    this.left -= cost;
    return true;
  }

  earn(): void {
    this.left = Math.min(FULL, this.left + 1);
  }
}
