// Simulates the schedule of the queue, for estimates.
import TinyQueue from 'tinyqueue';
import type { SimulatedBudget } from './simulated-budget.ts';

/** Work item: sequential requests, writes first, and the work items it depends on. */
export interface Work {
  readonly writes: number;
  readonly reads: number;
  /** Indexes of the work items that have to be done before. */
  readonly after: readonly number[];
}

/** Simulated first-in, first-out queue of one request class. Times are milliseconds from the start. */
export interface SimulatedQueue {
  /** Budgets that the requests may use; empty: no limit. */
  readonly budgets: readonly SimulatedBudget[];
  readonly rtt: number;
  /** State of the probe that learns the budget. */
  probe: 'needed' | 'sent' | 'done';
  /** Indexes of work items; those before `next` were sent. */
  readonly waiting: number[];
  next: number;
}

/** Progress of one work item. */
interface Item {
  readonly work: Work;
  readonly dependents: number[];
  /** Number of dependencies that are not done. */
  openDependencies: number;
  sent: number;
}

interface SimulatedRequest {
  readonly at: number;
  readonly item: number;
  readonly queue: SimulatedQueue;
  readonly budget: SimulatedBudget | undefined;
}

/** Simulates how the queue will execute this work. */
export class ScheduleSimulation {
  readonly #items: readonly Item[];
  readonly #queues: { readonly write: SimulatedQueue; readonly read: SimulatedQueue };
  readonly #inFlight = new TinyQueue<SimulatedRequest>([], (a, b) => a.at - b.at);
  /** Items without open dependencies; those before `#started` were started. */
  readonly #ready: number[] = [];
  #started = 0;
  /** Number of items that may be started. */
  #freeItemSlots: number;
  /** Number of requests that may be sent. */
  #freeRequestSlots: number;
  #now = 0;

  /** `parallel`: maximum items in progress; `concurrency`: maximum requests in flight. */
  constructor(
    work: readonly Work[],
    queues: { readonly write: SimulatedQueue; readonly read: SimulatedQueue },
    concurrency: number,
    parallel: number,
  ) {
    this.#items = work.map((each) => ({ work: each, dependents: [], openDependencies: each.after.length, sent: 0 }));
    this.#queues = queues;
    this.#freeRequestSlots = concurrency;
    this.#freeItemSlots = parallel;
    for (const [index, each] of work.entries()) {
      for (const dependency of each.after) {
        this.#items[dependency]?.dependents.push(index);
      }
    }
  }

  /** Returns the milliseconds until the last response. */
  run(): number {
    for (const [index, { openDependencies }] of this.#items.entries()) {
      if (openDependencies === 0) {
        this.#ready.push(index);
      }
    }
    for (;;) {
      this.#startReady();
      const wake = this.#send();
      const next = Math.min(wake, this.#inFlight.peek()?.at ?? Number.POSITIVE_INFINITY);
      if (next === Number.POSITIVE_INFINITY) {
        return this.#now;
      }
      this.#now = next;
      for (
        let request = this.#inFlight.peek();
        request !== undefined && request.at <= next;
        request = this.#inFlight.peek()
      ) {
        this.#inFlight.pop();
        this.#freeRequestSlots += 1;
        request.budget?.onResponse();
        request.queue.probe = 'done';
        this.#advance(request.item);
      }
    }
  }

  /** Starts items while there are free slots. An item frees its slot after its last write, before its reads. */
  #startReady(): void {
    for (; this.#started < this.#ready.length && this.#freeItemSlots > 0; this.#started += 1) {
      this.#freeItemSlots -= 1;
      this.#advance(this.#ready[this.#started] as number);
    }
  }

  /** Enqueues the next request of an item. An item without further requests is done and releases its dependents. */
  #advance(index: number): void {
    const { work, sent, dependents } = this.#items[index] as Item;
    if (sent === work.writes) {
      this.#freeItemSlots += 1;
    }
    if (sent < work.writes + work.reads) {
      this.#queues[sent < work.writes ? 'write' : 'read'].waiting.push(index);
      return;
    }
    for (const dependent of dependents) {
      const next = this.#items[dependent] as Item;
      next.openDependencies -= 1;
      if (next.openDependencies === 0) {
        this.#ready.push(dependent);
      }
    }
  }

  /** Sends the requests that may be sent now. Returns when more may be sent without a response in between. */
  #send(): number {
    let wake = Number.POSITIVE_INFINITY;
    for (const queue of [this.#queues.write, this.#queues.read]) {
      for (; queue.next < queue.waiting.length && this.#freeRequestSlots > 0; queue.next += 1) {
        const earliest = this.#earliest(queue);
        if (earliest.at > this.#now) {
          wake = Math.min(wake, earliest.at);
          break;
        }
        this.#sendNext(queue.waiting[queue.next] as number, queue, earliest.budget);
      }
    }
    return wake;
  }

  #earliest({ probe, budgets, waiting, next }: SimulatedQueue): {
    readonly at: number;
    readonly budget: SimulatedBudget | undefined;
  } {
    if (probe === 'sent') {
      return { at: Number.POSITIVE_INFINITY, budget: undefined };
    }
    let best: { at: number; budget: SimulatedBudget | undefined } = {
      at: budgets.length === 0 ? 0 : Number.POSITIVE_INFINITY,
      budget: undefined,
    };
    for (const budget of budgets) {
      const at = budget.opensAt(this.#now, waiting.length - next);
      best = at < best.at ? { at, budget } : best;
    }
    return best;
  }

  #sendNext(index: number, queue: SimulatedQueue, budget: SimulatedBudget | undefined): void {
    budget?.onSent(this.#now);
    if (queue.probe === 'needed') {
      queue.probe = 'sent';
    }
    (this.#items[index] as Item).sent += 1;
    this.#freeRequestSlots -= 1;
    this.#inFlight.push({ at: this.#now + queue.rtt, item: index, queue, budget });
  }
}
