/** Reads and moves refs that are shared through a remote: applied refs, one for each scope, and branches. */
import { SourceError } from '../core/errors.ts';
import { ROOT_SCOPE, scopeSuffix } from '../core/scope.ts';
import { findRemote } from './commits.ts';
import { readObjects } from './objects.ts';
import {
  checkRefName,
  type Git,
  type GitOptions,
  gitFailure,
  gitIn,
  isCommitId,
  openRemoteGit,
  tryGit,
} from './run.ts';

/** Only file of a commit that records what was applied. */
const RECORD_FILE = '.octavo-applied.json';

/** Largest record that is read, in bytes. */
const MAX_RECORD_SIZE = 64 * 1_048_576;

/** Maximum scopes of one organization. */
const MAX_SCOPES = 1000;

/** Author of records, so that a machine that applies needs neither an identity nor a signing key. */
const IDENTITY = ['user.name=Octavo', 'user.email=octavo@localhost'];

/** Remote of a repository. */
interface RemoteName {
  readonly name: string;
  /** Name in messages. */
  readonly label: string;
}

/** Repository with the refs, and the remote that shares them. */
export interface RefHost {
  /** Opens git in the repository, without access to the remote. */
  git(options?: Pick<GitOptions, 'input' | 'config'>): Git;
  /** Opens git with access to the remote. Throws SourceError. */
  remoteGit(): Promise<Git>;
  /** Returns the name of the remote, and its name in messages; null if there is none. Throws SourceError. */
  remote(): Promise<RemoteName | null>;
  fail(error: unknown, tried: string): SourceError;
}

/** Target of an applied ref. */
interface AppliedTip {
  /** Id of the commit that the ref points to. */
  readonly tip: string;
  /** Commit that was applied: the parent of a record, or the tip itself if it has no record. */
  readonly commit: string;
  /** Stored record; null if the ref points to the applied commit itself, as in earlier versions. */
  readonly record: string | null;
}

/** Returns the full name of the applied ref of an organization and a scope. */
export function appliedRef(organization: string, scope = ROOT_SCOPE): string {
  const ref = `refs/octavo/${organization}${scopeSuffix(scope)}/applied`;
  checkRefName(ref);
  return ref;
}

/** Opens the repository of a directory, with `origin` or its only remote. */
export function openRefHost(directory: string): RefHost {
  let remote: Promise<RemoteName | null> | null = null;
  return {
    git: (options) => gitIn(directory, options),
    remoteGit: () => openRemoteGit(directory),
    remote: () => {
      remote ??= findRemote(directory).then((name) => (name === null ? null : { name, label: name }));
      return remote;
    },
    fail: (error, tried) => gitFailure(`cannot ${tried}`, error),
  };
}

/** Applied refs of one organization, as of the last read: their tips by name. */
export class AppliedRefs {
  readonly #host: RefHost;
  readonly #organization: string;
  /** Start of their names. */
  readonly #prefix: string;
  readonly #pattern: RegExp;
  #local: ReadonlyMap<string, string> = new Map();
  /** Null if the remote was not read. */
  #remote: ReadonlyMap<string, string> | null = null;

  constructor(host: RefHost, organization: string) {
    checkRefName(appliedRef(organization));
    this.#host = host;
    this.#organization = organization;
    this.#prefix = `refs/octavo/${organization}/`;
    this.#pattern = new RegExp(`^${this.#prefix.replaceAll(/[^\w/]/g, '\\$&')}(?:[\\w%-]+/)?applied$`);
  }

  /** Reads the refs of this repository, without a network. Throws SourceError. */
  async readLocal(): Promise<void> {
    const args = ['for-each-ref', '--format=%(objectname)%09%(refname)', this.#prefix];
    this.#local = this.#tipsIn(await this.#try(`list ${this.#prefix}`, () => this.#host.git().raw(args)));
  }

  /** Reads the refs of this repository and fetches those of the remote, as `readLocal` and `update` do. */
  async fetch(): Promise<void> {
    await this.readLocal();
    await this.update();
  }

  /**
   * Fetches the refs from the remote, if there is one, that differ from those of the last `readLocal`. Throws SourceError
   * if it does not respond, because an unreachable base must not look like a missing one.
   */
  async update(): Promise<void> {
    const remote = await this.#host.remote();
    if (remote === null) {
      return;
    }
    const found = await this.#ask(remote);
    const stale = [...found].filter(([ref, tip]) => this.#local.get(ref) !== tip).map(([ref]) => ref);
    if (stale.length > 0) {
      await this.#try(`fetch ${stale[0]} from ${remote.label}`, async () =>
        fetchRefs(
          await this.#host.remoteGit(),
          remote.name,
          stale.map((ref) => `+${ref}:${ref}`),
        ),
      );
      // The fetched refs may be newer than the listed ones; a move is then refused, and nothing is lost.
      await this.readLocal();
    }
    this.#remote = found;
  }

  /** Returns the tip of a scope's ref; null if there is none. */
  tipOf(scope: string): string | null {
    const ref = appliedRef(this.#organization, scope);
    return this.#remote?.get(ref) ?? this.#local.get(ref) ?? null;
  }

  /** Returns the tips of the other scopes, by ref name, without refs that the remote no longer has. */
  others(scope: string): ReadonlyMap<string, string> {
    const own = appliedRef(this.#organization, scope);
    return new Map([...(this.#remote ?? this.#local)].filter(([ref]) => ref !== own));
  }

  /** Reads the record of a tip. `ref` is used in messages. Throws SourceError. */
  async read(tip: string, ref: string): Promise<AppliedTip> {
    return this.#try(`read ${ref}`, async () => {
      const blob = await this.#recordOf(tip, ref);
      const names = [`${tip}^{commit}`, ...(blob === null ? [] : [blob])];
      const [commit, record] = await readObjects(this.#host.git, names);
      if (commit === undefined || record === undefined) {
        return { tip, commit: commit?.id ?? tip, record: null };
      }
      const header = commit.content.toString('utf8').split('\n\n', 1)[0] ?? '';
      const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id = '']) => id);
      const [parent] = parents;
      if (parent === undefined || parents.length > 1 || !isCommitId(parent)) {
        throw new SourceError(`${ref} is damaged: its record has ${parents.length} parents instead of one`);
      }
      return { tip, commit: parent, record: record.content.toString('utf8') };
    });
  }

  /** Returns the id of the record's blob; null if the commit is not a record. */
  async #recordOf(tip: string, ref: string): Promise<string | null> {
    const listed = await this.#host.git().raw(['ls-tree', '-z', '-l', '--full-tree', `${tip}^{commit}`]);
    const [, id, size] = /^100644 blob ([0-9a-f]+) +(\d+)\t\.octavo-applied\.json\0$/.exec(listed) ?? [];
    if (id !== undefined && Number(size) > MAX_RECORD_SIZE) {
      throw new SourceError(
        `${ref} is damaged: its record has ${size} bytes, more than the limit of ${MAX_RECORD_SIZE}`,
      );
    }
    return id ?? null;
  }

  /** Writes a record on top of the commit that was applied and returns its id; no ref moves. Throws SourceError. */
  async write(commit: string, record: string, message: string): Promise<string> {
    const { git } = this.#host;
    return this.#try(`record ${commit.slice(0, 7)} as applied`, async () => {
      const blob = (await git({ input: record }).raw(['hash-object', '-w', '--stdin'])).trim();
      const tree = (await git({ input: `100644 blob ${blob}\t${RECORD_FILE}\n` }).raw(['mktree'])).trim();
      const made = git({ input: message, config: IDENTITY });
      return (await made.raw(['commit-tree', tree, '-p', commit, '-F', '-'])).trim();
    });
  }

  /**
   * Moves a scope's ref, first on the remote if there is one, and only if it is still where it was last seen. Throws
   * SourceError if the move is refused, or another run has moved the ref.
   */
  async move(scope: string, to: string): Promise<{ readonly pushed: boolean }> {
    const ref = appliedRef(this.#organization, scope);
    const remote = await this.#host.remote();
    if (remote === null) {
      await this.#moveLocal(ref, to, this.#local.get(ref) ?? '');
    } else {
      await this.#push(remote, ref, to, this.#remote?.get(ref) ?? '');
      this.#remote = new Map([...(this.#remote ?? []), [ref, to]]);
      await this.#try(`move ${ref} in this clone`, () => this.#host.git().raw(['update-ref', ref, to]));
    }
    this.#local = new Map([...this.#local, [ref, to]]);
    return { pushed: remote !== null };
  }

  async #moveLocal(ref: string, to: string, from: string): Promise<void> {
    try {
      await this.#host.git().raw(['update-ref', ref, to, from]);
    } catch (error) {
      const seen = this.#local;
      await this.readLocal();
      const now = this.#local;
      this.#local = seen;
      throw now.get(ref) === seen.get(ref) ? this.#host.fail(error, `move ${ref}`) : movedSince(ref, now.get(ref));
    }
  }

  async #push(remote: RemoteName, ref: string, to: string, from: string): Promise<void> {
    try {
      await pushRef(await this.#host.remoteGit(), remote.name, { ref, to, from });
    } catch (error) {
      // The push may have succeeded and only its response was lost.
      const now = (await this.#ask(remote).catch(() => null))?.get(ref);
      if (now === to) {
        return;
      }
      throw now !== undefined && now !== from
        ? movedSince(ref, now)
        : this.#host.fail(error, `move ${ref} in ${remote.label}`);
    }
  }

  async #ask(remote: RemoteName): Promise<ReadonlyMap<string, string>> {
    const pattern = `${this.#prefix}*`;
    return this.#try(`ask ${remote.label} for ${pattern}`, async () =>
      this.#tipsIn(await listRefs(await this.#host.remoteGit(), remote.name, [pattern])),
    );
  }

  #tipsIn(listed: string): ReadonlyMap<string, string> {
    const tips = new Map([...refsIn(listed)].filter(([ref]) => this.#pattern.test(ref)));
    if (tips.size > MAX_SCOPES) {
      throw new SourceError(
        `refs/octavo/${this.#organization} has ${tips.size} scopes, more than the limit of ${MAX_SCOPES}; delete the refs of unused scopes`,
      );
    }
    return tips;
  }

  async #try<T>(tried: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#host.fail(error, tried);
    }
  }
}

function movedSince(ref: string, now: string | undefined): SourceError {
  return new SourceError(
    `cannot move ${ref}: another run has moved it${now === undefined ? '' : ` to ${now.slice(0, 7)}`} since this one started; run again`,
  );
}

/** Result of a push. `moved`: the branch is not where it was expected, and was not changed. */
type Pushed = 'pushed' | 'moved';

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
    const answer = await this.#try('get the default branch of the remote', (git) =>
      git.raw(['ls-remote', '--symref', OWN_UPLOAD_PACK, this.#remote, 'HEAD']),
    );
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
      const options = ['--refmap=', '--no-auto-gc'];
      await this.#try(`fetch ${[...tips.keys()].join(' and ')}`, (git) => fetchRefs(git, this.#remote, refs, options));
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
    try {
      await pushRef(await openRemoteGit(this.#directory), this.#remote, { ref, to: to ?? '', from: from ?? '' });
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
    const tips = refsIn(await this.#try('list the branches of the remote', (git) => listRefs(git, this.#remote, refs)));
    return new Map(
      branches.flatMap((branch) => {
        const commit = tips.get(`refs/heads/${branch}`);
        return commit === undefined ? [] : [[branch, commit] as const];
      }),
    );
  }

  #try(tried: string, work: (git: Git) => Promise<string>): Promise<string> {
    return tryGit(`cannot ${tried}`, async () => work(await openRemoteGit(this.#directory)));
  }
}

/** Programs at the remote; override those in the repository's settings. */
const OWN_UPLOAD_PACK = '--upload-pack=git-upload-pack';

const OWN_RECEIVE_PACK = '--receive-pack=git-receive-pack';

function listRefs(git: Git, remote: string, patterns: readonly string[]): Promise<string> {
  return git.raw(['ls-remote', '--quiet', OWN_UPLOAD_PACK, remote, ...patterns]);
}

/** Returns commits by ref, from lines of a commit and a ref. */
export function refsIn(listed: string): ReadonlyMap<string, string> {
  const pairs = listed.split('\n').map((line) => line.split('\t') as [string, string?]);
  return new Map(pairs.flatMap(([commit, ref = '']) => (isCommitId(commit) ? [[ref, commit] as const] : [])));
}

function fetchRefs(
  git: Git,
  remote: string,
  refs: readonly string[],
  options: readonly string[] = [],
): Promise<string> {
  const quietly = ['--quiet', '--no-tags', '--no-write-fetch-head', ...options];
  return git.raw(['fetch', ...quietly, OWN_UPLOAD_PACK, remote, ...refs]);
}

/** Moves a ref of the remote if it is still at `from`; empty: it does not exist. */
async function pushRef(git: Git, remote: string, { ref, to, from }: { ref: string; to: string; from: string }) {
  const options = ['--quiet', '--no-verify', '--no-recurse-submodules', `--force-with-lease=${ref}:${from}`];
  await git.raw(['push', ...options, OWN_RECEIVE_PACK, remote, `${to}:${ref}`]);
}
