import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { access, mkdir, rm } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import { messageOf, SourceError } from '../core/errors.ts';
import type { RefHost } from './applied-refs.ts';
import { type Repository, repositoryIn } from './repository.ts';
import { type Git, type GitOptions, gitFailure, openGit } from './run.ts';
import { checkRefName, isCommitId, readRemote } from './safe-names.ts';
import { mustFit } from './tree-size.ts';

/** What to check out, and where. */
export interface CheckoutOptions {
  /** https, ssh, `user@host:path`, or a folder; a password inside is kept out of messages and process lists. */
  readonly url: string;
  /** A branch, a tag, or a commit's full id. */
  readonly ref: string;
  /** A folder for this checkout alone; made where there is none. */
  readonly directory: string;
  /** The manifests' folder inside the repository; `.` is all of it. */
  readonly path: string;
  /** Milliseconds without a sign of life after which git is ended. */
  readonly timeout: number;
  /** Ends git when it aborts. */
  readonly signal?: AbortSignal;
}

/** What a sync found. */
export interface SyncResult {
  /** The full id. */
  readonly commit: string;
  /** The first line of its message. */
  readonly subject: string;
  /** Whether it is another commit than the last sync found, also that of an earlier process. */
  readonly changed: boolean;
  /** Whether that last commit is no ancestor of this one: the branch was rewritten, or moved back. */
  readonly forced: boolean;
}

/** A local copy of one ref of a repository. */
export interface Checkout {
  /** The manifests' folder on disk; there after the first sync that succeeded. */
  readonly root: string;
  /** The repository's folder on disk. */
  readonly repository: string;
  /**
   * Fetches the ref and makes the files those of its commit. Throws SourceError when the repository cannot be
   * reached, or has no such ref or folder; the files then stay those of the last good commit. One at a time.
   */
  sync(): Promise<SyncResult>;
  /** The repository as a place of refs. After the first sync. */
  readonly refs: RefHost;
}

/** The name of the repository's remote, whose address git gets another way. */
const REMOTE = 'octavo';
/** The ref that our own fetches move. */
const FETCHED = 'refs/octavo/fetched';
/** Says that a folder is ours, so that nothing of anybody else's is ever thrown away. */
const MARKER = '.octavo-checkout';

/** Takes every file as it was committed: no line endings are changed, no filter such as LFS is run. */
const ATTRIBUTES = '* -text -filter -ident -working-tree-encoding\n';

/**
 * Opens a checkout without touching disk or network. A broken or half-made copy is thrown away and made anew. Hooks
 * and submodules of the repository never run. Throws SourceError for a URL or a ref that cannot be one.
 */
export function openCheckout(options: CheckoutOptions): Checkout {
  const remote = readRemote(options.url);
  checkRefName(options.ref);
  const tree = join(resolve(options.directory), 'tree');
  const password = remote.credentials?.password ?? '';
  const secrets = [password, encodeURIComponent(password)];
  // The address and the password go through the environment: neither `ps` nor the copy's own config shows them.
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
    remote: (repository = repositoryIn(tree)) =>
      openGit({
        repository,
        remote: true,
        timeout: options.timeout,
        signal: options.signal,
        env: remote.credentials === null ? {} : environment,
        secretConfig: [
          ['remote.octavo.url', remote.url],
          ...(remote.credentials === null
            ? []
            : [['credential.helper', ''] as const, ['credential.helper', helper] as const]),
        ],
      }),
  };
  let clean = false;
  return {
    root: join(tree, options.path),
    repository: tree,
    sync: async () => {
      const result = await sync(context, clean);
      clean = true;
      return result;
    },
    refs: {
      remote: REMOTE,
      git: (more) => context.local(more),
      remoteGit: async () => context.remote(),
      label: remote.label,
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
  /** Over the copy, without a way to the remote. */
  local(more?: Pick<GitOptions, 'input' | 'config'>): Git;
  remote(repository?: Repository): Git;
}

/** `clean`: this process checked the files out itself, so that an unchanged commit needs no work. */
async function sync(context: Context, clean: boolean): Promise<SyncResult> {
  claim(context);
  const before = await headOf(context);
  const offered = await findOffered(context, before);
  if (clean && before !== null && offered.commit === before) {
    return { commit: before, subject: await subjectOf(context, before), changed: false, forced: false };
  }
  let commit: string;
  try {
    commit = await update(context, offered, before);
  } catch (error) {
    if (error instanceof SourceError) {
      throw error;
    }
    if (context.isEnding()) {
      throw context.fail(error, 'fetch');
    }
    // The repository answered just now, so it is our copy that is broken: it is made anew, once.
    await rm(context.tree, { recursive: true, force: true });
    commit = await update(context, offered, null).catch((error) => {
      throw context.fail(error, 'fetch');
    });
  }
  const forced = before !== null && before !== commit && !(await isAncestor(context, before, commit));
  return { commit, subject: await subjectOf(context, commit), changed: before !== commit, forced };
}

/** Makes the folder ours, or refuses one with somebody else's files in it. */
function claim({ directory }: Context): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
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

/** The commit checked out, or null where there is no copy that could tell. */
async function headOf(context: Context): Promise<string | null> {
  try {
    await access(join(context.tree, '.git'));
    const head = (await context.local().raw(['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])).trim();
    return isCommitId(head) ? head : null;
  } catch {
    return null;
  }
}

interface Offered {
  /** What to fetch: a full ref name or a commit id. */
  readonly source: string;
  /** The commit it stands for, where the answer said so. */
  readonly commit: string | null;
}

/** Asks the repository for the ref, without fetching. Throws SourceError when it has none, or does not answer. */
async function findOffered(context: Context, before: string | null): Promise<Offered> {
  if (isCommitId(context.ref)) {
    if (before !== context.ref) {
      await listRemote(context, ['HEAD']);
    }
    return { source: context.ref, commit: context.ref };
  }
  const names =
    context.ref.startsWith('refs/') || context.ref === 'HEAD'
      ? [context.ref]
      : [`refs/heads/${context.ref}`, `refs/tags/${context.ref}`];
  const refs = await listRemote(
    context,
    names.flatMap((name) => [name, `${name}^{}`]),
  );
  for (const name of names) {
    const commit = refs.get(`${name}^{}`) ?? refs.get(name);
    if (commit !== undefined) {
      return { source: name, commit };
    }
  }
  throw context.fail(new Error(`it has no branch or tag "${context.ref}"`), 'fetch');
}

async function listRemote(context: Context, patterns: readonly string[]): Promise<ReadonlyMap<string, string>> {
  try {
    // The copy may not be there yet.
    const git = context.remote({ root: context.directory, gitDir: repositoryIn(context.tree).gitDir });
    const answer = await git.raw(['ls-remote', '--quiet', 'octavo', ...patterns]);
    const pairs = answer.split('\n').filter((line) => line.includes('\t'));
    return new Map(pairs.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))]));
  } catch (error) {
    throw context.fail(error, 'reach');
  }
}

/** Fetches and checks out; the copy is made where there is none. */
async function update(context: Context, offered: Offered, before: string | null): Promise<string> {
  if (before === null) {
    await rm(context.tree, { recursive: true, force: true });
    await mkdir(context.tree, { recursive: true });
    await context.local().raw(['init', '--template=']);
    mkdirSync(join(context.tree, '.git', 'info'), { recursive: true });
    writeFileSync(join(context.tree, '.git', 'info', 'attributes'), ATTRIBUTES);
  }
  const source = `+${offered.source}:${FETCHED}`;
  await context.remote().raw(['fetch', '--progress', '--no-tags', '--force', 'octavo', source]);
  const git = context.local();
  const commit = (await git.raw(['rev-parse', '--verify', `${FETCHED}^{commit}`])).trim();
  await requireFolder(context, git, commit);
  await mustFit(git, commit);
  // Not quiet: simple-git waits a while for the output of a git that says nothing.
  await git.raw(['checkout', '--force', '--detach', commit]);
  await git.raw(['clean', '-ffdxq']);
  return commit;
}

/**
 * Looked at before anything is checked out, so that the files of the last good commit stay. It must be a real folder:
 * a symbolic link in its place could make any folder of this machine the manifests.
 */
async function requireFolder(context: Context, git: Git, commit: string): Promise<void> {
  const folder = posix.normalize(context.path).replace(/\/$/, '');
  const name = folder === '.' ? `${commit}^{tree}` : `${commit}:${folder}`;
  const type = await git.raw(['cat-file', '-t', name]).catch(() => '');
  if (type.trim() !== 'tree') {
    throw context.fail(new Error(`commit ${commit.slice(0, 7)} has no directory "${context.path}"`), 'use');
  }
}

async function isAncestor(context: Context, old: string, commit: string): Promise<boolean> {
  try {
    return (await context.local().raw(['merge-base', old, commit])).trim() === old;
  } catch {
    // Without a common ancestor git fails, and where the old commit is gone nobody can say that it is one.
    return false;
  }
}

async function subjectOf(context: Context, commit: string): Promise<string> {
  return (await context.local().raw(['show', '--no-patch', '--format=%s', commit])).trim();
}
