/** Finds the repository of a directory without running git and without trusting the directory's content. */
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { messageOf, SourceError } from '../core/errors.ts';
import { readRegularFile } from '../core/files/disk.ts';
import { isInGitFolder } from '../core/files/file-tree.ts';

/** Location of a repository. Both paths are always passed to git, so that it searches for neither. */
export interface Repository {
  /** Directory of the work tree. */
  readonly root: string;
  /** Its `.git` directory, or the one that a `.git` file points to. */
  readonly gitDir: string;
}

/** Maximum bytes of a `.git` file, which contains one path. */
const MAX_POINTER_LENGTH = 8192;

/**
 * Returns the repository that contains a directory, following links. A repository must have a `.git`: a directory with
 * the layout of a bare repository is ordinary content, because a commit can contain one whose settings name commands.
 */
export function findRepository(directory: string): Repository | null {
  let last: string | null = null;
  for (let folder = realPathOf(directory); folder !== null && folder !== last; folder = dirname(folder)) {
    const gitDir = gitDirOf(folder);
    if (gitDir !== null) {
      return { root: folder, gitDir };
    }
    last = folder;
  }
  return null;
}

/** Works like `findRepository`; throws SourceError if there is none. */
export function requireRepository(directory: string): Repository {
  const repository = findRepository(directory);
  if (repository === null) {
    throw new SourceError(`${directory} is not in a git repository`);
  }
  return repository;
}

/** Returns the repository of a directory that has, or will have, a `.git`. */
export function repositoryIn(directory: string): Repository {
  const root = resolve(directory);
  return { root, gitDir: join(root, '.git') };
}

function gitDirOf(folder: string): string | null {
  const path = join(folder, '.git');
  const stats = statsOf(path);
  if (stats === null) {
    return null;
  }
  const gitDir = stats.isDirectory() ? path : pointedTo(folder, path, stats);
  return gitDir !== null && isGitDir(gitDir) ? gitDir : null;
}

/**
 * Returns the target of a `.git` that is a link, or a file as in linked work trees and submodules. It must be outside
 * of the directory, because everything inside comes with the untrusted content.
 */
function pointedTo(folder: string, path: string, stats: Stats): string | null {
  return orNull(() => {
    const target = stats.isSymbolicLink() && statSync(path).isDirectory() ? path : namedIn(path);
    const gitDir = target === null ? null : realpathSync.native(resolve(folder, target));
    return gitDir === null || isInside(folder, gitDir) ? null : gitDir;
  });
}

function namedIn(path: string): string | null {
  const text = readRegularFile(path, { limit: MAX_POINTER_LENGTH }).toString('utf8');
  return /^gitdir: ([^\0\r\n]+)[\r\n]*$/.exec(text)?.[1] ?? null;
}

/** Applies git's rule: it has a HEAD, objects and refs; linked work trees share the latter two with another. */
function isGitDir(gitDir: string): boolean {
  const common = commonDir(gitDir);
  const isFolder = (path: string) => statsOf(path, statSync)?.isDirectory() === true;
  const head = statsOf(join(gitDir, 'HEAD'));
  return head !== null && !head.isDirectory() && isFolder(join(common, 'objects')) && isFolder(join(common, 'refs'));
}

/** Returns the result of work; null if it throws. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

function statsOf(path: string, look: typeof statSync = lstatSync): Stats | null {
  return orNull(() => look(path));
}

function realPathOf(path: string): string | null {
  return orNull(() => realpathSync.native(path));
}

/** Returns the directory that a linked work tree shares with its repository: its objects, and the refs of branches. */
export function commonDir(gitDir: string): string {
  const read = () => readRegularFile(join(gitDir, 'commondir'), { limit: MAX_POINTER_LENGTH }).toString('utf8');
  return resolve(gitDir, orNull(read)?.trim() ?? '');
}

/** Symbolic link that would make Octavo read manifests outside of their repository. */
class RefusedLinkError extends SourceError {}

/** Returns true if {@link resolveManifestFolder} refuses a directory because of a link, not because it is missing. */
export function isRefusedFolder(directory: string): boolean {
  try {
    resolveManifestFolder(directory);
    return false;
  } catch (error) {
    return error instanceof RefusedLinkError;
  }
}

/**
 * Returns the real path of a directory that a user named. Throws SourceError if a symbolic link in a repository leads
 * out of it or into its `.git`, because a commit can contain such a link in place of the manifests.
 */
export function resolveManifestFolder(directory: string): string {
  const path = resolve(directory);
  const { root } = parse(path);
  let waiting = path.slice(root.length).split(sep).filter(Boolean);
  let real = root;
  for (let links = 0; waiting.length > 0; ) {
    const [next = '', ...rest] = waiting;
    const step = join(real, next);
    if (statsOf(step)?.isSymbolicLink() !== true) {
      real = step;
      waiting = rest;
      continue;
    }
    links += 1;
    const target = links > 40 ? null : realPathOf(step);
    if (target === null) {
      throw new SourceError(`${directory} is a broken symbolic link`);
    }
    checkInside(directory, step, real, target);
    real = target;
    waiting = rest;
  }
  return real;
}

function checkInside(named: string, link: string, folder: string, target: string): void {
  const root = findRepository(folder)?.root;
  if (root === undefined) {
    return;
  }
  if (!isInside(root, target)) {
    throw new RefusedLinkError(
      `${named} is not a directory of the repository: ${link} is a symbolic link to a place outside it; pass the real directory`,
    );
  }
  if (isInGitFolder(relative(root, target))) {
    throw new RefusedLinkError(
      `${named} is not a directory of the repository: ${link} is a symbolic link into its .git; pass the real directory`,
    );
  }
}

/** Returns true if a path is the other one, or below it. */
function isInside(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/**
 * Throws SourceError for a repository of another user, unless git's own `safe.directory` names it: its settings may
 * name commands, which git runs while it talks to a remote. `readSafe` returns the values of that setting; it is only
 * called for a repository of another user.
 */
export async function checkOwner(
  { root, gitDir }: Repository,
  readSafe: () => Promise<readonly string[]>,
): Promise<void> {
  const own = ownUsers();
  if (own === null || [root, gitDir].every((path) => own.has(ownerOf(path)))) {
    return;
  }
  const safe = await readSafe();
  const trusted = safe.slice(safe.lastIndexOf('') + 1);
  if (!trusted.some((pattern) => matches(pattern, root))) {
    throw new SourceError(
      `the repository ${root} belongs to another user, so its git settings are not used; ` +
        `if you trust it, run: git config --global --add safe.directory ${root}`,
    );
  }
}

function ownerOf(path: string): number {
  try {
    return statSync(path).uid;
  } catch (error) {
    throw new SourceError(`cannot use the repository at ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Returns the users that are trusted; null if the system has no users. As in git, the caller of `sudo` is included. */
function ownUsers(): ReadonlySet<number> | null {
  const user = process.geteuid?.();
  if (user === undefined) {
    return null;
  }
  const caller = user === 0 ? Number.parseInt(process.env.SUDO_UID ?? '', 10) : Number.NaN;
  return new Set(Number.isNaN(caller) ? [user] : [user, caller]);
}

function matches(pattern: string, root: string): boolean {
  return (
    pattern === '*' || resolve(pattern) === root || (pattern.endsWith('/*') && isInside(pattern.slice(0, -2), root))
  );
}
