/** Pauses that people set, and cooldowns of the fields that are flapping. */
import { z } from 'zod';
import type { Address } from '../core/address.ts';
import { type Change, type ChangeResult, changeId } from '../core/change.ts';
import { type Json, sameJson } from '../core/json.ts';
import { smallest } from '../core/lists.ts';
import type { Pause } from '../core/resource.ts';
import { cooldownEnd, isFlapping, type Revert, updateReverts } from '../plan/flapping.ts';
import type { ManualPause } from '../store/history.ts';
import type { Note } from '../store/record.ts';

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

const entries = z.array(
  z.object({
    address: z.string(),
    kind: z.string(),
    path: z.string(),
    times: z.number(),
    at: z.number(),
    seen: z.array(z.object({ at: z.number(), value: z.json() })),
  }),
);

/** Reads the recent reverts, which are remembered so that a flapping field is recognized after a restart. Throws StoreError. */
export async function readReverts(note: Note): Promise<readonly Revert[]> {
  return entries.safeParse(await note.read()).data ?? [];
}

/** Records a pass, and returns the fields that are flapping now. Throws StoreError. */
export async function recordReverts(
  note: Note,
  drift: ReadonlySet<Change>,
  changes: readonly Change[],
  results: readonly ChangeResult[],
  now: number,
): Promise<readonly Revert[]> {
  const before = await readReverts(note);
  const done = new Set(results.filter((each) => each.status === 'applied').map(changeId));
  const applied = changes.filter((change) => done.has(changeId(change)));
  const after = updateReverts(before, { drift, applied, now });
  if (!sameJson(before, after)) {
    await note.write(after as unknown as Json);
  }
  return after.filter(isFlapping);
}

/** Milliseconds until the first of these fields may be reverted again; null if there are none. */
export function cooldownLeft(flapping: readonly Revert[], now: number): number | null {
  const ends = flapping.map(cooldownEnd).filter((end) => end > now);
  return ends.length === 0 ? null : smallest(ends) - now;
}
