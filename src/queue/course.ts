import { Heap } from './heap.ts';
import type { BudgetSnapshot } from './snapshot.ts';

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
  readonly taps: readonly Tap[];
  readonly rtt: number;
  /** `asked`: the one request that goes ahead to learn a budget is under way. */
  asking: 'never' | 'asked' | 'known';
  /** Places of pieces of work; those before `next` have gone. */
  readonly waiting: number[];
  next: number;
}

/** A budget as it will run out and come back. */
export class Tap {
  readonly #limit: number;
  /** Between two windows; null: nothing is known to be limited. */
  readonly #window: number | null;
  /** Calls per millisecond that flow into a bucket; null: there are windows. */
  readonly #refill: number | null;
  readonly #foreign: number;
  readonly #closedUntil: number;
  readonly #rtt: number;
  #left: number;
  /** The window's end; of a bucket, when `left` was last right. */
  #until: number;
  #probing = false;
  #inFlight = 0;

  constructor({ limit, window, refill, foreign, closedFor, left, resetIn, rtt }: BudgetSnapshot) {
    this.#limit = limit ?? 0;
    this.#window = this.#limit > 0 ? window : null;
    this.#refill = refill === null || refill <= 0 ? null : refill / 1000;
    this.#foreign = foreign / 1000;
    this.#closedUntil = closedFor;
    this.#rtt = rtt ?? 0;
    this.#left = (left ?? 0) - (this.#refill === null ? this.#foreign * (resetIn ?? 0) : 0);
    this.#until = this.#refill === null ? (resetIn ?? 0) : 0;
    if (this.#refill !== null) {
      this.#left = left ?? this.#limit;
    }
  }

  /** When a call may go: now or earlier, a time to come, or Infinity: after an answer. */
  opensAt(now: number): number {
    if (now < this.#closedUntil || this.#window === null) {
      return this.#closedUntil;
    }
    if (this.#probing) {
      return Number.POSITIVE_INFINITY;
    }
    if (this.#refill !== null) {
      const left = this.#filled(now, this.#refill);
      // As the queue does: a bucket is used in small steps.
      const steps = Math.max(1, left / 4, 2 * this.#refill * this.#rtt);
      const opens = left >= 1 ? now : now + (1 - left) / this.#refill;
      return this.#inFlight >= steps ? Number.POSITIVE_INFINITY : opens;
    }
    return now >= this.#until || this.#left >= 1 ? now : this.#until;
  }

  send(now: number): void {
    this.#inFlight += 1;
    if (this.#refill !== null) {
      this.#left = this.#filled(now, this.#refill) - 1;
      this.#until = now;
    } else if (this.#window !== null && now >= this.#until) {
      // One call to see the new window, then the rest of them.
      this.#probing = true;
      this.#until += (Math.floor((now - this.#until) / this.#window) + 1) * this.#window;
      this.#left = Math.max(1, this.#limit - this.#foreign * this.#window) - 1;
    } else {
      this.#left -= 1;
    }
  }

  answer(): void {
    this.#inFlight -= 1;
    this.#probing = false;
  }

  #filled(now: number, refill: number): number {
    return Math.min(this.#limit, this.#left + (now - this.#until) * refill);
  }
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
  readonly tap: Tap | undefined;
}

/** Goes through work as the queue will, from answer to answer. */
export class Course {
  readonly #pieces: readonly Piece[];
  readonly #lanes: { readonly write: Lane; readonly read: Lane };
  readonly #flights = new Heap<Flight>((a, b) => a.at < b.at);
  #free: number;
  #now = 0;

  constructor(work: readonly Work[], lanes: { readonly write: Lane; readonly read: Lane }, concurrency: number) {
    this.#pieces = work.map((each) => ({ work: each, followers: [], open: each.after.length, sent: 0 }));
    this.#lanes = lanes;
    this.#free = concurrency;
    for (const [place, each] of work.entries()) {
      for (const before of each.after) {
        this.#pieces[before]?.followers.push(place);
      }
    }
  }

  /** Milliseconds until all is answered. */
  run(): number {
    this.#goOn([...this.#pieces.keys()].filter((place) => this.#pieces[place]?.open === 0));
    for (;;) {
      const wake = this.#send();
      const next = Math.min(wake, this.#flights.peek()?.at ?? Number.POSITIVE_INFINITY);
      if (next === Number.POSITIVE_INFINITY) {
        return this.#now;
      }
      this.#now = next;
      for (
        let flight = this.#flights.peek();
        flight !== undefined && flight.at <= next;
        flight = this.#flights.peek()
      ) {
        this.#flights.pop();
        this.#free += 1;
        flight.tap?.answer();
        flight.lane.asking = 'known';
        this.#goOn([flight.piece]);
      }
    }
  }

  /** Puts the next request of each piece in its lane; a piece that has none left lets those go on that wait for it. */
  #goOn(places: number[]): void {
    for (const place of places) {
      const piece = this.#pieces[place] as Piece;
      const { writes, reads } = piece.work;
      if (piece.sent < writes + reads) {
        this.#lanes[piece.sent < writes ? 'write' : 'read'].waiting.push(place);
        continue;
      }
      for (const follower of piece.followers) {
        const next = this.#pieces[follower] as Piece;
        next.open -= 1;
        if (next.open === 0) {
          places.push(follower);
        }
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
        this.#fly(lane.waiting[lane.next] as number, lane, opens.tap);
      }
    }
    return wake;
  }

  #opening({ asking, taps }: Lane): { readonly at: number; readonly tap: Tap | undefined } {
    if (asking === 'asked') {
      return { at: Number.POSITIVE_INFINITY, tap: undefined };
    }
    let best: { at: number; tap: Tap | undefined } = {
      at: taps.length === 0 ? 0 : Number.POSITIVE_INFINITY,
      tap: undefined,
    };
    for (const tap of taps) {
      const at = tap.opensAt(this.#now);
      best = at < best.at ? { at, tap } : best;
    }
    return best;
  }

  #fly(place: number, lane: Lane, tap: Tap | undefined): void {
    tap?.send(this.#now);
    if (lane.asking === 'never') {
      lane.asking = 'asked';
    }
    (this.#pieces[place] as Piece).sent += 1;
    this.#free -= 1;
    this.#flights.push({ at: this.#now + lane.rtt, piece: place, lane, tap });
  }
}
