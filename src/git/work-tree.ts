/** Compares a work tree with its commit and lists tracked files, without running filters. */
import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { MAX_FILE_BYTES, readRegularFile } from '../core/files/disk.ts';
import { resolveRef } from './commits.ts';
import { below, listCommit, type TreeFile } from './objects.ts';
import { commonDir, findRepository, orNull, type Repository } from './repository.ts';
import { isCommitId, OutputError, openGit, tryGit } from './run.ts';

/** Commit that is checked out in a directory. */
export interface Head {
  /** Full id. */
  readonly commit: string;
  /** True if files below the directory differ from the commit, or are new. */
  readonly dirty: boolean;
  /** Root directory of the repository. */
  readonly root: string;
}

/**
 * Returns the commit that is checked out in a directory; null outside of a repository, or if it has no commit.
 *
 * @param known results of earlier comparisons, for repeated calls
 */
export async function readHead(directory: string, known?: KnownFiles): Promise<Head | null> {
  const repository = findRepository(directory);
  if (repository === null) {
    return null;
  }
  const { root } = repository;
  const commit = readHeadCommit(repository) ?? (await resolveRef(root, 'HEAD'));
  if (commit === null) {
    return null;
  }
  try {
    return { commit, dirty: await hasChanges(repository, commit, insideOf(root, directory), known), root };
  } catch {
    return null;
  }
}

/** Returns the tracked files below a directory, relative to it; null outside of a repository. Throws SourceError. */
export async function listTrackedFiles(directory: string): Promise<ReadonlySet<string> | null> {
  const repository = findRepository(directory);
  if (repository === null) {
    return null;
  }
  return tryGit(`cannot list the files that git tracks in ${directory}`, async () => {
    const inside = insideOf(repository.root, directory);
    const args = ['ls-files', '--stage', '-t', '-z', ...below(inside)];
    const staged = readIndex(await openGit({ repository }).raw(args));
    const start = inside === '' ? 0 : inside.length + 1;
    return new Set([...staged.keys()].map((path) => path.slice(start)));
  });
}

/** Returns the root of the repository of a directory, following links; null if there is none. */
export function findRepositoryRoot(directory: string): string | null {
  return findRepository(directory)?.root ?? null;
}

function insideOf(root: string, directory: string): string {
  return relative(root, realpathSync.native(directory)).split(sep).join('/');
}

/** Maximum bytes of HEAD and of a branch's file. */
const MAX_REF_LENGTH = 4096;

/** Maximum bytes of `packed-refs`; git reads a larger one faster. */
const MAX_PACKED_SIZE = 1_048_576;

/** A branch whose name cannot lead out of `refs/heads`. */
const BRANCH = /^ref: (refs\/heads(?:\/(?!\.)[^/\0-\x20~^:?*[\\\x7f]+)+)$/;

/**
 * Returns the commit of HEAD, or null if only git can tell: for a branch without commits, for refs that refer to other
 * refs, and for other formats of refs (reftable).
 */
export function readHeadCommit({ gitDir }: Repository): string | null {
  const head = readLine(join(gitDir, 'HEAD'));
  if (head === null || isCommitId(head)) {
    return head;
  }
  const branch = BRANCH.exec(head)?.[1];
  if (branch === undefined) {
    return null;
  }
  const common = commonDir(gitDir);
  // In this order, as in git: packing refs writes the packed file before it removes the others.
  const commit = readLine(join(common, branch)) ?? packedCommit(common, branch);
  return commit !== null && isCommitId(commit) ? commit : null;
}

function packedCommit(common: string, branch: string): string | null {
  const packed = readText(join(common, 'packed-refs'), MAX_PACKED_SIZE) ?? '';
  const line = packed.split('\n').find((each) => each.endsWith(` ${branch}`));
  return line?.slice(0, -branch.length - 1) ?? null;
}

function readLine(path: string): string | null {
  return readText(path, MAX_REF_LENGTH)?.replace(/\n$/, '') ?? null;
}

function readText(path: string, limit: number): string | null {
  return orNull(() => readRegularFile(path, { limit }).toString('utf8'));
}

/** Files that are compared before the event loop continues. */
const TURN = 100;

/** Files that match a commit, by path; unchanged files are not read again. */
export type KnownFiles = Map<string, string>;

/**
 * Returns true if files below a directory differ from a commit, or are new. Ignored files are skipped. A file that a
 * git filter such as LFS has changed counts as different: no filter runs, because a pull request can configure any.
 *
 * @param inside directory relative to the root of the repository; empty: the whole repository
 */
async function hasChanges(
  repository: Repository,
  commit: string,
  inside: string,
  known: KnownFiles = new Map(),
): Promise<boolean> {
  const git = openGit({ repository });
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
