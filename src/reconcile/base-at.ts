import { posix } from 'node:path';
import type { Address } from '../core/address.ts';
import { DesiredStateError } from '../core/errors.ts';
import type { BaseEntry } from '../core/resource.ts';
import { readTreeAt } from '../git/tree-at.ts';
import { kinds } from '../kinds/registry.ts';
import type { ManifestLoader } from '../manifests/loader.ts';
import { baseOfManifests } from './record.ts';

/**
 * The base that the manifests of a commit declare. `folder` is theirs, inside the repository. A commit without any
 * manifest owns nothing: the repository's first one, for example. Throws DesiredStateError, and SourceError where there
 * is no such commit.
 */
export async function baseAt(
  repository: string,
  commit: string,
  folder: string,
  loader: ManifestLoader,
): Promise<ReadonlyMap<Address, BaseEntry>> {
  const tree = await readTreeAt(repository, commit, folder);
  const files = await tree.list();
  if (!files.some((file) => /\.ya?ml$/.test(file.path))) {
    return new Map();
  }
  const { declared } = await loader.load(tree).catch((error: unknown) => {
    throw error instanceof DesiredStateError ? inBase(error, commit, folder) : error;
  });
  return baseOfManifests(kinds, declared) ?? new Map();
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
