/** Reads the configuration of a command and chooses the organization that it works on. */
import { resolve } from 'node:path';
import { type Config, configFromEnvironment, type OrganizationConfig } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import { ConfigError } from '../../core/errors.ts';
import { kinds } from '../../kinds/registry.ts';
import { type ChosenConfig, chooseConfig, DEFAULT_CONFIG, readAllNamed } from './config-source.ts';
import type { CommandContext } from './context.ts';
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
  const config = await loadChosen(await choose(file, terminal, manifests), file, terminal);
  for (const secret of config.secrets) {
    secrets?.add(secret);
  }
  return config;
}

/**
 * Reads the configuration of a command that opens the paths and addresses in it, such as the daemon. A `config.yaml`
 * that was found, but not named, is refused. Throws ConfigError.
 */
export async function readTrustedConfig(file: string | undefined, context: CommandContext): Promise<Config> {
  const chosen = await choose(file, context.terminal);
  if (chosen.source?.trust === 'found') {
    throw new ConfigError(
      `this command does not read ${DEFAULT_CONFIG} by default, because it opens the files and addresses in it; pass --config ${DEFAULT_CONFIG} or set OCTAVO_CONFIG`,
    );
  }
  return readConfig(file, context);
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
  // No placeholder is the secret of a webhook, or the address of a mail server.
  return loadChosen(chosen, file, { ...terminal, env }, ['notifications']);
}

/** Replaces values that are not read; valid as a text, as a secret and as an address that never resolves. */
const PLACEHOLDER = 'https://not-read.invalid';

function choose(named: string | undefined, { cwd, env }: Terminal, manifests?: string): Promise<ChosenConfig> {
  return chooseConfig({ named, cwd, env, ...(manifests === undefined ? {} : { manifests }) });
}

async function loadChosen(
  { source, ignored }: ChosenConfig,
  file: string | undefined,
  { env }: Terminal,
  omit: readonly string[] = [],
): Promise<Config> {
  if (source === null) {
    return configFromEnvironment({ env, kinds, ...(ignored ? { ignored } : {}) });
  }
  const { text, folder, trust } = source;
  const load = (readFile: (path: string) => string) =>
    loadConfig({ text, file: file ?? DEFAULT_CONFIG, folder, env, readFile, kinds, trust, omit });
  const wanted = new Set<string>();
  try {
    // Loading calls readFile synchronously, so a first load with placeholders collects the names of the files.
    const config = load((name) => {
      wanted.add(resolve(folder, name));
      return PLACEHOLDER;
    });
    if (wanted.size === 0) {
      return resolvePaths(config, folder);
    }
  } catch {
    // The second load reports the same problem, with the real contents of the files.
  }
  const contents = await readAllNamed(source, wanted);
  const config = load((name) => {
    const content = contents.get(resolve(folder, name));
    if (typeof content !== 'string') {
      throw content ?? new Error('it was not read');
    }
    return content;
  });
  return resolvePaths(config, folder);
}

/** Resolves relative paths against the folder of the configuration file, not against the working directory. */
function resolvePaths(config: Config, folder: string): Config {
  return Object.freeze({
    ...config,
    store: Object.freeze({ ...config.store, path: resolve(folder, config.store.path) }),
    organizations: Object.freeze(
      config.organizations.map((organization) =>
        organization.source?.directory === undefined
          ? organization
          : Object.freeze({ ...organization, source: { directory: resolve(folder, organization.source.directory) } }),
      ),
    ),
  });
}

/** Returns the organization with this id, or without an id the only one. Throws ConfigError. */
export function chooseOrganization(config: Config, id: string | undefined): OrganizationConfig {
  const known = config.organizations.map((organization) => organization.id).join(', ');
  if (id !== undefined) {
    const chosen = config.organizations.find((organization) => organization.id === id);
    if (chosen === undefined) {
      throw new ConfigError(`no organization ${JSON.stringify(id)} is configured; configured organizations: ${known}`);
    }
    return chosen;
  }
  const [only, second] = config.organizations;
  if (only === undefined || second !== undefined) {
    throw new ConfigError(`several organizations are configured; pass --organization with one of ${known}`);
  }
  return only;
}
