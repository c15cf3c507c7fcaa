/** Directory on disk as a tree of files, with the files that a manifest may refer to. */
import type { Dirent } from 'node:fs';
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, relative, resolve as resolvePath, sep } from 'node:path';
import { messageOf, SourceError } from '../core/errors.ts';
import { irregularType, MAX_FILE_BYTES, readRegularFile } from '../core/files/disk.ts';
import { type FileEntry, type FileTree, isInGitFolder } from '../core/files/file-tree.ts';
import { compareText } from '../core/lists.ts';

/**
 * Rule for the files of a directory that a manifest or a symbolic link may refer to: `visible` allows files that are not
 * hidden, and `all` every file, for a clean checkout of one commit. A function returns the files that git tracks. It is
 * called at the first reference.
 */
export type FileSelection = 'visible' | 'all' | (() => Promise<ReadonlySet<string>>);

/**
 * Opens a directory on disk as a file tree. The directory itself may be a symbolic link (git-sync swaps one). Each call
 * follows it again, so an open tree always reads the current target.
 *
 * Hidden directories are skipped. A link to a directory inside the tree is not listed, because the directory is listed
 * under its own path. A link that leaves the tree is listed as a file; reading it fails, and the error is reported at
 * the reference.
 *
 * Disk access is synchronous on purpose: for 10,000 small files, the thread pool costs ten times as much as the calls.
 */
export function openDiskTree(directory: string, belonging: FileSelection = 'visible'): FileTree {
  const root = resolvePath(directory);
  let tracked: Promise<ReadonlySet<string>> | undefined;
  /** Target of the directory when it was last listed. */
  let realRoot: string | null = null;
  const check = async (path: string, { inside }: Located) => {
    if (isInGitFolder(inside)) {
      throw new SourceError(`${path} is ${isInGitFolder(path) ? 'inside' : 'a link into'} .git; use a file outside it`);
    }
    if (belonging === 'visible' && isHidden(inside)) {
      throw new SourceError(`${path} is hidden; use a path with no part that starts with a dot`);
    }
    if (typeof belonging === 'function') {
      tracked ??= belonging();
      if (!(await tracked).has(inside)) {
        throw new SourceError(`${path} is not tracked by git; stage or commit it (git add)`);
      }
    }
  };
  return {
    label: directory,
    list: async () => {
      const listed = listFiles(root);
      realRoot = listed.realRoot;
      return listed.entries;
    },
    read: async (path) => {
      const bytes = realRoot === null ? null : readDirectly(root, realRoot, path);
      if (bytes !== null) {
        return bytes;
      }
      const located = locate(root, path);
      if (located.inside !== path) {
        // A link may lead to a file that manifests must not refer to.
        await check(path, located);
      }
      try {
        return readRegularFile(located.real, { limit: MAX_FILE_BYTES, expected: located.real });
      } catch (error) {
        throw new SourceError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
      }
    },
    resolve: async (path) => {
      const { real, inside } = locate(root, path);
      const type = irregularType(statSync(real));
      if (type !== null) {
        throw new SourceError(`${path} is ${type}, not a regular file`);
      }
      return inside;
    },
    checkNamed: async (path) => check(path, locate(root, path)),
  };
}

/** Kubernetes keeps the files of a ConfigMap in a directory whose name starts with two dots, each behind a link. */
function isHidden(inside: string): boolean {
  return inside.split('/').some((part) => part.startsWith('.') && !part.startsWith('..'));
}

/**
 * Reads a file in one step if no link is on its path below the directory, and the directory is still the one that was
 * listed. Otherwise, and for every error, returns null: following links finds the file or the reason.
 */
function readDirectly(root: string, realRoot: string, path: string): Uint8Array | null {
  try {
    return readRegularFile(`${root}/${path}`, { limit: MAX_FILE_BYTES, expected: `${realRoot}/${path}` });
  } catch {
    return null;
  }
}

/** Path after following links: the absolute path on disk, and the path inside the tree. */
interface Located {
  readonly real: string;
  readonly inside: string;
}

function locate(root: string, path: string): Located {
  const lexical = relativeInside(root, resolvePath(root, path));
  if (lexical === null || isAbsolute(path)) {
    throw new SourceError(`${path} is outside ${root}; use a file inside it`);
  }
  let realRoot: string;
  let real: string;
  try {
    realRoot = realpathSync.native(root);
    real = realpathSync.native(resolvePath(realRoot, lexical));
  } catch (error) {
    const reason = isUndecoded(path) ? 'has a name that is not UTF-8; rename it' : `does not exist in ${root}`;
    throw new SourceError(`${path} ${reason}`, { cause: error });
  }
  const inside = relativeInside(realRoot, real);
  if (inside === null) {
    throw new SourceError(
      `${path} is a symbolic link to a place outside ${root}; link to a file inside it, or copy the file there`,
    );
  }
  return { real, inside };
}

/** Returns the path of `target` relative to `root` with forward slashes, or null if it is not below `root`. */
function relativeInside(root: string, target: string): string | null {
  const path = relative(root, target);
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) {
    return null;
  }
  return sep === '/' ? path : path.split(sep).join('/');
}

/** Reports whether a name may not be UTF-8: Node replaces what it cannot decode, and then does not find the file. */
function isUndecoded(path: string): boolean {
  return path.includes('\uFFFD');
}

function listFiles(root: string): { readonly realRoot: string; readonly entries: readonly FileEntry[] } {
  const entries: FileEntry[] = [];
  try {
    const realRoot = realpathSync.native(root);
    walk(realRoot, '', entries);
    return { realRoot, entries: entries.sort((a, b) => compareText(a.path, b.path)) };
  } catch (error) {
    throw new SourceError(`cannot list ${root}: ${messageOf(error)}`, { cause: error });
  }
}

function walk(directory: string, prefix: string, entries: FileEntry[]): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`;
    const full = `${directory}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('.')) {
        walk(full, `${path}/`, entries);
      }
    } else {
      const stats = statsOf(entry, full);
      if (stats === null && isUndecoded(path)) {
        entries.push({ path, size: 0, version: null });
      } else if (stats !== null) {
        entries.push({ path, size: stats.size, version: `${stats.mtimeMs}-${stats.ino}-${stats.size}` });
      }
    }
  }
}

/**
 * Returns the stats of a file; null for a link to a directory, or a file that no longer exists. What cannot be read is
 * listed, so that the loader reports it: a FIFO, a device, a socket, a broken link.
 */
function statsOf(entry: Dirent, full: string): Stats | null {
  const target = entry.isSymbolicLink() ? followedStats(full) : undefined;
  const stats = target ?? lstatSync(full, { throwIfNoEntry: false }) ?? null;
  return stats?.isDirectory() === true ? null : stats;
}

/** Returns the stats of a link's target; undefined for a broken or circular link. */
function followedStats(full: string): Stats | undefined {
  try {
    return statSync(full, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
