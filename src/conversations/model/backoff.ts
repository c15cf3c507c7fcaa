import type { Random } from '../../core/clock.ts';

/**
 * Whole milliseconds to wait after so many failures in a row: doubled each time up to the longest, and up to half of it
 * off.
 */
export function growingPause(failures: number, first: number, longest: number, random: Random): number {
  const pause = Math.min(longest, first * 2 ** Math.min(failures - 1, 30));
  return Math.round(pause * (1 - random() / 2));
}
