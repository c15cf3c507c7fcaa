/** Compares a work tree with a commit and lists tracked files, without running filters. */
import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { MAX_FILE_BYTES, readRegularFile } from '../core/files/regular-file.ts';
import type { Repository } from './repository.ts';
import { type Git, OutputError, openGit } from './run.ts';

/** Milliseconds without output after which git is stopped. */
const TIMEOUT = 60_000;
/** Files that are compared before the event loop continues. */
const TURN = 100;

/** Files that match a commit, by path; unchanged files are not read again. */
export type KnownFiles = Map<string, string>;

interface TreeFile {
  readonly mode: string;
  readonly id: string;
}

/**
 * Returns true if files below a directory differ from a commit, or are new. Ignored files are skipped. A file that a
 * git filter such as LFS has changed counts as different: no filter runs, because a pull request can configure any.
 *
 * @param inside directory relative to the root of the repository; empty: the whole repository
 */
export async function hasChanges(
  repository: Repository,
  commit: string,
  inside: string,
  known: KnownFiles = new Map(),
): Promise<boolean> {
  const git = openGit({ repository, timeout: TIMEOUT });
  const options = ['--exclude-standard', '--directory', '--no-empty-directory'];
  const index = await git.raw(['ls-files', '--stage', '--others', '-t', ...options, '-z', ...below(inside)]);
  if (index.startsWith(NEW_FILE) || index.includes(`\0${NEW_FILE}`)) {
    return true;
  }
  const staged = readIndex(index);
  const committed = await listCommit(git, commit, inside, 2 * index.length + SLACK).catch((error) => {
    if (error instanceof OutputError) {
      return null;
    }
    throw error;
  });
  if (committed?.size !== staged.size) {
    return true;
  }
  for (const [path, { mode, id, isAbsent }] of staged) {
    const other = committed.get(path);
    if (other?.mode !== mode || other.id !== id) {
      return true;
    }
    if (isAbsent || mode === SUBMODULE) {
      committed.delete(path);
    }
  }
  return !(await areOnDisk(repository, committed, known));
}

/** Bytes by which the listing of a commit may exceed that of the index; a larger commit differs. */
const SLACK = 65_536;
/** Start of the line of a file that is not tracked. */
const NEW_FILE = '? ';
const SUBMODULE = '160000';
const LINK = '120000';

/**
 * Returns the tracked files below a directory, committed or staged, relative to that directory.
 *
 * @param inside directory relative to the root of the repository; empty: the whole repository
 */
export async function listTracked(repository: Repository, inside: string): Promise<ReadonlySet<string>> {
  const git = openGit({ repository, timeout: TIMEOUT });
  const staged = readIndex(await git.raw(['ls-files', '--stage', '-t', '-z', ...below(inside)]));
  const start = inside === '' ? 0 : inside.length + 1;
  return new Set([...staged.keys()].map((path) => path.slice(start)));
}

function below(inside: string): string[] {
  return inside === '' ? [] : ['--', `${inside}/`];
}

async function listCommit(git: Git, commit: string, inside: string, most: number): Promise<Map<string, TreeFile>> {
  const listed = await git.raw(['ls-tree', '-r', '-z', '--full-tree', commit, ...below(inside)], most);
  return new Map(
    listed.split('\0').flatMap((line) => {
      const [, mode = '', id = '', name = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      return mode === '' ? [] : [[name, { mode, id }] as const];
    }),
  );
}

/** Parses the index. `isAbsent`: excluded by a sparse checkout. */
function readIndex(listed: string) {
  return new Map(
    listed.split('\0').flatMap((line) => {
      const [, tag, mode = '', id = '', name = ''] = /^(\w) (\d+) ([0-9a-f]+) \d\t(.*)$/s.exec(line) ?? [];
      return mode === '' ? [] : [[name, { mode, id, isAbsent: tag === 'S' }] as const];
    }),
  );
}

async function areOnDisk(
  { root }: Repository,
  files: ReadonlyMap<string, TreeFile>,
  known: KnownFiles,
): Promise<boolean> {
  let turn = 0;
  for (const [path, file] of files) {
    if (!isOnDisk(root, path, file, known)) {
      return false;
    }
    turn += 1;
    if (turn % TURN === 0) {
      await new Promise((done) => setImmediate(done));
    }
  }
  return true;
}

function isOnDisk(root: string, path: string, { mode, id }: TreeFile, known: KnownFiles): boolean {
  const full = join(root, path);
  try {
    const stats = lstatSync(full);
    const seen = `${id} ${mode} ${versionOf(stats)}`;
    if (known.get(path) === seen) {
      return true;
    }
    const isSame =
      mode === LINK
        ? stats.isSymbolicLink() && isBlob(readlinkSync(full, 'buffer'), id)
        : stats.isFile() && isExecutable(stats) === (mode === '100755') && isFileBlob(full, id);
    if (isSame) {
      known.set(path, seen);
    }
    return isSame;
  } catch {
    // It does not exist, cannot be read, or is too large.
    return false;
  }
}

function versionOf({ mtimeMs, ctimeMs, ino, size }: Stats): string {
  return `${mtimeMs}-${ctimeMs}-${ino}-${size}`;
}

function isExecutable({ mode }: Stats): boolean {
  return (mode & 0o100) !== 0;
}

/** Ignores line endings that were converted on checkout, as git does on Windows. */
function isFileBlob(path: string, id: string): boolean {
  const content = readRegularFile(path, { limit: MAX_FILE_BYTES });
  return isBlob(content, id) || (content.includes('\r\n') && isBlob(withoutCarriageReturns(content), id));
}

function withoutCarriageReturns(content: Buffer): Buffer {
  return Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}

/** Returns true if the content has this id: a SHA-1, or a SHA-256 in repositories that use it. */
function isBlob(content: Buffer, id: string): boolean {
  const hash = createHash(id.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex') === id;
}
