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
