import { ConfigError, RefusedPlanError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { OrganizationReconciler } from '../reconcile/organization.ts';
import type { Schedule } from '../reconcile/schedule.ts';
import type { OrganizationClusters } from './clusters.ts';
import type { OrganizationConversations } from './conversations.ts';

/** One organization of the daemon, and all that is done for it. */
export interface Member {
  readonly reconciler: OrganizationReconciler;
  readonly schedule: Schedule;
  readonly conversations: OrganizationConversations;
  readonly clusters: OrganizationClusters;
}

/** The one with this id, or the only one there is. Throws ConfigError. */
export function memberOf(members: readonly Member[], id: string | null): Member {
  const [chosen, other] = members.filter(({ reconciler }) => id === null || reconciler.id === id);
  if (chosen === undefined || other !== undefined) {
    const known = members.map(({ reconciler }) => reconciler.id).join(', ');
    throw new ConfigError(
      chosen === undefined
        ? `there is no organization ${JSON.stringify(id)} here; there is ${known}`
        : `several organizations are configured; say which with --organization: ${known}`,
    );
  }
  return chosen;
}

/** Approves the held plan with this checksum, whosever it is. Throws RefusedPlanError where there is none. */
export async function approvePlan(members: readonly Member[], checksum: string): Promise<JsonObject> {
  for (const { reconciler } of members) {
    const plan = await reconciler.approve(checksum);
    if (plan !== null) {
      void reconciler.trigger('approval');
      const held = plan.changes.filter((change) => change.held !== null).map((change) => change.address);
      return { organization: reconciler.id, checksum, approved: held };
    }
  }
  const held = members.flatMap(({ reconciler }) => heldOf(reconciler.lastPlan));
  const now = held.length === 0 ? 'nothing is held now' : `held now: ${held.join(', ')}`;
  throw new RefusedPlanError(`no held plan has the checksum ${checksum}; ${now}`);
}

/** Asks for a pass of one organization, or (null) of all. Throws ConfigError. */
export function reconcileByHand(members: readonly Member[], id: string | null): JsonObject {
  const chosen = id === null ? members : [memberOf(members, id)];
  for (const { reconciler } of chosen) {
    void reconciler.trigger('hand');
  }
  return { reconciling: chosen.map(({ reconciler }) => reconciler.id) };
}

/** How each organization is doing. */
export function statusOf(members: readonly Member[]): JsonObject {
  return {
    organizations: members.map(({ reconciler: { id, tried, lastEnd, lastPlan } }) => ({
      id,
      tried,
      outcome: lastEnd?.outcome ?? null,
      commit: lastPlan?.commit ?? null,
      held: heldOf(lastPlan),
    })),
  };
}

function heldOf(plan: OrganizationReconciler['lastPlan']): readonly string[] {
  if (plan === null || (plan.verdict.state === 'ready' && plan.heldChecksum === null)) {
    return [];
  }
  return [plan.verdict.state === 'held' ? plan.checksum : (plan.heldChecksum ?? plan.checksum)];
}
