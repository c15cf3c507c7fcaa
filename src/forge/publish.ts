import type { Clock } from '../core/clock.ts';
import { RateLimitedError, TransientError } from '../core/errors.ts';
import { ignoreNotFound } from './clients/forge-error.ts';
import type { Forge, ForgeComment } from './forge.ts';
import { compareRuns, type Marker, readMarker } from './marker.ts';

/** Result for a comment. `outdated`: the comment of a later run exists and is kept. */
export type Published = 'created' | 'updated' | 'outdated';

/** Number of checks, because another run may write at the same time. */
const MAX_CHECKS = 5;
/** Pauses before a failed request is retried, in milliseconds. */
const RETRY_DELAYS = [1000, 4000, 15_000] as const;
/** Longest wait that a forge may ask for, in milliseconds. */
const MAX_RETRY_DELAY = 60_000;

/**
 * Ensures that a pull request has exactly one comment for a scope of an organization, from the latest run.
 *
 * Forges have no conditional writes, so each run checks again after it has written:
 *
 * | finding | action | |---|---| | no comment of this scope | creates one and checks again; not twice if the first one
 * certainly exists | | several | keeps the oldest and removes the others | | one by a later run | keeps it | | one by
 * an earlier run, or an outdated one of its own | updates it and checks again | | its own, up to date | ends |
 *
 * Two runs that create a comment at the same time both see the older one when they check again, and agree on it. After
 * a lost response, a run searches for the comment before it creates another. A comment that is deleted in the meantime
 * is created again.
 */
export async function publish(forge: Forge, marker: Marker, body: string, clock: Clock): Promise<Published> {
  let wrote: Exclude<Published, 'outdated'> | null = null;
  let isMade = false;
  for (let round = 0; round < MAX_CHECKS; round += 1) {
    const [oldest, ...later] = await listOf(forge, marker, clock);
    if (oldest === undefined) {
      // A comment that certainly exists may not be listed yet, or be listed under another author: it is not created again.
      isMade = isMade ? await clock.sleep(RETRY_DELAYS[0]).then(() => true) : await create(forge, body, clock);
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
    ? new TransientError(
        `${forge.label} accepted the comment, but does not list it among the comments of this token`,
        true,
      )
    : new TransientError(`the comments at ${forge.label} change faster than they can be written`, true);
}

async function listOf(forge: Forge, { organization, scope }: Marker, clock: Clock): Promise<readonly ForgeComment[]> {
  const own = await withRetries(clock, () => forge.listOwn());
  return own.filter(({ body }) => {
    const found = readMarker(body);
    return found !== null && found.organization === organization && found.scope === scope.toWellFormed();
  });
}

/** Creates a comment. Returns false if the response was lost; the next check shows whether it exists. */
async function create(forge: Forge, body: string, clock: Clock): Promise<boolean> {
  try {
    await withRetries(clock, () => forge.create(body), isLimit);
    return true;
  } catch (error) {
    if (!(error instanceof TransientError)) {
      throw error;
    }
    await clock.sleep(RETRY_DELAYS[0]);
    return false;
  }
}

function runOf({ body }: ForgeComment): Marker['run'] {
  return readMarker(body)?.run ?? [0, 0];
}

/** Compares texts without regard to surrounding white space and line breaks, which forges change. */
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
  for (const pause of RETRY_DELAYS) {
    try {
      return await work();
    } catch (error) {
      // Without other information, limits are per minute.
      const wait = isLimit(error) ? (error.after ?? MAX_RETRY_DELAY) : pause;
      if (!isTriedAgain(error) || wait > MAX_RETRY_DELAY) {
        throw error;
      }
      await clock.sleep(wait);
    }
  }
  return work();
}
