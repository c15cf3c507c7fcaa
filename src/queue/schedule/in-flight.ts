// Tracks the requests in flight, and limits how many there may be.
import type { RequestClass } from '../model/request.ts';
import type { Job } from './job.ts';

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
