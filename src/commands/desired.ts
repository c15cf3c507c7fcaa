import { stat } from 'node:fs/promises';
import { posix, relative, resolve } from 'node:path';
import { ConfigError, DesiredStateError, SourceError } from '../core/errors.ts';
import type { FileTree } from '../core/file-tree.ts';
import type { Base } from '../core/resource.ts';
import { appliedRef, fetchRef, headOf, resolveRef } from '../git/commit-info.ts';
import { readTreeAt } from '../git/tree-at.ts';
import { kinds } from '../kinds/registry.ts';
import { openDiskTree } from '../manifests/disk-tree.ts';
import { createManifestLoader, type DesiredState } from '../manifests/loader.ts';
import { baseOfManifests } from '../reconcile/record.ts';

/** The desired state of a folder, with the commit it is at. */
export interface LoadedFolder {
  readonly state: DesiredState;
  /** Null outside a repository, and where files differ from the commit. */
  readonly commit: string | null;
}

/** Reads the manifests of a folder. Throws DesiredStateError with every problem. */
export async function loadFolder(cwd: string, folder: string, config?: string): Promise<LoadedFolder> {
  const path = resolve(cwd, folder);
  if (!(await stat(path).catch(() => null))?.isDirectory()) {
    throw new ConfigError(`${folder} is no folder; name the folder of the manifests`);
  }
  const own = config === undefined ? undefined : relative(path, resolve(cwd, config));
  // Git looks at the files while they are read here.
  const looked = headOf(path);
  const state = await loadTree(openDiskTree(path), relative(cwd, path), own);
  const head = await looked;
  return { state, commit: head === null || head.dirty ? null : head.commit };
}

async function loadTree(tree: FileTree, root: string, config?: string): Promise<DesiredState> {
  return createManifestLoader(kinds).load(tree, { root, ...(config === undefined ? {} : { config }) });
}

/** The base that a git ref declares, and its commit. `applied` is what `apply --record` last moved. */
export async function loadBase(
  cwd: string,
  folder: string,
  ref: string | undefined,
  organization: string,
): Promise<{ base: Base; commit: string | null }> {
  if (ref === undefined) {
    return { base: null, commit: null };
  }
  const path = resolve(cwd, folder);
  const head = await headOf(path);
  if (head === null) {
    throw new ConfigError(`--base needs a git repository with a commit, and ${folder} is in none`);
  }
  const commit = await baseCommit(head.root, ref, organization);
  if (commit === null) {
    return { base: null, commit: null };
  }
  const inside = relative(head.root, path) || '.';
  const state = await loadBaseState(await readTreeAt(head.root, commit, inside), commit, inside);
  return { base: state, commit };
}

/** A base without any manifest is one that owns nothing: the repository's first commit, for one. */
async function loadBaseState(tree: FileTree, commit: string, folder: string): Promise<Base> {
  const files = await tree.list();
  if (!files.some((file) => /\.ya?ml$/.test(file.path))) {
    return new Map();
  }
  const { declared } = await loadTree(tree, '').catch((error: unknown) => {
    throw error instanceof DesiredStateError ? inBase(error, commit, folder) : error;
  });
  return baseOfManifests(kinds, declared);
}

/** The rules of today may be others than those of the base's time; its files are named as git names them. */
function inBase({ problems }: DesiredStateError, commit: string, folder: string): DesiredStateError {
  const short = commit.slice(0, 7);
  return new DesiredStateError(
    problems.map((problem) => ({
      ...problem,
      file: `${short}:${posix.join(folder, problem.file)}`,
      message: `${problem.message} (in the base, by today's rules: name another with --base)`,
    })),
  );
}

async function baseCommit(repository: string, ref: string, organization: string): Promise<string | null> {
  if (ref === 'applied') {
    const name = appliedRef(organization);
    // Nothing was ever recorded: there is no base yet, and so nothing is deleted.
    return (await fetchRef(repository, name)) ?? (await resolveRef(repository, name));
  }
  const commit = await resolveRef(repository, ref);
  if (commit === null) {
    throw new SourceError(`${JSON.stringify(ref)} is no commit, branch or tag of this repository`);
  }
  return commit;
}
