/** What was seen of a file. */
export interface FileStat {
  /** What changes while it is written. */
  readonly size: number;
  readonly mtime: number;
  readonly inode: number;
  /** Since when it looks like this, in milliseconds since the epoch. */
  readonly since: number;
}

/** The look of a file now, which is as old as the last one where nothing has changed. */
export function readFileStat(last: FileStat | undefined, stats: Omit<FileStat, 'since'>, now: number): FileStat {
  const { size, mtime, inode } = stats;
  const isSame = last !== undefined && last.size === size && last.mtime === mtime && last.inode === inode;
  return { size, mtime, inode, since: isSame ? last.since : now };
}

/**
 * Whether nobody writes the file any more: it was not touched for `stable` milliseconds, as its own time says or as
 * was seen. A file that was moved into the folder whole keeps the time of its last write, and is read at once. A file
 * that goes on after all is read again, and what has not changed in it is not sent again.
 */
export function isSettled(look: FileStat, now: number, stable: number): boolean {
  return now - look.since >= stable || now - look.mtime >= stable;
}

/** Whether a name in a drop folder is that of a file which somebody is still making, or of none at all. */
export function isUnfinishedName(name: string): boolean {
  return (
    name.startsWith('.') ||
    name.startsWith('~') ||
    /\.(?:tmp|part|partial|crdownload|swp|filepart)$/i.test(name) ||
    name.endsWith('~')
  );
}
