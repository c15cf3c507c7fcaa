/** Names of the reporters of facts. */
import type { OrganizationConfig } from '../../config/config.ts';
import { hasCommitStatuses } from '../../notify/statuses/organization-forge.ts';

/**
 * Returns the reporters of a configuration; facts of others are of earlier ones. `queueName` returns the name of the queue of
 * an organization.
 */
export function configuredReporters(
  organizations: readonly OrganizationConfig[],
  queueName: (organization: OrganizationConfig) => string,
  isDryRun: boolean,
): readonly string[] {
  const ofOrganizations = organizations.flatMap((config) => [
    `organization/${config.id}`,
    ...(config.source === null ? [] : [`passes/${config.id}`, `plan/${config.id}`]),
    ...(config.conversations.sources.length === 0 ? [] : [`conversations/${config.id}`]),
    ...(config.clusters.enabled ? [`clusters/${config.id}`] : []),
    ...(!isDryRun && hasCommitStatuses(config) ? [`statuses/${config.id}`] : []),
  ]);
  const tokens = new Set(organizations.map(queueName));
  return [
    ...ofOrganizations,
    ...[...tokens].flatMap((name) => [`token/${name}`, `budget/${name}`, `platform/${name}`]),
    ...['configuration', 'daemon', 'fleet'],
  ];
}
