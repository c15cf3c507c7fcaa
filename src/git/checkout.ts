/** Keeps a local copy of one ref of a repository, and limits the size of what is fetched. */
import { readdirSync, writeFileSync } from 'node:fs';
import { access, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import type { Clock } from '../core/clock.ts';
import { messageOf, SourceError } from '../core/errors.ts';
import { makeDirectory } from '../core/files/make-directory.ts';
import { type CommitAuthors, type CommitRange, describeCommit, readCommitAuthors } from './commits.ts';
import { checkTreeSize, findObjects } from './objects.ts';
import { type RefHost, refsIn } from './refs.ts';
import { type Repository, repositoryIn } from './repository.ts';
import { checkRefName, type Git, type GitOptions, gitFailure, isCommitId, openGit, readRemote } from './run.ts';
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

/** Local copy of one ref of a repository. */
export interface Checkout {
  /** Directory of the manifests on disk; exists after the first successful sync. */
  readonly root: string;
  /** Directory of the repository on disk. */
  readonly repository: string;
  /**
   * Fetches the ref and checks out its commit. Throws SourceError if the repository cannot be reached, or has no such
   * ref or directory; the files of the last good commit are then kept. Must not be called concurrently.
   */
  sync(): Promise<SyncResult>;
  /** Reads who wrote the commits of a range. Usable after the first sync. */
  authors(range: CommitRange): Promise<CommitAuthors | null>;
  /** Host of refs; usable after the first sync. */
  readonly refs: RefHost;
}

/** Name of the remote; git gets its URL from the environment. */
const REMOTE = 'octavo';

/** Ref that fetches update. */
const FETCHED = 'refs/octavo/fetched';

/** Marks a directory as created by Octavo, so that files of others are never deleted. */
const MARKER = '.octavo-checkout';

/** Checks out files as committed: without converting line endings or running filters such as LFS. */
const ATTRIBUTES = '* -text -filter -ident -working-tree-encoding\n';

/**
 * Opens a checkout without accessing disk or network. A broken or incomplete copy is deleted and cloned again. Hooks
 * and submodules of the repository never run. Throws SourceError for an invalid URL or ref.
 */
export function openCheckout(options: CheckoutOptions): Checkout {
  const remote = readRemote(options.url);
  checkRefName(options.ref);
  const tree = join(resolve(options.directory), 'tree');
  const password = remote.credentials?.password ?? '';
  const secrets = [password, encodeURIComponent(password)];
  // URL and password are passed in the environment, so that neither `ps` nor the configuration of the copy shows them.
  const environment = {
    OCTAVO_GIT_USERNAME: remote.credentials?.username ?? '',
    OCTAVO_GIT_PASSWORD: password,
  };
  const helper =
    '!f() { test "$1" = get && printf \'username=%s\\npassword=%s\\n\' "$OCTAVO_GIT_USERNAME" "$OCTAVO_GIT_PASSWORD"; }; f';
  const context: Context = {
    ref: options.ref,
    directory: resolve(options.directory),
    tree,
    path: options.path,
    isEnding: () => options.signal?.aborted === true,
    fail: (error, tried) => gitFailure(`cannot ${tried} ${remote.label}`, error, secrets),
    local: (more = {}) =>
      openGit({ ...more, repository: repositoryIn(tree), timeout: options.timeout, signal: options.signal }),
    limited: (fetch) => limitFetch(repositoryIn(tree).gitDir, options.fetchLimit, options.signal, fetch),
    remote: (repository = repositoryIn(tree), signal = options.signal) =>
      openGit({
        repository,
        remote: true,
        timeout: options.timeout,
        signal,
        env: remote.credentials === null ? {} : environment,
        secretConfig: [
          ['remote.octavo.url', remote.url],
          ...(remote.credentials === null
            ? []
            : [['credential.helper', ''] as const, ['credential.helper', helper] as const]),
        ],
      }),
  };
  let last: SyncResult | null = null;
  return {
    root: join(tree, options.path),
    repository: tree,
    sync: async () => {
      last = await sync(context, last);
      return last;
    },
    authors: (range) => readCommitAuthors(context.local(), range),
    refs: {
      remote: async () => ({ name: REMOTE, label: remote.label }),
      git: (more) => context.local(more),
      remoteGit: async () => context.remote(),
      fail: (error, tried) => gitFailure(`cannot ${tried}`, error, secrets),
    },
  };
}

interface Context {
  readonly ref: string;
  readonly directory: string;
  readonly tree: string;
  readonly path: string;
  isEnding(): boolean;
  fail(error: unknown, tried: string): SourceError;
  /** Opens git on the copy, without access to the remote. */
  local(more?: Pick<GitOptions, 'input' | 'config'>): Git;
  remote(repository?: Repository, signal?: AbortSignal): Git;
  /** Runs a fetch. Throws SourceError if it writes too much. */
  limited(fetch: (signal: AbortSignal) => Promise<unknown>): Promise<void>;
}

/** Syncs the copy. `last`: result of this process, which checked out the files; an unchanged commit needs no work. */
async function sync(context: Context, last: SyncResult | null): Promise<SyncResult> {
  claim(context);
  const isKept = last !== null && readHeadCommit(repositoryIn(context.tree)) === last.commit;
  const before = isKept ? last.commit : await readHead(context);
  const remoteRef = await findRemoteRef(context, before);
  if (last !== null && before === last.commit && remoteRef.commit === before) {
    return { ...last, changed: false, forced: false };
  }
  let commit: string;
  try {
    commit = await update(context, remoteRef, before);
  } catch (error) {
    if (error instanceof SourceError) {
      throw error;
    }
    if (context.isEnding()) {
      throw context.fail(error, 'fetch');
    }
    // The repository responded just now, so the local copy is broken and is cloned again, once.
    await rm(context.tree, { recursive: true, force: true });
    commit = await update(context, remoteRef, null).catch((error) => {
      throw context.fail(error, 'fetch');
    });
  }
  const forced = before !== null && before !== commit && !(await isAncestor(context, before, commit));
  return { commit, ...(await describeCommit(context.local(), commit)), changed: before !== commit, forced };
}

/** Marks the directory as Octavo's; refuses one that contains other files. */
function claim({ directory }: Context): void {
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
async function readHead(context: Context): Promise<string | null> {
  try {
    await access(join(context.tree, '.git'));
    const head = (await context.local().raw(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).trim();
    return isCommitId(head) ? head : null;
  } catch {
    return null;
  }
}

interface RemoteRef {
  /** Source of the fetch: a full ref name or a commit id. */
  readonly source: string;
  /** Commit that it resolves to, if known. */
  readonly commit: string | null;
}

/** Looks up the ref in the repository without fetching. Throws SourceError if it does not exist, or on no response. */
async function findRemoteRef(context: Context, before: string | null): Promise<RemoteRef> {
  if (isCommitId(context.ref)) {
    if (before !== context.ref) {
      await listRemote(context, ['HEAD']);
    }
    return { source: context.ref, commit: context.ref };
  }
  // Like git, but without its precedence: a new branch must not redirect a source that names a tag.
  const names =
    context.ref.startsWith('refs/') || context.ref === 'HEAD'
      ? [context.ref]
      : [`refs/heads/${context.ref}`, `refs/tags/${context.ref}`, `refs/${context.ref}`];
  const refs = await listRemote(
    context,
    names.flatMap((name) => [name, `${name}^{}`]),
  );
  const found = names.filter((name) => refs.has(name));
  const [source] = found;
  if (source === undefined) {
    throw context.fail(new Error(`it has no branch or tag "${context.ref}"`), 'fetch');
  }
  if (found.length > 1) {
    const reason = `"${context.ref}" is ambiguous: it has ${found.join(' and ')}; set ref to the one that is meant`;
    throw context.fail(new Error(reason), 'fetch');
  }
  return { source, commit: refs.get(`${source}^{}`) ?? refs.get(source) ?? null };
}

async function listRemote(context: Context, patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  try {
    // The copy may not exist yet.
    const git = context.remote({ root: context.directory, gitDir: repositoryIn(context.tree).gitDir });
    const answer = await git.raw(['ls-remote', '--quiet', 'octavo', ...patterns]);
    return refsIn(answer);
  } catch (error) {
    throw context.fail(error, 'reach');
  }
}

/** Fetches and checks out; creates the copy if it does not exist. */
async function update(context: Context, remoteRef: RemoteRef, before: string | null): Promise<string> {
  if (before === null) {
    await rm(context.tree, { recursive: true, force: true });
    makeDirectory(context.tree);
    await context.local().raw(['init', '--template=']);
    makeDirectory(join(context.tree, '.git', 'info'));
    writeFileSync(join(context.tree, '.git', 'info', 'attributes'), ATTRIBUTES);
  }
  const source = `+${remoteRef.source}:${FETCHED}`;
  await context.limited((signal) =>
    context.remote(undefined, signal).raw(['fetch', '--progress', '--no-tags', '--force', REMOTE, source]),
  );
  const commit = await readFetched(context);
  const git = context.local();
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
async function readFetched(context: Context): Promise<string> {
  const folder = posix.normalize(context.path).replace(/\/$/, '');
  const names = [`${FETCHED}^{commit}`, folder === '.' ? `${FETCHED}^{tree}` : `${FETCHED}^{commit}:${folder}`];
  const [commit, tree] = await findObjects(context.local, names);
  if (!commit) {
    throw new Error(`"${context.ref}" is not a commit`);
  }
  if (tree?.type !== 'tree') {
    throw context.fail(new Error(`commit ${commit.id.slice(0, 7)} has no directory "${context.path}"`), 'use');
  }
  return commit.id;
}

async function isAncestor(context: Context, old: string, commit: string): Promise<boolean> {
  try {
    return (await context.local().raw(['merge-base', old, commit])).trim() === old;
  } catch {
    // Git fails without a common ancestor, or if the old commit no longer exists.
    return false;
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

interface WrittenFile {
  readonly path: string;
  readonly size: number;
}

/** Returns the objects and packs that were written after a time, including incomplete ones. */
async function filesSince(objects: string, start: number): Promise<readonly WrittenFile[]> {
  const found: WrittenFile[] = [];
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
