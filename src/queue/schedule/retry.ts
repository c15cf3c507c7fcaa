// Decides whether and when a failed request is retried.
import { TransientError } from '../../core/errors.ts';
import { TimeoutError } from '../model/errors.ts';
import type { Repeat } from '../model/request.ts';

/** Maximum attempts for one request, including the first. A 429 does not count. */
export const MAX_ATTEMPTS = 5;
const MIN_DELAY = 500;
const MAX_DELAY = 30_000;

/** Returns the backoff in milliseconds, with full jitter: up to 0.5 s, doubled with each attempt, at most 30 s. */
export function retryDelay(attemptsMade: number, random: number): number {
  return random * Math.min(MAX_DELAY, MIN_DELAY * 2 ** (attemptsMade - 1));
}

/** Returns true if a request that failed with this error can be sent again. */
export function canRetry(error: unknown, repeat: Repeat): error is TransientError {
  return error instanceof TransientError && (repeat !== 'never' || !error.maybeDone);
}

const FULL = 500;
const TRANSIENT_COST = 5;
const TIMEOUT_COST = 10;

/** Retry quota: limits retries to a small share of all requests. A retry spends from it, and a success adds to it. */
export class RetryQuota {
  left = FULL;

  /** Spends the cost of one retry. Returns false if the quota is too low. */
  spend(error: TransientError): boolean {
    const cost = error instanceof TimeoutError ? TIMEOUT_COST : TRANSIENT_COST;
    if (this.left < cost) {
      return false;
    }
    this.left -= cost;
    return true;
  }

  /** Adds the credit of one success. */
  credit(): void {
    this.left = Math.min(FULL, this.left + 1);
  }
}
