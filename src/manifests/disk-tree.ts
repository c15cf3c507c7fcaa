import type { Dirent } from 'node:fs';
import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve as resolvePath, sep } from 'node:path';
import { messageOf, SourceError } from '../core/errors.ts';
import type { FileEntry, FileTree } from '../core/file-tree.ts';

/**
 * The files of a folder on disk. The folder itself may be a symbolic link (git-sync swaps one); every call follows it
 * anew, so a tree opened once sees what the link points at now.
 *
 * Hidden folders are not entered. A link to a folder inside the tree is left to the folder's own path, and one that
 * leads out of the tree is listed as a file: whoever reads it is refused, and says so where it is named.
 */
export function openDiskTree(directory: string): FileTree {
  const root = resolvePath(directory);
  return {
    label: directory,
    list: async () => listFiles(root),
    read: async (path) => {
      const { real } = await locate(root, path);
      return readFile(real).catch((error) => {
        throw new SourceError(`cannot read ${path}: ${messageOf(error)}`, { cause: error });
      });
    },
    resolve: async (path) => (await locate(root, path)).inside,
  };
}

/** Where a path really lies, on disk and inside the tree. */
async function locate(root: string, path: string): Promise<{ real: string; inside: string }> {
  const lexical = relativeInside(root, resolvePath(root, path));
  if (lexical === null || isAbsolute(path)) {
    throw new SourceError(`${path} lies outside ${root}; name a file inside it`);
  }
  let realRoot: string;
  let real: string;
  try {
    realRoot = await realpath(root);
    real = await realpath(resolvePath(realRoot, lexical));
  } catch (error) {
    throw new SourceError(`${path} is not there: no such file in ${root}`, { cause: error });
  }
  const inside = relativeInside(realRoot, real);
  if (inside === null) {
    throw new SourceError(`${path} is a symbolic link that leaves ${root}; link inside it, or put the file there`);
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

/**
 * Lists synchronously on purpose: for 10,000 files the thread pool's promises cost several times what the calls do,
 * and nothing else can start before the list is there.
 */
function listFiles(root: string): readonly FileEntry[] {
  const entries: FileEntry[] = [];
  try {
    walk(realpathSync(root), '', entries);
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
