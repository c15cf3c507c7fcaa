import { join } from 'node:path';
import type { Source } from '../config/config.ts';
import type { Address } from '../core/address.ts';
import type { BaseEntry } from '../core/resource.ts';
import { type Checkout, openCheckout } from '../git/checkout.ts';
import { appliedRef, headOf } from '../git/commit-info.ts';
import { watchDirectory } from '../git/watch.ts';
import { kinds } from '../kinds/registry.ts';
import { openDiskTree } from '../manifests/disk-tree.ts';
import { createManifestLoader, type DesiredState, type ManifestLoader } from '../manifests/loader.ts';
import { baseAt } from './base-at.ts';

/** What a source says now. */
export interface Desired {
  readonly state: DesiredState;
  /** Null where the source has no commits. */
  readonly commit: string | null;
  /** The first line of the commit's message; empty where there is none. */
  readonly subject: string;
  /** Whether the branch was rewritten since the last look. */
  readonly forced: boolean;
}

/** `refs/octavo/<organization>/applied`: what is owned, for whoever has no record (design: How a plan is made). */
export interface AppliedRef {
  /** What the commit it names declares; null where there is no such ref. After the first `read` of its source. */
  read(): Promise<{ readonly base: ReadonlyMap<Address, BaseEntry>; readonly commit: string } | null>;
  /** Throws SourceError where that is refused. */
  move(commit: string): Promise<void>;
}

/** Where an organization's manifests come from. */
export interface DesiredSource {
  /**
   * Brings itself up to date and reads the manifests. Throws SourceError where it cannot be reached, and
   * DesiredStateError where the manifests are wrong.
   */
  read(): Promise<Desired>;
  /** What the manifests say now, for whoever reconciles nothing: the next `read` tells all the same. Throws as it does. */
  peek(): Promise<DesiredState>;
  /** Whether a look at it finds something else than the last `read`; reads no manifests. Git only. */
  hasMoved(): Promise<boolean>;
  /** Calls back after changes; resolves once they are noticed. What has to be polled does nothing here. */
  watch(onChange: () => void, onError: (error: Error) => void): Promise<void>;
  /** The ref that says what was last applied; null where nothing keeps it up, so that it could be out of date. */
  readonly applied: AppliedRef | null;
  /** Milliseconds between two looks; null where changes are noticed as they happen. */
  readonly poll: number | null;
  close(): Promise<void>;
}

/** Milliseconds of quiet after a change in a folder before it is read: writers write more than one file. */
const SETTLE = 300;
/** Milliseconds of silence after which git is ended. */
const GIT_TIMEOUT = 60_000;

/** Opens a source. `clones` is a folder for clones, which is made where it is missing; `signal` ends what runs. */
export function openSource(
  source: Source,
  organization: string,
  clones: string,
  loader: ManifestLoader,
  signal: AbortSignal,
): DesiredSource {
  return source.git === undefined
    ? directorySource(source.directory, loader)
    : gitSource(source.git, organization, clones, loader, signal);
}

function gitSource(
  git: NonNullable<Source['git']>,
  organization: string,
  clones: string,
  loader: ManifestLoader,
  signal: AbortSignal,
): DesiredSource {
  const directory = join(clones, organization);
  const checkout: Checkout = openCheckout({ ...git, directory, timeout: GIT_TIMEOUT, signal });
  let read: string | null = null;
  let forced = false;
  const sync = async () => {
    const result = await checkout.sync();
    forced ||= result.forced;
    return result;
  };
  // A look at the remote may change the files, which must not happen while they are read.
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const ref = appliedRef(organization);
  return {
    applied: git.record
      ? {
          read: () =>
            inTurn(async () => {
              const commit = await checkout.fetchRef(ref);
              const read = (id: string) => baseAt(checkout.repository, id, git.path, createManifestLoader(kinds));
              return commit === null ? null : { base: await read(commit), commit };
            }),
          move: (commit) => inTurn(() => checkout.pushRef(ref, commit)),
        }
      : null,
    poll: git.poll,
    read: () =>
      inTurn(async () => {
        const { commit, subject } = await sync();
        const wasForced = forced;
        forced = false;
        read = commit;
        const state = await loader.load(openDiskTree(checkout.root));
        return { state, commit, subject, forced: wasForced };
      }),
    peek: () =>
      inTurn(async () => {
        await sync();
        return loader.load(openDiskTree(checkout.root));
      }),
    hasMoved: () => inTurn(async () => (await sync()).commit !== read),
    watch: async () => undefined,
    close: async () => undefined,
  };
}

function directorySource(directory: string, loader: ManifestLoader): DesiredSource {
  let close = async () => {};
  return {
    applied: null,
    poll: null,
    async read() {
      const state = await loader.load(openDiskTree(directory));
      const head = await headOf(directory);
      return { state, commit: head === null || head.dirty ? null : head.commit, subject: '', forced: false };
    },
    // A pass may be reading at this very moment: what it has cached is let be.
    peek: () => createManifestLoader(kinds).load(openDiskTree(directory)),
    hasMoved: async () => true,
    async watch(onChange, onError) {
      const watch = watchDirectory(directory, onChange, { settle: SETTLE, onError });
      close = () => watch.close();
      await watch.ready;
    },
    close: () => close(),
  };
}
