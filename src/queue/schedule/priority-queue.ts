import type { Queue, QueueAddOptions, RunFunction } from 'p-queue';
import { Heap } from '../model/heap.ts';
import type { Call, RateLimiter } from '../rate-limit/rate-limiter.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { InFlight } from './in-flight.ts';
import { isUrgent, type Job, virtualDeadline } from './job.ts';

/** What p-queue hands on with a task. */
export interface JobOptions extends QueueAddOptions {
  readonly job: Job;
}

interface Entry {
  readonly job: Job;
  readonly run: RunFunction;
  readonly due: number;
  /** The job was put in again at another place. */
  moved: boolean;
}

interface Lane {
  /** Any call of this lane: they draw on one budget. */
  readonly call: Call;
  readonly urgent: Heap<Entry>;
  readonly others: Heap<Entry>;
  /** Jobs that still wait. */
  waiting: number;
  why: string;
  /** Urgent ones that went before the first since that could have gone. */
  overtakes: number;
}

interface Pick {
  readonly lane: Lane;
  readonly heap: Heap<Entry>;
  readonly entry: Entry;
  readonly probe: boolean;
}

/** After so many urgent ones the first of the others goes as if it were urgent, so that it is not starved by them. */
const MOST_OVERTAKES = 4;

const BUSY = 'other requests go first';

/**
 * The order in which p-queue takes tasks, with the gate in front: while the gate lets nothing through it looks empty,
 * so that the order stays open until the moment of sending.
 */
export class PriorityQueue implements Queue<RunFunction, JobOptions> {
  readonly #limiter: RateLimiter;
  readonly #breaker: CircuitBreaker;
  readonly #inFlightJobs: InFlight;
  readonly #now: () => number;
  readonly #wakeAt: (time: number) => void;
  readonly #lanes = new Map<string, Lane>();
  readonly #entries = new Map<Job, Entry>();
  /** Decided for the job that was taken last. */
  #probe = false;

  /** `wakeAt` asks to be looked into again at a monotonic time. */
  constructor(
    limiter: RateLimiter,
    breaker: CircuitBreaker,
    inFlightJobs: InFlight,
    now: () => number,
    wakeAt: (time: number) => void,
  ) {
    this.#limiter = limiter;
    this.#breaker = breaker;
    this.#inFlightJobs = inFlightJobs;
    this.#now = now;
    this.#wakeAt = wakeAt;
  }

  /** One if something may be sent now, else none: p-queue only asks whether to go on. */
  get size(): number {
    return this.#pick() === null ? 0 : 1;
  }

  enqueue(run: RunFunction, options?: Partial<JobOptions>): void {
    const job = options?.job;
    if (job !== undefined) {
      this.#lane(job).waiting += 1;
      this.#put(job, run);
    }
  }

  dequeue(): RunFunction | undefined {
    const pick = this.#pick();
    if (pick === null) {
      return undefined;
    }
    const { lane, heap } = pick;
    heap.pop();
    if (this.#entries.delete(pick.entry.job)) {
      lane.waiting -= 1;
    }
    lane.why = BUSY;
    const other = front(lane.others);
    const overtakes = heap === lane.urgent && other !== undefined && isBefore(other, pick.entry);
    lane.overtakes = overtakes ? lane.overtakes + 1 : 0;
    this.#probe = pick.probe;
    return pick.entry.run;
  }

  /** Whether the job that was taken last is a probe. */
  get lastIsProbe(): boolean {
    return this.#probe;
  }

  /** A job has a new priority. */
  reorder(job: Job): void {
    const entry = this.#entries.get(job);
    if (entry !== undefined) {
      entry.moved = true;
      this.#put(job, entry.run);
    }
  }

  /** A job is over before it was sent: it no longer counts, and goes out as soon as it comes to the front. */
  forget(job: Job): void {
    if (this.#entries.delete(job)) {
      this.#lane(job).waiting -= 1;
    }
  }

  /** What a job waits for, in words. */
  why(job: Job): string {
    return this.#lane(job).why;
  }

  /** The operations of a class no longer wait in one line. */
  regroup(): void {
    const lanes = [...this.#lanes.values()];
    this.#lanes.clear();
    for (const { urgent, others } of lanes) {
      for (const heap of [urgent, others]) {
        for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
          this.#regroupOne(entry);
        }
      }
    }
  }

  #regroupOne(entry: Entry): void {
    const lane = this.#lane(entry.job);
    lane.waiting += this.#entries.get(entry.job) === entry ? 1 : 0;
    (isUrgent(entry.job.priority) ? lane.urgent : lane.others).push(entry);
  }

  filter(): RunFunction[] {
    return [...this.#entries.values()].map((entry) => entry.run);
  }

  // p-queue's own ways to change the queue work by its ids and signals, which jobs do not use.
  setPriority(): void {
    throw new Error('jobs are moved by reorder');
  }

  remove(): void {
    throw new Error('jobs are taken out by forget');
  }

  #put(job: Job, run: RunFunction): void {
    const lane = this.#lane(job);
    const entry: Entry = { job, run, due: virtualDeadline(job), moved: false };
    this.#entries.set(job, entry);
    (isUrgent(job.priority) ? lane.urgent : lane.others).push(entry);
  }

  #lane(job: Job): Lane {
    const key = this.#limiter.lane(job.request);
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      const call = { class: job.request.class, name: job.request.name };
      lane = { call, urgent: new Heap(isBefore), others: new Heap(isBefore), waiting: 0, why: BUSY, overtakes: 0 };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  #pick(): Pick | null {
    const now = this.#now();
    const admitted = this.#breaker.admits();
    let best: Pick | null = null;
    for (const lane of this.#lanes.values()) {
      const pick = this.#pickFrom(lane, now, admitted);
      if (pick !== null && (best === null || isBefore(pick.entry, best.entry))) {
        best = pick;
      }
    }
    return best;
  }

  #pickFrom(lane: Lane, now: number, admitted: number): Pick | null {
    const urgent = front(lane.urgent);
    const other = front(lane.others);
    const first = urgent !== undefined && (other === undefined || isBefore(urgent, other)) ? urgent : other;
    if (first === undefined) {
      return null;
    }
    const over = [urgent, other].find((entry) => entry?.job.state === 'settled');
    if (over !== undefined) {
      return { lane, heap: over === urgent ? lane.urgent : lane.others, entry: over, probe: false };
    }
    if (admitted > now) {
      this.#wait(lane, admitted, 'the platform fails lastingly; it is tried again from time to time');
      return null;
    }
    if (this.#inFlightJobs.isStuck(lane.call.class, now)) {
      this.#wait(lane, Number.POSITIVE_INFINITY, 'the platform does not answer those before it');
      return null;
    }
    return this.#admit(lane, now, first, urgent);
  }

  #admit(lane: Lane, now: number, first: Entry, urgent: Entry | undefined): Pick | null {
    const waiting = this.#waitingWith(lane);
    const isUrgentFirst = first === urgent || lane.overtakes >= MOST_OVERTAKES;
    const decision = this.#limiter.decide(lane.call, now, waiting, isUrgentFirst);
    if (decision.kind !== 'wait') {
      const heap = first === urgent ? lane.urgent : lane.others;
      return { lane, heap, entry: first, probe: decision.kind === 'probe' };
    }
    if (urgent !== undefined && !isUrgentFirst) {
      const second = this.#limiter.decide(lane.call, now, waiting, true);
      if (second.kind !== 'wait') {
        return { lane, heap: lane.urgent, entry: urgent, probe: second.kind === 'probe' };
      }
    }
    this.#wait(lane, decision.until, decision.why);
    return null;
  }

  /** Requests that wait for the same budget as those of this lane. */
  #waitingWith(lane: Lane): number {
    const budget = this.#limiter.budget(lane.call);
    if (budget.lanes.length === 1) {
      return lane.waiting;
    }
    let waiting = 0;
    for (const name of budget.lanes) {
      waiting += this.#lanes.get(name)?.waiting ?? 0;
    }
    return waiting;
  }

  #wait(lane: Lane, until: number, why: string): void {
    lane.why = why;
    if (until !== Number.POSITIVE_INFINITY) {
      this.#wakeAt(until);
    }
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.due === b.due ? a.job.sequence < b.job.sequence : a.due < b.due;
}

/** The first entry that is still in its place. */
function front(heap: Heap<Entry>): Entry | undefined {
  for (;;) {
    const entry = heap.peek();
    if (entry === undefined || !entry.moved) {
      return entry;
    }
    heap.pop();
  }
}
