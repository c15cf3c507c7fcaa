// Defines the state and the events that the queue reports to status, metrics and logs.
import type { Priority, RequestClass } from './request.ts';

/** State of one rate-limit budget, as far as it is known. */
export interface BudgetSnapshot {
  /** Classes that share the budget. */
  readonly classes: readonly RequestClass[];
  /** Operations that share the budget, if their class has a limit per operation; usually empty. */
  readonly operations: readonly string[];
  /** Requests allowed per window; null while unknown. */
  readonly limit: number | null;
  /** Requests remaining in this window, less those in flight; null while unknown. */
  readonly remaining: number | null;
  /** Milliseconds until the window ends; null while unknown. */
  readonly resetIn: number | null;
  /** Length of a window in milliseconds; estimated until two windows were seen; null while unknown. */
  readonly window: number | null;
  /** Refill rate of a token bucket, in requests per second; null for windows. */
  readonly refillRate: number | null;
  /** Remaining cooldown after a 429, in milliseconds; 0 if there is none. */
  readonly cooldown: number;
  /** Average time from sending to the response headers, in milliseconds; null before the first response. */
  readonly rtt: number | null;
  /** Requests per second by other clients of the same budget. */
  readonly otherClientsRate: number;
  /** Requests per second that the limit allows; null while unknown. */
  readonly rate: number | null;
}

/** Result of an attempt or of a request. */
export type Outcome = 'answered' | 'rejected' | 'refused' | 'failed' | 'retried' | 'cancelled';

/** State of the queue, for status and metrics. */
export interface QueueSnapshot {
  readonly budgets: readonly BudgetSnapshot[];
  readonly waiting: Readonly<Record<Priority, number>>;
  /** Age of the oldest unsettled request in milliseconds; null if there is none. */
  readonly oldest: number | null;
  readonly inFlight: number;
  /** Number of results since the queue was created. `refused` counts the 429s. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Average time from sending to the response headers, in milliseconds; null before the first response. */
  readonly rtt: number | null;
  /** Milliseconds by which the platform's clock is ahead of the local one, to the second; null while unknown. */
  readonly clockSkew: number | null;
  /** State of the circuit breaker. `open`: only a trial request is sent after each pause. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** Remaining retry quota; full at 500. */
  readonly retryQuota: number;
}

/** Event that the queue reports. Times are in milliseconds. */
export type QueueEvent =
  | {
      readonly kind: 'attempt';
      readonly name: string;
      readonly class: RequestClass;
      readonly priority: Priority;
      readonly outcome: Outcome;
      /** Time between entering the queue and being sent, for this attempt. */
      readonly waited: number;
      /** Time between sending and the response. */
      readonly took: number;
    }
  /** Classes that turned out to share one budget. */
  | { readonly kind: 'joined'; readonly classes: readonly RequestClass[] }
  /** Class whose operations turned out to have separate limits. */
  | { readonly kind: 'split'; readonly class: RequestClass }
  | { readonly kind: 'breaker'; readonly state: 'closed' | 'open' };
