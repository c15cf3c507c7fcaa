import type { ServerClock } from './server-clock.ts';

/** Servers that floor Reset name an instant up to a second before the real one. */
export const FLOOR_BIAS = 1000;

const SECOND = 1000;

/** The answer by which a window was first seen. Times are monotonic milliseconds. */
export interface Sighting {
  /** Server time. */
  readonly resetAt: number;
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The answer's `Date`, server time. */
  readonly date: number | null;
  /** This very call opened it, as far as what is left tells. */
  readonly opened: boolean;
}

/**
 * The window of a limit, and when it ends.
 *
 * A reset is in whole seconds. Where windows begin with a call and the reset is rounded up, waiting for it loses up to a
 * second a window. So where an answer shows a new window although the server's own `Date` is still before the reset of
 * the last one, the length is taken to be the whole seconds between the calls that opened the two; as soon as a window
 * outlasts that, resets are trusted again, and for good.
 */
export class RateWindow {
  /** The longest seen, in milliseconds. */
  length = 0;
  readonly #clock: ServerClock;
  #resetAt: number | null = null;
  #bias = 0;
  #opener: Sighting | null = null;
  /** Milliseconds; null: the reset is all there is. */
  #learned: number | null = null;
  #trustsResets = false;

  constructor(clock: ServerClock) {
    this.#clock = clock;
  }

  /** Server time; null while nothing is known. */
  get resetAt(): number | null {
    return this.#resetAt;
  }

  /** Monotonic; the past while nothing is known. */
  get end(): number {
    if (this.#resetAt === null) {
      return Number.NEGATIVE_INFINITY;
    }
    const told = this.#clock.toMonotonic(this.#resetAt) + this.#bias;
    return this.#learned === null || this.#opener === null
      ? told
      : Math.min(told, this.#opener.receivedAt + this.#learned);
  }

  /** The limit is no window: its resets move with every call. */
  trustResets(): void {
    this.#learned = null;
    this.#trustsResets = true;
  }

  /** What another process saw. Server time, and milliseconds. */
  recall(resetAt: number, length: number): void {
    this.#resetAt = resetAt;
    this.length = length;
  }

  /** An answer of another window than the one known, or the first. */
  begin(sighting: Sighting): void {
    const { resetAt, receivedAt, date } = sighting;
    const last = this.#opener;
    if (last !== null && sighting.opened && date !== null && date < last.resetAt) {
      this.#learn(receivedAt - last.sentAt);
    }
    this.#opener = sighting.opened ? sighting : null;
    this.#resetAt = resetAt;
    this.length = this.#learned ?? Math.max(this.length, resetAt - this.#clock.toServer(receivedAt));
    if (this.#clock.toMonotonic(resetAt) + this.#bias <= receivedAt) {
      this.#bias = FLOOR_BIAS;
    }
  }

  #learn(between: number): void {
    const whole = Math.floor(between / SECOND) * SECOND;
    if (!this.#trustsResets && whole > 0) {
      this.#learned = whole;
    }
  }

  /** It went on after its end. */
  outlast(): void {
    if (this.#learned === null) {
      this.#bias = FLOOR_BIAS;
    }
    this.trustResets();
  }

  /** A refusal names a reset. */
  extend(resetAt: number, receivedAt: number): void {
    if (this.#learned !== null && resetAt === this.#resetAt && receivedAt >= this.end) {
      this.outlast();
    }
    this.#resetAt = Math.max(this.#resetAt ?? resetAt, resetAt);
  }
}
