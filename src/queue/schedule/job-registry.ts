// Indexes the unsettled jobs of the queue.
import TinyQueue from 'tinyqueue';
import type { Job } from './job.ts';

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
    for (let next = this.#deadlines.peek(); next !== undefined && next.at <= now; next = this.#deadlines.peek()) {
      this.#deadlines.pop();
      if (next.job !== null) {
        expired.push(next.job);
      }
    }
    return expired;
  }

  /** Returns the time of the next attempt or deadline; Infinity if there is none. */
  nextDueAt(): number {
    const delayed = this.#delayed.peek()?.at ?? Number.POSITIVE_INFINITY;
    return Math.min(delayed, this.#deadlines.peek()?.at ?? Number.POSITIVE_INFINITY);
  }
}

function createDeadlineHeap(deadlines: Iterable<Deadline> = []): TinyQueue<Deadline> {
  return new TinyQueue([...deadlines], (a, b) => a.at - b.at);
}
