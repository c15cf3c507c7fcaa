// Implements the request queue.
import { type Clock, endsWithin } from '../../core/clock.ts';
import { CancelledError, RateLimitedError, type TransientError } from '../../core/errors.ts';
import { estimateSeconds } from '../estimate/estimate.ts';
import type { Work } from '../estimate/simulation.ts';
import { AbortListeners } from '../model/abort-listeners.ts';
import type { QueuedRequest } from '../model/request.ts';
import type { Outcome, QueueSnapshot } from '../model/snapshot.ts';
import { Timer } from '../model/timer.ts';
import { type QueueMemory, recall } from '../rate-limit/memory.ts';
import type { RateLimiter } from '../rate-limit/rate-limiter.ts';
import { createServerClock, type ServerClock } from '../rate-limit/server-clock.ts';
import { openLimiter } from '../shared/shared-limiter.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import { InFlight } from './in-flight.ts';
import { abandonedError, createJob, describeWait, isHigher, type Job, type Waiter } from './job.ts';
import { JobRegistry } from './job-registry.ts';
import { PriorityQueue } from './priority-queue.ts';
import { Pump } from './pump.ts';
import type { QueueOptions, RequestQueue } from './request-queue.ts';
import { canRetry, MAX_ATTEMPTS, RetryQuota, retryDelay } from './retry.ts';
import { Sender } from './sender.ts';
import { outcomeOf, QueueStatistics } from './statistics.ts';
import { addWaiter, isRefused, refuseWaiters, settleWaiters } from './waiters.ts';

const DEADLINE = 600_000;

/** Creates the queue for one token. */
export function createRequestQueue(options: QueueOptions): RequestQueue {
  return new Dispatcher(options);
}

/** Request queue: the priority queue and the rate limiter choose the next job, and the pump starts it. */
class Dispatcher implements RequestQueue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  readonly #serverClock: ServerClock;
  readonly #breaker: CircuitBreaker;
  readonly #sender: Sender;
  readonly #waiting: PriorityQueue;
  readonly #pump: Pump;
  readonly #timer: Timer;
  readonly #quota = new RetryQuota();
  readonly #statistics = new QueueStatistics();
  readonly #listeners = new AbortListeners();
  readonly #registry = new JobRegistry();
  readonly #inFlight: InFlight;
  #sequence = 0;
  #draining = false;
  #onIdle: (() => void) | null = null;

  constructor(options: QueueOptions) {
    const { clock, shared: state } = options;
    const now = () => clock.monotonic();
    this.#options = options;
    this.#clock = clock;
    const memory = recall(options.memory, options.owner, clock.now());
    const serverClock = createServerClock(clock.now() - now(), memory?.ahead ?? 0);
    this.#serverClock = serverClock;
    this.#limiter = openLimiter({ state, clock, serverClock, wake: () => this.#pump.pump() });
    this.#limiter.recall(memory?.budgets ?? [], now());
    this.#breaker = createCircuitBreaker(now, (state) => options.onEvent?.({ kind: 'breaker', state }));
    this.#timer = new Timer(clock, () => this.#wake());
    this.#inFlight = new InFlight(options.concurrency);
    this.#waiting = new PriorityQueue(this.#limiter, this.#breaker, this.#inFlight, now, (time) =>
      this.#timer.set(time),
    );
    const onSplit = () => this.#waiting.regroup();
    this.#sender = new Sender(this.#limiter, this.#breaker, this.#statistics, options, onSplit);
    this.#pump = new Pump(this.#waiting, options.concurrency, (job, isProbe) => this.#run(job, isProbe));
  }

  request<T>(request: QueuedRequest<T>): Promise<T> {
    if (this.#draining || request.signal?.aborted) {
      const why = this.#draining ? 'the queue is shutting down' : 'it was cancelled';
      this.#statistics.count('cancelled');
      return Promise.reject(new CancelledError(`${request.name} was not sent: ${why}`));
    }
    const refusal = request.refusal?.();
    if (refusal) {
      this.#statistics.count('cancelled');
      return Promise.reject(refusal);
    }
    const job = this.#sharedJob(request) ?? this.#newJob(request);
    return addWaiter(job, request, this.#listeners, () => this.#giveUp(job, 'it was cancelled')) as Promise<T>;
  }

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
      this.#pump.pump();
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
    this.#pump.pump();
  }

  async #run(job: Job, isProbe: boolean): Promise<void> {
    if (this.#refuse(job)) {
      return;
    }
    const sentAt = this.#clock.monotonic();
    const isTrial = this.#breaker.state !== 'closed';
    job.state = 'in-flight';
    job.attempts += 1;
    this.#timer.set(this.#inFlight.add(job, sentAt, this.#limiter.budget(job.request).rtt ?? 0));
    try {
      const value = await this.#sender.send(job, sentAt, isProbe);
      this.#quota.credit();
      this.#record(job, sentAt, 'answered');
      this.#settle(job, (waiter) => waiter.resolve(value));
    } catch (error) {
      this.#onFailure(job, sentAt, error, isTrial);
    } finally {
      this.#inFlight.remove(job);
      if (this.#pump.concurrency > this.#options.concurrency) {
        this.#pump.concurrency = this.#inFlight.limit(this.#clock.monotonic());
      }
      if (this.#inFlight.size === 0) {
        this.#onIdle?.();
      }
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
    settleWaiters(job, notify);
    if (this.#registry.size === 0) {
      this.#timer.clear();
    }
  }

  /** Ends a job that must not be sent now for any of its callers. Returns false if it may. */
  #refuse(job: Job): boolean {
    const refusal = refuseWaiters(job);
    if (refusal !== null) {
      this.#statistics.count('cancelled');
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
    this.#statistics.count('cancelled');
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
    this.#pump.concurrency = this.#inFlight.limit(now);
    this.#pump.pump();
    this.#timer.set(Math.min(this.#registry.nextDueAt(), this.#inFlight.nextOverdueAt(now)));
  }

  #record(job: Job, sentAt: number, outcome: Outcome): void {
    const event = this.#statistics.record(job, sentAt, this.#clock.monotonic(), outcome);
    this.#options.onEvent?.(event);
  }

  snapshot(): QueueSnapshot {
    const now = this.#clock.monotonic();
    const oldest = this.#registry.oldest;
    return {
      budgets: this.#limiter.budgets().map((budget) => budget.snapshot(now)),
      waiting: this.#waiting.countByPriority(),
      oldest: oldest === undefined ? null : now - oldest.enqueuedAt,
      inFlight: this.#inFlight.size,
      outcomes: { ...this.#statistics.outcomes },
      rtt: this.#statistics.rtt,
      clockSkew: this.#serverClock.skew(),
      breaker: this.#breaker.state,
      retryQuota: this.#quota.left,
    };
  }

  remember(): QueueMemory | null {
    const { owner } = this.#options;
    const budgets = this.#limiter.remember(this.#clock.monotonic());
    const ahead = this.#serverClock.skew();
    return owner === undefined ? null : { version: 1, owner, savedAt: this.#clock.now(), ahead, budgets };
  }

  estimate(work: readonly Work[], parallel = Number.POSITIVE_INFINITY): number {
    const { concurrency } = this.#options;
    const { budgets, rtt } = this.snapshot();
    return estimateSeconds({ work, parallel, rtt, concurrency, budgets });
  }

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
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    await endsWithin(this.#clock, milliseconds, [idle]);
    for (const job of this.#registry.all()) {
      this.#giveUp(job, 'the queue was closed');
    }
    await idle;
  }
}
