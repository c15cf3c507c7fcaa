// Estimates how long a set of requests takes, by simulating the schedule of the queue.

import TinyQueue from 'tinyqueue';
import { takeUntil } from './jobs.ts';
import { releaseInBucket, releaseInWindow } from './pacing.ts';
import type { BudgetSnapshot } from './snapshot.ts';

/** Round trip assumed until a response has arrived, in milliseconds. */
const ASSUMED_RTT = 150;

/** Input of an estimate. */
interface EstimateInput {
  readonly work: readonly Work[];
  /** Average round trip in milliseconds; null while unknown. */
  readonly rtt: number | null;
  /** Maximum requests in flight. */
  readonly concurrency: number;
  /** Maximum work items in progress. */
  readonly parallel: number;
  readonly budgets: readonly BudgetSnapshot[];
}

/**
 * Estimates the seconds until the last response, if nothing fails. Takes into account dependencies, round trips, the
 * concurrency limit and the known rate limits.
 */
export function estimateSeconds(load: EstimateInput): number {
  const simulated = new Map(
    load.budgets.map((budget) => [budget, new SimulatedBudget(budget, findSimilar(budget, load.budgets))]),
  );
  const queues = { write: createQueue('write', load, simulated), read: createQueue('read', load, simulated) };
  return new ScheduleSimulation(load, queues).run() / 1000;
}

/** Finds a budget with the same limit and a known remaining count: the two are probably the same. */
function findSimilar({ limit }: BudgetSnapshot, budgets: readonly BudgetSnapshot[]): BudgetSnapshot | undefined {
  return budgets.find((other) => limit !== null && other.limit === limit && other.remaining !== null);
}

function createQueue(
  name: 'read' | 'write',
  load: EstimateInput,
  simulated: ReadonlyMap<BudgetSnapshot, SimulatedBudget>,
): SimulatedQueue {
  const { budgets } = load;
  const own = budgets.filter(({ classes, rtt }) => classes.includes(name) && rtt !== null);
  // A class without responses is assumed to share the budgets that are known to be limited.
  const shared = own.length > 0 ? own : budgets.filter(({ limit }) => limit !== null);
  return {
    budgets: shared.flatMap((budget) => simulated.get(budget) ?? []),
    rtt: own[0]?.rtt ?? load.rtt ?? ASSUMED_RTT,
    // An unknown budget is learned with one probe.
    probe: own.length > 0 ? 'done' : 'needed',
    waiting: [],
    next: 0,
  };
}

/** Work item: sequential requests, writes first, and the work items it depends on. */
export interface Work {
  readonly writes: number;
  readonly reads: number;
  /** Indexes of the work items that have to be done before. */
  readonly after: readonly number[];
}

/** Simulated first-in, first-out queue of one request class. Times are milliseconds from the start. */
interface SimulatedQueue {
  /** Budgets that the requests may use; empty: no limit. */
  readonly budgets: readonly SimulatedBudget[];
  readonly rtt: number;
  /** State of the probe that learns the budget. */
  probe: 'needed' | 'sent' | 'done';
  /** Requests of these items; those before `next` were sent. */
  readonly waiting: Item[];
  next: number;
}

/** Progress of one work item. */
interface Item {
  readonly work: Work;
  readonly dependents: Item[];
  /** Number of dependencies that are not done. */
  openDependencies: number;
  sent: number;
}

interface SimulatedRequest {
  readonly at: number;
  readonly item: Item;
  readonly queue: SimulatedQueue;
  readonly budget: SimulatedBudget | undefined;
}

/** Simulates how the queue will execute this work. */
class ScheduleSimulation {
  readonly #queues: Readonly<Record<'write' | 'read', SimulatedQueue>>;
  readonly #inFlight = new TinyQueue<SimulatedRequest>([], (a, b) => a.at - b.at);
  /** Items without open dependencies; those before `#started` were started. */
  readonly #ready: Item[];
  #started = 0;
  /** Number of items that may be started. */
  #freeItemSlots: number;
  /** Number of requests that may be sent. */
  #freeRequestSlots: number;
  #now = 0;

  constructor(
    { work, concurrency, parallel }: EstimateInput,
    queues: Readonly<Record<'write' | 'read', SimulatedQueue>>,
  ) {
    this.#queues = queues;
    this.#freeRequestSlots = concurrency;
    this.#freeItemSlots = parallel;
    const items = work.map(
      (each): Item => ({ work: each, dependents: [], openDependencies: each.after.length, sent: 0 }),
    );
    for (const item of items) {
      for (const dependency of item.work.after) {
        items[dependency]?.dependents.push(item);
      }
    }
    this.#ready = items.filter(({ openDependencies }) => openDependencies === 0);
  }

  /** Returns the milliseconds until the last response. */
  run(): number {
    for (;;) {
      this.#startReady();
      const wake = this.#send();
      const next = Math.min(wake, this.#inFlight.peek()?.at ?? Number.POSITIVE_INFINITY);
      if (next === Number.POSITIVE_INFINITY) {
        return this.#now;
      }
      this.#now = next;
      for (const { item, queue, budget } of takeUntil(this.#inFlight, next)) {
        this.#freeRequestSlots += 1;
        budget?.onResponse();
        queue.probe = 'done';
        this.#advance(item);
      }
    }
  }

  /** Starts items while there are free slots. An item frees its slot after its last write, before its reads. */
  #startReady(): void {
    for (let item = this.#ready[this.#started]; item !== undefined && this.#freeItemSlots > 0; ) {
      this.#started += 1;
      this.#freeItemSlots -= 1;
      this.#advance(item);
      item = this.#ready[this.#started];
    }
  }

  /** Enqueues the next request of an item. An item without further requests is done and releases its dependents. */
  #advance(item: Item): void {
    const { work, sent, dependents } = item;
    if (sent === work.writes) {
      this.#freeItemSlots += 1;
    }
    if (sent < work.writes + work.reads) {
      this.#queues[sent < work.writes ? 'write' : 'read'].waiting.push(item);
      return;
    }
    for (const next of dependents) {
      next.openDependencies -= 1;
      if (next.openDependencies === 0) {
        this.#ready.push(next);
      }
    }
  }

  /** Sends the requests that may be sent now. Returns when more may be sent without a response in between. */
  #send(): number {
    let wake = Number.POSITIVE_INFINITY;
    for (const queue of [this.#queues.write, this.#queues.read]) {
      for (let item = queue.waiting[queue.next]; item !== undefined && this.#freeRequestSlots > 0; ) {
        const { at, budget } = this.#earliest(queue);
        if (at > this.#now) {
          wake = Math.min(wake, at);
          break;
        }
        budget?.onSent(this.#now);
        queue.probe = queue.probe === 'needed' ? 'sent' : queue.probe;
        item.sent += 1;
        this.#freeRequestSlots -= 1;
        this.#inFlight.push({ at: this.#now + queue.rtt, item, queue, budget });
        queue.next += 1;
        item = queue.waiting[queue.next];
      }
    }
    return wake;
  }

  /** Returns when the next request of a queue may be sent, and the budget that it uses. */
  #earliest({ probe, budgets, waiting, next }: SimulatedQueue): Omit<SimulatedRequest, 'item' | 'queue'> {
    if (probe === 'sent' || budgets.length === 0) {
      return { at: probe === 'sent' ? Number.POSITIVE_INFINITY : 0, budget: undefined };
    }
    return budgets
      .map((budget) => ({ at: budget.opensAt(this.#now, waiting.length - next), budget }))
      .reduce((best, other) => (other.at < best.at ? other : best));
  }
}

/** Simulated rate-limit budget. Times are milliseconds from the start. */
class SimulatedBudget {
  readonly #limit: number;
  /** Length of a window; null: no known limit. */
  readonly #window: number | null;
  /** Refill rate of a token bucket, in requests per millisecond; null for windows. */
  readonly #refill: number | null;
  /** Requests of other clients per millisecond. */
  readonly #otherClientsRate: number;
  readonly #closedUntil: number;
  readonly #rtt: number;
  #left: number;
  /** End of the window; for a bucket, the time at which `left` was last updated. */
  #until: number;
  /** True until the response to a probe: the remaining count is unknown. */
  #stale: boolean;
  #probing = false;
  #inFlight = 0;

  /** `similar`: state of a budget that is probably the same, used if this budget's own window is over. */
  constructor(budget: BudgetSnapshot, similar: BudgetSnapshot | undefined) {
    const { limit, window, refillRate, otherClientsRate, cooldown, rtt } = budget;
    const { remaining, resetIn } = budget.remaining === null && similar !== undefined ? similar : budget;
    this.#limit = limit ?? 0;
    this.#window = this.#limit > 0 ? window : null;
    this.#refill = refillRate === null || refillRate <= 0 ? null : refillRate / 1000;
    this.#otherClientsRate = otherClientsRate / 1000;
    this.#closedUntil = cooldown;
    this.#rtt = rtt ?? 0;
    this.#stale = budget.remaining === null;
    const usedByOthers = this.#refill === null ? this.#otherClientsRate * (resetIn ?? 0) : 0;
    this.#left = (remaining ?? this.#limit) - usedByOthers;
    this.#until = this.#refill === null ? (resetIn ?? 0) : 0;
  }

  /**
   * Returns the earliest time at which a request may be sent while `waiting` requests wait; Infinity: not before a
   * response arrives. Follows the same rules as the rate limiter.
   */
  opensAt(now: number, waiting: number): number {
    if (now < this.#closedUntil || this.#window === null) {
      return this.#closedUntil;
    }
    if (this.#probing) {
      return Number.POSITIVE_INFINITY;
    }
    if (this.#isOver(now)) {
      return now;
    }
    const left = this.#leftAt(now);
    if (left < 1) {
      return this.#refill === null ? this.#until : now + (1 - left) / this.#refill;
    }
    if (this.#refill !== null && this.#inFlight >= Math.max(1, left / 4, 2 * this.#refill * this.#rtt)) {
      return Number.POSITIVE_INFINITY;
    }
    return waiting <= left ? now : this.#releaseTime(now, left, this.#window);
  }

  onSent(now: number): void {
    this.#inFlight += 1;
    if (this.#window !== null && this.#isOver(now)) {
      this.#startWindow(now, this.#window);
    }
    if (this.#refill !== null) {
      this.#left = this.#leftAt(now);
      this.#until = now;
    }
    this.#left -= 1;
  }

  onResponse(): void {
    this.#inFlight -= 1;
    this.#probing = false;
  }

  #isOver(now: number): boolean {
    return this.#stale || (this.#refill === null && now >= this.#until);
  }

  /** Starts a window with one probe. */
  #startWindow(now: number, window: number): void {
    this.#probing = true;
    this.#stale = false;
    if (this.#refill === null && now >= this.#until) {
      this.#until += (Math.floor((now - this.#until) / window) + 1) * window;
      this.#left = Math.max(1, this.#limit - this.#otherClientsRate * window);
    }
  }

  #leftAt(now: number): number {
    const refilled = this.#refill === null ? 0 : (now - this.#until) * this.#refill;
    return Math.min(this.#limit, this.#left + refilled);
  }

  /** Returns when the next simulated call is released. See docs/rate-limiting.md#request-pacing. */
  #releaseTime(now: number, left: number, length: number): number {
    const decision =
      this.#refill === null
        ? releaseInWindow(now, left, this.#limit, { end: this.#until, length })
        : releaseInBucket(now, left, {
            limit: this.#limit,
            refill: this.#refill * 1000,
            seenAt: null,
            end: Number.POSITIVE_INFINITY,
          });
    return decision.kind === 'wait' ? decision.until : now;
  }
}
