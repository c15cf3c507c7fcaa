/** Decides which configuration file a command reads, and from where: the disk, or the base of a pull request. */
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import type { ConfigTrust } from '../../config/trust.ts';
import { ConfigError, messageOf } from '../../core/errors.ts';
import type { FileTree } from '../../core/files/file-tree.ts';
import { readRegularFile } from '../../core/files/regular-file.ts';
import type { Environment } from '../../forge/ci-variables.ts';
import { findJob } from '../../forge/pull-request.ts';
import { repositoryAround, resolveRef } from '../../git/commit-info.ts';
import { readTreeAt } from '../../git/tree-at.ts';

/** The name of a configuration that nobody has to name. */
export const DEFAULT_CONFIG = 'config.yaml';

/** The largest configuration that is read without having been named, in bytes. */
const LARGEST_FOUND = 1_048_576;

/** Variables that stand for a configuration. Where one is set, a file that is merely found is not read. */
const OWN_VARIABLES = ['OCTAVO_BASE_URL', 'OCTAVO_TOKEN', 'OCTAVO_ORGANIZATION'] as const;

/** Folders that the forges check a repository out into. */
const CHECKOUT_VARIABLES = ['GITHUB_WORKSPACE', 'CI_PROJECT_DIR', 'BITBUCKET_CLONE_DIR'] as const;

/** A configuration file and how its neighbors are read. */
export interface ConfigSource {
  readonly text: string;
  /** The folder that relative paths start from. */
  readonly folder: string;
  readonly trust: ConfigTrust;
  /** Reads a file that the configuration names, by its absolute path. Throws where it cannot be read. */
  readonly read: (path: string) => Promise<string> | string;
}

/** What a command says about its configuration. */
export interface ConfigWish {
  /** The file that `--config` or `OCTAVO_CONFIG` names. */
  readonly named: string | undefined;
  readonly cwd: string;
  readonly env: Environment;
  /** The manifests that are planned; the repository around them is the one that a pull request changes. */
  readonly manifests?: string;
}

/** The file to read, or null with the reason why the one that is there is not read; null without one: none is there. */
export type ChosenConfig =
  | { readonly source: ConfigSource; readonly ignored?: undefined }
  | { readonly source: null; readonly ignored: string | null };

/**
 * The configuration of a command. A file that is named is read wherever it is. `config.yaml` in the working directory
 * is read only where no variable stands for a configuration, and never from the repository of a pull request. A named
 * file inside the repository of a pull request is read from the commit that the pull request starts from: its author
 * must not choose where tokens go. Throws ConfigError.
 */
export async function chooseConfig(wish: ConfigWish): Promise<ChosenConfig> {
  const path = resolve(wish.cwd, wish.named ?? DEFAULT_CONFIG);
  if (wish.named !== undefined) {
    return { source: await readNamed(path, wish.named, wish) };
  }
  if (!existsSync(path)) {
    return { source: null, ignored: null };
  }
  const isSet = OWN_VARIABLES.find((name) => (wish.env[name] ?? '').trim() !== '');
  if (isSet !== undefined) {
    return { source: null, ignored: `${isSet} is set` };
  }
  if ((await pullRequestAround(path, wish)) !== null) {
    return { source: null, ignored: 'the pull request may have changed it' };
  }
  return { source: readFound(path) };
}

async function readNamed(path: string, name: string, wish: ConfigWish): Promise<ConfigSource> {
  const pull = await pullRequestAround(path, wish);
  const read = async (file: string) => {
    const changed = await pullRequestAround(file, wish);
    return changed === null ? readText(file) : fromBase(changed);
  };
  try {
    return {
      text: pull === null ? readText(path) : await fromBase(pull),
      folder: dirname(path),
      trust: 'named',
      read,
    };
  } catch (error) {
    throw error instanceof ConfigError ? error : unreadable(name, error);
  }
}

function readFound(path: string): ConfigSource {
  const found = lstatSync(path);
  // A link could lead to any file of this machine.
  if (!found.isFile() || found.size > LARGEST_FOUND) {
    const what = found.isFile() ? `larger than ${LARGEST_FOUND / 1_048_576} MiB` : 'not a regular file';
    throw new ConfigError(`${DEFAULT_CONFIG} is ${what}; pass --config ${DEFAULT_CONFIG} to read it anyway`);
  }
  const read = () => {
    throw new Error('a configuration that was not named cannot read other files');
  };
  try {
    return { text: readText(path), folder: dirname(path), trust: 'found', read };
  } catch (error) {
    throw unreadable(DEFAULT_CONFIG, error);
  }
}

/** A configuration, and any file that it names, in bytes. */
const LARGEST_NAMED = 16 * 1_048_576;

function readText(path: string): string {
  return readRegularFile(path, { limit: LARGEST_NAMED }).toString('utf8');
}

function unreadable(name: string, error: unknown): ConfigError {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  return new ConfigError(`cannot read ${name}: ${isMissing ? 'no such file' : messageOf(error)}`, {
    cause: error,
  });
}

/** A file inside the repository that a pull request changes. */
interface ChangedPlace {
  readonly root: string;
  /** The file's path inside the repository, with slashes. */
  readonly inside: string;
  /** A commit or a branch, as the forge names it; null where it does not. */
  readonly base: string | null;
}

/** Where a file is inside the repository of the pull request that this job is for; null where it is not in there. */
async function pullRequestAround(path: string, wish: ConfigWish): Promise<ChangedPlace | null> {
  const roots = repositoriesOf(wish);
  const real = realpathOr(path);
  const place = placeIn(path, roots) ?? (real === null ? null : placeIn(real, roots));
  if (place === null) {
    return null;
  }
  const { proposal } = await findJob(wish.env, async (event) => readText(event));
  return proposal === null ? null : { ...place, base: proposal.base };
}

/** Every repository around the working directory, the manifests and the forge's checkout. */
function repositoriesOf({ cwd, manifests, env }: ConfigWish): ReadonlySet<string> {
  const checkouts = CHECKOUT_VARIABLES.flatMap((name) => env[name] || []);
  const starts = [cwd, ...(manifests === undefined ? [] : [resolve(cwd, manifests)]), ...checkouts];
  const roots = new Set<string>();
  for (const start of starts) {
    for (let root = repositoryAround(start); root !== null; root = repositoryAround(dirname(root))) {
      roots.add(root);
      if (root === dirname(root)) {
        break;
      }
    }
  }
  return roots;
}

/**
 * By the folders that the path names, so that no link in it leads out: a link is as much a part of the pull request as
 * a file.
 */
function placeIn(path: string, roots: ReadonlySet<string>): { readonly root: string; readonly inside: string } | null {
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

/** The file as it is in the commit that the pull request starts from. Throws ConfigError. */
async function fromBase({ root, inside, base }: ChangedPlace): Promise<string> {
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

/** Reads what a configuration names, before it is loaded: `names` are absolute paths. */
export async function readAllNamed(
  source: ConfigSource,
  names: Iterable<string>,
): Promise<ReadonlyMap<string, string | Error>> {
  const contents = new Map<string, string | Error>();
  for (const name of names) {
    const path = isAbsolute(name) ? name : resolve(source.folder, name);
    try {
      contents.set(path, await source.read(path));
    } catch (error) {
      contents.set(path, error instanceof Error ? error : new Error(String(error)));
    }
  }
  return contents;
}
