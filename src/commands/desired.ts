import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { Address } from '../core/address.ts';
import { ConfigError } from '../core/errors.ts';
import type { FileTree } from '../core/file-tree.ts';
import type { Base } from '../core/resource.ts';
import { appliedRef, fetchRef, headOf, resolveRef } from '../git/commit-info.ts';
import { kinds } from '../kinds/registry.ts';
import { openDiskTree } from '../manifests/disk-tree.ts';
import { createManifestLoader, type DesiredState } from '../manifests/loader.ts';
import { baseAt } from '../reconcile/base-at.ts';

/** The desired state of a folder, with the commit it is at. */
export interface LoadedFolder {
  readonly state: DesiredState;
  /** Null outside a repository, and where files differ from the commit. */
  readonly commit: string | null;
}

/** Reads the manifests of a folder. Throws DesiredStateError with every problem. */
export async function loadFolder(cwd: string, folder: string, config?: string): Promise<LoadedFolder> {
  const path = await folderAt(cwd, folder);
  const own = config === undefined ? undefined : relative(path, resolve(cwd, config));
  // Git looks at the files while they are read here.
  const looked = headOf(path);
  const state = await loadTree(openDiskTree(path), relative(cwd, path), own);
  const head = await looked;
  return { state, commit: head === null || head.dirty ? null : head.commit };
}

/** The addresses that the manifests of a folder declare, whatever else is wrong with them. */
export async function surveyFolder(cwd: string, folder: string): Promise<readonly Address[]> {
  const path = await folderAt(cwd, folder);
  return createManifestLoader(kinds).survey(openDiskTree(path));
}

async function folderAt(cwd: string, folder: string): Promise<string> {
  const path = resolve(cwd, folder);
  if (!(await stat(path).catch(() => null))?.isDirectory()) {
    throw new ConfigError(`${folder} is no folder; name the folder of the manifests`);
  }
  return path;
}

async function loadTree(tree: FileTree, root: string, config?: string): Promise<DesiredState> {
  return createManifestLoader(kinds).load(tree, { root, ...(config === undefined ? {} : { config }) });
}

/** The base that a git ref declares, and its commit. `applied` is what `apply --record` last moved. */
export async function loadBase(
  cwd: string,
  folder: string,
  ref: string | undefined,
  options: { readonly organization: string; readonly offline: boolean },
): Promise<{ base: Base; commit: string | null }> {
  if (ref === undefined) {
    return { base: null, commit: null };
  }
  const path = resolve(cwd, folder);
  const head = await headOf(path);
  if (head === null) {
    throw new ConfigError(`--base needs a git repository with a commit, and ${folder} is in none`);
  }
  const commit = await baseCommit(head.root, ref, options);
  if (commit === null) {
    return { base: null, commit: null };
  }
  const inside = relative(head.root, path) || '.';
  return { base: await baseAt(head.root, commit, inside, createManifestLoader(kinds)), commit };
}

async function baseCommit(
  repository: string,
  ref: string,
  { organization, offline }: { readonly organization: string; readonly offline: boolean },
): Promise<string | null> {
  if (ref === 'applied') {
    const name = appliedRef(organization);
    // Where there is no network, what was fetched before has to do; where nothing was, the remote is asked all the same.
    const known = offline ? await resolveRef(repository, name) : null;
    // Nothing was ever recorded: there is no base yet, and so nothing is deleted.
    return known ?? (await fetchRef(repository, name)) ?? (await resolveRef(repository, name));
  }
  const commit = await resolveRef(repository, ref);
  if (commit === null) {
    throw new ConfigError(
      `--base ${JSON.stringify(ref)} is not a commit, branch or tag of this repository; fetch it first, or name another`,
    );
  }
  return commit;
}
