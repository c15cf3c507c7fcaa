/** Times, counts and names in the words of the pages. */
import { spanWords } from '../../plan/render/words.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** Characters of a commit or checksum that are shown. */
const SHORT_ID = 7;

/** `40 seconds ago`, `in 2 minutes` or `now`. Both arguments are milliseconds since the epoch. */
export function ageWords(at: number, now: number): string {
  if (Math.abs(now - at) < SECOND) {
    return 'now';
  }
  return at <= now ? `${spanWords(now - at)} ago` : `in ${spanWords(at - now)}`;
}

/** `0.4 s`, `12 s`, `3 min`. */
export function secondsWords(milliseconds: number): string {
  if (milliseconds < 10 * SECOND) {
    return `${(milliseconds / SECOND).toFixed(1)} s`;
  }
  return milliseconds < 2 * MINUTE
    ? `${Math.round(milliseconds / SECOND)} s`
    : `${Math.round(milliseconds / MINUTE)} min`;
}

/** Returns the start of a commit id. */
export function shortCommit(commit: string): string {
  return commit.slice(0, SHORT_ID);
}

/** Returns the start of a checksum, without the name of its algorithm. */
export function shortChecksum(checksum: string): string {
  return checksum.slice(checksum.indexOf(':') + 1).slice(0, SHORT_ID);
}

/** Formats a time as ISO 8601 in UTC; null stays null. */
export function isoTime<T extends number | null>(at: T): T extends null ? null : string {
  return (at === null ? null : new Date(at).toISOString()) as T extends null ? null : string;
}
