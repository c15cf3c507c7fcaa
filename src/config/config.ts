/** Configuration: its schema, the validated object that the rest of the program uses, and the comparison of two. */

import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ConfigError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { compareText } from '../core/lists.ts';
import { SECRET_NAME } from '../core/manifest-secrets.ts';
import { isScope } from '../core/scope.ts';
import { type ClusterExtras, type ClustersConfig, clustersSchema, completeClusters } from './clusters.ts';
import { conversationsSchema } from './conversations.ts';
import type { InvalidFile } from './document.ts';
import { forgeSchema } from './forge.ts';
import { notificationsSchema } from './notifications.ts';
import { isPlainHttp, PLAIN_HTTP } from './secrets.ts';
import { choice, count, cron, flag, manifestSecret, positive, section, setting, text, token } from './settings.ts';
import { fleetSchema, runtimeDirectory, type StoreConfig, storeSchema } from './store.ts';
import { uiSchema } from './ui.ts';
import {
  PUBLIC_API,
  readBaseUrl,
  readEmail,
  readFlag,
  readListen,
  readText,
  readTimezone,
  readToken,
} from './values.ts';

/** Resources of a kind that a plan may delete. See docs/concepts.md#ownership-and-deletion. */
export type Prune = 'owned' | 'never' | 'all';
const PRUNES = ['owned', 'never', 'all'] as const;

/** Properties of a resource kind that the settings depend on. The registry of kinds lists all of them. */
export interface ConfigKind {
  readonly name: string;
  /** Deletions need approval by default. See docs/approvals.md#what-needs-approval. */
  readonly deletionNeedsApproval?: boolean;
}

function sourceSchema() {
  const git = z.strictObject({
    url: text('the URL of a repository, such as https://git.example/acme/docs.git'),
    ref: text('a branch, a tag or a full commit id').prefault('main'),
    path: setting('a directory in the repository, such as manifests', readFolder).prefault('.'),
    pollInterval: positive('the fetch interval, such as 30s').prefault('30s'),
    recordApplied: flag().prefault(false),
  });
  return z.strictObject({
    git: git.optional(),
    directory: text('a directory, such as /manifests').optional(),
  });
}

/** Reads an explicit scope, as opposed to one derived from the directory. */
function readScope(value: unknown): string | undefined {
  const scope = readText(value);
  return scope !== undefined && isScope(scope) ? scope : undefined;
}

/** Reads a relative directory that does not leave its parent. */
function readFolder(value: unknown): string | undefined {
  const folder = readText(value);
  return folder?.startsWith('/') || folder?.split('/').includes('..') ? undefined : folder;
}

function pruneSchema(kinds: readonly string[]) {
  const byKind = z.strictObject(Object.fromEntries(kinds.map((kind) => [kind, choice(PRUNES).optional()])));
  return z
    .unknown()
    .transform((value, context) => {
      if (typeof value !== 'string') {
        return value;
      }
      if (!PRUNES.some((known) => known === value)) {
        context.issues.push({
          code: 'custom',
          input: value,
          message: `one of ${PRUNES.join(', ')}, or a mapping by kind`,
        });
        return z.NEVER;
      }
      return Object.fromEntries(kinds.map((kind) => [kind, value]));
    })
    .pipe(byKind)
    .transform(
      (map): Readonly<Record<string, Prune>> => Object.fromEntries(kinds.map((kind) => [kind, map[kind] ?? 'owned'])),
    )
    .prefault('owned');
}

function windowSchema() {
  return z.strictObject({
    allow: cron().optional(),
    deny: cron().optional(),
    duration: positive('the length of the window, such as 2h'),
    timezone: setting('a time zone such as Europe/Berlin', readTimezone).prefault('UTC'),
  });
}

/** Secrets that manifests may name, by name. A value that is not set here is not an error: jobs of pull requests have none. */
function manifestSecretsSchema() {
  const one = z.strictObject({
    value: manifestSecret().optional(),
    sendTo: z.array(setting('an address such as https://mcp.acme.example', readBaseUrl)).min(1),
  });
  const name = z.string().regex(SECRET_NAME, { error: 'a name such as MCP_TOKEN: letters, digits, ".", "_" and "-"' });
  return z.record(name, one).prefault({});
}

function organizationSchema(known: readonly ConfigKind[]) {
  const kinds = known.map(({ name }) => name);
  return z.strictObject({
    id: text('the id of the organization, such as org_1'),
    token: token().optional(),
    /** Distinguishes the manifest directories of the organization; undefined: derived from the directory. */
    scope: setting('a scope, such as docs or teams/docs', readScope).optional(),
    source: sourceSchema().optional(),
    forge: forgeSchema().optional(),
    /** By kind; contains every known kind. */
    prune: pruneSchema(kinds),
    requireApproval: z
      .array(choice(kinds))
      .prefault(known.filter((kind) => kind.deletionNeedsApproval === true).map(({ name }) => name)),
    /** A plan that exceeds a limit is held. `maxChangedPercent` counts updates and deletions of owned resources. */
    limits: section({ maxDeletions: count(0, 1_000_000).prefault(5), maxChangedPercent: count(0, 100).prefault(30) }),
    /** `count`: people who have to approve a plan; `notAuthor`: the authors of its commits cannot approve it. */
    approvals: section({ count: count(1, 10).prefault(1), notAuthor: flag().prefault(false) }),
    manifestSecrets: manifestSecretsSchema(),
    selfHeal: flag().prefault(true),
    schedule: section({ drift: cron().default('*/5 * * * *') }),
    syncWindows: z.array(windowSchema()).prefault([]),
    conversations: conversationsSchema(),
    clusters: clustersSchema(),
  });
}

/** Schemas by their kinds: creating one takes longer than reading a file with it. */
const SCHEMAS = new WeakMap<readonly ConfigKind[], ReturnType<typeof createSchema>>();

/**
 * Schema of `config.yaml`: checks, types and defaults in one place. `kinds` are the resource kinds of the registry.
 * See docs/configuration.md#all-settings.
 */
export function configSchema(kinds: readonly ConfigKind[]) {
  const schema = SCHEMAS.get(kinds) ?? createSchema(kinds);
  SCHEMAS.set(kinds, schema);
  return schema;
}

/** Compiling a schema, which is the default of zod, takes longer than reading a few files with it. */
export const READ_SELDOM = { jitless: true };

function createSchema(kinds: readonly ConfigKind[]) {
  return z.strictObject({
    platform: section({
      baseUrl: setting(`an http or https URL without a query, such as ${PUBLIC_API}`, readBaseUrl).prefault(PUBLIC_API),
      token: token().optional(),
      user: setting('an email address', readEmail).optional(),
      timeout: positive('the timeout of one request, such as 30s').prefault('30s'),
      /** Allows sending credentials over plain HTTP to other machines. */
      insecure: flag().prefault(false),
    }),
    organizations: z.array(organizationSchema(kinds)),
    queue: section({
      concurrency: count(1, 1_000).prefault(10),
      deadline: positive('the maximum time for waiting and retries of a request, such as 10m').prefault('10m'),
    }),
    store: storeSchema(),
    fleet: fleetSchema(),
    runtime: section({ directory: text('a directory, such as octavo-runtime').optional() }),
    server: section({
      listen: setting('an address such as 127.0.0.1:8080', readListen).prefault('127.0.0.1:8080'),
      /** Undefined: webhooks are sent to another address, which Octavo does not know. */
      publicUrl: setting('the URL that forges send webhooks to', readBaseUrl).optional(),
    }),
    ui: uiSchema(),
    notifications: notificationsSchema(),
    log: section({
      level: choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal']).prefault('info'),
      format: choice(['auto', 'json', 'pretty']).prefault('auto'),
    }),
  });
}

/** Validated content of `config.yaml`. */
type ParsedConfig = z.output<ReturnType<typeof configSchema>>;

type ParsedOrganization = ParsedConfig['organizations'][number];
type ParsedSource = NonNullable<ParsedOrganization['source']>;
type ParsedGit = NonNullable<ParsedSource['git']>;

/** A repository to clone and fetch. `pollInterval` is in milliseconds; `path` is the manifest directory in the repository. */
export type GitSource = Readonly<ParsedGit>;

/** Source of an organization's manifests: either a git repository or a directory. */
export type ManifestSource =
  | { readonly git: GitSource; readonly directory?: undefined }
  | { readonly directory: string; readonly git?: undefined };

/**
 * A window in which the daemon may (`allow`) or may not (`deny`) apply. It opens when the cron expression fires in the
 * time zone, and lasts `duration` milliseconds.
 */
export interface SyncWindow {
  readonly effect: 'allow' | 'deny';
  readonly cron: string;
  readonly duration: number;
  readonly timezone: string;
}

/** One organization that the daemon manages. */
export interface OrganizationConfig
  extends Omit<Readonly<ParsedOrganization>, 'token' | 'source' | 'requireApproval' | 'syncWindows' | 'clusters'> {
  /** Token of the organization; by default, `platform.token`. */
  readonly token: string;
  /** Null if not configured: commands take the directory as an argument, and the daemon does not reconcile. */
  readonly source: ManifestSource | null;
  /** Kinds whose deletions are held until they are approved. */
  readonly requireApproval: readonly string[];
  readonly syncWindows: readonly SyncWindow[];
  readonly clusters: ClustersConfig;
}

/** All settings: validated, with defaults, deeply frozen. Durations are in milliseconds. */
export interface Config extends Omit<Readonly<ParsedConfig>, 'platform' | 'organizations' | 'store' | 'runtime'> {
  readonly platform: Readonly<Omit<ParsedConfig['platform'], 'token' | 'user'>> & {
    /** Email of the daemon's own user, which a plan must not lock out; null if unknown. */
    readonly user: string | null;
  };
  readonly organizations: readonly OrganizationConfig[];
  /** Paths of the files of organizations that have a file of their own, by id. */
  readonly organizationFiles: ReadonlyMap<string, string>;
  /** Empty unless the configuration was loaded with `skipInvalidFiles`. */
  readonly invalidFiles: readonly InvalidFile[];
  readonly store: StoreConfig;
  /** Directory of the control socket and the checkouts. */
  readonly runtime: { readonly directory: string };
  /** Values that must never appear in any output: tokens, and values from the environment or a file. */
  readonly secrets: ReadonlySet<string>;
  /** The reference that each token was read from, such as `${env:NAME}`; none for a token in the file itself. */
  readonly tokenSources: ReadonlyMap<string, string>;
}

/**
 * Returns the frozen configuration of a file that has passed the schema and all other checks. `clusters` contains the
 * data of each organization that comes from the file directly.
 */
export function freezeConfig(
  parsed: ParsedConfig,
  sources: Pick<Config, 'secrets' | 'tokenSources' | 'organizationFiles' | 'invalidFiles'>,
  clusters: readonly ClusterExtras[] = [],
): Config {
  const { token: platformToken, user, ...platform } = parsed.platform;
  const settings = {
    ...parsed,
    platform: { ...platform, user: user ?? null },
    runtime: { directory: runtimeDirectory(parsed.store, parsed.runtime.directory) },
    organizations: parsed.organizations.map((organization, index) => ({
      ...organization,
      token: organization.token ?? platformToken ?? '',
      source: toSource(organization.source ?? {}),
      syncWindows: organization.syncWindows.map(toWindow),
      clusters: completeClusters(organization.clusters, clusters[index]),
    })),
  };
  const { secrets, ...others } = sources;
  return Object.freeze({ ...deepFreeze({ ...settings, ...others }), secrets });
}

function toSource(source: ParsedSource): ManifestSource | null {
  if (source.git !== undefined) {
    return { git: source.git };
  }
  return source.directory === undefined ? null : { directory: source.directory };
}

function toWindow(window: ParsedOrganization['syncWindows'][number]): SyncWindow {
  const effect = window.allow === undefined ? 'deny' : 'allow';
  return { effect, cron: window.allow ?? window.deny ?? '', duration: window.duration, timezone: window.timezone };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) {
      deepFreeze(member);
    }
    Object.freeze(value);
  }
  return value;
}

/**
 * Returns the configuration of a command without a configuration file: `OCTAVO_BASE_URL`, `OCTAVO_TOKEN`,
 * `OCTAVO_ORGANIZATION` and `OCTAVO_INSECURE`, with defaults for everything else and no source. The address has a default
 * only if no `config.yaml` is ignored, for the reason `ignored`. Throws ConfigError that names every missing variable.
 */
export function configFromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  kinds: readonly ConfigKind[],
  ignored: string | null = null,
): Config {
  const isMissing = (name: string) => (env[name] ?? '').trim() === '';
  // The ignored file may set another address, so the token must not be sent to the public address by default.
  const isPublic = ignored === null && isMissing('OCTAVO_BASE_URL');
  const missing = [...(isPublic ? [] : ['OCTAVO_BASE_URL']), 'OCTAVO_TOKEN', 'OCTAVO_ORGANIZATION'].filter(isMissing);
  if (missing.length > 0) {
    const hint = ignored === null ? '' : ` (config.yaml in the working directory was not read, because ${ignored})`;
    const are = missing.length === 1 ? 'is' : 'are';
    throw new ConfigError(
      `${missing.join(', ')} ${are} not set; set ${missing.length === 1 ? 'it' : 'them'}, or pass --config FILE${hint}`,
    );
  }
  const address = isPublic ? PUBLIC_API : env.OCTAVO_BASE_URL;
  if (readBaseUrl(address) === undefined) {
    throw new ConfigError(
      `OCTAVO_BASE_URL is not an http or https URL without a query; use a URL such as ${PUBLIC_API}`,
    );
  }
  if (isPlainHttp(address) && readFlag(env.OCTAVO_INSECURE) !== true) {
    throw new ConfigError(`OCTAVO_BASE_URL ${PLAIN_HTTP}, or set OCTAVO_INSECURE=true on a network that you trust`);
  }
  const token = readToken(env.OCTAVO_TOKEN);
  if (token === undefined) {
    throw new ConfigError('OCTAVO_TOKEN is not valid: it has a line break, a space or a non-ASCII character');
  }
  const settings = {
    platform: { baseUrl: address, token, insecure: readFlag(env.OCTAVO_INSECURE) ?? false },
    organizations: [{ id: env.OCTAVO_ORGANIZATION, source: {} }],
  };
  const parsed = configSchema(kinds).parse(settings, READ_SELDOM);
  return freezeConfig(parsed, {
    secrets: new Set([token]),
    tokenSources: new Map([[token, 'OCTAVO_TOKEN']]),
    organizationFiles: new Map(),
    invalidFiles: [],
  });
}

/** Sections of the configuration whose settings are used once, at the start. */
export const RESTART_SECTIONS = [
  'platform',
  'queue',
  'store',
  'runtime',
  'fleet',
  'server',
  'ui',
  'notifications',
  'log',
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
  const byFile = (a: OrganizationConfig, b: OrganizationConfig) => compareText(fileOf(a), fileOf(b));
  return { ...after, organizations: [...after.organizations, ...kept].toSorted(byFile), organizationFiles };
}

/**
 * Returns the differences, without any value of a setting. `organizations` are those of the new configuration; the ones
 * without a difference are the objects of the old one. `added`, `removed` and `changed` are ids of organizations.
 * `needRestart` names settings whose new values are used after a restart. Positions in files do not count.
 */
export function compareConfigs(before: Config, after: Config) {
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
  if (!isObject(before) || !isObject(after)) {
    return isDeepStrictEqual(before, after) ? [] : [section];
  }
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name])).map((name) => `${section}.${name}`);
}
