// Indexes the unsettled jobs of the queue.
import TinyQueue from 'tinyqueue';
import type { Job } from './job.ts';

interface Delay {
  readonly job: Job;
  readonly at: number;
}

/** Number of deadlines of settled jobs after which the heap of deadlines is rebuilt. */
const STALE_DEADLINES = 64;

/** Registry of unsettled jobs, by key, deadline and time of the next attempt. Times are monotonic milliseconds. */
export class JobRegistry {
  /** Oldest first. */
  readonly #jobs = new Set<Job>();
  readonly #shared = new Map<string, Job>();
  readonly #delayed = new TinyQueue<Delay>([], (a, b) => a.at - b.at);
  #deadlines = createDeadlineHeap();

  get size(): number {
    return this.#jobs.size;
  }

  get oldest(): Job | undefined {
    return this.#jobs.values().next().value;
  }

  /** Returns all unsettled jobs, oldest first. */
  all(): Job[] {
    return [...this.#jobs];
  }

  add(job: Job): void {
    this.#jobs.add(job);
    this.#deadlines.push(job);
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
    this.#jobs.delete(job);
    const { repeat, key } = job.request;
    if (repeat !== 'safe') {
      // Later reads must see this write, so they must not share a read that started before it.
      this.#shared.clear();
    } else if (key && this.#shared.get(key) === job) {
      this.#shared.delete(key);
    }
    if (this.#deadlines.length > STALE_DEADLINES + 2 * this.#jobs.size) {
      this.#deadlines = createDeadlineHeap(this.#jobs);
    }
  }

  /** Schedules the next attempt of a job. */
  delay(job: Job, at: number): void {
    this.#delayed.push({ job, at });
  }

  /** Removes and returns the delayed jobs whose next attempt is due. */
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

  /** Removes and returns the jobs whose deadline has passed. */
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

  /** Returns the time of the next attempt or deadline; Infinity if there is none. */
  nextDueAt(): number {
    const delayed = this.#delayed.peek()?.at ?? Number.POSITIVE_INFINITY;
    return Math.min(delayed, this.#deadlines.peek()?.deadlineAt ?? Number.POSITIVE_INFINITY);
  }
}

function createDeadlineHeap(jobs: Iterable<Job> = []): TinyQueue<Job> {
  return new TinyQueue([...jobs], (a, b) => a.deadlineAt - b.deadlineAt);
}
