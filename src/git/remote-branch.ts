import { SourceError } from '../core/errors.ts';
import { findRemote, OWN_RECEIVE_PACK, OWN_UPLOAD_PACK } from './commit-info.ts';
import { requireRepository } from './repository.ts';
import { gitFailure, openRemoteGit } from './run.ts';
import { checkRefName, isCommitId } from './safe-names.ts';

/** Milliseconds without output after which git is stopped. */
const TIMEOUT = 60_000;

/** Result of a push. `moved`: the branch is not where it was expected, and was not changed. */
export type Pushed = 'pushed' | 'moved';

/**
 * Branches of the remote that a repository was cloned from. The repository's work tree, index, branches and tags are
 * never changed, and no hook runs.
 */
export class RemoteBranches {
  readonly #directory: string;
  readonly #remote: string;

  private constructor(directory: string, remote: string) {
    this.#directory = directory;
    this.#remote = remote;
  }

  /** Opens the remote of a repository. Throws SourceError if it has none. */
  static async of(directory: string): Promise<RemoteBranches> {
    const remote = await findRemote(directory);
    if (remote === null) {
      throw new SourceError('this repository has no remote to push to; add one with: git remote add origin URL');
    }
    return new RemoteBranches(directory, remote);
  }

  /** Returns the default branch of the remote. Throws SourceError if it has none. */
  async defaultBranch(): Promise<string> {
    const answer = await this.#run('get the default branch of the remote', [
      'ls-remote',
      '--symref',
      OWN_UPLOAD_PACK,
      this.#remote,
      'HEAD',
    ]);
    const branch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(answer)?.[1];
    if (branch === undefined) {
      throw new SourceError(`${this.#remote} has no default branch; pass the target branch with --onto`);
    }
    return branch;
  }

  /** Fetches branches and returns their tips, without those that do not exist. */
  async fetch(branches: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const tips = await this.#tips(branches);
    if (tips.size > 0) {
      // No ref is written: neither FETCH_HEAD nor remote-tracking branches.
      const refs = [...tips.keys()].map((branch) => `refs/heads/${branch}`);
      const quietly = ['--quiet', '--no-tags', '--no-write-fetch-head', '--refmap=', '--no-auto-gc'];
      await this.#run(`fetch ${[...tips.keys()].join(' and ')}`, [
        'fetch',
        ...quietly,
        OWN_UPLOAD_PACK,
        this.#remote,
        ...refs,
      ]);
    }
    return tips;
  }

  /**
   * Moves a branch if it is still at `from`; null: the branch does not exist. If the response was lost, looks up the
   * result. Throws SourceError if the remote refuses.
   */
  async push(branch: string, to: string | null, from: string | null): Promise<Pushed> {
    checkRefName(branch);
    const ref = `refs/heads/${branch}`;
    const lease = `--force-with-lease=${ref}:${from ?? ''}`;
    try {
      const git = await this.#git();
      await git.raw([
        'push',
        '--quiet',
        '--no-verify',
        '--no-recurse-submodules',
        OWN_RECEIVE_PACK,
        lease,
        this.#remote,
        `${to ?? ''}:${ref}`,
      ]);
      return 'pushed';
    } catch (error) {
      const now = (await this.#tips([branch])).get(branch) ?? null;
      if (now === to) {
        return 'pushed';
      }
      if (now !== from) {
        return 'moved';
      }
      throw gitFailure(`cannot push ${branch} to ${this.#remote}`, error);
    }
  }

  async #tips(branches: readonly string[]): Promise<ReadonlyMap<string, string>> {
    for (const branch of branches) {
      checkRefName(branch);
    }
    const refs = branches.map((branch) => `refs/heads/${branch}`);
    const answer = await this.#run('list the branches of the remote', [
      'ls-remote',
      '--quiet',
      OWN_UPLOAD_PACK,
      this.#remote,
      ...refs,
    ]);
    const found = answer.split('\n').map((line) => line.split('\t') as [string, string?]);
    return new Map(
      found.flatMap(([commit, ref = '']) => {
        const branch = ref.slice('refs/heads/'.length);
        return branches.includes(branch) && isCommitId(commit) ? [[branch, commit] as const] : [];
      }),
    );
  }

  async #run(tried: string, args: string[]): Promise<string> {
    try {
      const git = await this.#git();
      return await git.raw(args);
    } catch (error) {
      throw gitFailure(`cannot ${tried}`, error);
    }
  }

  #git() {
    return openRemoteGit({ repository: requireRepository(this.#directory), timeout: TIMEOUT });
  }
}
