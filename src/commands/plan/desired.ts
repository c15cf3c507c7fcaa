/** Reads the manifests of a folder, the base that they are planned over, and what other scopes claim. */
import { realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import type { Address } from '../../core/address.ts';
import { ConfigError, messageOf, SourceError } from '../../core/errors.ts';
import type { FileTree } from '../../core/files/file-tree.ts';
import type { Base } from '../../core/resource.ts';
import { defaultScope, ROOT_SCOPE } from '../../core/scope.ts';
import { resolveRef } from '../../git/commits.ts';
import { AppliedRefs, openRefHost } from '../../git/refs.ts';
import { resolveManifestFolder } from '../../git/repository.ts';
import { findRepositoryRoot, type Head, listTrackedFiles, readHead } from '../../git/work-tree.ts';
import { kinds } from '../../kinds/registry.ts';
import { type FileSelection, openDiskTree } from '../../manifests/disk-tree.ts';
import type { OnSections } from '../../manifests/file-reader.ts';
import { createManifestLoader, type DesiredState } from '../../manifests/loader.ts';
import type { OtherScopes } from '../../plan/identity.ts';
import {
  baseAt,
  readAppliedBase,
  readOtherScopes,
  readRecordedBase,
  type ScopedDirectory,
} from '../../reconcile/applied.ts';

/** The desired state of a folder and its commit. */
export interface LoadedFolder {
  readonly state: DesiredState;
  /** Null outside of a repository, and if files differ from the commit. */
  readonly commit: string | null;
  /** Commit that is checked out; null outside of a repository. */
  readonly head: Head | null;
}

/** Reads the manifests of a folder and its commit. Throws DesiredStateError with every problem. */
export async function loadFolder(
  cwd: string,
  folder: string,
  config?: string,
  onSections?: OnSections,
): Promise<LoadedFolder> {
  const path = await folderAt(cwd, folder);
  // Runs git concurrently with reading the files.
  const reading = readHead(path);
  const state = await loadPath(path, cwd, config, onSections);
  const head = await reading;
  return { state, commit: head === null || head.dirty ? null : head.commit, head };
}

/** Reads the manifests of a folder. Throws DesiredStateError with every problem. */
export async function loadManifests(cwd: string, folder: string, config?: string): Promise<DesiredState> {
  return loadPath(await folderAt(cwd, folder), cwd, config);
}

async function loadPath(
  path: string,
  cwd: string,
  config: string | undefined,
  onSections?: OnSections,
): Promise<DesiredState> {
  const options = { root: relative(cwd, path), config: configIn(path, cwd, config), onSections };
  return createManifestLoader(kinds).load(openFolder(path), { ...options, findsMisnamed: true });
}

/** Returns the path of `--config` inside a folder, where it is not a manifest. */
export function configIn(folder: string, cwd: string, config: string | undefined): string | undefined {
  return config === undefined ? undefined : relative(resolve(cwd, folder), resolve(cwd, config));
}

/** Returns the addresses that the manifests of a folder declare, even if the manifests have errors. */
export async function declaredAddresses(cwd: string, folder: string): Promise<readonly Address[]> {
  const path = await folderAt(cwd, folder);
  return createManifestLoader(kinds).survey(openFolder(path));
}

/** Opens a folder. Manifests can refer to files that git tracks; outside of a repository, to files that are not hidden. */
export function openFolder(path: string): FileTree {
  const belonging: FileSelection =
    findRepositoryRoot(path) === null ? 'visible' : async () => (await listTrackedFiles(path)) ?? new Set();
  return openDiskTree(path, belonging);
}

async function folderAt(cwd: string, folder: string): Promise<string> {
  const path = resolve(cwd, folder);
  if (!(await stat(path).catch(() => null))?.isDirectory()) {
    throw new ConfigError(`${folder} is not a directory; pass the manifest directory`);
  }
  resolveManifestFolder(path);
  return path;
}

/** The base of a plan, and when to fetch the applied refs. */
export interface BaseOptions {
  readonly organization: string;
  /**
   * A commit, branch or tag; `applied`, or undefined, for the last applied commit of the scope; `none` for no base.
   * Without git, `applied` is an error, and undefined means none.
   */
  readonly base: string | undefined;
  /** Explicit scope; undefined if it is derived from the folder. */
  readonly scope: string | undefined;
  /**
   * When to fetch the applied refs: always; always, but without an error if nothing is recorded here; if the remote
   * responds (otherwise with a warning); or only if needed.
   */
  readonly fetch: 'always' | 'if-recorded' | 'if-possible' | 'if-needed';
  readonly warn: (text: string) => void;
}

/** The base of a plan, and what other scopes of the organization own. */
export interface FolderBase {
  readonly base: Base;
  readonly baseCommit: string | null;
  readonly scope: string;
  readonly otherScopes: OtherScopes | undefined;
  /** Null outside of a repository, and in one without commits. */
  readonly place: ScopedDirectory | null;
  readonly refs: AppliedRefs | null;
}

/** Value of `--base` for a plan without a base. */
export const NO_BASE = 'none';

/** Reads the base of a folder, whose commit is `head`. Throws ConfigError, DesiredStateError and SourceError. */
export async function loadBase(
  cwd: string,
  folder: string,
  head: Head | null,
  options: BaseOptions,
): Promise<FolderBase> {
  const { base: ref, organization } = options;
  const path = resolve(cwd, folder);
  const scope = options.scope ?? (await scopeAt(path));
  if (head === null) {
    if (ref !== undefined && ref !== NO_BASE) {
      throw new ConfigError(`--base requires a git repository with a commit, and ${folder} is not in one`);
    }
    return { base: null, baseCommit: null, scope, otherScopes: undefined, place: null, refs: null };
  }
  const place = { organization, scope, directory: await folderInRepository(path), repository: head.root };
  const refs = await openRefs(place, options);
  const found =
    ref === NO_BASE
      ? null
      : ref === undefined || ref === 'applied'
        ? await readAppliedBase(refs, place, head.commit)
        : await baseOfRef(refs, place, ref);
  return {
    base: found?.base ?? null,
    baseCommit: found?.commit ?? null,
    scope,
    otherScopes: await readOtherScopes(refs, place, head.commit),
    place,
    refs,
  };
}

/** Derives the scope of a folder from its path. */
export async function scopeAt(path: string): Promise<string> {
  return defaultScope(await folderInRepository(path));
}

/** Returns the path of a folder inside its repository, with forward slashes; `.` for the root and outside of one. */
export async function folderInRepository(path: string): Promise<string> {
  const root = findRepositoryRoot(path);
  if (root === null) {
    return ROOT_SCOPE;
  }
  return (
    relative(root, await realpath(path))
      .split(sep)
      .join('/') || ROOT_SCOPE
  );
}

/** Reads the applied refs of an organization. Throws SourceError if they must be fetched and cannot be. */
export async function openRefs(
  { organization, scope, repository }: ScopedDirectory,
  { base, fetch, warn }: Pick<BaseOptions, 'base' | 'fetch' | 'warn'>,
): Promise<AppliedRefs> {
  const refs = new AppliedRefs(openRefHost(repository), organization);
  await refs.readLocal();
  // Refs of an earlier fetch are good enough to plan with; without any, the remote is needed.
  const isRecorded = refs.tipOf(scope) !== null;
  if (fetch === 'always' || (base === 'applied' && !isRecorded)) {
    await refs.update();
  } else if (fetch !== 'if-needed' || (base === undefined && !isRecorded)) {
    await refs.update().catch((error: unknown) => {
      if (fetch === 'if-recorded' && isRecorded) {
        throw new SourceError(
          `${messageOf(error)}; the recorded base may be outdated: make the remote reachable, or pass --base with a commit or none`,
          { cause: error },
        );
      }
      const unchecked = base === undefined && !isRecorded ? 'The recorded base and other scopes' : 'Other scopes';
      warn(`${unchecked} were not checked: ${messageOf(error)}.\n`);
    });
  }
  return refs;
}

async function baseOfRef(refs: AppliedRefs, place: ScopedDirectory, ref: string) {
  const commit = await resolveRef(place.repository, ref);
  if (commit === null) {
    throw new ConfigError(
      `--base ${JSON.stringify(ref)} is not a commit, branch or tag of this repository; fetch it, or pass another`,
    );
  }
  if (ref.startsWith('refs/octavo/')) {
    return readRecordedBase(refs, place, { tip: commit, ref });
  }
  return { base: await baseAt(place.repository, commit, place.directory), commit };
}
