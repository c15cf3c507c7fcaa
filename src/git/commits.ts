/** Reads, resolves and creates commits without touching the work tree. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceError } from '../core/errors.ts';
import { below, listCommit } from './objects.ts';
import { repositoryIn } from './repository.ts';
import { type Git, gitFailure, gitIn, isCommitId, openGit, tryGit } from './run.ts';

/** Returns the first line of a commit's message, and the email of its author as the commit claims it, or null. */
export async function describeCommit(
  git: Git,
  commit: string,
): Promise<{ readonly subject: string; readonly author: string | null }> {
  const text = await git.raw(['show', '--no-patch', '--format=%ae%x00%s', commit]);
  const [author = '', ...subject] = text.trimEnd().split('\0');
  return { subject: subject.join(' ').trim(), author: author === '' ? null : author };
}

/** Resolves a branch, tag, full ref, commit or expression such as `HEAD~1` to a commit; null if there is none. */
export function resolveRef(directory: string, ref: string): Promise<string | null> {
  return commitOf(directory, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]);
}

/** Returns the merge base of two commits; null if there is none, or the history of the clone is too short. */
export function mergeBase(directory: string, one: string, other: string): Promise<string | null> {
  return commitOf(directory, ['merge-base', '--end-of-options', one, other]);
}

/** Returns the commit that git prints; null if it fails. */
async function commitOf(directory: string, args: readonly string[]): Promise<string | null> {
  const commit = await answerOf(directory, args);
  return commit !== null && isCommitId(commit) ? commit : null;
}

/** Returns the trimmed output of git; null if it fails. */
async function answerOf(directory: string, args: readonly string[]): Promise<string | null> {
  try {
    return (await gitIn(directory).raw(args)).trim();
  } catch {
    return null;
  }
}

/** Returns the URL that a repository was cloned from, or null. It may contain a password; do not print it. */
export async function readOriginUrl(directory: string): Promise<string | null> {
  return (await answerOf(directory, ['remote', 'get-url', 'origin'])) || null;
}

/** Creates a repository in a directory, with the branch `main` and no commit. Throws SourceError. */
export async function initRepository(directory: string): Promise<void> {
  const git = openGit({ repository: repositoryIn(directory) });
  const args = ['init', '--quiet', '--template=', '--initial-branch=main'];
  await tryGit(`cannot create a git repository in ${directory}`, () => git.raw(args));
}

/** Returns `origin`, or the first other remote; null if there is none. */
export async function findRemote(directory: string): Promise<string | null> {
  const answer = await tryGit(`${directory} is not in a git repository`, async () => gitIn(directory).raw(['remote']));
  const names = answer.split('\n').filter((name) => name !== '' && !name.startsWith('-'));
  return names.includes('origin') ? 'origin' : (names[0] ?? null);
}

export interface Author {
  readonly name: string;
  readonly email: string;
}

/** File that a commit changes. Blobs are ids; null: the file does not exist. */
interface FileChange {
  readonly path: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** Mode of a file that is not a symbolic link. */
const REGULAR = /^100\d{3}$/;

/** Tree based on that of a commit. */
export interface NewTree {
  readonly id: string;
  readonly changes: readonly FileChange[];
}

/** Commit that was read. */
interface ReadCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** Changes compared with its first parent. */
  readonly changes: readonly FileChange[];
}

/**
 * Creates the tree of a commit with new contents for some of its existing files. Writes only objects: it uses a
 * separate index and runs no filters of the repository. Throws SourceError.
 */
export async function makeTree(
  directory: string,
  commit: string,
  texts: ReadonlyMap<string, string>,
): Promise<NewTree> {
  const scratch = await mkdtemp(join(tmpdir(), 'octavo-index-'));
  const git = (input?: string) =>
    gitIn(directory, {
      env: { GIT_INDEX_FILE: join(scratch, 'index') },
      ...(input === undefined ? {} : { input }),
    });
  try {
    await git().raw(['read-tree', `${commit}^{tree}`]);
    const files = await listCommit(git(), commit);
    const lines: string[] = [];
    for (const [path, text] of texts) {
      const mode = files.get(path)?.mode;
      if (mode === undefined || !REGULAR.test(mode)) {
        throw new SourceError(`${path} is not a file in ${commit.slice(0, 7)}`);
      }
      const blob = (await git(text).raw(['hash-object', '-w', '--stdin'])).trim();
      lines.push(`${mode} ${blob}\t${path}\0`);
    }
    await git(lines.join('')).raw(['update-index', '-z', '--index-info']);
    const id = (await git().raw(['write-tree'])).trim();
    return { id, changes: await changesBetween(directory, commit, id) };
  } catch (error) {
    throw gitFailure(`cannot write a tree on top of ${commit.slice(0, 7)}`, error);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Commits a tree on top of another commit; no ref moves. Throws SourceError. */
export async function commitTree(
  directory: string,
  { tree, parent, message, author }: { tree: string; parent: string; message: string; author: Author },
): Promise<string> {
  const config = [`user.name=${author.name}`, `user.email=${author.email}`];
  const made = await tryGit(`cannot commit on top of ${parent.slice(0, 7)}`, async () =>
    gitIn(directory, { config, input: message }).raw(['commit-tree', tree, '-p', parent, '-F', '-']),
  );
  return made.trim();
}

/** Reads a commit and its changes. Throws SourceError. */
export function readCommit(directory: string, commit: string): Promise<ReadCommit> {
  return tryGit(`cannot read ${commit.slice(0, 7)}`, async () => {
    const raw = await gitIn(directory).raw(['cat-file', 'commit', commit]);
    const [head = ''] = raw.split('\n\n', 1);
    const of = (name: string) =>
      head.split('\n').flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1)] : []));
    const parents = of('parent').filter(isCommitId);
    const [first] = parents;
    return {
      tree: of('tree')[0] ?? '',
      parents,
      message: raw.slice(head.length + 2),
      changes: first === undefined ? [] : await changesBetween(directory, first, commit),
    };
  });
}

/** Returns true if a commit is in the history of another. */
export async function isAncestor(directory: string, commit: string, history: string): Promise<boolean> {
  return (await answerOf(directory, ['merge-base', '--is-ancestor', commit, history])) !== null;
}

/** Returns true if the clone is shallow, so that {@link isAncestor} may miss a commit. */
export async function isShallow(directory: string): Promise<boolean> {
  return (await answerOf(directory, ['rev-parse', '--is-shallow-repository'])) === 'true';
}

/** Returns the author that git is configured with; null if there is none. */
export async function configuredAuthor(directory: string): Promise<Author | null> {
  const [name, email] = await Promise.all(
    ['user.name', 'user.email'].map((key) => answerOf(directory, ['config', '--get', key])),
  );
  return name && email ? { name, email } : null;
}

async function changesBetween(directory: string, one: string, other: string): Promise<readonly FileChange[]> {
  const git = gitIn(directory);
  const answer = await git.raw(['diff-tree', '-r', '-z', '--no-renames', '--full-index', one, other]);
  const parts = answer.split('\0');
  const changes: FileChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, from = '', to = ''] = /^:\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) /.exec(parts[at] ?? '') ?? [];
    changes.push({ path: parts[at + 1] ?? '', from: blobId(from), to: blobId(to) });
  }
  return changes;
}

function blobId(id: string): string | null {
  return /^0*$/.test(id) ? null : id;
}

/** People who wrote commits. */
export interface CommitAuthors {
  /** Emails of authors, committers and co-authors, in lower case. */
  readonly emails: ReadonlySet<string>;
  /** False if there are more commits than were read. */
  readonly isComplete: boolean;
}

/** Range of commits: those that only one of the two commits has in its history. */
export interface CommitRange {
  /** Null: the whole history of `to`. */
  readonly from: string | null;
  readonly to: string;
}

/** Maximum number of commits that are read, the newest ones, and bytes of what is read of them. */
export const MAX_COMMITS = 1000;

const MAX_BYTES = 16 * 1_048_576;

const FORMAT = '%H%n%ae%n%ce%n%(trailers:key=Co-authored-by,valueonly,unfold)';

interface CommitPeople {
  readonly commit: string;
  readonly emails: readonly string[];
}

/**
 * Reads who wrote the commits of a range, and the commit `to` in any case. If `from` is not an ancestor of `to`, because
 * the branch was force-pushed, the commits that were removed count too. If `from` no longer exists, the whole history of
 * `to` counts. Returns null if the history is not complete (a shallow clone) or cannot be read.
 */
export async function readCommitAuthors(git: Git, { from, to }: CommitRange): Promise<CommitAuthors | null> {
  const list = async (...revisions: readonly string[]) => {
    const options = ['-z', `--format=${FORMAT}`, `--max-count=${MAX_COMMITS + 1}`];
    return commitsIn(await git.raw(['log', ...options, ...revisions, '--'], MAX_BYTES));
  };
  try {
    if ((await git.raw(['rev-parse', '--is-shallow-repository'])).trim() !== 'false') {
      return null;
    }
    const range = from === null ? null : await list(`${from}...${to}`).catch(() => null);
    const commits = range ?? (await list(to));
    const newest = commits.slice(0, MAX_COMMITS);
    const own = newest.some(({ commit }) => commit === to) ? [] : await list('--no-walk', to);
    return {
      emails: new Set([...newest, ...own].flatMap(({ emails }) => emails)),
      isComplete: commits.length <= MAX_COMMITS,
    };
  } catch {
    return null;
  }
}

/** Reads the output of `git log`. */
function commitsIn(output: string): readonly CommitPeople[] {
  return output
    .split('\0')
    .filter((text) => text !== '')
    .map((text) => {
      const [commit = '', author = '', committer = '', ...coAuthors] = text.split('\n');
      const people = [author, committer, ...coAuthors.map(emailIn)];
      return { commit, emails: people.map(normalizeEmail).filter((email) => email !== '') };
    });
}

/** Returns the email of `Name <email>`; the whole text if it has no brackets. */
function emailIn(person: string): string {
  return /<([^<>]*)>[^<>]*$/.exec(person)?.[1] ?? person;
}

/** Returns the form in which emails are compared. */
export function normalizeEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** A commit, with its author as the commit claims it. */
export interface LoggedCommit {
  readonly id: string;
  readonly author: Author;
  /** Time at which it was committed, in ISO 8601. */
  readonly at: string;
  readonly subject: string;
}

/**
 * Lists the commits of a branch after `from`, oldest first, that change something below a directory of the repository; a
 * merge counts as one commit. Throws SourceError, also if there are more than {@link MAX_COMMITS}.
 */
export async function listCommits(
  directory: string,
  from: string,
  to: string,
  inside: string,
): Promise<readonly LoggedCommit[]> {
  const format = '--format=%H%n%an%n%ae%n%cI%n%s';
  const limit = `--max-count=${MAX_COMMITS + 1}`;
  const range = ['--first-parent', '--end-of-options', `${from}..${to}`, ...below(inside === '.' ? '' : inside)];
  const output = await tryGit(`cannot list the commits since ${from.slice(0, 7)}`, () =>
    gitIn(directory).raw(['log', '-z', format, limit, ...range], MAX_BYTES),
  );
  const commits = output.split('\0').flatMap((text): readonly LoggedCommit[] => {
    const [id = '', name = '', email = '', at = '', ...subject] = text.trim().split('\n');
    return id === '' ? [] : [{ id, author: { name, email }, at, subject: subject.join(' ') }];
  });
  if (commits.length > MAX_COMMITS) {
    throw new SourceError(`more than ${MAX_COMMITS} commits since ${from.slice(0, 7)}; name a later commit`);
  }
  return commits.toReversed();
}
