import { type AppError, CancelledError, messageOf, TransientError } from '../../core/errors.ts';
import { PRIORITIES, type Priority, type QueuedRequest } from '../model/request.ts';

/** Someone who waits for a job. */
export interface Waiter {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  /** Stops listening to the waiter's signal. */
  stop(): void;
}

/**
 * One request on its way through the queue.
 *
 * - `waiting`: for the gate or a free connection;
 * - `flying`: sent, no answer yet;
 * - `delayed`: failed, and waiting to be tried again;
 * - `settled`: over.
 */
export interface Job {
  readonly request: QueuedRequest<unknown>;
  readonly sequence: number;
  readonly enqueuedAt: number;
  readonly deadlineAt: number;
  readonly controller: AbortController;
  readonly waiters: Set<Waiter>;
  priority: Priority;
  state: 'waiting' | 'flying' | 'delayed' | 'settled';
  /** When it began to wait for its next attempt. */
  waitingSince: number;
  attempts: number;
  lastError: TransientError | null;
}

/** Value of one step in priority, in milliseconds of waiting. See docs/rate-limiting.md#priorities. */
const STEP = 30_000;

/** The virtual deadline by which jobs are ordered: a low one overtakes what came long enough after it. */
export function virtualDeadline(job: Job): number {
  return job.enqueuedAt - (PRIORITIES.length - 1 - PRIORITIES.indexOf(job.priority)) * STEP;
}

/** Whether a job may use what is kept back for people who wait. */
export function isUrgent(priority: Priority): boolean {
  return priority === 'person';
}

/** Whether the first priority is higher than the second. */
export function isHigher(a: Priority, b: Priority): boolean {
  return PRIORITIES.indexOf(a) < PRIORITIES.indexOf(b);
}

/** What a job is doing, in words; `gate` is what requests of its class wait for. */
export function waitsFor(job: Job, limiter: string): string {
  switch (job.state) {
    case 'waiting':
      return `waiting to be sent: ${limiter}`;
    case 'flying':
      return 'the platform does not answer';
    default:
      return 'waiting to be tried again';
  }
}

/** The error of a job that ends without an answer. A write that is in flight may have happened. */
export function givenUp(job: Job, why: string): AppError {
  const { name, repeat } = job.request;
  const last = job.lastError === null ? '' : `; the last attempt failed: ${messageOf(job.lastError)}`;
  const because = job.lastError === null ? undefined : { cause: job.lastError };
  return job.state === 'flying' && repeat !== 'safe'
    ? new TransientError(`${name} was given up without an answer: ${why}${last}`, true, because)
    : new CancelledError(`${name} was given up: ${why}${last}`, because);
}
