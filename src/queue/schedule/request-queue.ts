// Defines the interface and the options of the request queue.
import type { Clock, Random } from '../../core/clock.ts';
import type { Work } from '../estimate/simulation.ts';
import type { QueuedRequest } from '../model/request.ts';
import type { QueueEvent, QueueSnapshot } from '../model/snapshot.ts';
import type { QueueMemory } from '../rate-limit/memory.ts';
import type { SharedState } from '../shared/shared-state.ts';

/** Queue of all requests to the platform with one token. */
export interface RequestQueue {
  /**
   * Sends a request and resolves with the value of the response. Rejects with the error of the response, or with the
   * last error when the retries are used up. Rejects with CancelledError when the signal aborts, the deadline passes or
   * the queue drains; a write that is in flight then rejects with a TransientError whose `maybeDone` is true.
   */
  request<T>(request: QueuedRequest<T>): Promise<T>;
  /** Rejects the waiting requests whose `refusal` returns an error now, such as those of work that is stopping. */
  recheck(): void;
  /** Returns the current state, for status and metrics. */
  snapshot(): QueueSnapshot;
  /**
   * Returns the rate-limit state to save for the next process; null if the queue has no owner. Call it after `drain`.
   * See docs/rate-limiting.md#shutdown-and-restart.
   */
  remember(): QueueMemory | null;
  /** Estimates the seconds that work takes under the known limits, with `parallel` work items in progress at most. */
  estimate(work: readonly Work[], parallel?: number): number;
  /**
   * Rejects new requests, cancels waiting ones, and resolves once no request is in flight. Aborts the requests that are
   * still in flight after `milliseconds`.
   */
  drain(milliseconds: number): Promise<void>;
}

export interface QueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum requests in flight. */
  readonly concurrency: number;
  /** Deadline of a request in milliseconds, including retries; defaults to 10 minutes. */
  readonly deadline?: number;
  /** Owner of the budgets: a digest of platform and token, never the token. Without it, no state is saved. */
  readonly owner?: string;
  /** State that a queue of the same owner saved. Invalid and outdated parts are ignored. */
  readonly memory?: unknown;
  readonly onEvent?: (event: QueueEvent) => void;
  /** State that the replicas share that use this token at the same time; absent: only this process uses it. */
  readonly shared?: SharedState | undefined;
}
