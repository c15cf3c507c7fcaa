import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gitFailure, openGit } from './run.ts';
import { isCommitId } from './safe-names.ts';

/** Milliseconds of silence after which git is ended. */
const TIMEOUT = 60_000;

/** The commit that a folder's files are of. */
export interface Head {
  /** The full id. */
  readonly commit: string;
  /** Whether files below the folder differ from the commit, or are new. */
  readonly dirty: boolean;
  /** The repository's folder. */
  readonly root: string;
}

/** The commit checked out around a folder; null where it lies in no repository, or in one without a commit. */
export async function headOf(directory: string): Promise<Head | null> {
  if (repositoryAround(directory) === null) {
    return null;
  }
  try {
    const git = openGit({ directory, timeout: TIMEOUT });
    const [root = '', commit = ''] = (await git.raw(['rev-parse', '--show-toplevel', 'HEAD'])).trim().split('\n');
    const changes = await git.raw([
      'status',
      '--porcelain',
      '--ignore-submodules',
      '--untracked-files=normal',
      '--',
      '.',
    ]);
    return { commit, dirty: changes.trim() !== '', root };
  } catch {
    return null;
  }
}

/**
 * The folder of the repository around a folder, as git would find it, without the cost of starting it; links are
 * followed. Null where there is none.
 */
export function repositoryAround(directory: string): string | null {
  let folder: string;
  try {
    folder = realpathSync(directory);
  } catch {
    return null;
  }
  while (!existsSync(join(folder, '.git'))) {
    if (folder === dirname(folder)) {
      return null;
    }
    folder = dirname(folder);
  }
  return folder;
}

/** The commit that a branch, tag, full ref, commit or expression such as `HEAD~1` stands for; null where there is none. */
export async function resolveRef(directory: string, ref: string): Promise<string | null> {
  try {
    const git = openGit({ directory, timeout: TIMEOUT });
    const commit = (await git.raw(['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** The commit where two lines of commits part; null where they have none in common, or the history of the clone is too short. */
export async function mergeBase(directory: string, one: string, other: string): Promise<string | null> {
  try {
    const git = openGit({ directory, timeout: TIMEOUT });
    const commit = (await git.raw(['merge-base', '--end-of-options', one, other])).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** The URL that a repository was cloned from, or null. It may hold a password, and is not for messages. */
export async function originOf(directory: string): Promise<string | null> {
  try {
    const git = openGit({ directory, timeout: TIMEOUT });
    return (await git.raw(['remote', 'get-url', 'origin'])).trim() || null;
  } catch {
    return null;
  }
}

/** Makes a folder a repository, with the branch `main` and no commit. Throws SourceError. */
export async function initRepository(directory: string): Promise<void> {
  try {
    await openGit({ directory, timeout: TIMEOUT }).raw(['init', '--quiet', '--template=', '--initial-branch=main']);
  } catch (error) {
    throw gitFailure(`cannot make ${directory} a git repository`, error);
  }
}

/** `origin`, or the only other remote; null where there is none. */
export async function remoteOf(directory: string): Promise<string | null> {
  try {
    const answer = await openGit({ directory, timeout: TIMEOUT }).raw(['remote']);
    const names = answer.split('\n').filter((name) => name !== '' && !name.startsWith('-'));
    return names.includes('origin') ? 'origin' : (names[0] ?? null);
  } catch (error) {
    throw gitFailure(`${directory} is in no git repository`, error);
  }
}
