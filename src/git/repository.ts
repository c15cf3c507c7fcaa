/** Finds the repository around a folder, without running git there and without trusting what lies in the folder. */
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { messageOf, SourceError } from '../core/errors.ts';
import { isInGitFolder } from '../core/files/git-folder.ts';
import { readRegularFile } from '../core/files/regular-file.ts';

/** Where git works: both are always passed to it, so that it looks for neither. */
export interface Repository {
  /** The folder of the work tree. */
  readonly root: string;
  /** Its `.git`, or where that file says it is. */
  readonly gitDir: string;
}

/** Bytes of a `.git` file, which holds one path. */
const LONGEST_POINTER = 8192;

/**
 * The repository that a folder lies in, links followed. Only a `.git` makes a repository: a folder that is laid out as a
 * bare repository is content like any other, since a commit can hold one and its settings could name commands.
 */
export function findRepository(directory: string): Repository | null {
  let folder: string;
  try {
    folder = realpathSync.native(directory);
  } catch {
    return null;
  }
  for (;;) {
    const gitDir = gitDirOf(folder);
    if (gitDir !== null) {
      return { root: folder, gitDir };
    }
    if (folder === dirname(folder)) {
      return null;
    }
    folder = dirname(folder);
  }
}

/** The same; throws SourceError where there is none. */
export function requireRepository(directory: string): Repository {
  const repository = findRepository(directory);
  if (repository === null) {
    throw new SourceError(`${directory} is not in a git repository`);
  }
  return repository;
}

/** The repository of a folder whose `.git` is, or will be, in it. */
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
 * Where a `.git` leads that is a file, as linked work trees and submodules have one, or a link. It must lie outside the
 * folder: what is inside comes with the folder's content, and could be anything.
 */
function pointedTo(folder: string, path: string, stats: Stats): string | null {
  try {
    const target = stats.isSymbolicLink() && statSync(path).isDirectory() ? path : namedIn(path);
    const gitDir = target === null ? null : realpathSync.native(resolve(folder, target));
    return gitDir === null || isInside(folder, gitDir) ? null : gitDir;
  } catch {
    return null;
  }
}

function namedIn(path: string): string | null {
  const text = readRegularFile(path, { limit: LONGEST_POINTER }).toString('utf8');
  return /^gitdir: ([^\0\r\n]+)[\r\n]*$/.exec(text)?.[1] ?? null;
}

/** By git's own rule: it has a HEAD, and objects and refs, where linked work trees share those of another. */
function isGitDir(gitDir: string): boolean {
  const common = commonDir(gitDir);
  const isFolder = (path: string) => statsOf(path, statSync)?.isDirectory() === true;
  const head = statsOf(join(gitDir, 'HEAD'));
  return head !== null && !head.isDirectory() && isFolder(join(common, 'objects')) && isFolder(join(common, 'refs'));
}

/** Null for what is not there, or cannot be asked for. */
function statsOf(path: string, look: typeof statSync = lstatSync): Stats | null {
  try {
    return look(path);
  } catch {
    return null;
  }
}

function commonDir(gitDir: string): string {
  try {
    const path = readRegularFile(join(gitDir, 'commondir'), { limit: LONGEST_POINTER }).toString('utf8').trim();
    return resolve(gitDir, path);
  } catch {
    return gitDir;
  }
}

/** A symbolic link that would make Octavo read manifests outside of their repository. */
class RefusedLinkError extends SourceError {}

/** Reports that {@link resolveManifestFolder} refuses a folder because of a link, not because the folder is missing. */
export function isRefusedFolder(directory: string): boolean {
  try {
    resolveManifestFolder(directory);
    return false;
  } catch (error) {
    return error instanceof RefusedLinkError;
  }
}

/**
 * The real path of a folder that a user named. Throws SourceError where a symbolic link that lies in a repository leads
 * out of it, or into its `.git`: a commit can hold such a link in the place of the manifests.
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
    const target = links > 40 ? null : followed(step);
    if (target === null) {
      throw new SourceError(`${directory} is a broken symbolic link`);
    }
    mustStay(directory, step, real, target);
    real = target;
    waiting = rest;
  }
  return real;
}

function followed(link: string): string | null {
  try {
    return realpathSync.native(link);
  } catch {
    return null;
  }
}

function mustStay(named: string, link: string, folder: string, target: string): void {
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

/** Whether one path is another, or lies below it. */
function isInside(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/**
 * Throws SourceError for a repository of another user, unless git's own `safe.directory` names it: its settings may name
 * commands, which git runs while it talks to a remote. `safe`: the values of that setting.
 */
export function mustBeOwned({ root, gitDir }: Repository, safe: readonly string[]): void {
  const own = ownUsers();
  if (own === null) {
    return;
  }
  const isOwn = [root, gitDir].every((path) => own.has(ownerOf(path)));
  const trusted = safe.slice(safe.lastIndexOf('') + 1);
  if (!isOwn && !trusted.some((pattern) => matches(pattern, root))) {
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

/** Null where the system has no users. Behind `sudo`, the user who called it counts too, as for git. */
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
