import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory } from '../core/files/make-directory.ts';
import { SQLITE_LAYOUTS } from './layouts/state-file.ts';
import { SqliteDatabase } from './sql/sqlite-database.ts';
import {
  damagedFileError,
  foreignFileError,
  keepPrivate,
  newerFileError,
  olderFileError,
  requireWritable,
  withStoreErrors,
} from './sql/store-errors.ts';
import { openSqlStore } from './sql-store.ts';
import type { Store } from './store.ts';

/** SQLite's application id, which marks the file as Octavo's: "Octv". */
const APPLICATION = 0x4f637476;
const TABLES = ['head', 'entry', 'approval'];

/**
 * Opens the state file. Creates it and its directory if they do not exist. The file is locked by this process until
 * `close`, and only its owner can read it. Acknowledged writes survive a killed process. Throws StoreError if the file
 * is locked by another process, was written by a newer Octavo or another program, is damaged, or cannot be read or
 * written; such a file is not changed. `onOpen` receives the open database, for tests that make it fail.
 */
export function openSqliteStore(path: string, onOpen?: (database: DatabaseSync) => void): Store {
  return openSqlStore(openSqliteDatabase(path, onOpen), null);
}

/** Opens the database of the state file; see `openSqliteStore`. Throws StoreError if an older version wrote it and `isCurrent`. */
export function openSqliteDatabase(
  path: string,
  onOpen?: (database: DatabaseSync) => void,
  isCurrent = false,
): SqliteDatabase {
  const file = resolve(path);
  const connection = withStoreErrors(file, () => {
    makeDirectory(dirname(file));
    requireWritable(file);
    return new DatabaseSync(file, { timeout: 0 });
  });
  try {
    withStoreErrors(file, () => prepare(connection, file, isCurrent));
    keepPrivate([file, `${file}-wal`]);
    onOpen?.(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  return new SqliteDatabase(connection, file);
}

function prepare(database: DatabaseSync, file: string, isCurrent: boolean): void {
  // Exclusive before anything is read: then the lock is taken for good, and WAL needs no shared memory file. The
  // transaction takes it, as reading alone would let a second process in; nothing is written before the file is known
  // to be Octavo's.
  database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  const { version, isMarked } = recognize(database, file);
  if (isCurrent && version < SQLITE_LAYOUTS.length) {
    throw olderFileError(file, version);
  }
  const health = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {})[0];
  if (health !== 'ok') {
    throw damagedFileError(file);
  }
  database.exec('COMMIT; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  if (version < SQLITE_LAYOUTS.length || !isMarked) {
    const mark = `PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${SQLITE_LAYOUTS.length};`;
    database.exec(`BEGIN; ${SQLITE_LAYOUTS.slice(version).join('\n')} ${mark} COMMIT;`);
  }
}

/** Returns the layout of the file; 0 if it is empty. Throws StoreError if it is not Octavo's, or too new. */
function recognize(database: DatabaseSync, file: string): { readonly version: number; readonly isMarked: boolean } {
  const number = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  const version = number('user_version');
  const isMarked = number('application_id') === APPLICATION;
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const hasOurs = TABLES.every((table) => tables.some(({ name }) => name === table));
  const isNew = !isMarked && version === 0 && tables.length === 0;
  // The first layout was written without an application id.
  if (!isNew && !isMarked && !(hasOurs && version > 0 && version <= SQLITE_LAYOUTS.length)) {
    throw foreignFileError(file);
  }
  if (version > SQLITE_LAYOUTS.length) {
    throw newerFileError(file, version, SQLITE_LAYOUTS.length);
  }
  if (!isNew && !hasOurs) {
    throw damagedFileError(file);
  }
  return { version, isMarked };
}
