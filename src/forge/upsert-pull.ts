import type { Clock } from '../core/clock.ts';
import { RejectedError, TransientError } from '../core/errors.ts';
import { isLimit, isSame, withRetries } from './publish.ts';
import type { OpenPull, PullBranches, Pulls, PullText } from './pulls.ts';

/** Result for a pull request. */
export interface UpsertedPull {
  readonly pull: OpenPull;
  readonly outcome: 'opened' | 'updated' | 'unchanged';
}

/** Number of searches for a pull request that another run has opened, and the milliseconds between them. */
const MAX_SEARCHES = 4;
const PAUSE = 1000;

/**
 * Creates or updates the open pull request between two branches. A forge has at most one: if another run created it
 * first, or the response was lost, the existing one is updated.
 */
export async function upsertPull(
  pulls: Pulls,
  branches: PullBranches,
  text: PullText,
  clock: Clock,
): Promise<UpsertedPull> {
  const found = await withRetries(clock, () => pulls.findOpen(branches));
  if (found !== null) {
    return updated(pulls, found, text, clock);
  }
  try {
    return { pull: await withRetries(clock, () => pulls.open(branches, text), isLimit), outcome: 'opened' };
  } catch (error) {
    const isThere = error instanceof RejectedError && (error.status === 409 || error.status === 422);
    if (!isThere && !(error instanceof TransientError)) {
      throw error;
    }
    for (let look = 0; look < MAX_SEARCHES; look += 1) {
      const other = await withRetries(clock, () => pulls.findOpen(branches));
      if (other !== null) {
        return updated(pulls, other, text, clock);
      }
      await clock.sleep(PAUSE);
    }
    throw error;
  }
}

async function updated(pulls: Pulls, pull: OpenPull, text: PullText, clock: Clock): Promise<UpsertedPull> {
  if (pull.title === text.title && isSame(pull.body, text.body)) {
    return { pull, outcome: 'unchanged' };
  }
  await withRetries(clock, () => pulls.update(pull.number, text));
  return { pull, outcome: 'updated' };
}
