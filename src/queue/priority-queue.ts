// Orders the waiting jobs, and picks the one to send now.
import TinyQueue from 'tinyqueue';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { type InFlight, isUrgent, type Job, virtualDeadline } from './jobs.ts';
import type { Call, RateLimiter } from './limiter.ts';
import type { Priority } from './request.ts';

interface Entry {
  readonly job: Job;
  readonly due: number;
}

/** Waiting jobs with the same rate-limit key. */
interface SubQueue {
  /** Representative call with this key. */
  readonly call: Call;
  readonly urgent: TinyQueue<Entry>;
  readonly others: TinyQueue<Entry>;
  /** Number of waiting jobs. */
  waiting: number;
  /** Reason that the first job is not sent. */
  waitReason: string;
  /** Consecutive urgent jobs that were sent before an earlier job that is not urgent. */
  overtakes: number;
}

/** Job to send now, and where it waits. */
export interface NextJob {
  readonly subQueue: SubQueue;
  readonly heap: TinyQueue<Entry>;
  readonly entry: Entry;
  /** True if the request is sent as a probe, to learn a budget. */
  readonly isProbe: boolean;
}

/** Consecutive urgent jobs after which another job is treated as urgent, to prevent starvation. */
const MAX_OVERTAKES = 4;

const BUSY = 'other requests go first';

/**
 * Priority queue of the waiting jobs. The order is decided at the moment of sending: `take` returns the job with the
 * earliest virtual deadline among those that the rate limiter and the circuit breaker admit.
 */
export class PriorityQueue {
  readonly #limiter: RateLimiter;
  readonly #breaker: CircuitBreaker;
  readonly #inFlight: InFlight;
  /** Time from which the last `take` could have returned another job; Infinity: after a response, or none waits. */
  wakeAt = Number.POSITIVE_INFINITY;
  readonly #subQueues = new Map<string, SubQueue>();
  /** Current entry of each waiting job; other entries in the heaps are stale. */
  readonly #entries = new Map<Job, Entry>();

  constructor(limiter: RateLimiter, breaker: CircuitBreaker, inFlight: InFlight) {
    this.#limiter = limiter;
    this.#breaker = breaker;
    this.#inFlight = inFlight;
  }

  add(job: Job): void {
    this.#subQueue(job).waiting += 1;
    this.#put(job);
  }

  /** Removes and returns the job to send now; null if every job has to wait. `now` is monotonic milliseconds. */
  take(now: number): NextJob | null {
    this.wakeAt = Number.POSITIVE_INFINITY;
    const next = this.#pick(now);
    if (next === null) {
      return null;
    }
    const { subQueue, heap, entry } = next;
    heap.pop();
    this.#entries.delete(entry.job);
    subQueue.waiting -= 1;
    subQueue.waitReason = BUSY;
    const other = this.#front(subQueue.others);
    const overtakes = heap === subQueue.urgent && other !== undefined && compareEntries(other, entry) < 0;
    subQueue.overtakes = overtakes ? subQueue.overtakes + 1 : 0;
    return next;
  }

  /** Moves a job whose priority has changed. */
  reorder(job: Job): void {
    if (this.#entries.has(job)) {
      this.#put(job);
    }
  }

  /** Discards a job that settled before it was sent. */
  discard(job: Job): void {
    if (this.#entries.delete(job)) {
      this.#subQueue(job).waiting -= 1;
    }
  }

  /** Returns the number of waiting jobs by priority. */
  countByPriority(): Record<Priority, number> {
    const counts = { person: 0, apply: 0, clusters: 0, ingestion: 0, drift: 0 };
    for (const { priority } of this.#entries.keys()) {
      counts[priority] += 1;
    }
    return counts;
  }

  /** Describes why a job is not sent. */
  waitReason(job: Job): string {
    return this.#subQueue(job).waitReason;
  }

  /** Groups the jobs again after a class was split. */
  regroup(): void {
    this.#subQueues.clear();
    for (const job of this.#entries.keys()) {
      this.add(job);
    }
  }

  #put(job: Job): void {
    const subQueue = this.#subQueue(job);
    const entry: Entry = { job, due: virtualDeadline(job) };
    this.#entries.set(job, entry);
    (isUrgent(job.priority) ? subQueue.urgent : subQueue.others).push(entry);
  }

  #subQueue(job: Job): SubQueue {
    const key = this.#limiter.limitKey(job.request);
    let subQueue = this.#subQueues.get(key);
    if (subQueue === undefined) {
      subQueue = {
        call: { class: job.request.class, name: job.request.name },
        urgent: new TinyQueue([], compareEntries),
        others: new TinyQueue([], compareEntries),
        waiting: 0,
        waitReason: BUSY,
        overtakes: 0,
      };
      this.#subQueues.set(key, subQueue);
    }
    return subQueue;
  }

  #pick(now: number): NextJob | null {
    const nextAttemptAt = this.#breaker.nextAttemptAt();
    let best: NextJob | null = null;
    for (const subQueue of this.#subQueues.values()) {
      const pick = this.#pickFrom(subQueue, now, nextAttemptAt);
      if (pick !== null && (best === null || compareEntries(pick.entry, best.entry) < 0)) {
        best = pick;
      }
    }
    return best;
  }

  #pickFrom(subQueue: SubQueue, now: number, nextAttemptAt: number): NextJob | null {
    const urgent = this.#front(subQueue.urgent);
    const other = this.#front(subQueue.others);
    const first = urgent !== undefined && (other === undefined || compareEntries(urgent, other) < 0) ? urgent : other;
    if (first === undefined) {
      return null;
    }
    if (nextAttemptAt > now) {
      this.#wait(subQueue, nextAttemptAt, 'the platform keeps failing; only trial requests are sent');
      return null;
    }
    if (this.#inFlight.isStuck(subQueue.call.class, now)) {
      this.#wait(subQueue, Number.POSITIVE_INFINITY, 'earlier requests have no response yet');
      return null;
    }
    return this.#pickAllowed(subQueue, now, first, urgent);
  }

  #pickAllowed(subQueue: SubQueue, now: number, first: Entry, urgent: Entry | undefined): NextJob | null {
    const waiting = this.#waitingWith(subQueue);
    const isUrgentFirst = first === urgent || subQueue.overtakes >= MAX_OVERTAKES;
    const decision = this.#limiter.decide(subQueue.call, now, waiting, isUrgentFirst);
    if (decision.kind !== 'wait') {
      const heap = first === urgent ? subQueue.urgent : subQueue.others;
      return { subQueue, heap, entry: first, isProbe: decision.kind === 'probe' };
    }
    if (urgent !== undefined && !isUrgentFirst) {
      const second = this.#limiter.decide(subQueue.call, now, waiting, true);
      if (second.kind !== 'wait') {
        return { subQueue, heap: subQueue.urgent, entry: urgent, isProbe: second.kind === 'probe' };
      }
    }
    this.#wait(subQueue, decision.until, decision.why);
    return null;
  }

  /** Counts the waiting jobs that share the budget of this sub-queue. */
  #waitingWith(subQueue: SubQueue): number {
    const budget = this.#limiter.budget(subQueue.call);
    if (budget.limitKeys.length === 1) {
      return subQueue.waiting;
    }
    let waiting = 0;
    for (const name of budget.limitKeys) {
      waiting += this.#subQueues.get(name)?.waiting ?? 0;
    }
    return waiting;
  }

  #wait(subQueue: SubQueue, until: number, reason: string): void {
    subQueue.waitReason = reason;
    this.wakeAt = Math.min(this.wakeAt, until);
  }

  /** Returns the first entry of a heap after removing the stale ones before it. */
  #front(heap: TinyQueue<Entry>): Entry | undefined {
    for (;;) {
      const entry = heap.peek();
      if (entry === undefined || this.#entries.get(entry.job) === entry) {
        return entry;
      }
      heap.pop();
    }
  }
}

function compareEntries(a: Entry, b: Entry): number {
  return a.due - b.due || a.job.sequence - b.job.sequence;
}
