/** Recognizes paths into a repository's own `.git`, by every spelling that a file system takes for it. */

/** Code points that HFS+ ignores in file names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Whether a path leads into a `.git` or names one: in any case (`.GIT`), with code points that HFS+ ignores, by the short
 * name that NTFS gives it (`git~1`), with the spaces, dots and stream names that Windows drops, on any system.
 */
export function isInGitFolder(path: string): boolean {
  return path.split(/[/\\]/).some(isGitFolder);
}

function isGitFolder(name: string): boolean {
  const plain = name.replace(IGNORED_BY_HFS, '').normalize('NFKC').toLowerCase();
  return /^(\.git|git~\d+)[ .]*(:.*)?$/s.test(plain);
}
