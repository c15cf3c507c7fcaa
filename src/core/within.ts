import type { Clock } from './clock.ts';

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
