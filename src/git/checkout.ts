/** Keeps a local copy of one ref of a repository, and limits the size of what is fetched. */
import { readdirSync, writeFileSync } from 'node:fs';
import { access, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { messageOf, SourceError } from '../core/errors.ts';
import { makeDirectory } from '../core/files/disk.ts';
import { type CommitAuthors, type CommitRange, describeCommit, readCommitAuthors } from './commits.ts';
import { checkTreeSize, findObjects } from './objects.ts';
import { type RefHost, refsIn } from './refs.ts';
import { repositoryIn } from './repository.ts';
import {
  checkRefName,
  type Git,
  type GitOptions,
  gitFailure,
  isCommitId,
  openGit,
  type RemoteAddress,
  readRemote,
} from './run.ts';
import { readHeadCommit } from './work-tree.ts';

/** Repository and ref to check out, and the target directory. */
export interface CheckoutOptions {
  /** https, ssh, `user@host:path`, or a directory. A password in it does not appear in messages and process lists. */
  readonly url: string;
  /** Branch, tag, or full id of a commit. */
  readonly ref: string;
  /** Directory for this checkout only; created if it does not exist. */
  readonly directory: string;
  /** Directory of the manifests inside the repository; `.` is the whole repository. */
  readonly path: string;
  /** Milliseconds without output after which git is stopped. */
  readonly timeout: number;
  /** Stops git when it aborts. */
  readonly signal?: AbortSignal;
  /** Limit of what one fetch may write. */
  readonly fetchLimit: FetchLimit;
}

/** Result of a sync. */
interface SyncResult {
  /** Full id. */
  readonly commit: string;
  /** First line of its message. */
  readonly subject: string;
  /** Email of its author, as the commit claims it; null if it has none. */
  readonly author: string | null;
  /** True if the commit differs from that of the last sync, even in an earlier process. */
  readonly changed: boolean;
  /** True if that last commit is not an ancestor of this one: the branch was force-pushed. */
  readonly forced: boolean;
}

/** Name of the remote; git gets its URL from the environment. */
const REMOTE = 'octavo';

/** Ref that fetches update. */
const FETCHED = 'refs/octavo/fetched';

/** Marks a directory as created by Octavo, so that files of others are never deleted. */
const MARKER = '.octavo-checkout';

/** Checks out files as committed: without converting line endings or running filters such as LFS. */
const ATTRIBUTES = '* -text -filter -ident -working-tree-encoding\n';

interface RemoteRef {
  /** Source of the fetch: a full ref name or a commit id. */
  readonly source: string;
  /** Commit that it resolves to, if known. */
  readonly commit: string | null;
}

/**
 * Local copy of one ref of a repository. A broken or incomplete copy is deleted and cloned again. Hooks and submodules
 * of the repository never run.
 */
export class Checkout {
  /** Directory of the manifests on disk; exists after the first successful sync. */
  readonly root: string;
  /** Directory of the repository on disk. */
  readonly repository: string;
  /** Host of refs; usable after the first sync. */
  readonly refs: RefHost;
  readonly #options: CheckoutOptions;
  readonly #directory: string;
  readonly #remote: RemoteAddress;
  /** Result of this process, which checked out the files; an unchanged commit needs no work. */
  #last: SyncResult | null = null;

  /** Accesses neither disk nor network. Throws SourceError for an invalid URL or ref. */
  constructor(options: CheckoutOptions) {
    this.#options = options;
    this.#remote = readRemote(options.url);
    checkRefName(options.ref);
    this.#directory = resolve(options.directory);
    this.repository = join(this.#directory, 'tree');
    this.root = join(this.repository, options.path);
    this.refs = {
      remote: async () => ({ name: REMOTE, label: this.#remote.label }),
      git: (more) => this.#local(more),
      remoteGit: async () => this.#connect(),
      fail: (error, tried) => gitFailure(`cannot ${tried}`, error, this.#secrets()),
    };
  }

  /** Reads who wrote the commits of a range. Usable after the first sync. */
  authors(range: CommitRange): Promise<CommitAuthors | null> {
    return readCommitAuthors(this.#local(), range);
  }

  #secrets(): readonly string[] {
    const password = this.#remote.credentials?.password ?? '';
    return [password, encodeURIComponent(password)];
  }

  #fail(error: unknown, tried: string): SourceError {
    return gitFailure(`cannot ${tried} ${this.#remote.label}`, error, this.#secrets());
  }

  /** Opens git on the copy, without access to the remote. */
  #local(more: Pick<GitOptions, 'input' | 'config'> = {}): Git {
    const { timeout, signal } = this.#options;
    return openGit({ ...more, repository: repositoryIn(this.repository), timeout, signal });
  }

  /** Opens git with access to the remote. */
  #connect(repository = repositoryIn(this.repository), signal = this.#options.signal): Git {
    const { url, credentials } = this.#remote;
    const helper =
      '!f() { test "$1" = get && printf \'username=%s\\npassword=%s\\n\' "$OCTAVO_GIT_USERNAME" "$OCTAVO_GIT_PASSWORD"; }; f';
    // URL and password are passed in the environment, so that neither `ps` nor the configuration of the copy shows them.
    const address = ['remote.octavo.url', url] as const;
    return openGit({
      repository,
      remote: true,
      timeout: this.#options.timeout,
      signal,
      ...(credentials === null
        ? { secretConfig: [address] }
        : {
            env: { OCTAVO_GIT_USERNAME: credentials.username, OCTAVO_GIT_PASSWORD: credentials.password },
            secretConfig: [address, ['credential.helper', ''], ['credential.helper', helper]],
          }),
    });
  }

  /**
   * Fetches the ref and checks out its commit. Throws SourceError if the repository cannot be reached, or has no such
   * ref or directory; the files of the last good commit are then kept. Must not be called concurrently.
   */
  async sync(): Promise<SyncResult> {
    this.#last = await this.#syncFrom(this.#last);
    return this.#last;
  }

  async #syncFrom(last: SyncResult | null): Promise<SyncResult> {
    this.#claim();
    const isKept = last !== null && readHeadCommit(repositoryIn(this.repository)) === last.commit;
    const before = isKept ? last.commit : await this.#readHead();
    const remoteRef = await this.#findRemoteRef(before);
    if (last !== null && before === last.commit && remoteRef.commit === before) {
      return { ...last, changed: false, forced: false };
    }
    let commit: string;
    try {
      commit = await this.#update(remoteRef, before);
    } catch (error) {
      if (error instanceof SourceError) {
        throw error;
      }
      if (this.#options.signal?.aborted) {
        throw this.#fail(error, 'fetch');
      }
      // The repository responded just now, so the local copy is broken and is cloned again, once.
      await rm(this.repository, { recursive: true, force: true });
      commit = await this.#update(remoteRef, null).catch((error) => {
        throw this.#fail(error, 'fetch');
      });
    }
    const forced = before !== null && before !== commit && !(await this.#isAncestor(before, commit));
    return { commit, ...(await describeCommit(this.#local(), commit)), changed: before !== commit, forced };
  }

  /** Marks the directory as Octavo's; refuses one that contains other files. */
  #claim(): void {
    const directory = this.#directory;
    try {
      makeDirectory(directory, 0o700);
      const names = readdirSync(directory);
      if (names.length > 0 && !names.includes(MARKER)) {
        throw new SourceError(`${directory} contains other files; use an empty directory for the checkout`);
      }
      writeFileSync(join(directory, MARKER), 'Created by Octavo. It can be deleted while Octavo is stopped.\n');
    } catch (error) {
      throw error instanceof SourceError
        ? error
        : new SourceError(`cannot use the directory ${directory}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Returns the commit that is checked out; null if there is no usable copy. */
  async #readHead(): Promise<string | null> {
    try {
      await access(join(this.repository, '.git'));
      const head = (await this.#local().raw(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).trim();
      return isCommitId(head) ? head : null;
    } catch {
      return null;
    }
  }

  /** Looks up the ref in the repository without fetching. Throws SourceError if it does not exist, or on no response. */
  async #findRemoteRef(before: string | null): Promise<RemoteRef> {
    const { ref } = this.#options;
    if (isCommitId(ref)) {
      if (before !== ref) {
        await this.#listRemote(['HEAD']);
      }
      return { source: ref, commit: ref };
    }
    // Like git, but without its precedence: a new branch must not redirect a source that names a tag.
    const isWhole = ref.startsWith('refs/') || ref === 'HEAD';
    const names = isWhole ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`, `refs/${ref}`];
    const refs = await this.#listRemote(names.flatMap((name) => [name, `${name}^{}`]));
    const found = names.filter((name) => refs.has(name));
    const [source] = found;
    if (source === undefined) {
      throw this.#fail(new Error(`it has no branch or tag "${ref}"`), 'fetch');
    }
    if (found.length > 1) {
      const reason = `"${ref}" is ambiguous: it has ${found.join(' and ')}; set ref to the one that is meant`;
      throw this.#fail(new Error(reason), 'fetch');
    }
    return { source, commit: refs.get(`${source}^{}`) ?? refs.get(source) ?? null };
  }

  async #listRemote(patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
    try {
      // The copy may not exist yet.
      const git = this.#connect({ root: this.#directory, gitDir: repositoryIn(this.repository).gitDir });
      return refsIn(await git.raw(['ls-remote', '--quiet', REMOTE, ...patterns]));
    } catch (error) {
      throw this.#fail(error, 'reach');
    }
  }

  /** Fetches and checks out; creates the copy if it does not exist. */
  async #update(remoteRef: RemoteRef, before: string | null): Promise<string> {
    if (before === null) {
      await rm(this.repository, { recursive: true, force: true });
      makeDirectory(this.repository);
      await this.#local().raw(['init', '--template=']);
      makeDirectory(join(this.repository, '.git', 'info'));
      writeFileSync(join(this.repository, '.git', 'info', 'attributes'), ATTRIBUTES);
    }
    const source = `+${remoteRef.source}:${FETCHED}`;
    const { fetchLimit, signal: ending } = this.#options;
    await limitFetch(repositoryIn(this.repository).gitDir, fetchLimit, ending, (signal) =>
      this.#connect(undefined, signal).raw(['fetch', '--progress', '--no-tags', '--force', REMOTE, source]),
    );
    const commit = await this.#readFetched();
    const git = this.#local();
    await checkTreeSize(git, commit);
    // Not quiet, because simple-git waits a while for the output of a silent git.
    await git.raw(['checkout', '--force', '--detach', commit]);
    if (before !== null) {
      await git.raw(['clean', '-ffdxq']);
    }
    return commit;
  }

  /**
   * Returns the fetched commit. Checks the directory of the manifests before anything is checked out, so that the files of
   * the last good commit are kept. It must be a real directory: a symbolic link could turn any directory of this machine
   * into manifests.
   */
  async #readFetched(): Promise<string> {
    const folder = posix.normalize(this.#options.path).replace(/\/$/, '');
    const names = [`${FETCHED}^{commit}`, folder === '.' ? `${FETCHED}^{tree}` : `${FETCHED}^{commit}:${folder}`];
    const [commit, tree] = await findObjects((more) => this.#local(more), names);
    if (!commit) {
      throw new Error(`"${this.#options.ref}" is not a commit`);
    }
    if (tree?.type !== 'tree') {
      throw this.#fail(new Error(`commit ${commit.id.slice(0, 7)} has no directory "${this.#options.path}"`), 'use');
    }
    return commit.id;
  }

  async #isAncestor(old: string, commit: string): Promise<boolean> {
    try {
      return (await this.#local().raw(['merge-base', old, commit])).trim() === old;
    } catch {
      // Git fails without a common ancestor, or if the old commit no longer exists.
      return false;
    }
  }
}

/** Most bytes that one fetch may write: as many as a commit may have unpacked. */
const MAX_FETCH_SIZE = 4 * 1024 ** 3;

/** Milliseconds between two checks of the size. */
const CHECK_INTERVAL = 1000;

/** File whose time is that of the start: the clock of the file system may differ from that of the process. */
const START_MARKER = 'octavo-fetch';

export interface FetchLimit {
  readonly clock: Clock;
  /** Bytes. Set in tests. */
  readonly maxSize?: number;
}

/**
 * Runs a fetch that writes to a repository only Octavo uses. `fetch` must end soon after its signal aborts, which it does
 * when `signal` aborts, too. Throws SourceError if it writes more than the limit, and removes what it wrote.
 */
export async function limitFetch(
  gitDir: string,
  { clock, maxSize = MAX_FETCH_SIZE }: FetchLimit,
  signal: AbortSignal | undefined,
  fetch: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const start = await timeOf(join(gitDir, START_MARKER));
  const written = () => filesSince(join(gitDir, 'objects'), start);
  const exceeds = async () => (await written()).reduce((sum, { size }) => sum + size, 0) > maxSize;
  const stopping = new AbortController();
  const ended = new AbortController();
  const watch = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(CHECK_INTERVAL, ended.signal);
      if (await exceeds()) {
        stopping.abort();
      }
    }
  };
  // Rejected when the fetch ends.
  const watching = watch().catch(() => {});
  const either = signal === undefined ? stopping.signal : AbortSignal.any([signal, stopping.signal]);
  const error: unknown = await fetch(either).then(
    () => null,
    (cause) => cause,
  );
  ended.abort();
  await watching;
  if (stopping.signal.aborted || (error === null && (await exceeds()))) {
    await Promise.all((await written()).map(({ path }) => rm(path, { force: true })));
    throw new SourceError(
      `the fetch writes more than ${Math.ceil(maxSize / 2 ** 20)} MiB; move the manifests to a separate repository`,
    );
  }
  if (error !== null) {
    throw error;
  }
}

/** Writes a file, removes it, and returns its time of modification. */
async function timeOf(path: string): Promise<number> {
  await writeFile(path, '');
  const { mtimeMs } = await stat(path);
  await rm(path, { force: true });
  return mtimeMs;
}

/** Returns the objects and packs that were written after a time, including incomplete ones. */
async function filesSince(objects: string, start: number): Promise<readonly { path: string; size: number }[]> {
  const found: { path: string; size: number }[] = [];
  for (const name of await namesIn(objects)) {
    const folder = join(objects, name);
    // A new entry changes the time of its directory.
    if (((await stat(folder).catch(() => null))?.mtimeMs ?? 0) >= start) {
      for (const path of (await namesIn(folder)).map((file) => join(folder, file))) {
        const stats = await stat(path).catch(() => null);
        if (stats?.isFile() === true && stats.mtimeMs > start) {
          found.push({ path, size: stats.size });
        }
      }
    }
  }
  return found;
}

/** Returns the names in a directory; none if it is not one, or no longer exists. */
function namesIn(path: string): Promise<readonly string[]> {
  return readdir(path).catch(() => []);
}
