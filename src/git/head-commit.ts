/** Reads the commit of HEAD from the files of a repository, because starting git takes longer than a small plan. */
import { join } from 'node:path';
import { readRegularFile } from '../core/files/regular-file.ts';
import { commonDir, type Repository } from './repository.ts';
import { isCommitId } from './safe-names.ts';

/** Maximum bytes of HEAD and of a branch's file. */
const MAX_REF_LENGTH = 4096;
/** Maximum bytes of `packed-refs`; git reads a larger one faster. */
const MAX_PACKED_SIZE = 1_048_576;
/** A branch whose name cannot lead out of `refs/heads`. */
const BRANCH = /^ref: (refs\/heads(?:\/(?!\.)[^/\0-\x20~^:?*[\\\x7f]+)+)$/;

/**
 * Returns the commit of HEAD, or null if only git can tell: for a branch without commits, for refs that refer to other
 * refs, and for other formats of refs (reftable).
 */
export function readHeadCommit({ gitDir }: Repository): string | null {
  const head = readLine(join(gitDir, 'HEAD'));
  if (head === null || isCommitId(head)) {
    return head;
  }
  const branch = BRANCH.exec(head)?.[1];
  if (branch === undefined) {
    return null;
  }
  const common = commonDir(gitDir);
  // In this order, as in git: packing refs writes the packed file before it removes the others.
  const commit = readLine(join(common, branch)) ?? packedCommit(common, branch);
  return commit !== null && isCommitId(commit) ? commit : null;
}

function packedCommit(common: string, branch: string): string | null {
  const packed = readText(join(common, 'packed-refs'), MAX_PACKED_SIZE) ?? '';
  const line = packed.split('\n').find((each) => each.endsWith(` ${branch}`));
  return line?.slice(0, -branch.length - 1) ?? null;
}

function readLine(path: string): string | null {
  return readText(path, MAX_REF_LENGTH)?.replace(/\n$/, '') ?? null;
}

function readText(path: string, limit: number): string | null {
  try {
    return readRegularFile(path, { limit }).toString('utf8');
  } catch {
    return null;
  }
}
