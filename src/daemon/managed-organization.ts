/** Organizations of the daemon, and their plans that wait for approval. */
import { ConfigError } from '../core/errors.ts';
import type { OrganizationClusters } from './clusters.ts';
import type { OrganizationCommitStatuses } from './commit-statuses.ts';
import type { OrganizationConversations } from './conversations.ts';
import type { Feature } from './feature.ts';
import type { Reconciliation } from './reconciliation.ts';

/** An organization that the daemon manages, with its features. */
export interface ManagedOrganization {
  readonly id: string;
  /** Null if the configuration has no source of manifests. */
  readonly reconciliation: Reconciliation | null;
  /** Null if the configuration has no token for them, and in a dry run. */
  readonly statuses: OrganizationCommitStatuses | null;
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

/**
 * Returns the checksums that approve the last plan of an organization; empty if nothing is held. `one`: only the checksum
 * that messages suggest.
 */
export function heldChecksums({ reconciliation }: ManagedOrganization, which: 'one' | 'any'): readonly string[] {
  const plan = reconciliation?.reconciler.lastPlan ?? null;
  if (plan === null || (plan.verdict.state === 'ready' && plan.heldChecksum === null)) {
    return [];
  }
  const { checksum, heldChecksum, verdict } = plan;
  const one = verdict.state === 'held' ? checksum : (heldChecksum ?? checksum);
  return which === 'one' || heldChecksum === null ? [one] : [checksum, heldChecksum];
}
