/** Facts about how the last pass of an organization ended. */
import { AuthError, DesiredStateError, formatProblem, messageOf, SourceError, StoreError } from '../../core/errors.ts';
import { counted } from '../../plan/render/words.ts';
import type { Fact, Scope } from '../../store/notifications.ts';
import type { ReconcilerState } from '../../views/model/backend.ts';
import { organizationPath } from '../../views/model/paths.ts';
import { newFact, oneLine } from './fact.ts';

/** Returns null before a pass has ended: what is true is not known. */
export function passFacts(
  organization: string,
  scope: Scope,
  { lastEnd, failingSince }: Pick<ReconcilerState, 'lastEnd' | 'failingSince'>,
): readonly Fact[] | null {
  if (lastEnd === null) {
    return null;
  }
  const { error, endedAt } = lastEnd;
  // A state file that cannot be used is a fact about the daemon.
  if (error === null || error instanceof StoreError) {
    return [];
  }
  const since = failingSince ?? endedAt;
  if (error instanceof DesiredStateError) {
    const { problems } = error;
    const what = problems.length === 0 ? oneLine(error.message) : counted(problems.length, 'problem');
    const summary = `The manifests are invalid (${what}); the last valid ones stay in use until they are corrected`;
    const path = organizationPath(organization);
    return [newFact('manifests-invalid', scope, { summary, since, details: problems.map(formatProblem), path })];
  }
  const path = organizationPath(organization, '/passes');
  const reason = oneLine(messageOf(error));
  return error instanceof SourceError
    ? [newFact('source-unreadable', scope, { summary: `The manifests cannot be read: ${reason}`, since, path })]
    : [newFact('pass-failing', scope, { summary: `Passes fail: ${reason}`, since, path })];
}

/** Returns the reason why the platform refused the token in the last pass, and since when; null if it did not. */
export function tokenRefusal({ lastEnd, failingSince }: Pick<ReconcilerState, 'lastEnd' | 'failingSince'>): {
  readonly reason: string;
  readonly since: number;
} | null {
  const error = lastEnd?.error;
  return lastEnd !== null && error instanceof AuthError && error.status === 401
    ? { reason: messageOf(error), since: failingSince ?? lastEnd.endedAt }
    : null;
}
