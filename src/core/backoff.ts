import type { Random } from './clock.ts';

/**
 * Returns the backoff in whole milliseconds: doubled with each consecutive failure up to the longest, with jitter of
 * up to half of it.
 */
export function backoffDelay(failures: number, first: number, longest: number, random: Random): number {
  const pause = Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return Math.round(pause * (1 - random() / 2));
}
