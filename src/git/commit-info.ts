// Reads information about the repository and the commit of a directory.
import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { readHeadCommit } from './head-commit.ts';
import { findRepository, repositoryIn, requireRepository } from './repository.ts';
import { type Git, gitFailure, openGit } from './run.ts';
import { isCommitId } from './safe-names.ts';
import { hasChanges, type KnownFiles, listTracked } from './work-tree.ts';

/** Milliseconds without output after which git is stopped. */
const TIMEOUT = 60_000;

/** Programs at the remote; override those in the repository's settings. */
export const OWN_UPLOAD_PACK = '--upload-pack=git-upload-pack';
export const OWN_RECEIVE_PACK = '--receive-pack=git-receive-pack';

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
  try {
    return repository === null ? null : await listTracked(repository, insideOf(repository.root, directory));
  } catch (error) {
    throw gitFailure(`cannot list the files that git tracks in ${directory}`, error);
  }
}

/** Returns the root of the repository of a directory, following links; null if there is none. */
export function findRepositoryRoot(directory: string): string | null {
  return findRepository(directory)?.root ?? null;
}

function insideOf(root: string, directory: string): string {
  return relative(root, realpathSync.native(directory)).split(sep).join('/');
}

function gitIn(directory: string): Git {
  return openGit({ repository: requireRepository(directory), timeout: TIMEOUT });
}

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
export async function resolveRef(directory: string, ref: string): Promise<string | null> {
  try {
    const git = gitIn(directory);
    const commit = (await git.raw(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** Returns the merge base of two commits; null if there is none, or the history of the clone is too short. */
export async function mergeBase(directory: string, one: string, other: string): Promise<string | null> {
  try {
    const git = gitIn(directory);
    const commit = (await git.raw(['merge-base', '--end-of-options', one, other])).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** Returns the URL that a repository was cloned from, or null. It may contain a password; do not print it. */
export async function readOriginUrl(directory: string): Promise<string | null> {
  try {
    const git = gitIn(directory);
    return (await git.raw(['remote', 'get-url', 'origin'])).trim() || null;
  } catch {
    return null;
  }
}

/** Creates a repository in a directory, with the branch `main` and no commit. Throws SourceError. */
export async function initRepository(directory: string): Promise<void> {
  try {
    await openGit({ repository: repositoryIn(directory), timeout: TIMEOUT }).raw([
      'init',
      '--quiet',
      '--template=',
      '--initial-branch=main',
    ]);
  } catch (error) {
    throw gitFailure(`cannot create a git repository in ${directory}`, error);
  }
}

/** Returns `origin`, or the first other remote; null if there is none. */
export async function findRemote(directory: string): Promise<string | null> {
  try {
    const answer = await gitIn(directory).raw(['remote']);
    const names = answer.split('\n').filter((name) => name !== '' && !name.startsWith('-'));
    return names.includes('origin') ? 'origin' : (names[0] ?? null);
  } catch (error) {
    throw gitFailure(`${directory} is not in a git repository`, error);
  }
}
