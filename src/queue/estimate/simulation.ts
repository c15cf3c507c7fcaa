import { Heap } from '../model/heap.ts';
import type { SimulatedBudget } from './simulated-budget.ts';

/** Requests one after the other, writes first, and what they wait for. */
export interface Work {
  readonly writes: number;
  readonly reads: number;
  /** Places, in the list that this is in, of what has to be done before. */
  readonly after: readonly number[];
}

/** Where requests of one class wait, first come, first served. Times are milliseconds from the start. */
export interface Lane {
  /** What they draw on, one or another; none: nothing limits them. */
  readonly taps: readonly SimulatedBudget[];
  readonly rtt: number;
  /** `asked`: the one request that goes ahead to learn a budget is under way. */
  asking: 'never' | 'asked' | 'known';
  /** Places of pieces of work; those before `next` have gone. */
  readonly waiting: number[];
  next: number;
}

/** How far one piece of the work is. */
interface Piece {
  readonly work: Work;
  readonly followers: number[];
  /** What it still waits for. */
  open: number;
  sent: number;
}

interface Flight {
  readonly at: number;
  readonly piece: number;
  readonly lane: Lane;
  readonly budget: SimulatedBudget | undefined;
}

/** Goes through work as the queue will, from answer to answer. */
export class ScheduleSimulation {
  readonly #pieces: readonly Piece[];
  readonly #lanes: { readonly write: Lane; readonly read: Lane };
  readonly #inFlightJobs = new Heap<Flight>((a, b) => a.at < b.at);
  /** Pieces that wait for nothing but a place; those before `#begun` have got one. */
  readonly #ready: number[] = [];
  #begun = 0;
  /** Pieces that may be begun besides those at work, and requests that may be sent besides those in flight. */
  #places: number;
  #free: number;
  #now = 0;

  /** `parallel`: pieces that are worked on at a time; `concurrency`: requests. */
  constructor(
    work: readonly Work[],
    lanes: { readonly write: Lane; readonly read: Lane },
    concurrency: number,
    parallel: number,
  ) {
    this.#pieces = work.map((each) => ({ work: each, followers: [], open: each.after.length, sent: 0 }));
    this.#lanes = lanes;
    this.#free = concurrency;
    this.#places = parallel;
    for (const [place, each] of work.entries()) {
      for (const before of each.after) {
        this.#pieces[before]?.followers.push(place);
      }
    }
  }

  /** Milliseconds until all is answered. */
  run(): number {
    for (const [place, { open }] of this.#pieces.entries()) {
      if (open === 0) {
        this.#ready.push(place);
      }
    }
    for (;;) {
      this.#begin();
      const wake = this.#send();
      const next = Math.min(wake, this.#inFlightJobs.peek()?.at ?? Number.POSITIVE_INFINITY);
      if (next === Number.POSITIVE_INFINITY) {
        return this.#now;
      }
      this.#now = next;
      for (
        let flight = this.#inFlightJobs.peek();
        flight !== undefined && flight.at <= next;
        flight = this.#inFlightJobs.peek()
      ) {
        this.#inFlightJobs.pop();
        this.#free += 1;
        flight.budget?.answer();
        flight.lane.asking = 'known';
        this.#goOn(flight.piece);
      }
    }
  }

  /** Begins as many pieces as there are places for. What the platform works on by itself takes up none. */
  #begin(): void {
    for (; this.#begun < this.#ready.length && this.#places > 0; this.#begun += 1) {
      this.#places -= 1;
      this.#goOn(this.#ready[this.#begun] as number);
    }
  }

  /** Puts the next request of a piece in its lane; where there is none left, those that wait for it may begin. */
  #goOn(place: number): void {
    const { work, sent, followers } = this.#pieces[place] as Piece;
    if (sent === work.writes) {
      this.#places += 1;
    }
    if (sent < work.writes + work.reads) {
      this.#lanes[sent < work.writes ? 'write' : 'read'].waiting.push(place);
      return;
    }
    for (const follower of followers) {
      const next = this.#pieces[follower] as Piece;
      next.open -= 1;
      if (next.open === 0) {
        this.#ready.push(follower);
      }
    }
  }

  /** Sends what may go now; answers when more may go by itself. */
  #send(): number {
    let wake = Number.POSITIVE_INFINITY;
    for (const lane of [this.#lanes.write, this.#lanes.read]) {
      for (; lane.next < lane.waiting.length && this.#free > 0; lane.next += 1) {
        const opens = this.#opening(lane);
        if (opens.at > this.#now) {
          wake = Math.min(wake, opens.at);
          break;
        }
        this.#fly(lane.waiting[lane.next] as number, lane, opens.budget);
      }
    }
    return wake;
  }

  #opening({ asking, taps, waiting, next }: Lane): {
    readonly at: number;
    readonly budget: SimulatedBudget | undefined;
  } {
    if (asking === 'asked') {
      return { at: Number.POSITIVE_INFINITY, budget: undefined };
    }
    let best: { at: number; budget: SimulatedBudget | undefined } = {
      at: taps.length === 0 ? 0 : Number.POSITIVE_INFINITY,
      budget: undefined,
    };
    for (const budget of taps) {
      const at = budget.opensAt(this.#now, waiting.length - next);
      best = at < best.at ? { at, budget } : best;
    }
    return best;
  }

  #fly(place: number, lane: Lane, budget: SimulatedBudget | undefined): void {
    budget?.send(this.#now);
    if (lane.asking === 'never') {
      lane.asking = 'asked';
    }
    (this.#pieces[place] as Piece).sent += 1;
    this.#free -= 1;
    this.#inFlightJobs.push({ at: this.#now + lane.rtt, piece: place, lane, budget });
  }
}
