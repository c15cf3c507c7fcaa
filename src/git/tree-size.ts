/**
 * Limits the size of a commit before its files are written, because a few kilobytes of git objects can hold petabytes.
 */
import { SourceError } from '../core/errors.ts';
import { type Git, gitFailure } from './run.ts';

/** Limits of a commit. */
const TREE_LIMITS = { files: 250_000, bytes: 4 * 1024 ** 3 } as const;

/** Maximum bytes of a listing, for about the maximum number of files. */
export const MAX_LISTING_SIZE = 32 * 1_048_576;

/** Throws SourceError for a commit with more files or bytes than the limits. */
export async function checkTreeSize(git: Git, commit: string, limits: { files: number; bytes: number } = TREE_LIMITS) {
  const listed = await git
    .raw(['ls-tree', '-r', '-l', '-z', '--full-tree', commit], MAX_LISTING_SIZE)
    .catch((error) => {
      throw gitFailure(`cannot list the files of commit ${commit.slice(0, 7)}`, error);
    });
  let files = 0;
  let bytes = 0;
  for (const [, size] of listed.matchAll(/(?:^|\0)\d+ blob [0-9a-f]+ +(\d+)\t/g)) {
    files += 1;
    bytes += Number(size);
  }
  if (files > limits.files || bytes > limits.bytes) {
    const gigabytes = Math.ceil(bytes / 1024 ** 3);
    throw new SourceError(
      `commit ${commit.slice(0, 7)} has ${files} files with ${gigabytes} GB, more than the limit ` +
        `(${limits.files} files, ${limits.bytes / 1024 ** 3} GB); move the manifests to a separate repository`,
    );
  }
}
