/** Callers that wait for a job; callers with the same read share one. */
import { type AppError, CancelledError } from '../../core/errors.ts';
import type { AbortListeners } from '../model/abort-listeners.ts';
import type { QueuedRequest } from '../model/request.ts';
import type { Job, Waiter } from './job.ts';

/**
 * Adds a caller to a job, and resolves with the value of the response. `giveUp` ends the job, when the signal of its last
 * caller aborts.
 */
export function addWaiter(
  job: Job,
  { signal, refusal }: Pick<QueuedRequest<unknown>, 'signal' | 'refusal'>,
  listeners: AbortListeners,
  giveUp: () => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const waiter: Waiter = { resolve, reject, refusal, stop: () => {} };
    job.waiters.add(waiter);
    if (signal === undefined) {
      return;
    }
    waiter.stop = listeners.add(signal, () => {
      if (job.waiters.size === 1) {
        giveUp();
      } else if (job.waiters.delete(waiter)) {
        reject(new CancelledError(`${job.request.name} was given up: it was cancelled`));
      }
    });
  });
}

/** Calls back every caller of a job. */
export function settleWaiters({ waiters }: Job, notify: (waiter: Waiter) => void): void {
  for (const waiter of waiters) {
    waiter.stop();
    notify(waiter);
  }
  waiters.clear();
}

/** Rejects the callers for whom the request must not be sent now. Returns the error if no caller is left. */
export function refuseWaiters({ waiters }: Job): AppError | null {
  let last: AppError | null = null;
  for (const waiter of waiters) {
    const error = waiter.refusal?.() ?? null;
    if (error !== null) {
      waiters.delete(waiter);
      waiter.stop();
      waiter.reject(error);
      last = error;
    }
  }
  return waiters.size === 0 ? last : null;
}

/** Returns true if the request must not be sent now for any of its callers. */
export function isRefused({ waiters }: Job): boolean {
  return [...waiters].every(({ refusal }) => (refusal?.() ?? null) !== null);
}
