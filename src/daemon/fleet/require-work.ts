/** Refuses organizations for which the configuration enables nothing. */
import type { Config, OrganizationConfig } from '../../config/config.ts';
import { ConfigError } from '../../core/errors.ts';

/** Throws ConfigError if an organization has nothing to do. */
export function requireWork({ organizations }: Pick<Config, 'organizations'>): void {
  const idle = organizations.find((organization) => !hasWork(organization));
  if (idle !== undefined) {
    throw new ConfigError(problemOf(idle));
  }
}

/** Returns the configuration without the organization files that enable nothing, unless no valid file would be left. */
export function skipIdleFiles(config: Config): Config {
  const idle = config.organizations.filter((each) => !hasWork(each) && config.organizationFiles.has(each.id));
  if (idle.length === 0 || idle.length === config.organizationFiles.size) {
    return config;
  }
  const invalid = idle.map((each) => {
    const file = config.organizationFiles.get(each.id) ?? '';
    return { file, id: each.id, problems: [`${file}:1:1: ${problemOf(each)}`] };
  });
  const ids = new Set(idle.map(({ id }) => id));
  return {
    ...config,
    organizations: config.organizations.filter(({ id }) => !ids.has(id)),
    organizationFiles: new Map([...config.organizationFiles].filter(([id]) => !ids.has(id))),
    invalidFiles: [...config.invalidFiles, ...invalid],
  };
}

function problemOf({ id }: OrganizationConfig): string {
  return `organization ${id} has nothing to do; set source.git.url or source.directory, conversations.sources, or clusters.enabled for it in the configuration`;
}

function hasWork({ source, conversations, clusters }: OrganizationConfig): boolean {
  return source !== null || conversations.sources.length > 0 || clusters.enabled;
}
