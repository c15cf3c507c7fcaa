import type { Clock } from '../core/clock.ts';
import type { RateHeaders } from '../queue/model/rate-headers.ts';
import { createServerClock, type ServerClock } from '../queue/rate-limit/server-clock.ts';

/** Difference between the time of an answer and the stamps of records, which may be corrected later. */
export interface StampSkew {
  /** Milliseconds by which the platform's stamps are ahead of `Date` in its answers. */
  readonly milliseconds: number;
  /** Measured on a record that was created here; otherwise only a lower bound. */
  readonly isExact: boolean;
}

/** Differences below this are latency and rounding, in milliseconds. */
const NEGLIGIBLE = 60_000;

/**
 * The platform's current time, for comparing with the stamps of its records: the `Date` of its answers, corrected by
 * the stamp of a record that was created here. The local clock is used only until an answer has a `Date`.
 */
export class PlatformTime {
  readonly #clock: Clock;
  readonly #server: ServerClock;
  #skew: StampSkew | null;

  /** `skew`: as `skew` returned it before; null: not known. */
  constructor(clock: Clock, skew: StampSkew | null = null) {
    this.#clock = clock;
    this.#server = createServerClock(clock.now() - clock.monotonic());
    this.#skew = skew;
  }

  /** Takes in the headers of an answer; times are monotonic milliseconds. */
  observeAnswer(headers: RateHeaders, sentAt: number, receivedAt: number): void {
    this.#server.observe(headers, sentAt, receivedAt);
  }

  /** Takes in the stamp of a record that the platform has created just now, in milliseconds since the epoch. */
  observeCreated(stamp: number): void {
    const milliseconds = stamp - this.#server.toServer(this.#clock.monotonic());
    this.#skew = { milliseconds: Math.abs(milliseconds) < NEGLIGIBLE ? 0 : milliseconds, isExact: true };
  }

  /** Takes in the newest stamp of a list: the platform's time is not before it. */
  observeListed(stamp: number): void {
    const ahead = stamp - this.now();
    if (ahead > NEGLIGIBLE && this.#skew?.isExact !== true) {
      this.#skew = { milliseconds: (this.#skew?.milliseconds ?? 0) + ahead, isExact: false };
    }
  }

  /** What to pass to the constructor the next time. */
  get skew(): StampSkew | null {
    return this.#skew;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#server.toServer(this.#clock.monotonic()) + (this.#skew?.milliseconds ?? 0);
  }
}
