import { ConfigError, RefusedPlanError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { OrganizationReconciler } from '../reconcile/daemon/organization.ts';
import type { OrganizationClusters } from './clusters.ts';
import type { OrganizationConversations } from './conversations.ts';
import type { Reconciliation } from './reconciliation.ts';

/** One organization of the daemon, and all that is done for it. */
export interface Member {
  readonly id: string;
  /** Null where the configuration names no source of manifests. */
  readonly reconciliation: Reconciliation | null;
  readonly conversations: OrganizationConversations;
  readonly clusters: OrganizationClusters;
}

/** The one with this id, or the only one there is. Throws ConfigError. */
export function memberOf(members: readonly Member[], id: string | null): Member {
  const [chosen, other] = members.filter((member) => id === null || member.id === id);
  if (chosen === undefined || other !== undefined) {
    const known = members.map((member) => member.id).join(', ');
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
  for (const reconciler of reconcilersOf(members)) {
    const plan = await reconciler.approve(checksum);
    if (plan !== null) {
      void reconciler.trigger('approval');
      const held = plan.changes.filter((change) => change.held !== null).map((change) => change.address);
      return { organization: reconciler.id, checksum, approved: held };
    }
  }
  const held = reconcilersOf(members).flatMap(({ lastPlan }) => heldOf(lastPlan));
  const now = held.length === 0 ? 'nothing is held now' : `held now: ${held.join(', ')}`;
  throw new RefusedPlanError(`no held plan has the checksum ${checksum}; ${now}`);
}

/** Asks for a pass of one organization, or (null) of all. Throws ConfigError. */
export function reconcileByHand(members: readonly Member[], id: string | null): JsonObject {
  const chosen = reconcilersOf(id === null ? members : [memberOf(members, id)]);
  if (chosen.length === 0) {
    throw new ConfigError('there is no source of manifests to reconcile; set source.git.url or source.directory');
  }
  for (const reconciler of chosen) {
    void reconciler.trigger('manual');
  }
  return { reconciling: chosen.map((reconciler) => reconciler.id) };
}

/** How each organization is doing. */
export function statusOf(members: readonly Member[]): JsonObject {
  return {
    organizations: members.map(({ id, reconciliation }) => {
      const { lastEnd, lastPlan } = reconciliation?.reconciler ?? NOTHING;
      return {
        id,
        hasSource: reconciliation !== null,
        tried: lastEnd !== null,
        outcome: lastEnd?.outcome ?? null,
        commit: lastPlan?.commit ?? null,
        held: heldOf(lastPlan),
      };
    }),
  };
}

const NOTHING = { lastEnd: null, lastPlan: null } as const;

function reconcilersOf(members: readonly Member[]): readonly OrganizationReconciler[] {
  return members.flatMap(({ reconciliation }) => reconciliation?.reconciler ?? []);
}

function heldOf(plan: OrganizationReconciler['lastPlan']): readonly string[] {
  if (plan === null || (plan.verdict.state === 'ready' && plan.heldChecksum === null)) {
    return [];
  }
  return [plan.verdict.state === 'held' ? plan.checksum : (plan.heldChecksum ?? plan.checksum)];
}
