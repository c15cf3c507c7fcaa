/** Validated configuration that the rest of the program uses. */
import { ConfigError } from '../core/errors.ts';
import { type ClusterExtras, type ClustersConfig, completeClusters } from './clusters.ts';
import type { InvalidFile } from './file/invalid-files.ts';
import { runtimeDirectory, type StoreConfig } from './fleet/store.ts';
import type { ForgeConfig } from './forge.ts';
import { isPlainHttp, PLAIN_HTTP } from './model/plain-http.ts';
import { PUBLIC_API, readBaseUrl, readFlag, readToken } from './model/values.ts';
import type { NotificationsConfig } from './notifications.ts';
import { type ConfigKind, configSchema, type ParsedConfig, type Prune, READ_SELDOM } from './schema.ts';
import type { UiConfig } from './ui.ts';

export type { Prune } from './schema.ts';

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
export interface OrganizationConfig {
  readonly id: string;
  /** Token of the organization; by default, `platform.token`. */
  readonly token: string;
  /** Distinguishes the manifest directories of the organization; undefined: derived from the directory. */
  readonly scope?: string | undefined;
  /** Null if not configured: commands take the directory as an argument, and the daemon does not reconcile. */
  readonly source: ManifestSource | null;
  readonly forge?: ForgeConfig | undefined;
  /** By kind; contains every known kind. */
  readonly prune: Readonly<Record<string, Prune>>;
  /** Kinds whose deletions are held until they are approved. */
  readonly requireApproval: readonly string[];
  /** A plan that exceeds a limit is held. `maxChangedPercent` counts updates and deletions of owned resources. */
  readonly limits: { readonly maxDeletions: number; readonly maxChangedPercent: number };
  /** `count`: people who have to approve a plan; `notAuthor`: the authors of its commits cannot approve it. */
  readonly approvals: { readonly count: number; readonly notAuthor: boolean };
  readonly selfHeal: boolean;
  /** Cron expressions. */
  readonly schedule: { readonly drift: string };
  readonly syncWindows: readonly SyncWindow[];
  readonly conversations: Readonly<ParsedOrganization['conversations']>;
  readonly clusters: ClustersConfig;
}

/** All settings: validated, with defaults, deeply frozen. Durations are in milliseconds. */
export interface Config {
  readonly platform: {
    readonly baseUrl: string;
    /** Email of the daemon's own user, which a plan must not lock out; null if unknown. */
    readonly user: string | null;
    readonly timeout: number;
    /** Allows sending credentials over plain HTTP to other machines. */
    readonly insecure: boolean;
  };
  readonly organizations: readonly OrganizationConfig[];
  /** Paths of the files of organizations that have a file of their own, by id. */
  readonly organizationFiles: ReadonlyMap<string, string>;
  /** Empty unless the configuration was loaded with `skipInvalidFiles`. */
  readonly invalidFiles: readonly InvalidFile[];
  readonly queue: Readonly<ParsedConfig['queue']>;
  readonly store: StoreConfig;
  readonly fleet: Readonly<ParsedConfig['fleet']>;
  /** Directory of the control socket and the checkouts. */
  readonly runtime: { readonly directory: string };
  readonly server: Readonly<ParsedConfig['server']>;
  /** The web page. */
  readonly ui: UiConfig;
  readonly notifications: NotificationsConfig;
  readonly log: Readonly<ParsedConfig['log']>;
  /** Values that must never appear in any output: tokens, and values from the environment or a file. */
  readonly secrets: ReadonlySet<string>;
  /** The reference that each token was read from, such as `${env:NAME}`; none for a token in the file itself. */
  readonly tokenSources: ReadonlyMap<string, string>;
}

/** Input for a configuration without a file. */
export interface EnvironmentOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** All kinds of resources. */
  readonly kinds: readonly ConfigKind[];
  /** Reason why an existing `config.yaml` was not read. */
  readonly ignored?: string;
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
    store: parsed.store,
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
 * only if no `config.yaml` is ignored. Throws ConfigError that names every missing variable.
 */
export function configFromEnvironment({ env, kinds, ignored }: EnvironmentOptions): Config {
  const isMissing = (name: string) => (env[name] ?? '').trim() === '';
  // The ignored file may set another address, so the token must not be sent to the public address by default.
  const isPublic = ignored === undefined && isMissing('OCTAVO_BASE_URL');
  const missing = [...(isPublic ? [] : ['OCTAVO_BASE_URL']), 'OCTAVO_TOKEN', 'OCTAVO_ORGANIZATION'].filter(isMissing);
  if (missing.length > 0) {
    const hint =
      ignored === undefined ? '' : ` (config.yaml in the working directory was not read, because ${ignored})`;
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
