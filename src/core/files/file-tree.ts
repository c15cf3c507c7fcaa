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
