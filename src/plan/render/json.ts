import type { ChangeResult, Plan, PlanSummary } from '../../core/change.ts';
import { maskUrlsIn } from '../../core/text/safe-url.ts';

/** Returns the stable, versioned JSON form of a plan. */
export function planToJson(plan: Plan): object {
  return maskUrlsIn({
    format: 'octavo.plan/2',
    ...head(plan),
    hasBase: plan.hasBase,
    verdict: plan.verdict,
    changes: plan.changes.map((change) => ({
      action: change.action,
      address: change.address,
      kind: change.kind,
      id: change.id,
      fields: change.fields,
      source: change.source,
      dependsOn: change.dependsOn,
      held: change.held,
      paused: change.paused,
      isReplacement: change.isReplacement,
      ...(change.impact === '' ? {} : { impact: change.impact }),
      ...(change.deletes === undefined ? {} : { deletes: change.deletes }),
    })),
    adopted: plan.adopted,
    unmanaged: plan.unmanaged,
    pending: plan.pending,
    notes: plan.notes,
    access: plan.access,
    summary: plan.summary,
    requests: plan.cost.requests,
    estimatedSeconds: Math.round(plan.cost.seconds * 10) / 10,
  });
}

/** Returns the JSON result of an apply. */
export function resultToJson(
  plan: Plan,
  results: readonly ChangeResult[],
  requests: { readonly reads: number; readonly writes: number },
  pending: Plan['pending'],
): object {
  return {
    format: 'octavo.result/2',
    ...head(plan),
    results: maskUrlsIn(results),
    pending,
    summary: { ...summarizeResults(plan.summary, results), pending: pending.length },
    requests,
  };
}

function head(plan: Plan): object {
  const { organization, scope, commit, baseCommit, checksum, heldChecksum } = plan;
  return { organization, scope, commit, baseCommit, checksum, heldChecksum };
}

/** Counts changes by status. */
function summarizeResults(summary: PlanSummary, results: readonly ChangeResult[]): object {
  const count = (status: ChangeResult['status']) => results.filter((result) => result.status === status).length;
  return {
    applied: count('applied'),
    failed: count('failed'),
    skipped: count('skipped'),
    held: count('held'),
    unchanged: summary.unchanged,
  };
}
