/** Clock of a fleet: the time of the database, which all replicas share. */
import type { Clock } from '../core/clock.ts';
import type { FleetStore } from '../store/leases.ts';

export interface FleetClockOptions {
  /** Clock of this machine. */
  readonly clock: Clock;
  readonly store: Pick<FleetStore, 'time'>;
  /** Called when the clock of this machine is found to be this many milliseconds ahead; 0: when it is right again. */
  readonly onDifference: (ahead: number) => void;
}

/** Milliseconds by which the clock of a machine may differ: less than receivers of signed messages accept. */
const TOLERANCE = 30_000;
/** Milliseconds between two comparisons. */
const INTERVAL = 60_000;
/** Longest round trip in milliseconds after which an answer tells the time. */
const MAX_ROUND_TRIP = 5000;

/**
 * Clock of a fleet: that of the machine, unless it differs from the database's. Then the time of the database is used, so
 * that signed messages are accepted, and due times mean the same at every replica. Source: docs/fleet.md#clocks
 */
export class FleetClock implements Clock {
  readonly #options: FleetClockOptions;
  /** Time of the database, and when it was that time on the monotonic clock; null: the clock of the machine is right. */
  #anchor: { readonly time: number; readonly at: number } | null = null;
  #comparedAt = Number.NEGATIVE_INFINITY;

  private constructor(options: FleetClockOptions) {
    this.#options = options;
  }

  /** Opens the clock after a first comparison. Never rejects. */
  static async open(options: FleetClockOptions): Promise<FleetClock> {
    const clock = new FleetClock(options);
    await clock.#compare();
    return clock;
  }

  /** Compares the clocks in the background if the last comparison is a minute old. */
  now(): number {
    const { clock } = this.#options;
    if (clock.monotonic() - this.#comparedAt >= INTERVAL) {
      void this.#compare();
    }
    return this.#anchor === null ? clock.now() : Math.floor(this.#anchor.time + clock.monotonic() - this.#anchor.at);
  }

  monotonic(): number {
    return this.#options.clock.monotonic();
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return this.#options.clock.sleep(milliseconds, signal);
  }

  async #compare(): Promise<void> {
    const { clock, store, onDifference } = this.#options;
    const sentAt = clock.monotonic();
    this.#comparedAt = sentAt;
    // Without an answer, what is known stays in use.
    const time = await store.time().catch(() => null);
    const at = clock.monotonic();
    if (time === null || at - sentAt > MAX_ROUND_TRIP) {
      return;
    }
    const current = time + (at - sentAt) / 2;
    const ahead = clock.now() - current;
    const wasRight = this.#anchor === null;
    const isRight = Math.abs(ahead) <= TOLERANCE;
    this.#anchor = isRight ? null : { time: current, at };
    if (isRight !== wasRight) {
      onDifference(isRight ? 0 : ahead);
    }
  }
}
