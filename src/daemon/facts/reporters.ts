/** Names of the reporters of facts. */
import type { OrganizationConfig } from '../../config/config.ts';
import { hasCommitStatuses } from '../../notify/status-sender.ts';

/** Returns the reporters of a configuration; facts of others are of earlier ones. */
export function configuredReporters(
  organizations: readonly OrganizationConfig[],
  isDryRun: boolean,
): readonly string[] {
  const ofOrganizations = organizations.flatMap((config) => [
    `organization/${config.id}`,
    `queue/${config.id}`,
    ...(config.source === null ? [] : [`passes/${config.id}`, `plan/${config.id}`]),
    ...(config.conversations.sources.length === 0 ? [] : [`conversations/${config.id}`]),
    ...(config.clusters.enabled ? [`clusters/${config.id}`] : []),
    ...(!isDryRun && hasCommitStatuses(config) ? [`statuses/${config.id}`] : []),
  ]);
  return [...ofOrganizations, 'configuration', 'daemon', 'fleet'];
}
