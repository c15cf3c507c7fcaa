/** Time, passed in wherever it is needed, so that no test waits for it. */
export interface Clock {
  /** Milliseconds since the epoch: what a person's watch says. May jump. */
  now(): number;
  /** Milliseconds on a clock that never goes back; only differences mean something. */
  monotonic(): number;
  /** Resolves after so many milliseconds; rejects with the signal's reason when that aborts first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
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

/** Numbers from 0 (included) to 1 (excluded); passed in so that jitter can be repeated in tests. */
export type Random = () => number;

/** Whether all of it ended within so many milliseconds. What has not goes on; its failure then is nobody's concern. */
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
    done.abort();
  }
}
