/** One file of a tree. */
export interface FileEntry {
  /** Relative to the tree's root, with forward slashes. */
  readonly path: string;
  /** Bytes; for a symbolic link that is listed as such, the length of its target. */
  readonly size: number;
  /**
   * Changes whenever the content may have: modification time, inode and size on disk, the blob's id in git.
   * Null where nothing cheap tells.
   */
  readonly version: string | null;
}

/** A folder of files, on disk or in a commit. Paths are relative, with forward slashes. */
export interface FileTree {
  /** What to call it in messages: the folder, or the commit. */
  readonly label: string;
  /** Every file below the root, sorted by path. Hidden folders are left out. */
  list(): Promise<readonly FileEntry[]>;
  /** The bytes of a file, through links. Throws SourceError when it is not there or lies outside the tree. */
  read(path: string): Promise<Uint8Array>;
  /** The path after following links. Throws SourceError when it is not there or leaves the tree. */
  resolve(path: string): Promise<string>;
  /**
   * Throws SourceError with advice where the file is there and no part of the manifests, so that none may name it with
   * `{ file: … }`: one in a `.git`, one that git does not track, a hidden one where there is no git.
   */
  checkNamed(path: string): Promise<void>;
}
