/** Organizations of the daemon, and the control requests that concern them. */
import { ConfigError, RefusedPlanError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { OrganizationReconciler } from '../reconcile/daemon/organization.ts';
import type { OrganizationClusters } from './clusters.ts';
import type { OrganizationConversations } from './conversations.ts';
import type { Feature } from './feature.ts';
import type { Reconciliation } from './reconciliation.ts';

/** An organization that the daemon manages, with its features. */
export interface ManagedOrganization {
  readonly id: string;
  /** Null if the configuration has no source of manifests. */
  readonly reconciliation: Reconciliation | null;
  readonly conversations: OrganizationConversations;
  readonly clusters: OrganizationClusters;
  /** All of the above, in the order in which they start. */
  readonly features: readonly Feature[];
}

/** Returns the organization with this id, or the only one if `id` is null. Throws ConfigError. */
export function findOrganization(
  organizations: readonly ManagedOrganization[],
  id: string | null,
): ManagedOrganization {
  const [chosen, other] = organizations.filter((organization) => id === null || organization.id === id);
  if (chosen === undefined || other !== undefined) {
    const known = organizations.map((organization) => organization.id).join(', ');
    throw new ConfigError(
      chosen === undefined
        ? `organization ${JSON.stringify(id)} is not configured; configured organizations: ${known}`
        : `several organizations are configured; select one with --organization: ${known}`,
    );
  }
  return chosen;
}

/** Approves the held plan with this checksum, of any organization. Throws RefusedPlanError if there is none. */
export async function approvePlan(
  organizations: readonly ManagedOrganization[],
  checksum: string,
): Promise<JsonObject> {
  for (const reconciler of reconcilersOf(organizations)) {
    const plan = await reconciler.approve(checksum);
    if (plan !== null) {
      void reconciler.trigger('approval');
      const held = plan.changes.filter((change) => change.held !== null).map((change) => change.address);
      return { organization: reconciler.id, checksum, approved: held };
    }
  }
  const held = reconcilersOf(organizations).flatMap(({ lastPlan }) => heldOf(lastPlan));
  const now = held.length === 0 ? 'nothing is held now' : `held now: ${held.join(', ')}`;
  throw new RefusedPlanError(`no held plan has the checksum ${checksum}; ${now}`);
}

function reconcilersOf(organizations: readonly ManagedOrganization[]): readonly OrganizationReconciler[] {
  return organizations.flatMap(({ reconciliation }) => reconciliation?.reconciler ?? []);
}

function heldOf(plan: OrganizationReconciler['lastPlan']): readonly string[] {
  if (plan === null || (plan.verdict.state === 'ready' && plan.heldChecksum === null)) {
    return [];
  }
  return [plan.verdict.state === 'held' ? plan.checksum : (plan.heldChecksum ?? plan.checksum)];
}
