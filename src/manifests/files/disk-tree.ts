import type { Dirent } from 'node:fs';
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, relative, resolve as resolvePath, sep } from 'node:path';
import { messageOf, SourceError } from '../../core/errors.ts';
import type { FileEntry, FileTree } from '../../core/files/file-tree.ts';
import { isInGitFolder } from '../../core/files/git-folder.ts';
import { LARGEST_FILE, readRegularFile } from '../../core/files/regular-file.ts';

/**
 * Which files of a folder belong to it, so that a manifest, or a symbolic link, may name them: all that are not hidden;
 * all, in a clean checkout of one commit; or those that git tracks, which are asked for when the first one is named.
 */
export type Belonging = 'visible' | 'all' | (() => Promise<ReadonlySet<string>>);

/**
 * The files of a folder on disk. The folder itself may be a symbolic link (git-sync swaps one); every call follows it
 * anew, so a tree opened once sees what the link points at now.
 *
 * Hidden folders are not entered. A link to a folder inside the tree is left to the folder's own path, and one that
 * leads out of the tree is listed as a file: whoever reads it is refused, and says so where it is named.
 *
 * The disk is asked synchronously on purpose: over 10,000 small files the thread pool costs ten times what the calls do.
 */
export function openDiskTree(directory: string, belonging: Belonging = 'visible'): FileTree {
  const root = resolvePath(directory);
  let tracked: Promise<ReadonlySet<string>> | undefined;
  const check = async (path: string, { inside }: Located) => {
    if (isInGitFolder(inside)) {
      throw new SourceError(`${path} is inside .git; use a file outside it`);
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
    list: async () => listFiles(root),
    read: async (path) => {
      const located = locate(root, path);
      if (located.inside !== path) {
        // A link could name what the manifests must not.
        await check(path, located);
      }
      return readInside(path, located);
    },
    resolve: async (path) => locate(root, path).inside,
    checkNamed: async (path) => check(path, locate(root, path)),
  };
}

/** A folder that begins with two dots is where Kubernetes keeps the files of a ConfigMap, each behind a link. */
function isHidden(inside: string): boolean {
  return inside.split('/').some((part) => part.startsWith('.') && !part.startsWith('..'));
}

function readInside(path: string, { real }: Located): Uint8Array {
  try {
    return readRegularFile(real, { limit: LARGEST_FILE, resolved: true });
  } catch (error) {
    throw new SourceError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Where a path really lies, on disk and inside the tree. */
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
    throw new SourceError(`${path} does not exist in ${root}`, { cause: error });
  }
  const inside = relativeInside(realRoot, real);
  if (inside === null) {
    throw new SourceError(
      `${path} is a symbolic link to a place outside ${root}; link to a file inside it, or copy the file there`,
    );
  }
  return { real, inside };
}

/** The path of `target` below `root` with forward slashes, or null when it is not below it. */
function relativeInside(root: string, target: string): string | null {
  const path = relative(root, target);
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) {
    return null;
  }
  return sep === '/' ? path : path.split(sep).join('/');
}

function listFiles(root: string): readonly FileEntry[] {
  const entries: FileEntry[] = [];
  try {
    walk(realpathSync.native(root), '', entries);
  } catch (error) {
    throw new SourceError(`cannot list ${root}: ${messageOf(error)}`, { cause: error });
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
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
      if (stats !== null) {
        entries.push({ path, size: stats.size, version: `${stats.mtimeMs}-${stats.ino}-${stats.size}` });
      }
    }
  }
}

/** What identifies a file's content, or null for what is no file: a link to a folder, a socket, a vanished file. */
function statsOf(entry: Dirent, full: string): Stats | null {
  if (entry.isFile()) {
    return lstatSync(full, { throwIfNoEntry: false }) ?? null;
  }
  if (!entry.isSymbolicLink()) {
    return null;
  }
  const target = followedStats(full);
  if (target === undefined) {
    // A broken link is listed: the loader reports it where it stands.
    return lstatSync(full, { throwIfNoEntry: false }) ?? null;
  }
  return target.isFile() ? target : null;
}

/** Undefined for a link that leads nowhere, or round in circles. */
function followedStats(full: string): Stats | undefined {
  try {
    return statSync(full, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
