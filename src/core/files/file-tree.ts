/** Trees of files, and files in them that are not read: those in `.git`, and pointers of Git LFS. */

/** File of a tree. */
export interface FileEntry {
  /** Relative to the tree's root, with forward slashes. */
  readonly path: string;
  /** Bytes; for a symbolic link that is listed as a link, the length of its target. */
  readonly size: number;
  /**
   * Changes when the content may have changed: modification time, inode and size on disk, or the blob's id in git.
   * Null if there is no cheap indicator.
   */
  readonly version: string | null;
}

/** Directory of files, on disk or in a commit. Paths are relative, with forward slashes. */
export interface FileTree {
  /** Name for messages: the directory, or the commit. */
  readonly label: string;
  /** Returns every file below the root, sorted by path, without hidden directories. */
  list(): Promise<readonly FileEntry[]>;
  /** Reads a file, following links. Throws SourceError if it does not exist or is outside the tree. */
  read(path: string): Promise<Uint8Array>;
  /** Returns the path after following links. Throws SourceError if it does not exist or leaves the tree. */
  resolve(path: string): Promise<string>;
  /**
   * Throws SourceError with advice if the file exists but manifests may not refer to it with `{ file: … }`: it is
   * inside a `.git`, not tracked by git, or hidden in a directory without git.
   */
  checkNamed(path: string): Promise<void>;
}

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

/** End of a message about such a file, after its name. */
export const LFS_POINTER = 'is a Git LFS pointer and not the content of the file';

/** Returns true for a pointer. `text`: at least the first 64 characters of the file. */
export function isLfsPointer(text: string): boolean {
  return text.startsWith('version https://git-lfs.github.com/spec/');
}
