import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import { messageOf, StoreError } from '../../core/errors.ts';

/** Primary result codes of SQLite that have specific advice. */
const BUSY = 5;
const READ_ONLY = 8;
const IO = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** Runs work on the state file. Turns failures into a StoreError with the name of the file and advice. */
export function withStoreErrors<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof StoreError ? error : new StoreError(`${file} ${wordsOf(error)}`, { cause: error });
  }
}

function wordsOf(error: unknown): string {
  const { errcode } = error as { errcode?: unknown };
  // Extended codes carry the primary one in their low byte.
  switch (typeof errcode === 'number' ? errcode & 0xff : null) {
    case BUSY:
      return 'is in use by another process; only one Octavo may use a state file';
    case READ_ONLY:
      return READ_ONLY_WORDS;
    case FULL:
      return 'cannot be written: the disk is full; free some space; a running daemon then continues by itself';
    case IO:
      return `cannot be read or written: ${messageOf(error)}; check the disk, its quota and the file size limit`;
    case CANNOT_OPEN:
      return 'cannot be opened; set store.path to a file in a directory that this user can write to';
    case CORRUPT:
    case NOT_A_DATABASE:
      return DAMAGED;
    default:
      return `cannot be used: ${messageOf(error)}; set store.path to a file in a directory that this user can write to`;
  }
}

const READ_ONLY_WORDS =
  'cannot be written: it is read-only for this user; make the file and its directory writable, or set store.path to another file';

const DAMAGED =
  'is damaged; move it away and start again: the next pass adopts the declared resources by their natural keys, and ' +
  'deletes nothing, because deletions need this record';

/**
 * Throws StoreError if the file exists and this process may not read and write it. SQLite would open it for reading and
 * report a disk error later.
 */
export function requireWritable(file: string): void {
  try {
    accessSync(file, constants.R_OK | constants.W_OK);
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw new StoreError(`${file} ${READ_ONLY_WORDS}`, { cause: error });
    }
  }
}

/**
 * Removes the permissions of everybody except the owner, because tokens are stored there. Files of other users are not
 * changed.
 */
export function keepPrivate(files: readonly string[]): void {
  for (const file of files) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o077) !== 0) {
      try {
        chmodSync(file, mode & 0o700);
      } catch {
        // The file belongs to another user, and this user can only write to it.
      }
    }
  }
}

/** Content of the file that Octavo cannot have written. */
export function damagedFileError(file: string, cause?: unknown): StoreError {
  return new StoreError(`${file} ${DAMAGED}`, { cause });
}

/** Database that is not Octavo's. */
export function foreignFileError(file: string): StoreError {
  return new StoreError(
    `${file} is the database of another program and was not changed; set store.path to another file`,
  );
}

/** File that a newer Octavo wrote. */
export function newerFileError(file: string, version: number, known: number): StoreError {
  return new StoreError(
    `${file} was written by a newer Octavo (layout ${version}; this version supports up to ${known}); run that version or a newer one`,
  );
}

/** File that an older Octavo wrote, or that is empty, where it must not be changed. */
export function olderFileError(file: string, version: number): StoreError {
  const what = version === 0 ? 'is empty' : `was written by an older Octavo (layout ${version})`;
  return new StoreError(
    `${file} ${what}; name another file, or start the daemon of this version once, which migrates it`,
  );
}
