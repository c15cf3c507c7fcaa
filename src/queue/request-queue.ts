import PQueue from 'p-queue';
import type { Clock, Random } from '../core/clock.ts';
import { CancelledError, messageOf, RateLimitedError, TransientError } from '../core/errors.ts';
import { AbortListeners } from './abort-listeners.ts';
import { Alarm } from './alarm.ts';
import type { Ticket } from './budget.ts';
import { estimateSeconds } from './estimate.ts';
import { createGate, type Gate } from './gate.ts';
import { Heap } from './heap.ts';
import { createHostBreaker, type HostBreaker } from './host-breaker.ts';
import { isHigher, type Job, type Waiter } from './job.ts';
import { PRIORITIES, type Priority, type QueuedRequest, type Reply } from './request.ts';
import { MOST_ATTEMPTS, mayRepeat, RetryQuota, retryDelay } from './retry.ts';
import { createServerClock } from './server-clock.ts';
import type { Outcome, QueueEvent, QueueSnapshot } from './snapshot.ts';
import { Tally } from './tally.ts';
import { type JobOptions, WaitingRoom } from './waiting-room.ts';

/** The one way to the platform for a token: everything that is sent goes through it. */
export interface RequestQueue {
  /**
   * Resolves with the answer's value. Rejects with the answer's error, with the last error when retries are used up,
   * or with CancelledError when the signal aborts, the deadline passes or the queue drains; a write that was in flight
   * then rejects with a TransientError whose `maybeDone` is true.
   */
  request<T>(request: QueuedRequest<T>): Promise<T>;
  snapshot(): QueueSnapshot;
  /** Seconds that so many requests are likely to take under what has been learned. */
  estimate(writes: number, reads: number): number;
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
  readonly onEvent?: (event: QueueEvent) => void;
}

const DEADLINE = 600_000;

/** Makes a queue for one token. */
export function createRequestQueue(options: QueueOptions): RequestQueue {
  return new Queue(options);
}

class Queue implements RequestQueue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #gate: Gate;
  readonly #breaker: HostBreaker;
  readonly #room: WaitingRoom;
  readonly #runner: PQueue<WaitingRoom, JobOptions>;
  readonly #alarm: Alarm;
  readonly #quota = new RetryQuota();
  readonly #tally = new Tally();
  readonly #listeners = new AbortListeners();
  /** Unsettled jobs, oldest first. */
  readonly #jobs = new Set<Job>();
  readonly #shared = new Map<string, Job>();
  readonly #delayed = new Heap<{ readonly job: Job; readonly at: number }>((a, b) => a.at < b.at);
  #deadlines = new Heap<Job>((a, b) => a.deadlineAt < b.deadlineAt);
  readonly #waiting: Record<Priority, number> = { person: 0, apply: 0, clusters: 0, ingestion: 0, drift: 0 };
  #sequence = 0;
  #inFlight = 0;
  #draining = false;
  #onIdle: (() => void) | null = null;

  constructor(options: QueueOptions) {
    const { clock } = options;
    const now = () => clock.monotonic();
    this.#options = options;
    this.#clock = clock;
    this.#gate = createGate(createServerClock(clock.now() - now()));
    this.#breaker = createHostBreaker(now, (state) => options.onEvent?.({ kind: 'breaker', state }));
    this.#alarm = new Alarm(clock, () => this.#wake());
    const room = new WaitingRoom(this.#gate, this.#breaker, now, (time) => this.#alarm.set(time));
    this.#room = room;
    // p-queue makes its queue itself; this hands it the one that is already there.
    const queueClass = function give() {
      return room;
    } as unknown as new () => WaitingRoom;
    this.#runner = new PQueue<WaitingRoom, JobOptions>({ concurrency: options.concurrency, queueClass });
  }

  request<T>(request: QueuedRequest<T>): Promise<T> {
    if (this.#draining || request.signal?.aborted) {
      const why = this.#draining ? 'the queue takes no more requests' : 'it was cancelled';
      this.#tally.count('cancelled');
      return Promise.reject(new CancelledError(`${request.name} was not sent: ${why}`));
    }
    const job = this.#sharedJob(request) ?? this.#newJob(request);
    return new Promise((resolve, reject) => this.#await(job, request.signal, resolve as Waiter['resolve'], reject));
  }

  #sharedJob(request: QueuedRequest<unknown>): Job | null {
    const job = request.repeat === 'safe' && request.key ? this.#shared.get(request.key) : undefined;
    if (job === undefined) {
      return null;
    }
    if (isHigher(request.priority, job.priority)) {
      if (job.state === 'waiting') {
        this.#waiting[job.priority] -= 1;
        this.#waiting[request.priority] += 1;
      }
      job.priority = request.priority;
      this.#room.reorder(job);
      this.#poke();
    }
    return job;
  }

  #newJob(request: QueuedRequest<unknown>): Job {
    const now = this.#clock.monotonic();
    const job: Job = {
      request,
      sequence: this.#sequence++,
      enqueuedAt: now,
      deadlineAt: now + (request.deadline ?? this.#options.deadline ?? DEADLINE),
      controller: new AbortController(),
      waiters: new Set(),
      priority: request.priority,
      state: 'waiting',
      waitingSince: now,
      attempts: 0,
      lastError: null,
    };
    this.#jobs.add(job);
    if (request.repeat === 'safe' && request.key) {
      this.#shared.set(request.key, job);
    }
    this.#deadlines.push(job);
    this.#alarm.set(job.deadlineAt);
    this.#enqueue(job);
    return job;
  }

  #await(job: Job, signal: AbortSignal | undefined, resolve: Waiter['resolve'], reject: Waiter['reject']): void {
    const waiter: Waiter = { resolve, reject, stop: () => {} };
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
  }

  #enqueue(job: Job): void {
    job.state = 'waiting';
    job.waitingSince = this.#clock.monotonic();
    this.#waiting[job.priority] += 1;
    void this.#runner.add(() => this.#fly(job), { job, priority: 0 });
  }

  /** Lets p-queue look into the waiting room again. */
  #poke(): void {
    this.#runner.concurrency = this.#options.concurrency;
  }

  async #fly(job: Job): Promise<void> {
    if (job.state === 'settled') {
      return;
    }
    const sentAt = this.#clock.monotonic();
    this.#waiting[job.priority] -= 1;
    job.state = 'flying';
    job.attempts += 1;
    this.#inFlight += 1;
    const ticket = this.#gate.onSent(job.request.class, sentAt, this.#room.lastIsProbe);
    try {
      const value = await this.#breaker.run(() => this.#attempt(job, ticket));
      this.#quota.earn();
      this.#note(job, sentAt, 'answered');
      this.#settle(job, (waiter) => waiter.resolve(value));
    } catch (error) {
      this.#onFailure(job, sentAt, error);
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) {
        this.#onIdle?.();
      }
    }
  }

  /** Makes the attempt and tells the gate what came of it. Rejects with the answer's error. */
  async #attempt(job: Job, ticket: Ticket): Promise<unknown> {
    let reply: Reply<unknown>;
    try {
      reply = await job.request.attempt(job.controller.signal);
    } catch (error) {
      if (error instanceof TransientError && !error.maybeDone) {
        this.#gate.onUnsent(ticket);
      } else {
        this.#gate.onLost(ticket);
      }
      throw error;
    }
    const { headers, receivedAt, result } = reply;
    this.#tally.observe(receivedAt - ticket.sentAt);
    if (result.ok || !(result.error instanceof RateLimitedError)) {
      const silentFault = !result.ok && result.error instanceof TransientError && headers.remaining === null;
      if (silentFault) {
        this.#gate.onLost(ticket);
      } else if (this.#gate.onResponse(ticket, headers, receivedAt)) {
        const { classes } = this.#gate.budget(ticket.class);
        this.#options.onEvent?.({ kind: 'joined', classes: [...classes] });
      }
    } else {
      this.#gate.onRefused(ticket, headers, receivedAt, this.#options.random());
    }
    if (!result.ok) {
      throw result.error;
    }
    return result.value;
  }

  #onFailure(job: Job, sentAt: number, error: unknown): void {
    if (job.state === 'settled') {
      return;
    }
    if (error instanceof RateLimitedError) {
      this.#note(job, sentAt, 'refused');
      job.attempts -= 1;
      this.#again(job, 0);
      return;
    }
    const last = job.attempts >= MOST_ATTEMPTS;
    if (mayRepeat(error, job.request.repeat) && !last && !this.#draining && this.#quota.pay(error)) {
      this.#note(job, sentAt, 'retried');
      job.lastError = error;
      this.#again(job, retryDelay(job.attempts, this.#options.random()));
      return;
    }
    this.#note(job, sentAt, error instanceof TransientError ? 'failed' : 'rejected');
    this.#settle(job, (waiter) => waiter.reject(error));
  }

  #again(job: Job, delay: number): void {
    if (this.#draining) {
      job.state = 'delayed';
      this.#giveUp(job, 'the queue takes no more requests');
      return;
    }
    if (delay === 0) {
      this.#enqueue(job);
      return;
    }
    job.state = 'delayed';
    const at = this.#clock.monotonic() + delay;
    this.#delayed.push({ job, at });
    this.#alarm.set(at);
  }

  #settle(job: Job, tell: (waiter: Waiter) => void): void {
    if (job.state === 'waiting') {
      this.#waiting[job.priority] -= 1;
      this.#room.forget(job);
    }
    job.state = 'settled';
    this.#jobs.delete(job);
    const { repeat, key } = job.request;
    if (repeat !== 'safe') {
      // Who reads from now on must see this write, and so must not share a read that began before.
      this.#shared.clear();
    } else if (key && this.#shared.get(key) === job) {
      this.#shared.delete(key);
    }
    for (const waiter of job.waiters) {
      waiter.stop();
      tell(waiter);
    }
    job.waiters.clear();
    this.#tidy();
  }

  /** Ends a job without an answer. */
  #giveUp(job: Job, why: string): void {
    if (job.state === 'settled') {
      return;
    }
    const { name, repeat } = job.request;
    const flying = job.state === 'flying';
    const last = job.lastError === null ? '' : `; the last attempt failed: ${messageOf(job.lastError)}`;
    const error =
      flying && repeat !== 'safe'
        ? new TransientError(`${name} was given up without an answer: ${why}${last}`, true)
        : new CancelledError(`${name} was given up: ${why}${last}`);
    this.#tally.count('cancelled');
    this.#settle(job, (waiter) => waiter.reject(error));
    if (flying) {
      job.controller.abort(error);
    }
  }

  #wake(): void {
    const now = this.#clock.monotonic();
    for (let next = this.#delayed.peek(); next !== undefined && next.at <= now; next = this.#delayed.peek()) {
      this.#delayed.pop();
      if (next.job.state === 'delayed') {
        this.#enqueue(next.job);
      }
    }
    for (let job = this.#deadlines.peek(); job !== undefined && job.deadlineAt <= now; job = this.#deadlines.peek()) {
      this.#deadlines.pop();
      this.#giveUp(job, `no answer within ${Math.round((now - job.enqueuedAt) / 1000)} s, ${this.#waitsFor(job)}`);
    }
    this.#poke();
    this.#alarm.set(this.#delayed.peek()?.at ?? Number.POSITIVE_INFINITY);
    this.#alarm.set(this.#deadlines.peek()?.deadlineAt ?? Number.POSITIVE_INFINITY);
  }

  #waitsFor(job: Job): string {
    switch (job.state) {
      case 'waiting':
        return `waiting to be sent: ${this.#room.why(job.request.class)}`;
      case 'flying':
        return 'the platform does not answer';
      default:
        return 'waiting to be tried again';
    }
  }

  /** Forgets the deadlines of jobs that are over, so that a busy queue does not collect them. */
  #tidy(): void {
    if (this.#jobs.size === 0) {
      this.#alarm.clear();
    }
    if (this.#deadlines.size > 64 + 2 * this.#jobs.size) {
      this.#deadlines = new Heap<Job>((a, b) => a.deadlineAt < b.deadlineAt);
      for (const job of this.#jobs) {
        this.#deadlines.push(job);
      }
    }
  }

  #note(job: Job, sentAt: number, outcome: Outcome): void {
    this.#tally.count(outcome);
    const { name, class: requestClass } = job.request;
    this.#options.onEvent?.({
      kind: 'attempt',
      name,
      class: requestClass,
      priority: job.priority,
      outcome,
      waited: sentAt - job.waitingSince,
      took: this.#clock.monotonic() - sentAt,
    });
  }

  snapshot(): QueueSnapshot {
    const now = this.#clock.monotonic();
    const oldest = this.#jobs.values().next().value;
    return {
      budgets: this.#gate.budgets().map((budget) => budget.snapshot(now)),
      waiting: Object.fromEntries(PRIORITIES.map((name) => [name, this.#waiting[name]])) as Record<Priority, number>,
      oldest: oldest === undefined ? null : now - oldest.enqueuedAt,
      inFlight: this.#inFlight,
      outcomes: { ...this.#tally.outcomes },
      rtt: this.#tally.rtt,
      breaker: this.#breaker.state,
      retryQuota: this.#quota.left,
    };
  }

  estimate(writes: number, reads: number): number {
    const now = this.#clock.monotonic();
    const budgets = this.#gate.budgets().map((budget) => budget.snapshot(now));
    return estimateSeconds({ writes, reads, rtt: this.#tally.rtt, concurrency: this.#options.concurrency, budgets });
  }

  async drain(milliseconds: number): Promise<void> {
    this.#draining = true;
    for (const job of [...this.#jobs]) {
      if (job.state !== 'flying') {
        this.#giveUp(job, 'the queue takes no more requests');
      }
    }
    if (this.#inFlight === 0) {
      return;
    }
    const patience = new AbortController();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    const late = this.#clock.sleep(milliseconds, patience.signal).catch(() => {});
    await Promise.race([idle, late]);
    patience.abort();
    for (const job of [...this.#jobs]) {
      this.#giveUp(job, 'the queue was closed');
    }
    await idle;
  }
}
