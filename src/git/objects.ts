/** Reads objects of a repository, many with one process, and the files of a commit without checking it out. */
import { posix } from 'node:path';
import { SourceError } from '../core/errors.ts';
import { MAX_FILE_BYTES } from '../core/files/disk.ts';
import type { FileEntry, FileTree } from '../core/files/file-tree.ts';
import { compareText } from '../core/lists.ts';
import { orNull } from './repository.ts';
import { type Git, type GitOptions, gitIn, tryGit } from './run.ts';

/** Opens git on the repository of the objects. */
type OpenGit = (options: Pick<GitOptions, 'input'>) => Git;

interface ObjectInfo {
  readonly id: string;
  readonly type: string;
}

interface GitObject extends ObjectInfo {
  readonly content: Buffer;
}

/** Finds objects by names such as `main^{commit}`; null for an object that does not exist. */
export async function findObjects(open: OpenGit, names: readonly string[]): Promise<readonly (ObjectInfo | null)[]> {
  const output = await open({ input: linesOf(names) }).raw(['cat-file', '--batch-check']);
  const lines = output.split('\n');
  return names.map((_, index) => {
    const [, id, type] = /^([0-9a-f]+) (\w+) \d+$/.exec(lines[index] ?? '') ?? [];
    return id === undefined || type === undefined ? null : { id, type };
  });
}

/** Reads objects by names such as `main^{commit}`, in their order. Throws if an object does not exist. */
export async function readObjects(open: OpenGit, names: readonly string[]): Promise<readonly GitObject[]> {
  const output = await open({ input: linesOf(names) }).bytes(['--batch']);
  const objects: GitObject[] = [];
  for (let offset = 0; offset < output.length; ) {
    const end = output.indexOf(10, offset);
    const line = output.toString('utf8', offset, end);
    const [, id = '', type = '', size] = /^([0-9a-f]+) (\w+) (\d+)$/.exec(line) ?? [];
    if (size === undefined) {
      throw new Error(`the object ${names[objects.length]} does not exist; check the repository with git fsck`);
    }
    objects.push({ id, type, content: output.subarray(end + 1, end + 1 + Number(size)) });
    offset = end + 1 + Number(size) + 1;
  }
  return objects;
}

/** Returns the input of `git cat-file`. A name with a line break would be read as two names. */
function linesOf(names: readonly string[]): string {
  return names.map((name) => `${name.replaceAll('\n', '\ufffd')}\n`).join('');
}

/** File of a commit. */
export interface TreeFile {
  readonly mode: string;
  readonly id: string;
}

/**
 * Returns the files of a commit by path. `inside`: only those below this directory of the repository; empty: all. Throws
 * OutputError if their listing has more than `most` bytes.
 */
export async function listCommit(git: Git, commit: string, inside = '', most?: number): Promise<Map<string, TreeFile>> {
  const listed = await git.raw(['ls-tree', '-r', '-z', '--full-tree', commit, ...below(inside)], most);
  return new Map(
    listed.split('\0').flatMap((line) => {
      const [, mode = '', id = '', name = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return mode === '' ? [] : [[name, { mode, id }] as const];
    }),
  );
}

/** Returns the arguments that select what is below a directory of the repository; empty: everything. */
export function below(inside: string): string[] {
  return inside === '' ? [] : ['--', `${inside}/`];
}

/** Limits of a commit. */
const LIMITS = { files: 250_000, bytes: 4 * 1024 ** 3 } as const;

/** Maximum bytes of a listing, for about the maximum number of files. */
const MAX_LISTING_SIZE = 32 * 1_048_576;

/** Throws SourceError for a commit with more files or bytes than the limits. */
export async function checkTreeSize(git: Git, commit: string) {
  const listed = await tryGit(`cannot list the files of commit ${commit.slice(0, 7)}`, () =>
    git.raw(['ls-tree', '-r', '-l', '-z', '--full-tree', commit], MAX_LISTING_SIZE),
  );
  let files = 0;
  let bytes = 0;
  for (const [, size] of listed.matchAll(/(?:^|\0)\d+ blob [0-9a-f]+ +(\d+)\t/g)) {
    files += 1;
    bytes += Number(size);
  }
  if (files > LIMITS.files || bytes > LIMITS.bytes) {
    const gigabytes = Math.ceil(bytes / 1024 ** 3);
    throw new SourceError(
      `commit ${commit.slice(0, 7)} has ${files} files with ${gigabytes} GB, more than the limit ` +
        `(${LIMITS.files} files, ${LIMITS.bytes / 1024 ** 3} GB); move the manifests to a separate repository`,
    );
  }
}

/** Limits on reading ahead, because most readers go through a tree in order. */
const AHEAD = { files: 1_000, bytes: 16_000_000 } as const;

/** Maximum bytes of a link target; a longer one is broken on any file system. */
const MAX_TARGET_LENGTH = 4096;

interface Blob {
  readonly path: string;
  readonly id: string;
  readonly size: number;
}

/**
 * Reads the files below `path` in the commit of `ref` without touching the work tree; none if the commit has no such
 * directory. Symbolic links are resolved in the same commit, never on disk. Needs only a few processes, even for many
 * thousand files. Throws SourceError if the ref does not exist.
 */
export async function readTreeAt(repository: string, ref: string, path: string): Promise<FileTree> {
  const { blobs, links, linkBlobs } = await listBlobs(repository, ref, normalize(path));
  const read = openReader(repository, [...blobs.values()]);
  const locate = (name: string): Blob => {
    const blob = blobs.get(followLinks(name, links));
    if (blob === undefined) {
      throw new SourceError(`${name} does not exist in ${ref}`);
    }
    if (blob.size > MAX_FILE_BYTES) {
      throw new SourceError(`${name} has ${blob.size} bytes, more than the limit of ${MAX_FILE_BYTES}`);
    }
    return blob;
  };
  return {
    label: ref,
    list: async () => listEntries(blobs, links, linkBlobs),
    read: async (name) => read(locate(name)),
    resolve: async (name) => locate(name).path,
    // Files of a commit are tracked. A `.git`, which git would not commit, is refused for every tree.
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

interface Listing {
  /** Blobs by path. */
  readonly blobs: ReadonlyMap<string, Blob>;
  /** Link targets by path. */
  readonly links: ReadonlyMap<string, string>;
  readonly linkBlobs: readonly Blob[];
}

async function listBlobs(repository: string, ref: string, folder: string): Promise<Listing> {
  const git = gitIn(repository);
  const args = ['ls-tree', '-r', '-z', '-l', '--full-tree', '--end-of-options', `${ref}^{commit}`, ...below(folder)];
  const lines = await tryGit(`cannot read ${JSON.stringify(ref)} in ${repository}`, () =>
    git.raw(args, MAX_LISTING_SIZE),
  );
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
      throw new SourceError(`${ref} has ${path} twice; the commit is malformed (check with git fsck)`);
    }
    seen.add(path);
    if (mode === '120000' && blob.size <= MAX_TARGET_LENGTH) {
      linkBlobs.push(blob);
    } else {
      blobs.set(path, blob);
    }
  }
  const targets = await readBlobs(repository, linkBlobs);
  return { blobs, linkBlobs, links: new Map(linkBlobs.map(({ path, id }) => [path, String(targets.get(id))])) };
}

/** Lists files as on disk: links to files are files; links to directories are omitted. */
function listEntries(
  blobs: Listing['blobs'],
  links: Listing['links'],
  linkBlobs: readonly Blob[],
): readonly FileEntry[] {
  const entries = Array.from(blobs.values(), ({ path, id, size }) => ({ path, size, version: id }));
  const folders = foldersOf(linkBlobs.length > 0 ? blobs.keys() : []);
  for (const link of linkBlobs) {
    // Null if it leaves the tree, in which case reading it fails.
    const target = orNull(() => followLinks(link.path, links));
    const blob = target === null ? undefined : blobs.get(target);
    if (blob !== undefined || target === null || !folders.has(target)) {
      // A link's content changes with its target, so it has the target's version; a broken link is listed as itself.
      entries.push({ path: link.path, size: blob?.size ?? link.size, version: blob?.id ?? link.id });
    }
  }
  return entries.filter(({ path }) => !isHidden(path)).sort((a, b) => compareText(a.path, b.path));
}

/** Returns every directory that contains a file at any depth. */
function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set(['']);
  for (const path of paths) {
    for (let folder = posix.dirname(path); folder !== '.' && !folders.has(folder); folder = posix.dirname(folder)) {
      folders.add(folder);
    }
  }
  return folders;
}

/** Returns true for files in a hidden directory; a hidden file itself is not excluded. */
function isHidden(path: string): boolean {
  return path.startsWith('.') ? path.includes('/') : /\/\.[^/]*\//.test(path);
}

/**
 * Reads blobs, many with each process: requests in the same turn of the event loop are combined, and the following
 * files with the same extension are read ahead.
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

/** Reads blobs with one `git cat-file --batch`; returns their contents by id. */
async function readBlobs(repository: string, blobs: readonly Blob[]): Promise<ReadonlyMap<string, Uint8Array>> {
  if (blobs.length === 0) {
    return new Map();
  }
  const names = blobs.map(({ id }) => id);
  const objects = await tryGit(`cannot read files in ${repository}`, () =>
    readObjects((options) => gitIn(repository, options), names),
  );
  return new Map(objects.map(({ id, content }) => [id, content]));
}

/** Maximum links in a row, as in Linux. */
const MAX_LINKS = 40;

/**
 * Follows symbolic links inside a tree, as a file system would; `links` has the targets by path. Pure. Throws
 * SourceError if a link leaves the tree or is circular.
 */
function followLinks(path: string, links: ReadonlyMap<string, string>): string {
  let waiting = parts(path);
  const done: string[] = [];
  let followed = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (next === '..') {
      if (done.pop() === undefined) {
        throw new SourceError(`${path} is outside the repository; use a file inside it`);
      }
      continue;
    }
    done.push(next);
    const target = links.get(done.join('/'));
    if (target === undefined) {
      continue;
    }
    followed += 1;
    if (followed > MAX_LINKS) {
      throw new SourceError(`${path} is a circular symbolic link; replace it with a file`);
    }
    if (posix.isAbsolute(target)) {
      throw new SourceError(
        `${path} is a symbolic link to ${target}, outside the repository; link to a file inside it`,
      );
    }
    done.pop();
    waiting = [...parts(target), ...waiting];
  }
  return done.join('/');
}

function parts(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
