import type { Queue, QueueAddOptions, RunFunction } from 'p-queue';
import type { Gate } from './gate.ts';
import { Heap } from './heap.ts';
import type { HostBreaker } from './host-breaker.ts';
import { isUrgent, type Job, virtualDeadline } from './job.ts';
import { REQUEST_CLASSES, type RequestClass } from './request.ts';

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
  readonly class: RequestClass;
  readonly urgent: Heap<Entry>;
  readonly others: Heap<Entry>;
  /** Jobs that still wait. */
  waiting: number;
  why: string;
}

interface Pick {
  readonly lane: Lane;
  readonly heap: Heap<Entry>;
  readonly entry: Entry;
  readonly probe: boolean;
}

const BUSY = 'other requests go first';

/**
 * The order in which p-queue takes tasks, with the gate in front: while the gate lets nothing through it looks empty,
 * so that the order stays open until the moment of sending.
 */
export class WaitingRoom implements Queue<RunFunction, JobOptions> {
  readonly #gate: Gate;
  readonly #breaker: HostBreaker;
  readonly #now: () => number;
  readonly #wakeAt: (time: number) => void;
  readonly #lanes: readonly Lane[];
  readonly #entries = new Map<Job, Entry>();
  /** Decided for the job that was taken last. */
  #probe = false;

  /** `wakeAt` asks to be looked into again at a monotonic time. */
  constructor(gate: Gate, breaker: HostBreaker, now: () => number, wakeAt: (time: number) => void) {
    this.#gate = gate;
    this.#breaker = breaker;
    this.#now = now;
    this.#wakeAt = wakeAt;
    const first = (a: Entry, b: Entry) => isBefore(a, b);
    this.#lanes = REQUEST_CLASSES.map((name) => ({
      class: name,
      urgent: new Heap(first),
      others: new Heap(first),
      waiting: 0,
      why: BUSY,
    }));
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
    pick.heap.pop();
    if (this.#entries.delete(pick.entry.job)) {
      pick.lane.waiting -= 1;
    }
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

  /** What jobs of this class wait for, in words. */
  why(requestClass: RequestClass): string {
    return this.#lanes.find((lane) => lane.class === requestClass)?.why ?? BUSY;
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
    return this.#lanes.find((lane) => lane.class === job.request.class) as Lane;
  }

  #pick(): Pick | null {
    const now = this.#now();
    const admitted = this.#breaker.admits();
    let best: Pick | null = null;
    for (const lane of this.#lanes) {
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
    return this.#admit(lane, now, first, urgent);
  }

  #admit(lane: Lane, now: number, first: Entry, urgent: Entry | undefined): Pick | null {
    let waiting = 0;
    const { classes } = this.#gate.budget(lane.class);
    for (const other of this.#lanes) {
      waiting += classes.includes(other.class) ? other.waiting : 0;
    }
    const decision = this.#gate.decide(lane.class, now, waiting, first === urgent);
    if (decision.kind !== 'wait') {
      lane.why = BUSY;
      const heap = first === urgent ? lane.urgent : lane.others;
      return { lane, heap, entry: first, probe: decision.kind === 'probe' };
    }
    const hasUrgent = urgent !== undefined && first !== urgent;
    const second = hasUrgent ? this.#gate.decide(lane.class, now, waiting, true) : decision;
    if (urgent !== undefined && second.kind !== 'wait') {
      return { lane, heap: lane.urgent, entry: urgent, probe: second.kind === 'probe' };
    }
    this.#wait(lane, decision.until, decision.why);
    return null;
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
