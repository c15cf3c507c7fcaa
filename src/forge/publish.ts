import type { Clock } from '../core/clock.ts';
import { RateLimitedError, TransientError } from '../core/errors.ts';
import type { Forge, ForgeComment } from './forge.ts';
import { ignoreNotFound } from './forge-error.ts';
import { compareRuns, type Marker, readMarker } from './marker.ts';

/** Result for a comment. `outdated`: a later run has written, and its comment stays. */
export type Published = 'created' | 'updated' | 'outdated';

/** Number of checks, because another run may write at the same time. */
const ROUNDS = 5;
/** Milliseconds before a request that failed is made again. */
const PAUSES = [1000, 4000, 15_000] as const;
/** Longest wait that a forge may ask for, in milliseconds. */
const LONGEST_WAIT = 60_000;

/**
 * Sees to it that a pull request has one comment for a scope of an organization, and that it is that of the latest run.
 *
 * Forges cannot write on a condition, so each run looks again after it has written:
 *
 * | it finds | it does |
 * |---|---|
 * | no comment of ours | creates one, and looks again; not twice where the first is known to be there |
 * | several | keeps the oldest and removes the others |
 * | one by a later run | leaves it |
 * | one by an earlier run, or its own of before | updates it, and looks again |
 * | its own, as it is to be | is done |
 *
 * Two runs that create at the same time both see the older of the two when they look again, and agree on it. A create
 * whose answer was lost is looked for before another is made; a comment that somebody deletes meanwhile is made again.
 */
export async function publish(forge: Forge, marker: Marker, body: string, clock: Clock): Promise<Published> {
  let wrote: Exclude<Published, 'outdated'> | null = null;
  let isMade = false;
  for (let round = 0; round < ROUNDS; round += 1) {
    const [oldest, ...later] = await listOf(forge, marker, clock);
    if (oldest === undefined) {
      // One that is known to be there is not made again because it is not listed yet, or is taken for somebody else's.
      isMade = isMade ? await clock.sleep(PAUSES[0]).then(() => true) : await create(forge, body, clock);
      wrote = 'created';
      continue;
    }
    const latest = later.reduce((best, next) => (compareRuns(runOf(next), runOf(best)) > 0 ? next : best), oldest);
    // The text of a later run is kept when its comment is removed.
    const isOurs = compareRuns(runOf(latest), marker.run) <= 0;
    const wanted = isOurs ? body : latest.body;
    const isThere = compareRuns(runOf(oldest), isOurs ? marker.run : runOf(latest)) === 0;
    if (later.length === 0 && isThere && (!isOurs || wrote !== null || isSame(oldest.body, body))) {
      return isOurs ? (wrote ?? 'updated') : 'outdated';
    }
    if (!isThere || (isOurs && wrote === null)) {
      await withRetries(clock, () => forge.update(oldest.id, wanted)).catch(ignoreNotFound);
      wrote ??= 'updated';
    }
    for (const extra of later) {
      await withRetries(clock, () => forge.remove(extra.id));
    }
  }
  throw isMade
    ? new TransientError(`${forge.label} has taken the comment, and does not show it among those of this token`, true)
    : new TransientError(`the comments at ${forge.label} change faster than they can be written`, true);
}

async function listOf(forge: Forge, { organization, scope }: Marker, clock: Clock): Promise<readonly ForgeComment[]> {
  const own = await withRetries(clock, () => forge.listOwn());
  return own.filter(({ body }) => {
    const found = readMarker(body);
    return found !== null && found.organization === organization && found.scope === scope.toWellFormed();
  });
}

/** False where the answer is lost: whether it was written is seen when the comments are looked at again. */
async function create(forge: Forge, body: string, clock: Clock): Promise<boolean> {
  try {
    await withRetries(clock, () => forge.create(body), isLimit);
    return true;
  } catch (error) {
    if (!(error instanceof TransientError)) {
      throw error;
    }
    await clock.sleep(PAUSES[0]);
    return false;
  }
}

function runOf({ body }: ForgeComment): Marker['run'] {
  return readMarker(body)?.run ?? [0, 0];
}

/** Forges trim what is written, and some write line breaks their own way. */
export function isSame(a: string, b: string): boolean {
  const plain = (text: string) => text.replaceAll('\r\n', '\n').trim();
  return plain(a) === plain(b);
}

/** Returns whether a rate limit refused the request. It was not executed, so it may be repeated. */
export function isLimit(error: unknown): error is RateLimitedError {
  return error instanceof RateLimitedError;
}

function isPassing(error: unknown): boolean {
  return error instanceof TransientError || isLimit(error);
}

/** Repeats work after temporary errors. `isTriedAgain` selects these errors; by default, the work must be safe to repeat. */
export async function withRetries<T>(
  clock: Clock,
  work: () => Promise<T>,
  isTriedAgain: (error: unknown) => boolean = isPassing,
): Promise<T> {
  for (const pause of PAUSES) {
    try {
      return await work();
    } catch (error) {
      // Limits are by the minute where nothing else is said.
      const wait = isLimit(error) ? (error.after ?? LONGEST_WAIT) : pause;
      if (!isTriedAgain(error) || wait > LONGEST_WAIT) {
        throw error;
      }
      await clock.sleep(wait);
    }
  }
  return work();
}
