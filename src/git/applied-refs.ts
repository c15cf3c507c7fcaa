/** Reads and moves the applied refs, one for each scope of an organization. They point to what was last applied. */
import { SourceError } from '../core/errors.ts';
import { encodeScope, ROOT_SCOPE, scopeSuffix } from '../core/scope.ts';
import { findRemote, OWN_RECEIVE_PACK, OWN_UPLOAD_PACK } from './commit-info.ts';
import { readObjects } from './objects.ts';
import { requireRepository } from './repository.ts';
import { type Git, type GitOptions, gitFailure, openGit, openRemoteGit } from './run.ts';
import { checkRefName, isCommitId } from './safe-names.ts';

/** Only file of a commit that records what was applied. */
const RECORD_FILE = '.octavo-applied.json';
/** Largest record that is read, in bytes. */
const MAX_RECORD_SIZE = 64 * 1_048_576;
/** Maximum scopes of one organization. */
const MAX_SCOPES = 1000;
/** Author of records, so that a machine that applies needs neither an identity nor a signing key. */
const IDENTITY = ['user.name=Octavo', 'user.email=octavo@localhost'];
/** Milliseconds without output after which git is stopped. */
const TIMEOUT = 60_000;

/** Remote of a repository. */
export interface RemoteName {
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
export interface AppliedTip {
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
    git: (options = {}) => openGit({ repository: requireRepository(directory), timeout: TIMEOUT, ...options }),
    remoteGit: () => openRemoteGit({ repository: requireRepository(directory), timeout: TIMEOUT }),
    remote: () => {
      remote ??= findRemote(directory).then((name) => (name === null ? null : { name, label: name }));
      return remote;
    },
    fail: (error, tried) => gitFailure(`cannot ${tried}`, error),
  };
}

/** Applied refs of one organization, as of the last read. */
export class AppliedRefs {
  readonly #host: RefHost;
  readonly #organization: string;
  readonly #pattern: RegExp;
  #local: ReadonlyMap<string, string> = new Map();
  /** Null if the remote was not read. */
  #remote: ReadonlyMap<string, string> | null = null;

  constructor(host: RefHost, organization: string) {
    checkRefName(appliedRef(organization));
    this.#host = host;
    this.#organization = organization;
    const prefix = `refs/octavo/${organization}/`.replaceAll(/[^\w/]/g, (character) => `\\${character}`);
    this.#pattern = new RegExp(`^${prefix}(?:([\\w%-]+)/)?applied$`);
  }

  /** Reads the refs of this repository, without a network. Throws SourceError. */
  async readLocal(): Promise<void> {
    const prefix = `refs/octavo/${this.#organization}/`;
    try {
      const listed = await this.#host.git().raw(['for-each-ref', '--format=%(objectname)%09%(refname)', prefix]);
      this.#local = this.#tipsIn(listed);
    } catch (error) {
      throw this.#host.fail(error, `list ${prefix}`);
    }
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
    const stale = [...found].filter(([id, tip]) => this.#local.get(id) !== tip);
    if (stale.length > 0) {
      const refs = stale.map(([id]) => this.#refOf(id)).map((ref) => `+${ref}:${ref}`);
      try {
        const git = await this.#host.remoteGit();
        await git.raw([
          'fetch',
          '--quiet',
          '--no-tags',
          '--no-write-fetch-head',
          OWN_UPLOAD_PACK,
          remote.name,
          ...refs,
        ]);
      } catch (error) {
        throw this.#host.fail(error, `fetch ${this.#refOf(stale[0]?.[0] ?? '')} from ${remote.label}`);
      }
      // The fetched refs may be newer than the listed ones; a move is then refused, and nothing is lost.
      await this.readLocal();
    }
    this.#remote = found;
  }

  /** Returns the tip of a scope's ref; null if there is none. */
  tipOf(scope: string): string | null {
    const id = idOf(scope);
    return this.#remote?.get(id) ?? this.#local.get(id) ?? null;
  }

  /** Returns the tips of the other scopes, by ref name, without refs that the remote no longer has. */
  others(scope: string): ReadonlyMap<string, string> {
    const own = idOf(scope);
    const tips = this.#remote ?? this.#local;
    return new Map([...tips].filter(([id]) => id !== own).map(([id, tip]) => [this.#refOf(id), tip]));
  }

  /** Reads the record of a tip. `ref` is used in messages. Throws SourceError. */
  async read(tip: string, ref: string): Promise<AppliedTip> {
    try {
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
    } catch (error) {
      throw this.#host.fail(error, `read ${ref}`);
    }
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
    const { git, fail } = this.#host;
    try {
      const blob = (await git({ input: record }).raw(['hash-object', '-w', '--stdin'])).trim();
      const tree = (await git({ input: `100644 blob ${blob}\t${RECORD_FILE}\n` }).raw(['mktree'])).trim();
      const made = git({ input: message, config: IDENTITY });
      return (await made.raw(['commit-tree', tree, '-p', commit, '-F', '-'])).trim();
    } catch (error) {
      throw fail(error, `record ${commit.slice(0, 7)} as applied`);
    }
  }

  /**
   * Moves a scope's ref, first on the remote if there is one, and only if it is still where it was last seen. Throws
   * SourceError if the move is refused, or another run has moved the ref.
   */
  async move(scope: string, to: string): Promise<{ readonly pushed: boolean }> {
    const ref = appliedRef(this.#organization, scope);
    const id = idOf(scope);
    const remote = await this.#host.remote();
    if (remote === null) {
      await this.#moveLocal(ref, to, this.#local.get(id) ?? '');
    } else {
      await this.#push(remote, ref, to, this.#remote?.get(id) ?? '');
      this.#remote = new Map([...(this.#remote ?? []), [id, to]]);
      await this.#host
        .git()
        .raw(['update-ref', ref, to])
        .catch((error) => {
          throw this.#host.fail(error, `move ${ref} in this clone`);
        });
    }
    this.#local = new Map([...this.#local, [id, to]]);
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
      const id = this.#idIn(ref) ?? '';
      if (now.get(id) !== seen.get(id)) {
        throw movedSince(ref, now.get(id));
      }
      throw this.#host.fail(error, `move ${ref}`);
    }
  }

  async #push(remote: RemoteName, ref: string, to: string, from: string): Promise<void> {
    const options = ['--quiet', '--no-verify', '--no-recurse-submodules', `--force-with-lease=${ref}:${from}`];
    try {
      const git = await this.#host.remoteGit();
      await git.raw(['push', ...options, OWN_RECEIVE_PACK, remote.name, `${to}:${ref}`]);
    } catch (error) {
      // The push may have succeeded and only its response was lost.
      const now = (await this.#ask(remote).catch(() => null))?.get(this.#idIn(ref) ?? '');
      if (now === to) {
        return;
      }
      throw now !== undefined && now !== from
        ? movedSince(ref, now)
        : this.#host.fail(error, `move ${ref} in ${remote.label}`);
    }
  }

  async #ask(remote: RemoteName): Promise<ReadonlyMap<string, string>> {
    const pattern = `refs/octavo/${this.#organization}/*`;
    try {
      const git = await this.#host.remoteGit();
      return this.#tipsIn(await git.raw(['ls-remote', '--quiet', OWN_UPLOAD_PACK, remote.name, pattern]));
    } catch (error) {
      throw this.#host.fail(error, `ask ${remote.label} for ${pattern}`);
    }
  }

  #tipsIn(listed: string): ReadonlyMap<string, string> {
    const tips = new Map<string, string>();
    for (const line of listed.split('\n')) {
      const [tip = '', ref = ''] = line.split('\t');
      const id = this.#idIn(ref);
      if (id !== null && isCommitId(tip)) {
        tips.set(id, tip);
      }
    }
    if (tips.size > MAX_SCOPES) {
      throw new SourceError(
        `refs/octavo/${this.#organization} has ${tips.size} scopes, more than the limit of ${MAX_SCOPES}; delete the refs of unused scopes`,
      );
    }
    return tips;
  }

  #idIn(ref: string): string | null {
    const match = this.#pattern.exec(ref);
    return match === null ? null : (match[1] ?? '');
  }

  #refOf(id: string): string {
    return `refs/octavo/${this.#organization}/${id === '' ? '' : `${id}/`}applied`;
  }
}

/** Returns the component of a scope in its ref; empty for the root scope. */
function idOf(scope: string): string {
  return scope === ROOT_SCOPE ? '' : encodeScope(scope);
}

function movedSince(ref: string, now: string | undefined): SourceError {
  return new SourceError(
    `cannot move ${ref}: another run has moved it${now === undefined ? '' : ` to ${now.slice(0, 7)}`} since this one started; run again`,
  );
}
