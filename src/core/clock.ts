/** Time: the clock, and what waits on it. */

/** Clock that is passed in wherever time is needed, so that tests do not wait. */
export interface Clock {
  /** Returns the wall clock in milliseconds since the epoch. It may jump. */
  now(): number;
  /** Returns milliseconds on a clock that never goes back; only differences are meaningful. */
  monotonic(): number;
  /** Resolves after this many milliseconds; rejects with the reason of the signal if it aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Share by which monotonic clocks of two machines may run apart. While chrony corrects a clock, it runs up to 8.3 % slower or
 * faster, the monotonic one included. Source: docs/fleet.md#clocks
 */
export const CLOCK_DRIFT = 0.1;

/** Clock of the system. */
export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance`, which loads twelve modules of Node before the first request.
  monotonic: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1_000_000;
  },
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, milliseconds);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};

/**
 * Reason for ending a sleep whose result is no longer needed: `abort()` without a reason creates an error with a stack,
 * which takes longer than the sleep itself.
 */
export const SLEEP_ENDED = new Error('the sleep is no longer needed');

/** Returns numbers from 0 (inclusive) to 1 (exclusive). Passed in, so that tests can repeat jitter. */
export type Random = () => number;

/** Returns true if all work ends within this time. Unfinished work continues, and its later failures are ignored. */
export async function endsWithin(
  clock: Clock,
  milliseconds: number,
  work: readonly (Promise<unknown> | undefined)[],
): Promise<boolean> {
  const done = new AbortController();
  const late = clock.sleep(milliseconds, done.signal).then(
    () => false,
    () => false,
  );
  try {
    return await Promise.race([Promise.all(work).then(() => true), late]);
  } finally {
    done.abort(SLEEP_ENDED);
  }
}

/** Calls `work` after each interval until the signal aborts, which also ends the last wait. Never rejects unless `work` throws. */
export async function repeatEvery(
  clock: Clock,
  milliseconds: number,
  signal: AbortSignal,
  work: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(milliseconds, signal).catch(() => undefined);
    if (!signal.aborted) {
      work();
    }
  }
}

/**
 * Returns the backoff in whole milliseconds: doubled with each consecutive failure up to the longest, with jitter of
 * up to half of it.
 */
export function backoffDelay(failures: number, first: number, longest: number, random: Random): number {
  const pause = Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return Math.round(pause * (1 - random() / 2));
}

/** Wakes the loops that wait for a change. A notification between a check and the wait is not missed. */
export class WakeUpSignal {
  /** Notifications so far. Read it before checking for work, and pass it to `wait`. */
  count = 0;
  readonly #waiters = new Set<() => void>();

  notify(): void {
    this.count += 1;
    for (const wake of this.#waiters) {
      wake();
    }
  }

  /** Resolves when `count` differs from `seen`, after `milliseconds`, or when the signal aborts. */
  async wait(seen: number, milliseconds: number, clock: Clock, signal: AbortSignal): Promise<void> {
    if (this.count !== seen || signal.aborted) {
      return;
    }
    const done = new AbortController();
    const notified = new Promise<void>((resolve) => {
      this.#waiters.add(resolve);
      done.signal.addEventListener('abort', () => this.#waiters.delete(resolve));
    });
    const slept = clock.sleep(milliseconds, AbortSignal.any([signal, done.signal])).catch(() => {});
    try {
      await Promise.race([notified, slept]);
    } finally {
      done.abort(SLEEP_ENDED);
    }
  }
}

/** Latest time that a `Date` can hold, in milliseconds since the epoch: a later one cannot be shown. */
export const LAST_TIME = 8.64e15;
