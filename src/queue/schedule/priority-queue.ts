// Orders the waiting jobs for p-queue.
import type { Queue, QueueAddOptions, RunFunction } from 'p-queue';
import { Heap } from '../model/heap.ts';
import type { Call, RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { InFlight } from './in-flight.ts';
import { isUrgent, type Job, virtualDeadline } from './job.ts';

/** Options that p-queue passes on with a task. */
export interface JobOptions extends QueueAddOptions {
  readonly job: Job;
}

interface Entry {
  readonly job: Job;
  readonly run: RunFunction;
  readonly due: number;
  /** The entry was replaced by one with another position. */
  moved: boolean;
}

/** Waiting jobs with the same rate-limit key. */
interface SubQueue {
  /** Example of a call with this key. */
  readonly call: Call;
  readonly urgent: Heap<Entry>;
  readonly others: Heap<Entry>;
  /** Number of waiting jobs. */
  waiting: number;
  /** Reason that the first job is not sent. */
  waitReason: string;
  /** Consecutive urgent jobs that were sent before an earlier job that is not urgent. */
  overtakes: number;
}

interface Pick {
  readonly subQueue: SubQueue;
  readonly heap: Heap<Entry>;
  readonly entry: Entry;
  readonly probe: boolean;
}

/** Consecutive urgent jobs after which another job is treated as urgent, to prevent starvation. */
const MAX_OVERTAKES = 4;

const BUSY = 'other requests go first';

/**
 * Priority queue of p-queue. It appears empty while the rate limiter allows no request, so the order is decided at the
 * moment of sending.
 */
export class PriorityQueue implements Queue<RunFunction, JobOptions> {
  readonly #limiter: RateLimiter;
  readonly #breaker: CircuitBreaker;
  readonly #inFlight: InFlight;
  readonly #now: () => number;
  readonly #wakeAt: (time: number) => void;
  readonly #subQueues = new Map<string, SubQueue>();
  readonly #entries = new Map<Job, Entry>();
  /** True if the last dequeued job is a probe. */
  #probe = false;

  /** `wakeAt` requests another check of the queue at a monotonic time. */
  constructor(
    limiter: RateLimiter,
    breaker: CircuitBreaker,
    inFlight: InFlight,
    now: () => number,
    wakeAt: (time: number) => void,
  ) {
    this.#limiter = limiter;
    this.#breaker = breaker;
    this.#inFlight = inFlight;
    this.#now = now;
    this.#wakeAt = wakeAt;
  }

  /** Returns 1 if a job may be sent now, otherwise 0; p-queue only checks whether it is positive. */
  get size(): number {
    return this.#pick() === null ? 0 : 1;
  }

  enqueue(run: RunFunction, options?: Partial<JobOptions>): void {
    const job = options?.job;
    if (job !== undefined) {
      this.#subQueue(job).waiting += 1;
      this.#put(job, run);
    }
  }

  dequeue(): RunFunction | undefined {
    const pick = this.#pick();
    if (pick === null) {
      return undefined;
    }
    const { subQueue, heap } = pick;
    heap.pop();
    if (this.#entries.delete(pick.entry.job)) {
      subQueue.waiting -= 1;
    }
    subQueue.waitReason = BUSY;
    const other = front(subQueue.others);
    const overtakes = heap === subQueue.urgent && other !== undefined && isBefore(other, pick.entry);
    subQueue.overtakes = overtakes ? subQueue.overtakes + 1 : 0;
    this.#probe = pick.probe;
    return pick.entry.run;
  }

  /** True if the last dequeued job is a probe. */
  get lastIsProbe(): boolean {
    return this.#probe;
  }

  /** Moves a job whose priority has changed. */
  reorder(job: Job): void {
    const entry = this.#entries.get(job);
    if (entry !== undefined) {
      entry.moved = true;
      this.#put(job, entry.run);
    }
  }

  /** Discards a job that settled before it was sent. Its entry is removed when it reaches the front. */
  discard(job: Job): void {
    if (this.#entries.delete(job)) {
      this.#subQueue(job).waiting -= 1;
    }
  }

  /** Describes why a job is not sent. */
  waitReason(job: Job): string {
    return this.#subQueue(job).waitReason;
  }

  /** Groups the jobs again after a class was split. */
  regroup(): void {
    const subQueues = [...this.#subQueues.values()];
    this.#subQueues.clear();
    for (const { urgent, others } of subQueues) {
      for (const heap of [urgent, others]) {
        for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
          this.#regroupOne(entry);
        }
      }
    }
  }

  #regroupOne(entry: Entry): void {
    const subQueue = this.#subQueue(entry.job);
    subQueue.waiting += this.#entries.get(entry.job) === entry ? 1 : 0;
    (isUrgent(entry.job.priority) ? subQueue.urgent : subQueue.others).push(entry);
  }

  filter(): RunFunction[] {
    return [...this.#entries.values()].map((entry) => entry.run);
  }

  // These methods of p-queue use its ids and signals, which jobs do not have.
  setPriority(): void {
    throw new Error('jobs are moved by reorder');
  }

  remove(): void {
    throw new Error('jobs are removed by discard');
  }

  #put(job: Job, run: RunFunction): void {
    const subQueue = this.#subQueue(job);
    const entry: Entry = { job, run, due: virtualDeadline(job), moved: false };
    this.#entries.set(job, entry);
    (isUrgent(job.priority) ? subQueue.urgent : subQueue.others).push(entry);
  }

  #subQueue(job: Job): SubQueue {
    const key = this.#limiter.limitKey(job.request);
    let subQueue = this.#subQueues.get(key);
    if (subQueue === undefined) {
      const call = { class: job.request.class, name: job.request.name };
      subQueue = {
        call,
        urgent: new Heap(isBefore),
        others: new Heap(isBefore),
        waiting: 0,
        waitReason: BUSY,
        overtakes: 0,
      };
      this.#subQueues.set(key, subQueue);
    }
    return subQueue;
  }

  #pick(): Pick | null {
    const now = this.#now();
    const nextAttemptAt = this.#breaker.nextAttemptAt();
    let best: Pick | null = null;
    for (const subQueue of this.#subQueues.values()) {
      const pick = this.#pickFrom(subQueue, now, nextAttemptAt);
      if (pick !== null && (best === null || isBefore(pick.entry, best.entry))) {
        best = pick;
      }
    }
    return best;
  }

  #pickFrom(subQueue: SubQueue, now: number, nextAttemptAt: number): Pick | null {
    const urgent = front(subQueue.urgent);
    const other = front(subQueue.others);
    const first = urgent !== undefined && (other === undefined || isBefore(urgent, other)) ? urgent : other;
    if (first === undefined) {
      return null;
    }
    const over = [urgent, other].find((entry) => entry?.job.state === 'settled');
    if (over !== undefined) {
      return { subQueue, heap: over === urgent ? subQueue.urgent : subQueue.others, entry: over, probe: false };
    }
    if (nextAttemptAt > now) {
      this.#wait(subQueue, nextAttemptAt, 'the platform fails lastingly; it is tried again from time to time');
      return null;
    }
    if (this.#inFlight.isStuck(subQueue.call.class, now)) {
      this.#wait(subQueue, Number.POSITIVE_INFINITY, 'the platform does not answer those before it');
      return null;
    }
    return this.#pickAllowed(subQueue, now, first, urgent);
  }

  #pickAllowed(subQueue: SubQueue, now: number, first: Entry, urgent: Entry | undefined): Pick | null {
    const waiting = this.#waitingWith(subQueue);
    const isUrgentFirst = first === urgent || subQueue.overtakes >= MAX_OVERTAKES;
    const decision = this.#limiter.decide(subQueue.call, now, waiting, isUrgentFirst);
    if (decision.kind !== 'wait') {
      const heap = first === urgent ? subQueue.urgent : subQueue.others;
      return { subQueue, heap, entry: first, probe: decision.kind === 'probe' };
    }
    if (urgent !== undefined && !isUrgentFirst) {
      const second = this.#limiter.decide(subQueue.call, now, waiting, true);
      if (second.kind !== 'wait') {
        return { subQueue, heap: subQueue.urgent, entry: urgent, probe: second.kind === 'probe' };
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
    if (until !== Number.POSITIVE_INFINITY) {
      this.#wakeAt(until);
    }
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.due === b.due ? a.job.sequence < b.job.sequence : a.due < b.due;
}

/** Returns the first entry that was not moved. */
function front(heap: Heap<Entry>): Entry | undefined {
  for (;;) {
    const entry = heap.peek();
    if (entry === undefined || !entry.moved) {
      return entry;
    }
    heap.pop();
  }
}
