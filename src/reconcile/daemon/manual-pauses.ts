/** Pauses that people set: of a resource, or of the whole organization. */
import type { Address } from '../../core/address.ts';
import { smallest } from '../../core/lists.ts';
import type { Pause } from '../../core/resource.ts';
import type { ManualPause } from '../../store/history.ts';

/** Returns true for a pause of the whole organization that has not ended. */
export function isOfOrganization({ address, until }: ManualPause, now: number): boolean {
  return address === '' && (until === null || now < until);
}

/** Returns the pauses of resources, for a plan. */
export function pausesByAddress(pauses: readonly ManualPause[]): ReadonlyMap<Address, Pause> {
  return new Map(
    pauses
      .filter(({ address }) => address !== '')
      .map((pause) => [
        pause.address as Address,
        {
          reason: `${pause.reason} (paused by ${nameOf(pause)})`,
          until: pause.until === null ? null : minute(pause.until),
        },
      ]),
  );
}

/** `paused by ana@example.com until 2026-11-23T10:00Z: migration`. */
export function describePause(pause: ManualPause): string {
  const until = pause.until === null ? '' : ` until ${minute(pause.until)}`;
  return `paused by ${nameOf(pause)}${until}: ${pause.reason}`;
}

/** Returns the milliseconds until the first of the pauses ends; null if none of them does. */
export function untilPauseEnds(pauses: readonly ManualPause[], now: number): number | null {
  const ends = pauses.flatMap(({ until }) => (until === null ? [] : [until]));
  return ends.length === 0 ? null : Math.max(0, smallest(ends) - now);
}

function nameOf({ by }: ManualPause): string {
  return by.name === '' ? 'an unknown person' : by.name;
}

/** Formats a time as YYYY-MM-DDThh:mmZ, rounded up. */
function minute(time: number): string {
  return `${new Date(Math.ceil(time / 60_000) * 60_000).toISOString().slice(0, 16)}Z`;
}
