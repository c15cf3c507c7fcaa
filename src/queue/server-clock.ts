// Converts between the server's clock and the local monotonic clock.
import type { RateHeaders } from './request.ts';

/**
 * Boundary between a reset in seconds from now (below) and one in seconds since the epoch.
 * See docs/rate-limiting.md#server-clock.
 */
const DELTA_BELOW = 1e9;

/**
 * Converts server time to the monotonic clock, independently of the local wall clock. Each response gives
 * `Date − received ≤ offset < Date + 1 s − sent`. The largest lower bound is used for waits, so that a wait for a reset
 * never ends too early. Pacing uses the smallest upper bound, so that requests do not slip into the next window.
 */
export type ServerClock = ReturnType<typeof createServerClock>;

/** Returns true if the reset is in seconds from now. */
export function isRelativeReset({ reset }: RateHeaders): boolean {
  return reset !== null && reset < DELTA_BELOW;
}

/**
 * Creates a server clock. Until the server has sent a `Date`, it assumes `wallOffset` (wall clock minus monotonic) plus
 * `lastSkew` (server clock minus wall clock when last seen), both in milliseconds.
 */
export function createServerClock(wallOffset: number, lastSkew = 0) {
  let bound: number | null = null;
  let upperBound = wallOffset + lastSkew;
  const offset = () => bound ?? wallOffset + lastSkew;
  return {
    /** Records the `Date` of a response; times are monotonic milliseconds. */
    observe(headers: RateHeaders, sentAt: number, receivedAt: number): void {
      if (headers.date === null) {
        return;
      }
      const lower = headers.date - receivedAt;
      const upper = headers.date + 1000 - sentAt;
      // A bound that contradicts the response dates from before one of the clocks was set.
      upperBound = bound === null || upperBound < lower ? upper : Math.min(upperBound, upper);
      bound = bound === null || bound > upper ? lower : Math.max(bound, lower);
    },
    /** Returns the reset of a response as server time in milliseconds, or null if it has none. */
    resetOf(headers: RateHeaders, receivedAt: number): number | null {
      if (headers.reset === null) {
        return null;
      }
      return isRelativeReset(headers) ? receivedAt + offset() + headers.reset * 1000 : headers.reset * 1000;
    },
    /** Returns the monotonic time at which the server has certainly reached this time. */
    toMonotonic: (serverTime: number) => serverTime - offset(),
    /** Returns the monotonic time before which the server has certainly not reached this time. */
    toEarliest: (serverTime: number) => serverTime - upperBound,
    /** Returns the earliest server time at this monotonic time. */
    toServer: (monotonic: number) => monotonic + offset(),
    /** Returns the minimum of server clock minus local clock, in milliseconds; null before a `Date` was seen. */
    skew: (): number | null => (bound === null ? null : bound - wallOffset),
  };
}
