/** Bounds what a commit may unfold to, before its files are written: a few kilobytes of git objects can hold petabytes. */
import { SourceError } from '../core/errors.ts';
import { type Git, gitFailure } from './run.ts';

/** What a commit may hold at most. */
const TREE_LIMITS = { files: 250_000, bytes: 4 * 1024 ** 3 } as const;

/** Bytes of a listing of that many files, which takes git seconds. */
export const LARGEST_LISTING = 32 * 1_048_576;

/** Throws SourceError for a commit with more files, or larger ones, than a source may have. */
export async function mustFit(git: Git, commit: string, limits: { files: number; bytes: number } = TREE_LIMITS) {
  const listed = await git.raw(['ls-tree', '-r', '-l', '-z', '--full-tree', commit], LARGEST_LISTING).catch((error) => {
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
