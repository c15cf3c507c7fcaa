/** Recognizes paths into a repository's `.git`, in every spelling that a file system accepts for it. */

/** Code points that HFS+ ignores in file names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Returns true if a path leads to or into a `.git`, on any system: in any case (`.GIT`), with code points that HFS+
 * ignores, by its short name on NTFS (`git~1`), or with the spaces, dots and stream names that Windows drops.
 */
export function isInGitFolder(path: string): boolean {
  return path.split(/[/\\]/).some(isGitFolder);
}

function isGitFolder(name: string): boolean {
  const plain = name.replace(IGNORED_BY_HFS, '').normalize('NFKC').toLowerCase();
  return /^(\.git|git~\d+)[ .]*(:.*)?$/s.test(plain);
}
