import { posix } from 'node:path';
import type { Address } from '../core/address.ts';
import { DesiredStateError } from '../core/errors.ts';
import type { BaseEntry } from '../core/resource.ts';
import { readTreeAt } from '../git/objects.ts';
import { kinds } from '../kinds/registry.ts';
import type { ManifestLoader } from '../manifests/loader.ts';
import { baseOfManifests } from './record.ts';

/**
 * Returns the base that the manifests of a commit declare. `folder`: their directory inside the repository. A commit
 * without manifests, such as the first one of a repository, owns nothing. Throws DesiredStateError, and SourceError if
 * the commit does not exist.
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

/**
 * Adds a note to problems in the base: current rules may differ from those at the time of the base. Files are named as
 * git names them.
 */
function inBase({ problems }: DesiredStateError, commit: string, folder: string): DesiredStateError {
  const short = commit.slice(0, 7);
  return new DesiredStateError(
    problems.map((problem) => ({
      ...problem,
      file: `${short}:${posix.join(folder, problem.file)}`,
      message: `${problem.message} (in the base, checked against the current rules; choose another base with --base, or none)`,
    })),
  );
}
