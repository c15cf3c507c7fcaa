/** Refuses organizations for which the configuration enables nothing. */
import type { Config, OrganizationConfig } from '../../config/config.ts';
import { ConfigError } from '../../core/errors.ts';

/** Throws ConfigError if an organization has nothing to do. */
export function requireWork({ organizations }: Pick<Config, 'organizations'>): void {
  const idle = organizations.find((organization) => !hasWork(organization));
  if (idle !== undefined) {
    throw new ConfigError(
      `organization ${idle.id} has nothing to do; set source.git.url or source.directory, conversations.sources, or clusters.enabled for it in the configuration`,
    );
  }
}

function hasWork({ source, conversations, clusters }: OrganizationConfig): boolean {
  return source !== null || conversations.sources.length > 0 || clusters.enabled;
}
