import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { findRepository, repositoryIn, requireRepository } from './repository.ts';
import { type Git, gitFailure, openGit } from './run.ts';
import { isCommitId } from './safe-names.ts';
import { hasChanges, type KnownFiles, listTracked } from './work-tree.ts';

/** Milliseconds of silence after which git is ended. */
const TIMEOUT = 60_000;

/** What runs at the other end, whatever a repository's settings name in its place. */
export const OWN_UPLOAD_PACK = '--upload-pack=git-upload-pack';
export const OWN_RECEIVE_PACK = '--receive-pack=git-receive-pack';

/** The commit that a folder's files are of. */
export interface Head {
  /** The full id. */
  readonly commit: string;
  /** Whether files below the folder differ from the commit, or are new. */
  readonly dirty: boolean;
  /** The repository's folder. */
  readonly root: string;
}

/**
 * The commit checked out around a folder; null where it lies in no repository, or in one without a commit.
 *
 * @param known what was compared before, for callers that ask repeatedly
 */
export async function headOf(directory: string, known?: KnownFiles): Promise<Head | null> {
  const repository = findRepository(directory);
  if (repository === null) {
    return null;
  }
  const { root } = repository;
  const commit = await resolveRef(root, 'HEAD');
  if (commit === null) {
    return null;
  }
  try {
    return { commit, dirty: await hasChanges(repository, commit, insideOf(root, directory), known), root };
  } catch {
    return null;
  }
}

/** The files below a folder that git tracks, relative to it; null where it lies in no repository. Throws SourceError. */
export async function trackedBelow(directory: string): Promise<ReadonlySet<string> | null> {
  const repository = findRepository(directory);
  try {
    return repository === null ? null : await listTracked(repository, insideOf(repository.root, directory));
  } catch (error) {
    throw gitFailure(`cannot list the files that git tracks in ${directory}`, error);
  }
}

/** The repository's folder around a folder, links followed; null where there is none. */
export function repositoryAround(directory: string): string | null {
  return findRepository(directory)?.root ?? null;
}

function insideOf(root: string, directory: string): string {
  return relative(root, realpathSync.native(directory)).split(sep).join('/');
}

function gitIn(directory: string): Git {
  return openGit({ repository: requireRepository(directory), timeout: TIMEOUT });
}

/** The commit that a branch, tag, full ref, commit or expression such as `HEAD~1` stands for; null where there is none. */
export async function resolveRef(directory: string, ref: string): Promise<string | null> {
  try {
    const git = gitIn(directory);
    const commit = (await git.raw(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** The commit where two lines of commits part; null where they have none in common, or the history of the clone is too short. */
export async function mergeBase(directory: string, one: string, other: string): Promise<string | null> {
  try {
    const git = gitIn(directory);
    const commit = (await git.raw(['merge-base', '--end-of-options', one, other])).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** The URL that a repository was cloned from, or null. It may hold a password, and is not for messages. */
export async function originOf(directory: string): Promise<string | null> {
  try {
    const git = gitIn(directory);
    return (await git.raw(['remote', 'get-url', 'origin'])).trim() || null;
  } catch {
    return null;
  }
}

/** Makes a folder a repository, with the branch `main` and no commit. Throws SourceError. */
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

/** `origin`, or the only other remote; null where there is none. */
export async function remoteOf(directory: string): Promise<string | null> {
  try {
    const answer = await gitIn(directory).raw(['remote']);
    const names = answer.split('\n').filter((name) => name !== '' && !name.startsWith('-'));
    return names.includes('origin') ? 'origin' : (names[0] ?? null);
  } catch (error) {
    throw gitFailure(`${directory} is not in a git repository`, error);
  }
}
