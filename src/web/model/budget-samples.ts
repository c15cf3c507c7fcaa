/** Samples of a queue over time, for the page of the budgets. */
import type { BudgetSnapshot, QueueSnapshot } from '../../queue/snapshot.ts';

/** State of a queue at one time. */
export interface BudgetSample {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly waiting: number;
  readonly inFlight: number;
  /** Requests that the platform refused because of a rate limit (429) since the sample before. */
  readonly refused: number;
  readonly budgets: readonly {
    readonly name: string;
    readonly limit: number | null;
    readonly remaining: number | null;
  }[];
}

/** Period that the samples cover, and the shortest time between two of them, in milliseconds. */
export const SAMPLED_PERIOD = 6 * 3_600_000;
const MIN_INTERVAL = 10_000;
/** Maximum number of samples of all queues, of about 50 bytes each. */
const MAX_SAMPLES = 150_000;
/** Maximum number of budgets of a queue that are sampled. */
const MAX_BUDGETS = 6;
const UNKNOWN = -1;

/** Returns the time between two samples of a queue, if there are this many queues, in milliseconds. */
export function sampleInterval(queues: number): number {
  const perQueue = Math.max(1, Math.floor(MAX_SAMPLES / Math.max(1, queues)));
  return Math.max(MIN_INTERVAL, Math.ceil(SAMPLED_PERIOD / perQueue));
}

interface Series {
  readonly limit: Int32Array;
  readonly remaining: Int32Array;
}

/** Ring of samples of one queue. */
export class BudgetSamples {
  readonly interval: number;
  readonly #capacity: number;
  readonly #at: Float64Array;
  readonly #waiting: Int32Array;
  readonly #inFlight: Int32Array;
  /** Number of 429s since the queue was created. */
  readonly #refused: Float64Array;
  readonly #series = new Map<string, Series>();
  #count = 0;
  #refusedBefore = 0;

  /** `interval`: least time between two samples, in milliseconds. */
  constructor(interval: number) {
    this.interval = interval;
    this.#capacity = Math.max(1, Math.ceil(SAMPLED_PERIOD / interval));
    this.#at = new Float64Array(this.#capacity);
    this.#waiting = new Int32Array(this.#capacity);
    this.#inFlight = new Int32Array(this.#capacity);
    this.#refused = new Float64Array(this.#capacity);
  }

  /** Adds a sample, unless the last one is too recent. Returns true if it was added. */
  add(now: number, { budgets, waiting, inFlight, outcomes }: QueueSnapshot): boolean {
    const last =
      this.#count === 0 ? Number.NEGATIVE_INFINITY : (this.#at[(this.#count - 1) % this.#capacity] as number);
    // A timer is early at times. The clock may also have been set back.
    if (now >= last && now - last < this.interval * 0.9) {
      return false;
    }
    const row = this.#count % this.#capacity;
    this.#at[row] = now;
    this.#waiting[row] = Object.values(waiting).reduce((sum, number) => sum + number, 0);
    this.#inFlight[row] = inFlight;
    this.#refused[row] = outcomes.refused - this.#refusedBefore;
    this.#refusedBefore = outcomes.refused;
    for (const { limit, remaining } of this.#series.values()) {
      limit[row] = UNKNOWN;
      remaining[row] = UNKNOWN;
    }
    for (const budget of budgets) {
      const series = this.#seriesOf(budgetName(budget));
      if (series !== null) {
        series.limit[row] = budget.limit ?? UNKNOWN;
        series.remaining[row] = budget.remaining ?? UNKNOWN;
      }
    }
    this.#count += 1;
    return true;
  }

  /** Returns the samples, oldest first. */
  read(): readonly BudgetSample[] {
    const size = Math.min(this.#count, this.#capacity);
    return Array.from({ length: size }, (_, index) => this.#sample((this.#count - size + index) % this.#capacity));
  }

  #sample(row: number): BudgetSample {
    return {
      at: this.#at[row] as number,
      waiting: this.#waiting[row] as number,
      inFlight: this.#inFlight[row] as number,
      refused: this.#refused[row] as number,
      budgets: [...this.#series].map(([name, { limit, remaining }]) => ({
        name,
        limit: known(limit[row]),
        remaining: known(remaining[row]),
      })),
    };
  }

  #seriesOf(name: string): Series | null {
    const existing = this.#series.get(name);
    if (existing !== undefined || this.#series.size >= MAX_BUDGETS) {
      return existing ?? null;
    }
    const unknown = () => new Int32Array(this.#capacity).fill(UNKNOWN);
    const series = { limit: unknown(), remaining: unknown() };
    this.#series.set(name, series);
    return series;
  }
}

/** Returns the name of a budget: the classes and operations that share it. */
export function budgetName({ classes, operations }: Pick<BudgetSnapshot, 'classes' | 'operations'>): string {
  return [classes.join(', '), ...operations].join(' ');
}

function known(value: number | undefined): number | null {
  return value === undefined || value === UNKNOWN ? null : value;
}
