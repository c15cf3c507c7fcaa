import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SourceError } from '../core/errors.ts';
import { gitFailure, openGit } from './run.ts';
import { checkRefName, isCommitId } from './safe-names.ts';

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

/** The ref that says what was last applied for an organization (design: How a plan is made). */
export function appliedRef(organization: string): string {
  const ref = `refs/octavo/${organization}/applied`;
  checkRefName(ref);
  return ref;
}

/**
 * Gets a full ref from the repository's remote, where it has one: pipelines clone branches only. Gives the commit, or
 * null where neither the remote nor this repository has the ref. Throws SourceError when the remote does not answer,
 * since a base that is merely out of reach must not look like no base.
 */
export async function fetchRef(directory: string, ref: string): Promise<string | null> {
  checkRefName(ref);
  const remote = await remoteOf(directory);
  if (remote === null) {
    return resolveRef(directory, ref);
  }
  const git = openGit({ directory, timeout: TIMEOUT });
  try {
    const answer = await git.raw(['ls-remote', '--quiet', remote, ref]);
    if (!answer.split('\n').some((line) => line.endsWith(`\t${ref}`))) {
      return null;
    }
    await git.raw(['fetch', '--quiet', '--no-tags', remote, `+${ref}:${ref}`]);
  } catch (error) {
    throw gitFailure(`cannot fetch ${ref} from ${remote}`, error);
  }
  return resolveRef(directory, ref);
}

/**
 * Moves a full ref to a commit. With `push` it is moved on the remote first, where there is one, so that a push that
 * fails changes nothing here. Throws SourceError.
 */
export async function updateRef(
  directory: string,
  ref: string,
  commit: string,
  options: { readonly push: boolean },
): Promise<{ readonly pushed: boolean }> {
  checkRefName(ref);
  if (!ref.startsWith('refs/') || !isCommitId(commit)) {
    throw new SourceError(
      `cannot move ${JSON.stringify(ref)} to ${JSON.stringify(commit)}: not a full ref and a full commit id`,
    );
  }
  const git = openGit({ directory, timeout: TIMEOUT });
  const remote = options.push ? await remoteOf(directory) : null;
  try {
    if (remote !== null) {
      await git.raw([
        'push',
        '--quiet',
        '--no-verify',
        '--force',
        '--no-recurse-submodules',
        remote,
        `${commit}:${ref}`,
      ]);
    }
    await git.raw(['update-ref', ref, commit]);
  } catch (error) {
    throw gitFailure(`cannot move ${ref} to ${commit.slice(0, 7)}`, error);
  }
  return { pushed: remote !== null };
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
