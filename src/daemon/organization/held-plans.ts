/** Choice of an organization, and of the checksums that approve its plan. */

import { ConfigError } from '../../core/errors.ts';
import type { PlanDocument } from '../../plan/render/document.ts';

/** Returns the organization with this id, or the only one if `id` is null. Throws ConfigError. */
export function chooseOrganization<T extends { readonly id: string }>(
  organizations: readonly T[],
  id: string | null,
): T {
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
 * Returns the checksums that approve a plan; empty if nothing is held. `one`: only the checksum that messages suggest.
 */
export function heldChecksums(plan: PlanDocument | null, which: 'one' | 'any'): readonly string[] {
  if (plan === null || (plan.verdict.state === 'ready' && plan.heldChecksum === null)) {
    return [];
  }
  const { checksum, heldChecksum, verdict } = plan;
  const one = verdict.state === 'held' ? checksum : (heldChecksum ?? checksum);
  return which === 'one' || heldChecksum === null ? [one] : [checksum, heldChecksum];
}
