import type { Clock, Random } from '../../core/clock.ts';
import type { Work } from '../estimate/simulation.ts';
import type { QueuedRequest } from '../model/request.ts';
import type { QueueEvent, QueueSnapshot } from '../model/snapshot.ts';
import type { QueueMemory } from '../rate-limit/memory.ts';

/** The one way to the platform for a token: everything that is sent goes through it. */
export interface RequestQueue {
  /**
   * Resolves with the answer's value. Rejects with the answer's error, with the last error when retries are used up,
   * or with CancelledError when the signal aborts, the deadline passes or the queue drains; a write that was in flight
   * then rejects with a TransientError whose `maybeDone` is true.
   */
  request<T>(request: QueuedRequest<T>): Promise<T>;
  snapshot(): QueueSnapshot;
  /**
   * Returns what is known of the limits, for the queue of the next process. Null where the queue has no owner. Call it
   * after `drain`. See docs/rate-limiting.md#shutdown-and-restart.
   */
  remember(): QueueMemory | null;
  /** Seconds that work is likely to take under what has been learned, if so many pieces of it are worked on at a time. */
  estimate(work: readonly Work[], parallel?: number): number;
  /**
   * Takes nothing more, gives up what waits, and resolves once nothing is in flight; what still is after so many
   * milliseconds is aborted.
   */
  drain(milliseconds: number): Promise<void>;
}

export interface QueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** Milliseconds after which a request is given up, however often it was tried; 10 minutes where absent. */
  readonly deadline?: number;
  /** Whose budgets these are: a digest of platform and token, never the token. Without it nothing is remembered. */
  readonly owner?: string;
  /** What a queue of the same owner remembered; what does not hold any more, or is no such thing, is ignored. */
  readonly memory?: unknown;
  readonly onEvent?: (event: QueueEvent) => void;
}
