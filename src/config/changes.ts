/** Compares two configurations of a running daemon. */
import { isDeepStrictEqual } from 'node:util';
import type { Config, OrganizationConfig } from './config.ts';

/** Differences between two configurations. No value of a setting is part of it. */
export interface ConfigChanges {
  /** Organizations of the new configuration; those without a difference are the objects of the old one. */
  readonly organizations: readonly OrganizationConfig[];
  /** Ids of organizations. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  /** Settings whose new values are used after a restart. */
  readonly needRestart: readonly string[];
}

/** Sections of the configuration whose settings are used once, at the start. */
export const RESTART_SECTIONS = [
  ...['platform', 'queue', 'store', 'runtime', 'fleet', 'server', 'ui', 'notifications', 'log'],
] as const satisfies readonly (keyof Config)[];

/**
 * Returns the configuration `after` with the organizations of `before` whose files are invalid now: they keep the last
 * valid settings.
 */
export function keepLastValid(before: Config, after: Config): Config {
  const valid = new Set(after.organizations.map(({ id }) => id));
  const invalid = new Set(after.invalidFiles.flatMap(({ file, id }) => [file, ...(id === null ? [] : [id])]));
  const kept = before.organizations.filter(({ id }) => {
    const file = before.organizationFiles.get(id);
    return !valid.has(id) && file !== undefined && (invalid.has(file) || invalid.has(id));
  });
  const files = kept.flatMap(({ id }) => [[id, before.organizationFiles.get(id) ?? ''] as const]);
  const organizationFiles = new Map([...after.organizationFiles, ...files]);
  const fileOf = ({ id }: OrganizationConfig) => organizationFiles.get(id) ?? '';
  const byFile = (a: OrganizationConfig, b: OrganizationConfig) =>
    fileOf(a) === fileOf(b) ? 0 : fileOf(a) < fileOf(b) ? -1 : 1;
  return { ...after, organizations: [...after.organizations, ...kept].toSorted(byFile), organizationFiles };
}

/** Returns the differences. Positions in files do not count. */
export function compareConfigs(before: Config, after: Config): ConfigChanges {
  const known = new Map(before.organizations.map((organization) => [organization.id, organization]));
  const ids = new Set(after.organizations.map(({ id }) => id));
  const organizations = after.organizations.map((organization) => {
    const old = known.get(organization.id);
    return old !== undefined && isSame(old, organization) ? old : organization;
  });
  return {
    organizations,
    added: organizations.filter(({ id }) => !known.has(id)).map(({ id }) => id),
    removed: before.organizations.filter(({ id }) => !ids.has(id)).map(({ id }) => id),
    changed: organizations.filter((each) => known.has(each.id) && known.get(each.id) !== each).map(({ id }) => id),
    needRestart: RESTART_SECTIONS.flatMap((section) => differences(section, before[section], after[section])),
  };
}

function isSame(a: OrganizationConfig, b: OrganizationConfig): boolean {
  return isDeepStrictEqual(withoutPositions(a), withoutPositions(b));
}

/** Names in settings of clusters have their position, for messages. */
function withoutPositions({ clusters, ...organization }: OrganizationConfig): object {
  const { spaceNames, reviewerNames, ...settings } = clusters;
  return { ...organization, clusters: settings };
}

/** Returns the paths of the settings that differ: two levels, because names below may be of people's own. */
function differences(section: string, before: unknown, after: unknown): readonly string[] {
  if (!isMapping(before) || !isMapping(after)) {
    return isDeepStrictEqual(before, after) ? [] : [section];
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name])).map((name) => `${section}.${name}`);
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
