// Defines a job, one request on its way through the queue, and indexes the jobs that are not settled.

import TinyQueue from 'tinyqueue';
import { type AppError, CancelledError, messageOf, TransientError } from '../core/errors.ts';
import { AttemptSignal, PRIORITIES, type Priority, type QueuedRequest, type RequestClass } from './request.ts';

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

interface Delay {
  readonly job: Job;
  readonly at: number;
}

/** `job` is null once it has settled: the heap keeps the entry, but not the body of the request. */
interface Deadline {
  job: Job | null;
  readonly at: number;
}

/** Number of deadlines of settled jobs after which the heap of deadlines is rebuilt. */
const STALE_DEADLINES = 64;

/** Registry of unsettled jobs, by key, deadline and time of the next attempt. Times are monotonic milliseconds. */
export class JobRegistry {
  /** Oldest first. */
  readonly #jobs = new Map<Job, Deadline>();
  readonly #shared = new Map<string, Job>();
  readonly #delayed = new TinyQueue<Delay>([], (a, b) => a.at - b.at);
  #deadlines = createDeadlineHeap();

  get size(): number {
    return this.#jobs.size;
  }

  get oldest(): Job | undefined {
    return this.#jobs.keys().next().value;
  }

  /** Returns all unsettled jobs, oldest first. */
  all(): Job[] {
    return [...this.#jobs.keys()];
  }

  add(job: Job): void {
    const deadline: Deadline = { job, at: job.deadlineAt };
    this.#jobs.set(job, deadline);
    this.#deadlines.push(deadline);
    if (job.request.repeat === 'safe' && job.request.key) {
      this.#shared.set(job.request.key, job);
    }
  }

  /** Finds a job that an identical request can share. */
  findShared(repeat: string, key: string | null | undefined): Job | undefined {
    return repeat === 'safe' && key ? this.#shared.get(key) : undefined;
  }

  /** Removes a settled job. */
  remove(job: Job): void {
    const deadline = this.#jobs.get(job);
    if (deadline !== undefined) {
      deadline.job = null;
      this.#jobs.delete(job);
    }
    const { repeat, key } = job.request;
    if (repeat !== 'safe') {
      // Later reads must see this write, so they must not share a read that started before it.
      if (this.#shared.size > 0) {
        this.#shared.clear();
      }
    } else if (key && this.#shared.get(key) === job) {
      this.#shared.delete(key);
    }
    if (this.#deadlines.length > STALE_DEADLINES + 2 * this.#jobs.size) {
      this.#deadlines = createDeadlineHeap(this.#jobs.values());
    }
  }

  /** Schedules the next attempt of a job. */
  delay(job: Job, at: number): void {
    this.#delayed.push({ job, at });
  }

  /** Removes and returns the delayed jobs whose next attempt is due. */
  takeDue(now: number): Job[] {
    const due = takeUntil(this.#delayed, now);
    return due.map(({ job }) => job).filter(({ state }) => state === 'delayed');
  }

  /** Removes and returns the jobs whose deadline has passed. */
  takeExpired(now: number): Job[] {
    return takeUntil(this.#deadlines, now).flatMap(({ job }) => job ?? []);
  }

  /** Returns the time of the next attempt or deadline; Infinity if there is none. */
  nextDueAt(): number {
    const delayed = this.#delayed.peek()?.at ?? Number.POSITIVE_INFINITY;
    return Math.min(delayed, this.#deadlines.peek()?.at ?? Number.POSITIVE_INFINITY);
  }
}

/** Removes and returns the entries of a heap up to a time. */
export function takeUntil<T extends { readonly at: number }>(heap: TinyQueue<T>, now: number): T[] {
  const taken: T[] = [];
  for (let next = heap.peek(); next !== undefined && next.at <= now; next = heap.peek()) {
    heap.pop();
    taken.push(next);
  }
  return taken;
}

function createDeadlineHeap(deadlines: Iterable<Deadline> = []): TinyQueue<Deadline> {
  return new TinyQueue([...deadlines], (a, b) => a.at - b.at);
}

/** Time after which a response is overdue, in milliseconds and in average round trips, whichever is longer. */
const MIN_OVERDUE = 5000;
const OVERDUE_ROUND_TRIPS = 4;

interface InFlightRequest {
  readonly class: RequestClass;
  readonly overdueAt: number;
}

/**
 * Requests in flight. A request whose response is overdue no longer counts against the concurrency limit, so a class
 * without responses does not block the other classes. A class with too many overdue responses is not sent any more.
 * Times are monotonic milliseconds.
 */
export class InFlight {
  readonly #requests = new Map<Job, InFlightRequest>();
  readonly #concurrency: number;
  /** No response is overdue before this time. */
  #noneOverdueBefore = Number.POSITIVE_INFINITY;

  /** `concurrency`: maximum requests in flight, not counting overdue ones. */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  get size(): number {
    return this.#requests.size;
  }

  /** Adds a request; `rtt` is the average round trip. Returns the time at which the response is overdue. */
  add(job: Job, sentAt: number, rtt: number): number {
    const overdueAt = sentAt + Math.max(MIN_OVERDUE, OVERDUE_ROUND_TRIPS * rtt);
    this.#noneOverdueBefore = Math.min(this.#noneOverdueBefore, overdueAt);
    this.#requests.set(job, { class: job.request.class, overdueAt });
    return overdueAt;
  }

  remove(job: Job): void {
    this.#requests.delete(job);
  }

  /** Returns the current limit on requests in flight, at most twice the concurrency. */
  limit(now: number): number {
    return this.#concurrency + Math.min(this.#concurrency, this.#overdue(now));
  }

  /** Returns true if too many responses of a class are overdue to send more. */
  isStuck(requestClass: RequestClass, now: number): boolean {
    return this.#overdue(now, requestClass) >= Math.max(1, this.#concurrency / 2);
  }

  /** Returns the time at which the next response will be overdue; Infinity if none. */
  nextOverdueAt(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { overdueAt } of this.#requests.values()) {
      if (overdueAt > now) {
        next = Math.min(next, overdueAt);
      }
    }
    return next;
  }

  #overdue(now: number, requestClass?: RequestClass): number {
    if (now < this.#noneOverdueBefore) {
      return 0;
    }
    let overdue = 0;
    let first = Number.POSITIVE_INFINITY;
    for (const request of this.#requests.values()) {
      const counts = requestClass === undefined || request.class === requestClass;
      overdue += counts && request.overdueAt <= now ? 1 : 0;
      first = Math.min(first, request.overdueAt);
    }
    this.#noneOverdueBefore = first;
    return overdue;
  }
}
