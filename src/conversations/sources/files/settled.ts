/** Status of a file when it was last checked. */
export interface FileStat {
  /** Size in bytes, which changes while the file is written. */
  readonly size: number;
  readonly mtime: number;
  readonly inode: number;
  /** Time of the first check with this status, in milliseconds since the epoch. */
  readonly since: number;
}

/** Returns the current status of a file, or the last one if nothing has changed. */
export function readFileStat(last: FileStat | undefined, stats: Omit<FileStat, 'since'>, now: number): FileStat {
  const { size, mtime, inode } = stats;
  const isSame = last !== undefined && last.size === size && last.mtime === mtime && last.inode === inode;
  return { size, mtime, inode, since: isSame ? last.since : now };
}

/**
 * Reports whether a file is completely written: it has not changed for `stable` milliseconds, by its modification time
 * or by the checks. A file that is moved into the directory keeps its modification time, and is read at once. A file
 * that changes later is read again, and its unchanged records are not sent again.
 */
export function isSettled(status: FileStat, now: number, stable: number): boolean {
  return now - status.since >= stable || now - status.mtime >= stable;
}

/** Reports whether a name in a drop folder is that of a temporary or hidden file. */
export function isTemporaryName(name: string): boolean {
  return (
    name.startsWith('.') ||
    name.startsWith('~') ||
    /\.(?:tmp|part|partial|crdownload|swp|filepart)$/i.test(name) ||
    name.endsWith('~')
  );
}
