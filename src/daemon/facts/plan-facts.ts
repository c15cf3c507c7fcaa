/** Facts about the last plan of an organization: what waits, what fails, and what somebody changed on the platform. */

import { type ChangeResult, changeId } from '../../core/change.ts';
import type { Revert } from '../../plan/identity/flapping.ts';
import type { ChangeDocument, PlanDocument } from '../../plan/model/document.ts';
import { waitingDeletions } from '../../plan/render/waiting.ts';
import { counted } from '../../plan/render/words.ts';
import type { Fact, Scope } from '../../store/notifications.ts';
import type { ReconcilerState } from '../../web/model/backend.ts';
import { organizationPath, planPath, resourcePath, withQuery } from '../../web/model/paths.ts';
import { heldChanges } from '../../web/model/status.ts';
import { newFact } from './fact.ts';

export interface PlanFactsInput {
  readonly organization: string;
  readonly scope: Scope;
  readonly reconciler: Pick<ReconcilerState, 'lastCheck' | 'lastEnd' | 'isRunning'>;
  /** Fields that are flapping since the last pass. */
  readonly flapping: readonly Revert[];
}

/** Number of flapping fields that are conditions of their own. */
const MAX_FIELDS = 10;

/** Returns null unless the last pass made a plan: then what was true of the last plan still is. */
export function planFacts({ organization, scope, reconciler, flapping }: PlanFactsInput): readonly Fact[] | null {
  const { lastCheck, lastEnd } = reconciler;
  // A pass that runs may be about to change all of it.
  if (lastEnd === null || lastCheck === null || lastEnd.plan !== lastCheck.plan) {
    return null;
  }
  const { plan, drift, at } = lastCheck;
  const input = { organization, scope, plan, at, results: lastEnd.results };
  return [
    ...verdictFacts(input),
    ...failureFacts(input, lastEnd.endedAt),
    ...driftFacts(input, drift),
    ...flapping.slice(0, MAX_FIELDS).map((field) => flappingFact(input, field)),
  ];
}

interface PlanInput {
  readonly organization: string;
  readonly scope: Scope;
  readonly plan: PlanDocument;
  /** Time of the check. */
  readonly at: number;
  readonly results: readonly ChangeResult[];
}

function verdictFacts({ organization, scope, plan, at }: PlanInput): readonly Fact[] {
  const { verdict, checksum, heldChecksum, changes } = plan;
  const path = planPath(organization, checksum);
  if (verdict.state === 'refused') {
    const summary = `The plan is refused and nothing is applied: ${verdict.reasons.join('; ')}`;
    return [newFact('plan-refused', scope, { summary, since: at, path, details: changes.map(changeLine) })];
  }
  const held = heldChanges(plan);
  if (held === 0) {
    return [];
  }
  const isWhole = verdict.state === 'held';
  const why = isWhole ? ` (${verdict.reasons.join('; ')})` : '';
  const id = isWhole ? checksum : (heldChecksum ?? checksum);
  const waits = held === 1 ? 'waits' : 'wait';
  const deletions = waitingDeletions(plan);
  const deletes = deletions === null ? '' : `: ${deletions}`;
  const summary = `${counted(held, 'change')} ${waits} for approval${deletes}${why}; approve with: octavo approve ${id}`;
  const shown = isWhole ? changes : changes.filter((each) => each.held !== null && each.approvable);
  return [newFact('waiting-for-approval', scope, { summary, since: at, path, details: shown.map(changeLine) })];
}

function failureFacts({ organization, scope, results }: PlanInput, since: number): readonly Fact[] {
  const failed = results.filter(({ status }) => status === 'failed');
  if (failed.length === 0) {
    return [];
  }
  const summary = `${failed.length} of ${counted(results.length, 'change')} failed; Octavo tries again`;
  const details = failed.map(({ action, address, error }) => `${action} ${address}: ${error ?? 'no reason is known'}`);
  const path = withQuery(organizationPath(organization), { state: 'failed' });
  return [newFact('changes-failing', scope, { summary, since, details, path })];
}

function driftFacts(
  { organization, scope, plan, at, results }: PlanInput,
  drift: ReadonlySet<ChangeDocument>,
): readonly Fact[] {
  if (drift.size === 0) {
    return [];
  }
  const applied = new Set(results.filter(({ status }) => status === 'applied').map(changeId));
  const undone = [...drift].filter((change) => applied.has(changeId(change))).length;
  const what = `${counted(drift.size, 'change')} on the platform ${drift.size === 1 ? 'differs' : 'differ'} from the manifests`;
  const then =
    undone === drift.size
      ? 'undone'
      : undone === 0
        ? 'not undone yet'
        : `${undone} undone, ${drift.size - undone} not yet`;
  const summary = `${what} (${then}); to keep a change, make it in the manifests`;
  const details = [...drift].map(changeLine);
  return [newFact('drift', scope, { summary, since: at, details, path: planPath(organization, plan.checksum) })];
}

function flappingFact({ organization, scope }: PlanInput, { address, path: field, times, seen, at }: Revert): Fact {
  const what = field === '' ? `${address} is deleted` : `${field} of ${address} is changed`;
  const summary = `${what} again after each of ${counted(times, 'revert')}; find out what else changes it, or stop declaring it`;
  const since = seen[0]?.at ?? at;
  const path = resourcePath(organization, address);
  return newFact('field-flapping', scope, { summary, since, subject: `${address} ${field}`.trimEnd(), path });
}

/** `update team/docs: title, visibility`. */
function changeLine({ action, address, fields, held }: ChangeDocument): string {
  const what = fields.map(({ path }) => path).join(', ');
  return [`${action} ${address}`, ...(what === '' ? [] : [what]), ...(held === null ? [] : [held])].join(': ');
}
