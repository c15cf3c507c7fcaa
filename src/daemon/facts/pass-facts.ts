/** Facts about how the last pass of an organization ended. */
import { AuthError, DesiredStateError, formatProblem, messageOf, SourceError, StoreError } from '../../core/errors.ts';
import { counted } from '../../plan/render/words.ts';
import type { Fact, Scope } from '../../store/notifications.ts';
import type { ReconcilerState } from '../../web/model/backend.ts';
import { organizationPath } from '../../web/model/paths.ts';
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
  return [failureFact(organization, scope, error, since), ...refusalFacts(organization, scope, error, since)];
}

function failureFact(organization: string, scope: Scope, error: unknown, since: number): Fact {
  if (error instanceof DesiredStateError) {
    const { problems } = error;
    const what = problems.length === 0 ? oneLine(error.message) : counted(problems.length, 'problem');
    const summary = `The manifests are invalid (${what}); the last valid ones stay in use until they are corrected`;
    const path = organizationPath(organization);
    return newFact('manifests-invalid', scope, { summary, since, details: problems.map(formatProblem), path });
  }
  const path = organizationPath(organization, '/passes');
  const reason = oneLine(messageOf(error));
  return error instanceof SourceError
    ? newFact('source-unreadable', scope, { summary: `The manifests cannot be read: ${reason}`, since, path })
    : newFact('pass-failing', scope, { summary: `Passes fail: ${reason}`, since, path });
}

/**
 * Returns a fact about the token if the platform refuses it. Each owner of an organization with this token reports the same
 * fact, with its organization: the store shows it once, with all of them.
 */
function refusalFacts(organization: string, scope: Scope, error: unknown, since: number): readonly Fact[] {
  if (!(error instanceof AuthError && error.status === 401)) {
    return [];
  }
  const summary = `The platform refuses the token; replace it in the configuration: ${oneLine(messageOf(error))}`;
  const ofToken = { ...scope, organization: null };
  return [newFact('token-refused', ofToken, { summary, since, details: [organization], path: '/budget' })];
}
