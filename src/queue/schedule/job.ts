// Defines a job: one request on its way through the queue.
import { type AppError, CancelledError, messageOf, TransientError } from '../../core/errors.ts';
import { AttemptSignal } from '../model/attempt-signal.ts';
import { PRIORITIES, type Priority, type QueuedRequest } from '../model/request.ts';

/** Caller that waits for a job. */
export interface Waiter {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Returns why the request must not be sent for this caller; null if it may be sent. */
  readonly refusal: QueuedRequest<unknown>['refusal'];
  /** Stops listening to the waiter's signal. */
  stop(): void;
}

/**
 * Request on its way through the queue. Times are monotonic milliseconds.
 *
 * - `waiting`: waits for the rate limiter or for a free slot
 * - `in-flight`: sent, without a response so far
 * - `delayed`: waits for the backoff of a retry
 * - `settled`: done, failed or cancelled
 */
export interface Job {
  readonly request: QueuedRequest<unknown>;
  readonly sequence: number;
  readonly enqueuedAt: number;
  readonly deadlineAt: number;
  readonly signal: AttemptSignal;
  readonly waiters: Set<Waiter>;
  priority: Priority;
  state: 'waiting' | 'in-flight' | 'delayed' | 'settled';
  /** Time at which it started to wait for the next attempt. */
  waitingSince: number;
  attempts: number;
  lastError: TransientError | null;
}

/** Creates a waiting job without waiters. Times are monotonic milliseconds. */
export function createJob(request: QueuedRequest<unknown>, sequence: number, now: number, deadlineAt: number): Job {
  return {
    request,
    sequence,
    enqueuedAt: now,
    deadlineAt,
    signal: new AttemptSignal(),
    waiters: new Set(),
    priority: request.priority,
    state: 'waiting',
    waitingSince: now,
    attempts: 0,
    lastError: null,
  };
}

/** Head start for one step of priority, in milliseconds of waiting. See docs/rate-limiting.md#priorities. */
const STEP = 30_000;

/** Returns the virtual deadline, by which jobs are ordered. It bounds the wait of a job of low priority. */
export function virtualDeadline(job: Job): number {
  return job.enqueuedAt - (PRIORITIES.length - 1 - PRIORITIES.indexOf(job.priority)) * STEP;
}

/** Returns true if jobs of this priority may use the reserve. */
export function isUrgent(priority: Priority): boolean {
  return priority === 'person';
}

/** Returns true if priority `a` is higher than `b`. */
export function isHigher(a: Priority, b: Priority): boolean {
  return PRIORITIES.indexOf(a) < PRIORITIES.indexOf(b);
}

/** Describes what a job waits for; `waitReason` is the reason that its requests are not sent. */
export function describeWait(job: Job, waitReason: string): string {
  switch (job.state) {
    case 'waiting':
      return `waiting to be sent: ${waitReason}`;
    case 'in-flight':
      return 'the platform does not answer';
    default:
      return 'waiting for the next attempt';
  }
}

/** Creates the error of a job that ends without a response. A write in flight may have taken effect. */
export function abandonedError(job: Job, why: string): AppError {
  const { name, repeat } = job.request;
  const last = job.lastError === null ? '' : `; the last attempt failed: ${messageOf(job.lastError)}`;
  const options = job.lastError === null ? undefined : { cause: job.lastError };
  return job.state === 'in-flight' && repeat !== 'safe'
    ? new TransientError(`${name} was given up without an answer: ${why}${last}`, true, options)
    : new CancelledError(`${name} was given up: ${why}${last}`, options);
}
