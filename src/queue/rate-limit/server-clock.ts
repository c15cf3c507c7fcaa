import type { RateHeaders } from '../model/rate-headers.ts';

/**
 * A smaller reset is seconds from now, a larger one seconds since the epoch. See docs/rate-limiting.md#server-clock.
 */
const DELTA_BELOW = 1e9;

/**
 * Translates the server's time into the monotonic clock without trusting the machine's own: each answer gives
 * `Date − received ≤ offset < Date + 1 s − sent`, and the largest lower bound is kept, so that a wait that ends at a
 * reset is never too short.
 */
export interface ServerClock {
  /** Takes in an answer's `Date`; times are monotonic milliseconds. */
  observe(headers: RateHeaders, sentAt: number, receivedAt: number): void;
  /** The server's time of an answer's reset in milliseconds, or null where it names none. */
  resetOf(headers: RateHeaders, receivedAt: number): number | null;
  /** The monotonic time at which the server surely has reached this time. */
  toMonotonic(serverTime: number): number;
  toServer(monotonic: number): number;
  /** Milliseconds by which the server's clock is at least ahead of the machine's; null before a date was seen. */
  ahead(): number | null;
}

/** Whether a reset is told as seconds from now. */
export function isFromNow({ reset }: RateHeaders): boolean {
  return reset !== null && reset < DELTA_BELOW;
}

/**
 * `wallOffset` (wall clock minus monotonic) is used until a server has sent a date, and the milliseconds by which the
 * server was ahead of the wall clock when last seen.
 */
export function createServerClock(wallOffset: number, lastAhead = 0): ServerClock {
  let bound: number | null = null;
  const offset = () => bound ?? wallOffset + lastAhead;
  return {
    observe(headers, sentAt, receivedAt) {
      if (headers.date === null) {
        return;
      }
      const lower = headers.date - receivedAt;
      const upper = headers.date + 1000 - sentAt;
      // A bound above the upper one was taken before the server's clock was set back.
      bound = bound === null || bound > upper ? lower : Math.max(bound, lower);
    },
    resetOf(headers, receivedAt) {
      if (headers.reset === null) {
        return null;
      }
      return isFromNow(headers) ? receivedAt + offset() + headers.reset * 1000 : headers.reset * 1000;
    },
    toMonotonic: (serverTime) => serverTime - offset(),
    toServer: (monotonic) => monotonic + offset(),
    ahead: () => (bound === null ? null : bound - wallOffset),
  };
}
