import { posix } from 'node:path';
import { SourceError } from '../core/errors.ts';
import type { FileEntry, FileTree } from '../core/files/file-tree.ts';
import { LARGEST_FILE } from '../core/files/regular-file.ts';
import { followLinks } from './links.ts';
import { requireRepository } from './repository.ts';
import { gitFailure, openGit } from './run.ts';
import { LARGEST_LISTING } from './tree-size.ts';

/** No run over a local repository takes longer, in milliseconds of silence. */
const TIMEOUT = 60_000;
/** How much is read ahead of a file: readers mostly go through a tree in order. Files, and bytes. */
const AHEAD = { files: 1_000, bytes: 16_000_000 } as const;

/** Bytes of a path, as file systems take them: a link that is longer leads nowhere. */
const LONGEST_TARGET = 4096;

interface Blob {
  readonly path: string;
  readonly id: string;
  readonly size: number;
}

/**
 * The files below `path` in the commit that `ref` names, without touching the working tree; none where the commit has
 * no such folder. Symbolic links are links: their targets are looked up in the same commit, never on disk. Takes a few
 * processes, also for many thousand files. Throws SourceError when there is no such ref.
 */
export async function readTreeAt(repository: string, ref: string, path: string): Promise<FileTree> {
  const commit = await resolveCommit(repository, ref);
  const { blobs, links, linkBlobs } = await listBlobs(repository, commit, normalize(path));
  const read = openReader(repository, [...blobs.values()]);
  const locate = (name: string): Blob => {
    const blob = blobs.get(followLinks(name, links));
    if (blob === undefined) {
      throw new SourceError(`${name} does not exist in ${ref}`);
    }
    if (blob.size > LARGEST_FILE) {
      throw new SourceError(`${name} has ${blob.size} bytes, more than the limit of ${LARGEST_FILE}`);
    }
    return blob;
  };
  return {
    label: ref,
    list: async () => listEntries(blobs, links, linkBlobs),
    read: async (name) => read(locate(name)),
    resolve: async (name) => locate(name).path,
    // What a commit holds is tracked; a `.git` in it, which no git would commit, is refused for every tree.
    checkNamed: async () => undefined,
  };
}

function normalize(path: string): string {
  const folder = posix.normalize(path).replace(/\/$/, '');
  if (folder.startsWith('..') || folder.startsWith('/')) {
    throw new SourceError(`${path} is outside the repository; pass a directory inside it`);
  }
  return folder === '.' ? '' : folder;
}

async function resolveCommit(repository: string, ref: string): Promise<string> {
  try {
    const git = openGit({ repository: requireRepository(repository), timeout: TIMEOUT });
    return (await git.raw(['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`])).trim();
  } catch (error) {
    throw gitFailure(`cannot read ${JSON.stringify(ref)} in ${repository}`, error);
  }
}

interface Listing {
  /** By path. */
  readonly blobs: ReadonlyMap<string, Blob>;
  /** Link targets by path. */
  readonly links: ReadonlyMap<string, string>;
  readonly linkBlobs: readonly Blob[];
}

async function listBlobs(repository: string, commit: string, folder: string): Promise<Listing> {
  const git = openGit({ repository: requireRepository(repository), timeout: TIMEOUT });
  const lines = await git
    .raw(
      ['ls-tree', '-r', '-z', '-l', '--full-tree', commit, ...(folder === '' ? [] : ['--', `${folder}/`])],
      LARGEST_LISTING,
    )
    .catch((error) => {
      throw gitFailure(`cannot list ${commit.slice(0, 7)} in ${repository}`, error);
    });
  const blobs = new Map<string, Blob>();
  const linkBlobs: Blob[] = [];
  const seen = new Set<string>();
  for (const line of lines.split('\0')) {
    const [, mode, type, id = '', size, full = ''] = /^(\d+) (\w+) ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
    if (type !== 'blob') {
      continue;
    }
    const path = folder === '' ? full : full.slice(folder.length + 1);
    const blob = { path, id, size: Number(size) };
    if (seen.has(path)) {
      throw new SourceError(
        `commit ${commit.slice(0, 7)} has ${path} twice; the commit is malformed (check with git fsck)`,
      );
    }
    seen.add(path);
    if (mode === '120000' && blob.size <= LONGEST_TARGET) {
      linkBlobs.push(blob);
    } else {
      blobs.set(path, blob);
    }
  }
  const targets = await readBlobs(repository, linkBlobs);
  return { blobs, linkBlobs, links: new Map(linkBlobs.map(({ path, id }) => [path, String(targets.get(id))])) };
}

/** As a disk would show them: links to files are files, links to folders are left to the folder's own path. */
function listEntries(
  blobs: Listing['blobs'],
  links: Listing['links'],
  linkBlobs: readonly Blob[],
): readonly FileEntry[] {
  const entries = [...blobs.values()].map(({ path, id, size }) => ({ path, size, version: id }));
  const folders = foldersOf(linkBlobs.length > 0 ? blobs.keys() : []);
  for (const link of linkBlobs) {
    const target = targetOf(link.path, links);
    const blob = target === null ? undefined : blobs.get(target);
    if (blob !== undefined || target === null || !folders.has(target)) {
      // What a link says changes with its target, so its version is the target's; a broken one is listed as itself.
      entries.push({ path: link.path, size: blob?.size ?? link.size, version: blob?.id ?? link.id });
    }
  }
  return entries.filter(({ path }) => !isHidden(path)).sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** Null: it leaves the tree; whoever reads it is refused. */
function targetOf(path: string, links: Listing['links']): string | null {
  try {
    return followLinks(path, links);
  } catch {
    return null;
  }
}

/** Every folder that has a file somewhere below it. */
function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set(['']);
  for (const path of paths) {
    for (let folder = posix.dirname(path); folder !== '.' && !folders.has(folder); folder = posix.dirname(folder)) {
      folders.add(folder);
    }
  }
  return folders;
}

/** Whether it lies in a hidden folder; a hidden file is a file. */
function isHidden(path: string): boolean {
  return path.startsWith('.') ? path.includes('/') : /\/\.[^/]*\//.test(path);
}

/**
 * Reads blobs, many for each process: what is asked for in the same turn goes together, and what follows in the list
 * with the same extension is read ahead.
 */
function openReader(repository: string, blobs: readonly Blob[]): (blob: Blob) => Promise<Uint8Array> {
  const sorted = blobs.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const ahead = new Map<string, Promise<ReadonlyMap<string, Uint8Array>>>();
  let asked: Blob[] = [];
  let flush: Promise<ReadonlyMap<string, Uint8Array>> | null = null;
  const startFlush = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const wanted = withFollowing(asked, sorted, ahead);
    const reading = readBlobs(repository, wanted);
    for (const blob of wanted) {
      ahead.set(blob.id, reading);
    }
    asked = [];
    flush = null;
    return reading;
  };
  return async (blob) => {
    const known = ahead.get(blob.id);
    if (known === undefined) {
      asked.push(blob);
      flush ??= startFlush();
    }
    const content = (await (known ?? flush))?.get(blob.id);
    if (content === undefined) {
      throw new SourceError(`cannot read ${blob.path}: git did not return it`);
    }
    return content;
  };
}

function withFollowing(
  asked: readonly Blob[],
  sorted: readonly Blob[],
  ahead: ReadonlyMap<string, unknown>,
): readonly Blob[] {
  const last = asked.at(-1);
  const extension = posix.extname(last?.path ?? '');
  const start = last === undefined ? sorted.length : sorted.indexOf(last) + 1;
  const wanted = new Map(asked.map((blob) => [blob.id, blob]));
  let bytes = 0;
  for (const blob of sorted.slice(start)) {
    if (wanted.size >= asked.length + AHEAD.files || bytes + blob.size > AHEAD.bytes) {
      break;
    }
    if (posix.extname(blob.path) === extension && !ahead.has(blob.id)) {
      wanted.set(blob.id, blob);
      bytes += blob.size;
    }
  }
  return [...wanted.values()];
}

/** The contents by blob id, from one `git cat-file --batch`. */
async function readBlobs(repository: string, blobs: readonly Blob[]): Promise<ReadonlyMap<string, Uint8Array>> {
  const contents = new Map<string, Uint8Array>();
  if (blobs.length === 0) {
    return contents;
  }
  const input = `${blobs.map(({ id }) => id).join('\n')}\n`;
  const git = openGit({ repository: requireRepository(repository), timeout: TIMEOUT, input });
  const output = await git.bytes(['--batch']).catch((error) => {
    throw gitFailure(`cannot read files in ${repository}`, error);
  });
  for (let offset = 0; offset < output.length; ) {
    const end = output.indexOf(10, offset);
    const [id = '', type, size] = output.toString('latin1', offset, end).split(' ');
    if (type !== 'blob') {
      throw new SourceError(`cannot read ${id} in ${repository}: the object is missing`);
    }
    contents.set(id, output.subarray(end + 1, end + 1 + Number(size)));
    offset = end + 1 + Number(size) + 1;
  }
  return contents;
}
