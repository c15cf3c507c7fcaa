/** Reads the configuration of a command, also from the base of a pull request, and chooses its organization. */
import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { type Config, configFromEnvironment, type OrganizationConfig } from '../../config/config.ts';
import { isOrganizationFile } from '../../config/document.ts';
import { type LoadConfigOptions, loadConfig } from '../../config/load.ts';
import type { ConfigTrust } from '../../config/secrets.ts';
import { ConfigError, messageOf } from '../../core/errors.ts';
import { readRegularFile } from '../../core/files/disk.ts';
import type { FileTree } from '../../core/files/file-tree.ts';
import { type Environment, findJob } from '../../forge/ci-job.ts';
import { resolveRef } from '../../git/commits.ts';
import { readTreeAt } from '../../git/objects.ts';
import { findRepositoryRoot } from '../../git/work-tree.ts';
import { kinds } from '../../kinds/registry.ts';
import type { CommandContext, Terminal } from './context.ts';

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
  const { cwd, env } = terminal;
  return withSecrets(
    await loadChosen(await chooseConfig({ named: file, cwd, env, manifests }), file, terminal),
    secrets,
  );
}

/** Reads the configuration of a command about one organization. Throws ConfigError. */
export async function readTarget(
  flags: { readonly config?: string; readonly organization?: string },
  context: CommandContext,
  manifests?: string,
): Promise<OrganizationTarget> {
  const config = await readConfig(flags.config, context, manifests);
  return { config, organization: chooseOrganization(config, flags.organization) };
}

/** An organization and its configuration. */
export interface OrganizationTarget {
  readonly config: Config;
  readonly organization: OrganizationConfig;
}

function withSecrets(config: Config, secrets: Set<string> | undefined): Config {
  for (const secret of config.secrets) {
    secrets?.add(secret);
  }
  return config;
}

/**
 * Reads the configuration of a command that opens the paths and addresses in it, such as the daemon. A `config.yaml`
 * that was found, but not named, is refused. Invalid organization files are left out if others are valid, unless
 * `isStrict`. `onNamed` is called with the files that it names, also if it is invalid. Throws ConfigError.
 */
export async function readTrustedConfig(
  file: string | undefined,
  { terminal, secrets }: CommandContext,
  { onNamed, isStrict = false }: Pick<LoadSettings, 'onNamed'> & { readonly isStrict?: boolean } = {},
): Promise<Config> {
  const chosen = await chooseConfig({ named: file, cwd: terminal.cwd, env: terminal.env });
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
  const { source, ignored } = await chooseConfig({ named: file, cwd: terminal.cwd, env: terminal.env, manifests });
  // No secret is read, so any file may be trusted.
  const chosen: ChosenConfig =
    source === null
      ? { source, ignored: ignored ?? null }
      : { source: { ...source, trust: 'named', read: () => PLACEHOLDER } };
  // No placeholder is the secret of a webhook, the address of a mail server, or the URL of a database.
  return loadChosen(chosen, file, { ...terminal, env }, { omit: ['notifications', 'store'] });
}

/**
 * Loads a configuration. Loading asks for files synchronously, so it is repeated with those that were missing until none
 * is: first the directories, then what their files name. Throws ConfigError.
 */
async function loadChosen(
  { source, ignored }: ChosenConfig,
  file: string | undefined,
  { cwd, env }: Terminal,
  { onNamed, ...settings }: LoadSettings = {},
): Promise<Config> {
  if (source === null) {
    return resolvePaths(configFromEnvironment(env, kinds, ignored), cwd);
  }
  const { text, folder, trust } = source;
  const files = new Contents<string>(source.read, PLACEHOLDER);
  const directories = new Contents<ReadonlyMap<string, string | Error>>(source.readDirectory, new Map());
  for (;;) {
    const load = () =>
      loadConfig({
        ...settings,
        file: file ?? DEFAULT_CONFIG,
        env,
        text,
        folder,
        trust,
        kinds,
        readFile: (path) => files.get(resolve(folder, path)),
        readDirectory: (path) => directories.get(path),
      });
    const [loaded] = await Promise.allSettled([Promise.try(load)]);
    const hasRead = [await files.fetch(), await directories.fetch()];
    if (!hasRead.includes(true)) {
      onNamed?.({ files: files.paths, directories: directories.paths });
      return resolvePaths(resultOf(loaded), folder);
    }
  }
}

function resultOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') {
    throw settled.reason;
  }
  return settled.value;
}

interface LoadSettings extends Pick<LoadConfigOptions, 'omit' | 'skipInvalidFiles'> {
  /** Called with the files that the configuration names, also if it is invalid. */
  readonly onNamed?: ((named: NamedFiles) => void) | undefined;
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

/** Files that a configuration names, and directories whose files it reads, as absolute paths. */
export interface NamedFiles {
  readonly files: readonly string[];
  readonly directories: readonly string[];
}

/** Replaces values that are not read; valid as a text, as a secret and as an address that never resolves. */
const PLACEHOLDER = 'https://not-read.invalid';

/** Contents that were read, or errors, by absolute path. */
class Contents<T> {
  readonly #read: (path: string) => Promise<T> | T;
  readonly #contents = new Map<string, PromiseSettledResult<T>>();
  readonly #wanted = new Set<string>();
  readonly #otherwise: T;

  constructor(read: (path: string) => Promise<T> | T, otherwise: T) {
    this.#read = read;
    this.#otherwise = otherwise;
  }

  get paths(): readonly string[] {
    return [...this.#contents.keys()];
  }

  /** Returns a content; what was not read yet is read by `fetch`. Throws if it cannot be read. */
  get(path: string): T {
    const found = this.#contents.get(path);
    if (found === undefined) {
      this.#wanted.add(path);
      return this.#otherwise;
    }
    return resultOf(found);
  }

  /** Reads what was asked for. Returns false if nothing was. */
  async fetch(): Promise<boolean> {
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    const results = await Promise.allSettled(wanted.map((path) => Promise.try(this.#read, path)));
    for (const [index, result] of results.entries()) {
      this.#contents.set(wanted[index] ?? '', result);
    }
    return wanted.length > 0;
  }
}

/** Name of the configuration file that is read without `--config`. */
export const DEFAULT_CONFIG = 'config.yaml';

/** Size limit of a configuration that was found and not named, in bytes. */
const MAX_FOUND_SIZE = 1_048_576;

/** Variables that replace a configuration file. If one is set, a file that was found and not named is ignored. */
const OWN_VARIABLES = ['OCTAVO_BASE_URL', 'OCTAVO_TOKEN', 'OCTAVO_ORGANIZATION'] as const;

/** Variables with the directory that a forge checks the repository out into. */
const CHECKOUT_VARIABLES = ['GITHUB_WORKSPACE', 'CI_PROJECT_DIR', 'BITBUCKET_CLONE_DIR'] as const;

/** A configuration file and how its neighbors are read. */
interface ConfigSource {
  readonly text: string;
  /** The folder that relative paths are resolved against. */
  readonly folder: string;
  readonly trust: ConfigTrust;
  /** Reads a file that the configuration refers to, by absolute path. Throws if it cannot be read. */
  readonly read: (path: string) => Promise<string> | string;
  /** Reads the files of a directory that have one organization each, by absolute path. Throws if it cannot be read. */
  readonly readDirectory: (path: string) => Promise<ReadonlyMap<string, string | Error>>;
}

/** Inputs that decide which configuration a command reads. */
interface ConfigLookup {
  /** The file that `--config` or `OCTAVO_CONFIG` names. */
  readonly named: string | undefined;
  readonly cwd: string;
  readonly env: Environment;
  /** The manifests that are planned; the repository around them is the one that a pull request changes. */
  readonly manifests?: string | undefined;
}

/** The file to read, or null; `ignored` is the reason for not reading an existing file. */
type ChosenConfig =
  | { readonly source: ConfigSource; readonly ignored?: undefined }
  | { readonly source: null; readonly ignored: string | null };

/**
 * Chooses the configuration of a command. A named file is read from any location. `config.yaml` in the working directory
 * is read only if no variable replaces it, and never from the repository of a pull request. A named file inside the
 * repository of a pull request is read from the base commit, because the author of the pull request must not choose
 * where tokens are sent. Throws ConfigError.
 */
export async function chooseConfig(lookup: ConfigLookup): Promise<ChosenConfig> {
  const path = resolve(lookup.cwd, lookup.named ?? DEFAULT_CONFIG);
  if (lookup.named !== undefined) {
    return { source: await readNamed(path, lookup.named, lookup) };
  }
  if (!existsSync(path)) {
    return { source: null, ignored: null };
  }
  const isSet = OWN_VARIABLES.find((name) => (lookup.env[name] ?? '').trim() !== '');
  if (isSet !== undefined) {
    return { source: null, ignored: `${isSet} is set` };
  }
  if ((await inPullRequest(path, lookup)) !== null) {
    return { source: null, ignored: 'the pull request may have changed it' };
  }
  return { source: readFound(path) };
}

async function readNamed(path: string, name: string, lookup: ConfigLookup): Promise<ConfigSource> {
  const pull = await inPullRequest(path, lookup);
  const read = async (file: string) => {
    const changed = await inPullRequest(file, lookup);
    return changed === null ? readText(file) : fromBase(changed);
  };
  const readDirectory = async (directory: string) => {
    if ((await inPullRequest(resolve(directory, 'organization.yaml'), lookup)) !== null) {
      throw new ConfigError('it is inside the repository of a pull request; keep it outside of the repository');
    }
    return readOrganizationFiles(directory);
  };
  try {
    return {
      text: pull === null ? readText(path) : await fromBase(pull),
      folder: dirname(path),
      trust: 'named',
      read,
      readDirectory,
    };
  } catch (error) {
    throw error instanceof ConfigError ? error : unreadable(name, error);
  }
}

function readFound(path: string): ConfigSource {
  const found = lstatSync(path);
  // A symbolic link could point to any file of this machine.
  if (!found.isFile() || found.size > MAX_FOUND_SIZE) {
    const what = found.isFile() ? `larger than ${MAX_FOUND_SIZE / 1_048_576} MiB` : 'not a regular file';
    throw new ConfigError(`${DEFAULT_CONFIG} is ${what}; pass --config ${DEFAULT_CONFIG} to read it anyway`);
  }
  const read = () => {
    throw new Error('a configuration that was not named cannot read other files; name it with --config');
  };
  try {
    return { text: readText(path), folder: dirname(path), trust: 'found', read, readDirectory: async () => read() };
  } catch (error) {
    throw unreadable(DEFAULT_CONFIG, error);
  }
}

function readOrganizationFiles(directory: string): ReadonlyMap<string, string | Error> {
  const root = realpathSync(directory);
  const read = (name: string) => {
    try {
      // Links within the directory are those of a ConfigMap. Others could show any file of this machine in problems.
      const path = realpathSync(resolve(root, name));
      if (!path.startsWith(`${root}${sep}`)) {
        return new Error('it is a symbolic link to a file outside of the directory');
      }
      return readRegularFile(path, { limit: MAX_NAMED_SIZE, expected: path }).toString('utf8');
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  return new Map(
    readdirSync(root)
      .filter(isOrganizationFile)
      .map((name) => [name, read(name)]),
  );
}

/** Size limit of a named configuration and of each file that it refers to, in bytes. */
const MAX_NAMED_SIZE = 16 * 1_048_576;

function readText(path: string): string {
  return readRegularFile(path, { limit: MAX_NAMED_SIZE }).toString('utf8');
}

/** Returns the error about a named file that cannot be read. */
export function unreadable(name: string, error: unknown): ConfigError {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  return new ConfigError(`cannot read ${name}: ${isMissing ? 'no such file' : messageOf(error)}`, {
    cause: error,
  });
}

/** A file inside the repository that a pull request changes. */
interface ChangedFile {
  readonly root: string;
  /** The file's path inside the repository, with slashes. */
  readonly inside: string;
  /** Commit or branch that the pull request is based on; null if the forge does not provide it. */
  readonly base: string | null;
}

/** Locates a file inside the repository of the pull request that this job runs for; null if it is outside. */
async function inPullRequest(path: string, lookup: ConfigLookup): Promise<ChangedFile | null> {
  const roots = findRepositories(lookup);
  const real = realpathOr(path);
  const place = locateInRepository(path, roots) ?? (real === null ? null : locateInRepository(real, roots));
  if (place === null) {
    return null;
  }
  const { proposal } = await findJob(lookup.env, async (event) => readText(event));
  return proposal === null ? null : { ...place, base: proposal.base };
}

/** Finds every repository that contains the working directory, the manifests or the forge's checkout. */
function findRepositories({ cwd, manifests, env }: ConfigLookup): ReadonlySet<string> {
  const checkouts = CHECKOUT_VARIABLES.flatMap((name) => env[name] || []);
  const starts = [cwd, ...(manifests === undefined ? [] : [resolve(cwd, manifests)]), ...checkouts];
  const roots = new Set<string>();
  for (const start of starts) {
    for (let root = findRepositoryRoot(start); root !== null; root = findRepositoryRoot(dirname(root))) {
      roots.add(root);
      if (root === dirname(root)) {
        break;
      }
    }
  }
  return roots;
}

/**
 * Locates a file by resolving each parent folder of its path, so that symbolic links, which the pull request may have
 * added, cannot point outside unnoticed.
 */
function locateInRepository(
  path: string,
  roots: ReadonlySet<string>,
): { readonly root: string; readonly inside: string } | null {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const real = realpathOr(folder);
    if (real !== null && roots.has(real)) {
      return { root: real, inside: relative(folder, path).replaceAll('\\', '/') };
    }
    if (folder === dirname(folder)) {
      return null;
    }
  }
}

function realpathOr(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Reads the file from the base commit of the pull request. Throws ConfigError. */
async function fromBase({ root, inside, base }: ChangedFile): Promise<string> {
  const commit = base === null ? null : await resolveRef(root, base);
  if (commit === null) {
    throw new ConfigError(
      `${inside} is inside the repository of a pull request, whose base commit is not in this clone; ` +
        'clone the full history (fetch-depth: 0, GIT_DEPTH: 0), or keep the configuration outside the repository',
    );
  }
  const tree: FileTree = await readTreeAt(root, commit, '.');
  try {
    return Buffer.from(await tree.read(inside)).toString('utf8');
  } catch (error) {
    throw new ConfigError(
      `cannot read ${inside} from ${commit.slice(0, 7)}, the base commit of the pull request (${messageOf(error)}); ` +
        'the version in the pull request is not used; merge it first, or keep it outside the repository',
      { cause: error },
    );
  }
}
