import { Heap } from '../model/heap.ts';
import type { Priority } from '../model/request.ts';
import type { Job } from './job.ts';

interface Delay {
  readonly job: Job;
  readonly at: number;
}

/** Deadlines of jobs that are over are forgotten when there are this many more than jobs. */
const STALE_DEADLINES = 64;

/** Every unsettled job: by key, by deadline, by the time of its next attempt. Times are monotonic milliseconds. */
export class JobRegistry {
  /** Oldest first. */
  readonly #jobs = new Set<Job>();
  readonly #shared = new Map<string, Job>();
  readonly #delayed = new Heap<Delay>((a, b) => a.at < b.at);
  #deadlines = deadlineHeap();
  readonly #waiting: Record<Priority, number> = { person: 0, apply: 0, clusters: 0, ingestion: 0, drift: 0 };

  get size(): number {
    return this.#jobs.size;
  }

  get oldest(): Job | undefined {
    return this.#jobs.values().next().value;
  }

  all(): Job[] {
    return [...this.#jobs];
  }

  waiting(): Record<Priority, number> {
    return { ...this.#waiting };
  }

  add(job: Job): void {
    this.#jobs.add(job);
    this.#deadlines.push(job);
    if (job.request.repeat === 'safe' && job.request.key) {
      this.#shared.set(job.request.key, job);
    }
  }

  /** A job that the same request may share; undefined when there is none. */
  sharable(repeat: string, key: string | null | undefined): Job | undefined {
    return repeat === 'safe' && key ? this.#shared.get(key) : undefined;
  }

  /** It is over. */
  remove(job: Job): void {
    this.#jobs.delete(job);
    const { repeat, key } = job.request;
    if (repeat !== 'safe') {
      // Who reads from now on must see this write, and so must not share a read that began before.
      this.#shared.clear();
    } else if (key && this.#shared.get(key) === job) {
      this.#shared.delete(key);
    }
    if (this.#deadlines.size > STALE_DEADLINES + 2 * this.#jobs.size) {
      this.#deadlines = deadlineHeap();
      for (const other of this.#jobs) {
        this.#deadlines.push(other);
      }
    }
  }

  /** So many more (or fewer) of a priority wait. */
  countWaiting(priority: Priority, change: number): void {
    this.#waiting[priority] += change;
  }

  delay(job: Job, at: number): void {
    this.#delayed.push({ job, at });
  }

  /** Takes out the jobs whose time has come again. */
  takeDue(now: number): Job[] {
    const due: Job[] = [];
    for (let next = this.#delayed.peek(); next !== undefined && next.at <= now; next = this.#delayed.peek()) {
      this.#delayed.pop();
      if (next.job.state === 'delayed') {
        due.push(next.job);
      }
    }
    return due;
  }

  /** Takes out the jobs whose deadline has passed. */
  takeExpired(now: number): Job[] {
    const expired: Job[] = [];
    for (let job = this.#deadlines.peek(); job !== undefined && job.deadlineAt <= now; job = this.#deadlines.peek()) {
      this.#deadlines.pop();
      if (job.state !== 'settled') {
        expired.push(job);
      }
    }
    return expired;
  }

  /** When something is due next; Infinity when nothing is. */
  next(): number {
    const delayed = this.#delayed.peek()?.at ?? Number.POSITIVE_INFINITY;
    return Math.min(delayed, this.#deadlines.peek()?.deadlineAt ?? Number.POSITIVE_INFINITY);
  }
}

function deadlineHeap(): Heap<Job> {
  return new Heap<Job>((a, b) => a.deadlineAt < b.deadlineAt);
}
