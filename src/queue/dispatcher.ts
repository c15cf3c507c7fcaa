// Implements the request queue: sends, retries and settles the jobs that the priority queue and the rate limiter release.

import PQueue from 'p-queue';
import { type Clock, endsWithin, type Random } from '../core/clock.ts';
import { type AppError, CancelledError, LeaseLostError, RateLimitedError, TransientError } from '../core/errors.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import { estimateSeconds, type Work } from './estimate.ts';
import {
  abandonedError,
  createJob,
  describeWait,
  InFlight,
  isHigher,
  type Job,
  JobRegistry,
  type Waiter,
} from './jobs.ts';
import { Average, type Permit, RateLimiter } from './limiter.ts';
import { type QueueMemory, recall } from './memory.ts';
import { type NextJob, PriorityQueue } from './priority-queue.ts';
import { type QueuedRequest, type Repeat, type Reply, TimeoutError } from './request.ts';
import { createServerClock, type ServerClock } from './server-clock.ts';
import { SharedLimiter, type SharedState } from './shared-limiter.ts';
import type { Outcome, QueueEvent, QueueSnapshot } from './snapshot.ts';
import { Timer } from './timer.ts';

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

const DEADLINE = 600_000;

/**
 * Queue of all requests to the platform with one token. A job goes through these steps:
 *
 * 1. `request` adds it to the registry and to the priority queue, or shares the job of an identical read.
 * 2. `#pump` takes the next job that the rate limiter and the circuit breaker admit, while a slot is free.
 * 3. `#run` sends one attempt and tells the rate limiter what the response shows.
 * 4. `#settle` answers its callers, or `#requeue` lets it wait for the next attempt.
 * 5. `#wake` takes up what is due: delayed jobs, deadlines, and waits for the rate limit.
 */
export class RequestQueue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  readonly #serverClock: ServerClock;
  readonly #breaker: CircuitBreaker;
  readonly #waiting: PriorityQueue;
  /** Counts the slots of running jobs. */
  readonly #runner: PQueue;
  readonly #timer: Timer;
  readonly #quota = new RetryQuota();
  readonly #outcomes = { answered: 0, rejected: 0, refused: 0, failed: 0, retried: 0, cancelled: 0 };
  readonly #rtt = new Average();
  readonly #listeners = new AbortListeners();
  readonly #registry = new JobRegistry();
  readonly #inFlight: InFlight;
  #sequence = 0;
  #draining = false;
  /** Resolves when no request is in flight; null: nobody waits for that. */
  #idle: PromiseWithResolvers<void> | null = null;

  constructor(options: QueueOptions) {
    const { clock, shared } = options;
    const now = () => clock.monotonic();
    this.#options = options;
    this.#clock = clock;
    const memory = recall(options.memory, options.owner, clock.now());
    const serverClock = createServerClock(clock.now() - now(), memory?.ahead ?? 0);
    this.#serverClock = serverClock;
    this.#limiter =
      shared === undefined
        ? new RateLimiter(serverClock)
        : new SharedLimiter({ state: shared, clock, serverClock, wake: () => this.#pump() });
    this.#limiter.recall(memory?.budgets ?? [], now());
    this.#breaker = createCircuitBreaker(now, (state) => options.onEvent?.({ kind: 'breaker', state }));
    this.#timer = new Timer(clock, () => this.#wake());
    this.#inFlight = new InFlight(options.concurrency);
    this.#waiting = new PriorityQueue(this.#limiter, this.#breaker, this.#inFlight);
    this.#runner = new PQueue({ concurrency: options.concurrency });
    // A finished job has freed its slot.
    this.#runner.addEventListener('next', () => this.#pump());
  }

  /**
   * Sends a request and resolves with the value of the response. Rejects with the error of the response, or with the
   * last error when the retries are used up. Rejects with CancelledError when the signal aborts, the deadline passes or
   * the queue drains; a write that is in flight then rejects with a TransientError whose `maybeDone` is true.
   */
  request<T>(request: QueuedRequest<T>): Promise<T> {
    if (this.#draining || request.signal?.aborted) {
      const why = this.#draining ? 'the queue is shutting down' : 'it was cancelled';
      this.#outcomes.cancelled += 1;
      return Promise.reject(new CancelledError(`${request.name} was not sent: ${why}`));
    }
    const refusal = request.refusal?.();
    if (refusal) {
      this.#outcomes.cancelled += 1;
      return Promise.reject(refusal);
    }
    const job = this.#sharedJob(request) ?? this.#newJob(request);
    return this.#addWaiter(job, request) as Promise<T>;
  }

  /** Adds a caller to a job, and resolves with the value of the response. */
  #addWaiter(job: Job, { signal, refusal }: QueuedRequest<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { resolve, reject, refusal, stop: () => {} };
      job.waiters.add(waiter);
      if (signal === undefined) {
        return;
      }
      waiter.stop = this.#listeners.add(signal, () => {
        if (job.waiters.size === 1) {
          this.#giveUp(job, 'it was cancelled');
        } else if (job.waiters.delete(waiter)) {
          reject(new CancelledError(`${job.request.name} was given up: it was cancelled`));
        }
      });
    });
  }

  /** Rejects the waiting requests whose `refusal` returns an error now, such as those of work that is stopping. */
  recheck(): void {
    for (const job of this.#registry.all().filter(({ state }) => state !== 'in-flight')) {
      this.#refuse(job);
    }
  }

  #sharedJob(request: QueuedRequest<unknown>): Job | undefined {
    const job = this.#registry.findShared(request.repeat, request.key);
    if (job !== undefined && isHigher(request.priority, job.priority)) {
      job.priority = request.priority;
      this.#waiting.reorder(job);
      this.#pump();
    }
    return job;
  }

  #newJob(request: QueuedRequest<unknown>): Job {
    const now = this.#clock.monotonic();
    const deadlineAt = now + (request.deadline ?? this.#options.deadline ?? DEADLINE);
    const job = createJob(request, this.#sequence++, now, deadlineAt);
    this.#registry.add(job);
    this.#timer.set(job.deadlineAt);
    this.#enqueue(job);
    return job;
  }

  #enqueue(job: Job): void {
    job.state = 'waiting';
    job.waitingSince = this.#clock.monotonic();
    this.#waiting.add(job);
    this.#pump();
  }

  /** Starts every job that may be sent now. */
  #pump(): void {
    while (this.#runner.pending + this.#runner.size < this.#runner.concurrency) {
      const next = this.#take();
      if (next === null) {
        return;
      }
      void this.#runner.add(() => this.#runSlot(next));
    }
  }

  /** Returns the next job; null if every job has to wait. */
  #take(): NextJob | null {
    const next = this.#waiting.take(this.#clock.monotonic());
    if (this.#waiting.wakeAt !== Number.POSITIVE_INFINITY) {
      this.#timer.set(this.#waiting.wakeAt);
    }
    return next;
  }

  /** Runs a job, and then others in the same slot: p-queue takes far more time to end a slot and to start another. */
  async #runSlot(first: NextJob): Promise<void> {
    await this.#run(first);
    // The slot ends if the concurrency is lower again, because overdue requests have ended.
    while (this.#runner.pending <= this.#runner.concurrency) {
      const next = this.#take();
      if (next === null) {
        return;
      }
      const running = this.#run(next);
      // What the job before has learned may admit more than one.
      this.#pump();
      await running;
    }
  }

  /** Sends one attempt and settles or requeues the job; never rejects. */
  async #run({ entry: { job }, isProbe }: NextJob): Promise<void> {
    if (this.#refuse(job)) {
      return;
    }
    const sentAt = this.#clock.monotonic();
    const isTrial = this.#breaker.state !== 'closed';
    job.state = 'in-flight';
    job.attempts += 1;
    this.#timer.set(this.#inFlight.add(job, sentAt, this.#limiter.budget(job.request).rtt.value ?? 0));
    try {
      const permit = this.#limiter.onSent(job.request, sentAt, isProbe);
      const value = await this.#breaker.run(() => this.#attempt(job, permit));
      this.#quota.credit();
      this.#record(job, sentAt, 'answered');
      this.#settle(job, (waiter) => waiter.resolve(value));
    } catch (error) {
      this.#onFailure(job, sentAt, error, isTrial);
    } finally {
      this.#inFlight.remove(job);
      if (this.#runner.concurrency > this.#options.concurrency) {
        this.#runner.concurrency = this.#inFlight.limit(this.#clock.monotonic());
      }
      if (this.#inFlight.size === 0) {
        this.#idle?.resolve();
      }
    }
  }

  async #attempt(job: Job, permit: Permit): Promise<unknown> {
    let reply: Reply<unknown>;
    try {
      reply = await job.request.attempt(job.signal);
    } catch (error) {
      if ((error instanceof TransientError && !error.maybeDone) || error instanceof LeaseLostError) {
        this.#limiter.onUnsent(permit);
      } else {
        this.#limiter.onLost(permit);
      }
      throw error;
    }
    this.#rtt.add(reply.receivedAt - permit.sentAt);
    this.#learn(permit, reply);
    if (!reply.result.ok) {
      throw reply.result.error;
    }
    return reply.result.value;
  }

  /** Tells the rate limiter what a response shows. */
  #learn(permit: Permit, { headers, receivedAt, result }: Reply<unknown>): void {
    const error = result.ok ? null : result.error;
    if (error instanceof RateLimitedError) {
      this.#limiter.onRefused(permit, headers, receivedAt, this.#options.random());
      return;
    }
    if (error instanceof TransientError && headers.remaining === null) {
      // A failure without rate-limit headers comes from a proxy and carries no information about the limit.
      this.#limiter.onLost(permit);
      return;
    }
    const change = this.#limiter.onResponse(permit, headers, receivedAt);
    if (change === 'split') {
      this.#waiting.regroup();
      this.#options.onEvent?.({ kind: 'split', class: permit.call.class });
    } else if (change === 'joined') {
      this.#options.onEvent?.({ kind: 'joined', classes: [...this.#limiter.budget(permit.call).classes] });
    }
  }

  #onFailure(job: Job, sentAt: number, error: unknown, isTrial: boolean): void {
    if (job.state === 'settled') {
      return;
    }
    if (error instanceof RateLimitedError) {
      this.#record(job, sentAt, 'refused');
      job.attempts -= 1;
      this.#requeue(job, 0);
      return;
    }
    const isRetryable = canRetry(error, job.request.repeat) && !this.#draining && !isRefused(job);
    if (isRetryable && isTrial) {
      // A trial request of the circuit breaker does not count as an attempt.
      job.attempts -= 1;
      this.#retry(job, sentAt, error, 0);
      return;
    }
    if (isRetryable && job.attempts < MAX_ATTEMPTS && this.#quota.spend(error)) {
      this.#retry(job, sentAt, error, retryDelay(job.attempts, this.#options.random()));
      return;
    }
    this.#record(job, sentAt, outcomeOf(error));
    this.#settle(job, (waiter) => waiter.reject(error));
  }

  #retry(job: Job, sentAt: number, error: TransientError, delay: number): void {
    this.#record(job, sentAt, 'retried');
    job.lastError = error;
    this.#requeue(job, delay);
  }

  #requeue(job: Job, delay: number): void {
    if (this.#draining) {
      job.state = 'delayed';
      this.#giveUp(job, 'the queue is shutting down');
      return;
    }
    if (this.#refuse(job)) {
      return;
    }
    if (delay === 0) {
      this.#enqueue(job);
      return;
    }
    job.state = 'delayed';
    const at = this.#clock.monotonic() + delay;
    this.#registry.delay(job, at);
    this.#timer.set(at);
  }

  #settle(job: Job, notify: (waiter: Waiter) => void): void {
    this.#waiting.discard(job);
    job.state = 'settled';
    this.#registry.remove(job);
    for (const waiter of job.waiters) {
      waiter.stop();
      notify(waiter);
    }
    job.waiters.clear();
    if (this.#registry.size === 0) {
      this.#timer.clear();
    }
  }

  /** Ends a job that must not be sent now for any of its callers. Returns false if it may. */
  #refuse(job: Job): boolean {
    const refusal = refuseWaiters(job);
    if (refusal !== null) {
      this.#outcomes.cancelled += 1;
      this.#settle(job, () => undefined);
    }
    return refusal !== null;
  }

  /** Ends a job without a response. */
  #giveUp(job: Job, why: string): void {
    if (job.state === 'settled') {
      return;
    }
    const isInFlight = job.state === 'in-flight';
    const error = abandonedError(job, why);
    this.#outcomes.cancelled += 1;
    this.#settle(job, (waiter) => waiter.reject(error));
    if (isInFlight) {
      job.signal.abort(error);
    }
  }

  #wake(): void {
    const now = this.#clock.monotonic();
    for (const job of this.#registry.takeDue(now)) {
      this.#enqueue(job);
    }
    for (const job of this.#registry.takeExpired(now)) {
      const seconds = Math.round((now - job.enqueuedAt) / 1000);
      this.#giveUp(job, `no answer within ${seconds} s, ${describeWait(job, this.#waiting.waitReason(job))}`);
    }
    this.#runner.concurrency = this.#inFlight.limit(now);
    this.#pump();
    this.#timer.set(Math.min(this.#registry.nextDueAt(), this.#inFlight.nextOverdueAt(now)));
  }

  #record(job: Job, sentAt: number, outcome: Outcome): void {
    this.#outcomes[outcome] += 1;
    const { name, class: requestClass } = job.request;
    const { priority, waitingSince } = job;
    const took = this.#clock.monotonic() - sentAt;
    const waited = sentAt - waitingSince;
    this.#options.onEvent?.({ kind: 'attempt', name, class: requestClass, priority, outcome, waited, took });
  }

  /** Returns the current state, for status and metrics. */
  snapshot(): QueueSnapshot {
    const now = this.#clock.monotonic();
    const oldest = this.#registry.oldest;
    return {
      budgets: this.#limiter.budgets().map((budget) => budget.snapshot(now)),
      waiting: this.#waiting.countByPriority(),
      oldest: oldest === undefined ? null : now - oldest.enqueuedAt,
      inFlight: this.#inFlight.size,
      outcomes: { ...this.#outcomes },
      rtt: this.#rtt.value,
      clockSkew: this.#serverClock.skew(),
      breaker: this.#breaker.state,
      retryQuota: this.#quota.left,
    };
  }

  /** Returns the milliseconds until the rate limit lets the next request be sent; 0 if none waits for that. */
  limitedFor(): number {
    const { wakeAt } = this.#waiting;
    const isLimited = wakeAt !== Number.POSITIVE_INFINITY && this.#breaker.state === 'closed';
    return isLimited ? Math.max(0, wakeAt - this.#clock.monotonic()) : 0;
  }

  /**
   * Returns the rate-limit state to save for the next process; null if the queue has no owner. Call it after `drain`.
   * See docs/rate-limiting.md#shutdown-and-restart.
   */
  remember(): QueueMemory | null {
    const { owner } = this.#options;
    const budgets = this.#limiter.remember(this.#clock.monotonic());
    const ahead = this.#serverClock.skew();
    return owner === undefined ? null : { version: 1, owner, savedAt: this.#clock.now(), ahead, budgets };
  }

  /** Estimates the seconds that work takes under the known limits, with `parallel` work items in progress at most. */
  estimate(work: readonly Work[], parallel = Number.POSITIVE_INFINITY): number {
    const { concurrency } = this.#options;
    const { budgets, rtt } = this.snapshot();
    return estimateSeconds({ work, parallel, rtt, concurrency, budgets });
  }

  /**
   * Rejects new requests, cancels waiting ones, and resolves once no request is in flight. Aborts the requests that are
   * still in flight after `milliseconds`.
   */
  async drain(milliseconds: number): Promise<void> {
    this.#draining = true;
    for (const job of this.#registry.all()) {
      if (job.state !== 'in-flight') {
        this.#giveUp(job, 'the queue is shutting down');
      }
    }
    if (this.#inFlight.size === 0) {
      return;
    }
    // The daemon and the owner of the connection may both drain it.
    this.#idle ??= Promise.withResolvers();
    await endsWithin(this.#clock, milliseconds, [this.#idle.promise]);
    for (const job of this.#registry.all()) {
      this.#giveUp(job, 'the queue was closed');
    }
    await this.#idle.promise;
  }
}

/** Returns how the error of an attempt that is not retried counts. */
function outcomeOf(error: unknown): Outcome {
  // It was not sent, so the platform did not answer it.
  const isUnsent = error instanceof LeaseLostError;
  return error instanceof TransientError ? 'failed' : isUnsent ? 'cancelled' : 'rejected';
}

/** Maximum attempts for one request, including the first. A 429 does not count. */
const MAX_ATTEMPTS = 5;
const MIN_DELAY = 500;
const MAX_DELAY = 30_000;

/** Returns the backoff in milliseconds, with full jitter: up to 0.5 s, doubled with each attempt, at most 30 s. */
function retryDelay(attemptsMade: number, random: number): number {
  return random * Math.min(MAX_DELAY, MIN_DELAY * 2 ** (attemptsMade - 1));
}

/** Returns true if a request that failed with this error can be sent again. */
function canRetry(error: unknown, repeat: Repeat): error is TransientError {
  return error instanceof TransientError && (repeat !== 'never' || !error.maybeDone);
}

const FULL = 500;
const TRANSIENT_COST = 5;
const TIMEOUT_COST = 10;

/** Retry quota: limits retries to a small share of all requests. A retry spends from it, and a success adds to it. */
class RetryQuota {
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

/** Rejects the callers for whom the request must not be sent now. Returns the error if no caller is left. */
function refuseWaiters({ waiters }: Job): AppError | null {
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
function isRefused({ waiters }: Job): boolean {
  return [...waiters].every(({ refusal }) => (refusal?.() ?? null) !== null);
}

interface Listeners {
  readonly callbacks: Set<() => void>;
  readonly dispatch: () => void;
}

/**
 * Shares one listener per abort signal among many callbacks. Node searches all listeners of a signal when one is added
 * or removed. With thousands of requests on one signal, that would cost more than the requests.
 */
class AbortListeners {
  readonly #bySignal = new Map<AbortSignal, Listeners>();

  /** Calls `callback` when the signal aborts. Returns a function that removes the callback. */
  add(signal: AbortSignal, callback: () => void): () => void {
    let listeners = this.#bySignal.get(signal);
    if (listeners === undefined) {
      const callbacks = new Set<() => void>();
      const dispatch = () => {
        this.#bySignal.delete(signal);
        for (const call of callbacks) {
          call();
        }
      };
      listeners = { callbacks, dispatch };
      this.#bySignal.set(signal, listeners);
      signal.addEventListener('abort', dispatch, { once: true });
    }
    const { callbacks, dispatch } = listeners;
    callbacks.add(callback);
    return () => {
      callbacks.delete(callback);
      if (callbacks.size === 0 && this.#bySignal.get(signal)?.callbacks === callbacks) {
        this.#bySignal.delete(signal);
        signal.removeEventListener('abort', dispatch);
      }
    };
  }
}
