/** Reads the configuration of a command and chooses the organization that it works on. */
import { resolve } from 'node:path';
import { type Config, configFromEnvironment, type OrganizationConfig } from '../../config/config.ts';
import { ConfigError } from '../../core/errors.ts';
import { kinds } from '../../kinds/registry.ts';
import { type ChosenConfig, chooseConfig, DEFAULT_CONFIG } from './config-source.ts';
import type { CommandContext } from './context.ts';
import { type LoadChosenSettings, loadChosenConfig, type NamedFiles, PLACEHOLDER } from './load-chosen.ts';
import type { Terminal } from './terminal.ts';

/**
 * Reads the configuration of a command from the file that `--config` or `OCTAVO_CONFIG` names, else from the
 * environment, else from `config.yaml` in the working directory (`chooseConfig` has the exact rules). `manifests` is
 * the folder that the command plans. Throws ConfigError.
 */
export async function readConfig(
  file: string | undefined,
  { terminal, secrets }: CommandContext,
  manifests?: string,
): Promise<Config> {
  return withSecrets(await loadChosen(await choose(file, terminal, manifests), file, terminal), secrets);
}

function withSecrets(config: Config, secrets: Set<string> | undefined): Config {
  for (const secret of config.secrets) {
    secrets?.add(secret);
  }
  return config;
}

interface TrustedSettings {
  /** Called with the files that the configuration names. */
  readonly onNamed?: ((named: NamedFiles) => void) | undefined;
  /** Refuses a configuration with an invalid organization file. Default: false. */
  readonly isStrict?: boolean;
}

/**
 * Reads the configuration of a command that opens the paths and addresses in it, such as the daemon. A `config.yaml`
 * that was found, but not named, is refused. Invalid organization files are left out if others are valid, unless
 * `isStrict`. `onNamed` is called with the files that it names, also if it is invalid. Throws ConfigError.
 */
export async function readTrustedConfig(
  file: string | undefined,
  { terminal, secrets }: CommandContext,
  { onNamed, isStrict = false }: TrustedSettings = {},
): Promise<Config> {
  const chosen = await choose(file, terminal);
  if (chosen.source?.trust === 'found') {
    throw new ConfigError(
      `this command does not read ${DEFAULT_CONFIG} by default, because it opens the files and addresses in it; pass --config ${DEFAULT_CONFIG} or set OCTAVO_CONFIG`,
    );
  }
  return withSecrets(await loadChosen(chosen, file, terminal, { onNamed, skipInvalidFiles: !isStrict }), secrets);
}

/**
 * Reads the configuration of a command that sends nothing to the platform, so that it can run on a stranger's pull
 * request. The only variables that are read are the organization's id and the platform's address, and no file that the
 * configuration names is read; a placeholder replaces every other value. Without a configuration, the result is the
 * given organization with all defaults.
 */
export async function readConfigWithoutSecrets(
  file: string | undefined,
  organization: string,
  { terminal }: CommandContext,
  manifests?: string,
): Promise<Config> {
  const known: Readonly<Record<string, string>> = {
    OCTAVO_BASE_URL: terminal.env.OCTAVO_BASE_URL || PLACEHOLDER,
    OCTAVO_ORGANIZATION: terminal.env.OCTAVO_ORGANIZATION || organization,
  };
  const env = new Proxy(known, { get: (_target, name) => known[String(name)] ?? PLACEHOLDER });
  const { source, ignored } = await choose(file, terminal, manifests);
  // No secret is read, so any file may be trusted.
  const chosen: ChosenConfig =
    source === null
      ? { source, ignored: ignored ?? null }
      : { source: { ...source, trust: 'named', read: () => PLACEHOLDER } };
  // No placeholder is the secret of a webhook, the address of a mail server, or the URL of a database.
  return loadChosen(chosen, file, { ...terminal, env }, { omit: ['notifications', 'store'] });
}

function choose(named: string | undefined, { cwd, env }: Terminal, manifests?: string): Promise<ChosenConfig> {
  return chooseConfig({ named, cwd, env, ...(manifests === undefined ? {} : { manifests }) });
}

async function loadChosen(
  { source, ignored }: ChosenConfig,
  file: string | undefined,
  { cwd, env }: Terminal,
  settings: Pick<LoadChosenSettings, 'omit' | 'onNamed' | 'skipInvalidFiles'> = {},
): Promise<Config> {
  if (source === null) {
    return resolvePaths(configFromEnvironment({ env, kinds, ...(ignored ? { ignored } : {}) }), cwd);
  }
  const config = await loadChosenConfig(source, { file: file ?? DEFAULT_CONFIG, env, ...settings });
  return resolvePaths(config, source.folder);
}

/** Resolves relative paths against the folder of the configuration file; without one, against the working directory. */
function resolvePaths(config: Config, folder: string): Config {
  return Object.freeze({
    ...config,
    store: config.store.path === undefined ? config.store : Object.freeze({ path: resolve(folder, config.store.path) }),
    runtime: Object.freeze({ directory: resolve(folder, config.runtime.directory) }),
    organizations: Object.freeze(
      config.organizations.map((organization) =>
        organization.source?.directory === undefined
          ? organization
          : Object.freeze({ ...organization, source: { directory: resolve(folder, organization.source.directory) } }),
      ),
    ),
  });
}

/** Returns the organization with this id, or without an id the only one, also among invalid files. Throws ConfigError. */
export function chooseOrganization(config: Config, id: string | undefined): OrganizationConfig {
  const { organizations, invalidFiles } = config;
  const chosen = organizations.find((organization) => organization.id === id);
  if (chosen !== undefined) {
    return chosen;
  }
  // The organization that is meant may be in a file that has problems.
  const invalid = invalidFiles.filter((each) => each.id === null || id === undefined || each.id === id);
  if (invalid.length > 0) {
    throw new ConfigError(invalid.flatMap(({ problems }) => problems).join('\n'));
  }
  const known = organizations.map((organization) => organization.id).join(', ');
  if (id !== undefined) {
    throw new ConfigError(`no organization ${JSON.stringify(id)} is configured; configured organizations: ${known}`);
  }
  const [only, second] = organizations;
  if (only === undefined) {
    throw new ConfigError('no organization is configured; add one to organizations');
  }
  if (second !== undefined) {
    throw new ConfigError(`several organizations are configured; pass --organization with one of ${known}`);
  }
  return only;
}
