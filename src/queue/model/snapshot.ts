import type { Priority, RequestClass } from './request.ts';

/** One budget as far as it is known. */
export interface BudgetSnapshot {
  /** The classes that draw on it. */
  readonly classes: readonly RequestClass[];
  /** Single operations that draw on it, where those of a class proved to have budgets of their own; mostly empty. */
  readonly operations: readonly string[];
  /** Calls a window allows; null while nothing is known. */
  readonly limit: number | null;
  /** Calls left in this window, requests in flight taken off; null while nothing is known. */
  readonly left: number | null;
  /** Milliseconds until the window ends; null while nothing is known. */
  readonly resetIn: number | null;
  /** From one window to the next, in milliseconds; a guess until two were seen; null while nothing is known. */
  readonly window: number | null;
  /** Calls per second that flow in evenly, where the limit is a bucket that fills rather than windows; else null. */
  readonly refill: number | null;
  /** Milliseconds for which a refusal (429) keeps it closed; 0 when open. */
  readonly closedFor: number;
  /** Average time from sending to the answer's headers, in milliseconds; null before the first answer. */
  readonly rtt: number | null;
  /** Calls per second by others who share it. */
  readonly foreign: number;
  /** Calls per second that the limit allows; null while nothing is known. */
  readonly rate: number | null;
}

/** How a request ended, or an attempt that is made again. */
export type Outcome = 'answered' | 'rejected' | 'refused' | 'failed' | 'retried' | 'cancelled';

/** What the queue is doing, for status and metrics. */
export interface QueueSnapshot {
  readonly budgets: readonly BudgetSnapshot[];
  readonly waiting: Readonly<Record<Priority, number>>;
  /** Age of the oldest unsettled request in milliseconds; null when there is none. */
  readonly oldest: number | null;
  readonly inFlight: number;
  /** Since the queue was made. `refused` are the 429s. */
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Average time from sending to the answer's headers, in milliseconds; null before the first answer. */
  readonly rtt: number | null;
  /** Milliseconds by which the platform's clock is ahead of this machine's, to the second; null while not known. */
  readonly ahead: number | null;
  /** `open`: the platform fails lastingly, and nothing but a trial now and then is sent. */
  readonly breaker: 'closed' | 'open' | 'half-open';
  /** Retries that may still be made are paid from this; full at 500. */
  readonly retryQuota: number;
}

/** What the queue tells as it happens. Times are in milliseconds. */
export type QueueEvent =
  | {
      readonly kind: 'attempt';
      readonly name: string;
      readonly class: RequestClass;
      readonly priority: Priority;
      readonly outcome: Outcome;
      /** From being put in the queue to being sent, this time. */
      readonly waited: number;
      readonly took: number;
    }
  /** These proved to draw on one budget. */
  | { readonly kind: 'joined'; readonly classes: readonly RequestClass[] }
  /** The operations of this class proved to draw on several. */
  | { readonly kind: 'split'; readonly class: RequestClass }
  | { readonly kind: 'breaker'; readonly state: 'closed' | 'open' };
