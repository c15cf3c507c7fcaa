import type { RequestClass } from '../model/request.ts';
import type { Job } from './job.ts';

/** An answer that takes longer than this many milliseconds, and this many average round trips, is overdue. */
const PATIENCE = 5000;
const PATIENT_ROUND_TRIPS = 4;

interface Flight {
  readonly class: RequestClass;
  readonly overdueAt: number;
}

/**
 * The requests in flight. Those whose answer is overdue no longer count as connections in use, so that a class that is
 * never answered does not keep the others from theirs; of such a class nothing more is sent. Times are monotonic
 * milliseconds.
 */
export class InFlight {
  readonly #inFlightJobs = new Map<Job, Flight>();
  readonly #most: number;

  /** `most` requests at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#inFlightJobs.size;
  }

  /** `rtt`: what requests of this class take on average. Returns when the answer will be overdue. */
  add(job: Job, sentAt: number, rtt: number): number {
    const overdueAt = sentAt + Math.max(PATIENCE, PATIENT_ROUND_TRIPS * rtt);
    this.#inFlightJobs.set(job, { class: job.request.class, overdueAt });
    return overdueAt;
  }

  remove(job: Job): void {
    this.#inFlightJobs.delete(job);
  }

  /** Requests that may be in flight now. Never more than twice as many as usual. */
  most(now: number): number {
    return this.#most + Math.min(this.#most, this.#overdue(now));
  }

  /** Whether so many of a class are overdue that no more of it should be sent. */
  isStuck(requestClass: RequestClass, now: number): boolean {
    return this.#overdue(now, requestClass) >= Math.max(1, this.#most / 2);
  }

  /** When the next answer will be overdue; Infinity when none will. */
  next(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { overdueAt } of this.#inFlightJobs.values()) {
      if (overdueAt > now) {
        next = Math.min(next, overdueAt);
      }
    }
    return next;
  }

  #overdue(now: number, requestClass?: RequestClass): number {
    let overdue = 0;
    for (const flight of this.#inFlightJobs.values()) {
      const counts = requestClass === undefined || flight.class === requestClass;
      overdue += counts && flight.overdueAt <= now ? 1 : 0;
    }
    return overdue;
  }
}
