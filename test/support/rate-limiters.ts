/** Decision of a limit about one call. Times are the server's, in milliseconds. */
export interface Verdict {
  readonly accepted: boolean;
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/**
 * Earliest time at which the last of some calls could be accepted, and the number of calls that cannot be accepted
 * earlier.
 */
export interface Opening {
  readonly at: number;
  readonly last: number;
}

/**
 * A limit as a server counts it, and the best possible result of any client, calculated from the definition alone: that
 * of a client that knows the limit, the clock and all other clients, and whose calls arrive the moment they can be
 * accepted.
 */
export interface Limiter {
  take(now: number): Verdict;
  /**
   * For this number of calls that all wait at `start`, while other clients send this number of calls per millisecond.
   */
  opening(calls: number, start: number, others: number): Opening;
}

type Amount = (now: number) => number;

/** The same limit at all times, or from the given times (ascending) on. */
export function steps(first: number, ...changes: readonly (readonly [from: number, amount: number])[]): Amount {
  return (now) => changes.findLast(([from]) => now >= from)?.[1] ?? first;
}

/** Windows that are aligned with the clock. A limit that is reduced inside a window keeps the usage so far. */
export function fixedWindow(limit: number | Amount, length: number): Limiter {
  const limitAt = typeof limit === 'number' ? () => limit : limit;
  let window = -1;
  let used = 0;
  return {
    take(now) {
      const current = Math.floor(now / length);
      if (current !== window) {
        window = current;
        used = 0;
      }
      const most = limitAt(now);
      const accepted = used < most;
      used += accepted ? 1 : 0;
      return { accepted, limit: most, remaining: Math.max(0, most - used), reset: (current + 1) * length };
    },
    opening(calls, start, others) {
      let at = start;
      let left = calls;
      for (let end = (Math.floor(start / length) + 1) * length; ; end += length) {
        const room = Math.max(0, limitAt(at) - others * (end - at));
        if (left <= room) {
          return { at, last: left };
        }
        left -= room;
        at = end;
      }
    },
  };
}

/** Windows that start with the first call after the end of the previous one. */
export function firstCallWindow(limit: number | Amount, length: number): Limiter {
  const limitAt = typeof limit === 'number' ? () => limit : limit;
  let end = Number.NEGATIVE_INFINITY;
  let used = 0;
  return {
    take(now) {
      if (now >= end) {
        end = now + length;
        used = 0;
      }
      const most = limitAt(now);
      const accepted = used < most;
      used += accepted ? 1 : 0;
      return { accepted, limit: most, remaining: Math.max(0, most - used), reset: end };
    },
    opening: (calls, start, others) => openingByWindows(calls, start, (at) => limitAt(at) - others * length, length),
  };
}

/** `rate` calls per second, `burst` at once; the reset is the time at which the bucket is full again. */
export function tokenBucket(rate: number, burst: number): Limiter {
  let tokens = burst;
  let at: number | null = null;
  return {
    take(now) {
      tokens = Math.min(burst, tokens + ((now - (at ?? now)) / 1000) * rate);
      at = now;
      const accepted = tokens >= 1;
      tokens -= accepted ? 1 : 0;
      return { accepted, limit: burst, remaining: Math.floor(tokens), reset: now + ((burst - tokens) / rate) * 1000 };
    },
    opening(calls, start, others) {
      const waits = Math.max(0, calls - burst) / (rate / 1000 - others);
      return { at: start + waits, last: waits > 0 ? 1 : calls };
    },
  };
}

function openingByWindows(calls: number, start: number, room: Amount, length: number): Opening {
  let at = start;
  let left = calls;
  while (left > Math.max(0, room(at))) {
    left -= Math.max(0, room(at));
    at += length;
  }
  return { at, last: left };
}
