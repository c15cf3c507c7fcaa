/** Reads the manifests of an organization from a git repository or a directory, and notices changes. */
import { realpathSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import PQueue from 'p-queue';
import type { ManifestSource, OrganizationConfig } from '../config/config.ts';
import type { Address } from '../core/address.ts';
import type { Clock } from '../core/clock.ts';
import { defaultScope } from '../core/scope.ts';
import { Checkout } from '../git/checkout.ts';
import { type CommitAuthors, type CommitRange, readCommitAuthors } from '../git/commits.ts';
import { AppliedRefs } from '../git/refs.ts';
import { findRepository, resolveManifestFolder } from '../git/repository.ts';
import { openGit } from '../git/run.ts';
import { watchDirectory } from '../git/watch.ts';
import { findRepositoryRoot, type KnownFiles, readHead } from '../git/work-tree.ts';
import { kinds } from '../kinds/registry.ts';
import { openDiskTree } from '../manifests/disk-tree.ts';
import { createManifestLoader, type DesiredState } from '../manifests/loader.ts';
import type { OtherScopes } from '../plan/identity.ts';
import { type AppliedBase, readAppliedBase, readOtherScopes, recordApplied } from './applied.ts';

/** Current content of a source. */
export interface Desired {
  readonly state: DesiredState;
  /** Null if the source has no commits. */
  readonly commit: string | null;
  /** The first line of the commit's message; empty if there is none. */
  readonly subject: string;
  /** Email of the commit's author, as the commit claims it; null if it is not known. */
  readonly author: string | null;
  /** True if the branch was rewritten since the last read. */
  readonly forced: boolean;
  /** Claims of the other scopes of the organization; undefined if they are not known. */
  readonly otherScopes?: OtherScopes;
}

/** Commit that a source has read, valid or not. */
export type SourceHead = Pick<Desired, 'subject' | 'author'> & { readonly commit: string };

/**
 * The ref that records what was last applied in the source's scope. A daemon that has lost its record restores
 * ownership from it.
 */
export interface AppliedRef {
  /** Reads the recorded base; null if the ref does not exist. Call it after the first `read` of the source. */
  read(): Promise<AppliedBase | null>;
  /** Records a commit as applied, with the ids of its resources. Throws SourceError if the push is rejected. */
  move(commit: string, ids: ReadonlyMap<Address, string>): Promise<void>;
}

/** Source of an organization's manifests. */
export interface DesiredSource {
  /** Distinguishes the sources of one organization. */
  readonly scope: string;
  /**
   * Updates the source and reads the manifests. Throws SourceError if the source cannot be reached, and
   * DesiredStateError if the manifests are invalid.
   */
  read(): Promise<Desired>;
  /**
   * Reads the current manifests without affecting the next `read`, for callers other than passes. Throws the same
   * errors as `read`.
   */
  peek(): Promise<DesiredState>;
  /** Commit of the last `read`, even if its manifests are invalid; null before it. Git only. */
  readonly head: SourceHead | null;
  /** Returns true if the commit differs from that of the last `read`; reads no manifests. Git only. */
  hasMoved(): Promise<boolean>;
  /** Reads who wrote the commits of a range that ends at the commit of a `read`. Null: it cannot be known. */
  authors(range: CommitRange): Promise<CommitAuthors | null>;
  /** Calls back after changes; resolves once watching has started. Does nothing for a source that has to be polled. */
  watch(onChange: () => void, onError: (error: Error) => void): Promise<void>;
  /** The ref that records what was last applied; null if nothing updates it, because it could be out of date. */
  readonly applied: AppliedRef | null;
  /** Poll interval, in milliseconds; null if changes are noticed as they happen. */
  readonly poll: number | null;
  close(): Promise<void>;
}

/**
 * Settle delay between a change in a directory and the read, in milliseconds: several files are often written together.
 */
const SETTLE = 300;

/** Milliseconds without output after which git is terminated. */
const GIT_TIMEOUT = 60_000;

/** Clones of git sources. */
interface CloneOptions {
  /** Directory for clones, created if it does not exist. */
  readonly clones: string;
  /** Aborts running git commands. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Opens a source of an organization. Without an explicit scope, it is derived from the directory. */
export function openSource(
  source: ManifestSource,
  organization: Pick<OrganizationConfig, 'id' | 'scope'>,
  options: CloneOptions,
): DesiredSource {
  return source.git === undefined
    ? directorySource(source.directory, organization.scope)
    : gitSource(source.git, organization, options);
}

function gitSource(
  git: NonNullable<ManifestSource['git']>,
  { id: organization, scope: explicit }: Pick<OrganizationConfig, 'id' | 'scope'>,
  { clones, signal, clock }: CloneOptions,
): DesiredSource {
  const directory = join(clones, organization);
  const checkout = new Checkout({ ...git, directory, timeout: GIT_TIMEOUT, signal, fetchLimit: { clock } });
  let read: SourceHead | null = null;
  let forced = false;
  const sync = async () => {
    const result = await checkout.sync();
    forced ||= result.forced;
    return result;
  };
  // Fetching may change the files, which must not happen while they are read.
  const turns = new PQueue({ concurrency: 1 });
  const inRepository = defaultScope(posix.normalize(git.path));
  const place = {
    organization,
    scope: explicit ?? inRepository,
    directory: inRepository,
    repository: checkout.repository,
  };
  const refs = git.recordApplied ? new AppliedRefs(checkout.refs, organization) : null;
  const loader = createManifestLoader(kinds);
  return {
    scope: place.scope,
    applied:
      refs === null
        ? null
        : {
            read: () =>
              turns.add(async () => {
                await refs.fetch();
                return readAppliedBase(refs, place, read?.commit ?? null);
              }),
            move: (commit, ids) =>
              turns.add(async () => {
                const { scope, directory } = place;
                await recordApplied(refs, { organization, scope, directory, commit, ids });
              }),
          },
    poll: git.pollInterval,
    read: () =>
      turns.add(async () => {
        const { commit, subject, author } = await sync();
        const wasForced = forced;
        forced = false;
        read = { commit, subject, author };
        const state = await loader.load(openDiskTree(checkout.root, 'all'));
        await refs?.fetch();
        const scopes = refs === null ? {} : { otherScopes: await readOtherScopes(refs, place, commit) };
        return { state, commit, subject, author, forced: wasForced, ...scopes };
      }),
    peek: () =>
      turns.add(async () => {
        await sync();
        return loader.load(openDiskTree(checkout.root, 'all'));
      }),
    get head() {
      return read;
    },
    hasMoved: () => turns.add(async () => (await sync()).commit !== read?.commit),
    authors: (range) => turns.add(() => checkout.authors(range)),
    watch: async () => undefined,
    close: async () => undefined,
  };
}

function directorySource(directory: string, scope: string | undefined): DesiredSource {
  const loader = createManifestLoader(kinds);
  let close = async () => {};
  const known: KnownFiles = new Map();
  // Resolved on every read: another process fills the directory, and may point its link elsewhere.
  const open = () => {
    resolveManifestFolder(directory);
    return openDiskTree(directory);
  };
  return {
    scope: scope ?? scopeOfDirectory(directory),
    applied: null,
    poll: null,
    async read() {
      const state = await loader.load(open());
      const head = await readHead(directory, known);
      return {
        state,
        commit: head === null || head.dirty ? null : head.commit,
        subject: '',
        author: null,
        forced: false,
      };
    },
    // A pass may be reading at the same time: its cache is not shared.
    peek: async () => createManifestLoader(kinds).load(open()),
    head: null,
    hasMoved: async () => true,
    async authors(range) {
      const repository = findRepository(directory);
      return repository === null ? null : readCommitAuthors(openGit({ repository }), range);
    },
    async watch(onChange, onError) {
      const watch = watchDirectory(directory, { onChange, settle: SETTLE, onError });
      close = () => watch.close();
      await watch.ready;
    },
    close: () => close(),
  };
}

/** Returns the scope of a directory on disk: its path inside the enclosing repository, if any. */
function scopeOfDirectory(directory: string): string {
  const root = findRepositoryRoot(directory);
  return defaultScope(root === null ? '' : relative(root, realpathSync(directory)).split(sep).join('/'));
}
