/** Opens the commit statuses of an organization, as configured. */
import type { OrganizationConfig } from '../../config/config.ts';
import { findStatusForge } from '../../config/forge-problems.ts';
import type { CommitStatuses } from '../../forge/forge.ts';
import { openForgeStatuses } from '../../forge/open-forge.ts';
import { FORGE_TIMEOUT } from '../../forge/requests.ts';

/** Commit statuses of one organization. */
export interface OrganizationStatuses {
  readonly forge: CommitStatuses;
  /** Name of the statuses. */
  readonly context: string;
  /** Null: no deployments. */
  readonly environment: string | null;
  /** Milliseconds after which a request is given up. */
  readonly timeout: number;
}

/** Returns true if the configuration has commit statuses: the forge is known, and has a token. */
export function hasCommitStatuses({ source, forge }: Pick<OrganizationConfig, 'source' | 'forge'>): boolean {
  return source?.git !== undefined && forge?.token !== undefined && 'type' in findStatusForge(forge, source.git.url);
}

/** Returns null if the configuration has no token for them. */
export function openOrganizationStatuses(
  { id, source, forge }: OrganizationConfig,
  signal: AbortSignal,
  userAgent: string,
): OrganizationStatuses | null {
  if (source?.git === undefined || forge?.token === undefined) {
    return null;
  }
  const found = findStatusForge(forge, source.git.url);
  if (!('type' in found)) {
    return null;
  }
  const ref = /^[0-9a-f]{40,64}$/.test(source.git.ref) ? null : source.git.ref;
  return {
    forge: openForgeStatuses({ ...found, token: forge.token, ref }, signal, userAgent),
    context: forge.statusContext ?? `octavo/${id}`,
    environment: forge.environment ?? null,
    timeout: FORGE_TIMEOUT,
  };
}
