/** State file: a database of node:sqlite with one connection, which one transaction at a time uses. */

import { AsyncLocalStorage } from 'node:async_hooks';
import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { messageOf, StoreError } from '../core/errors.ts';
import { makeDirectory } from '../core/files/disk.ts';
import type { Json } from '../core/json.ts';
import type { Sql, SqlDatabase, SqlRow, SqlValue } from './sql/database.ts';
import { SQLITE_LAYOUTS } from './sql/schema-migrations.ts';
import { openSqlStore, type Store } from './store.ts';

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
    const what = version === 0 ? 'is empty' : `was written by an older Octavo (layout ${version})`;
    throw new StoreError(
      `${file} ${what}; name another file, or start the daemon of this version once, which migrates it`,
    );
  }
  if (database.prepare('PRAGMA quick_check(1)').get()?.quick_check !== 'ok') {
    throw new StoreError(`${file} ${DAMAGED}`);
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
    throw new StoreError(
      `${file} is the database of another program and was not changed; set store.path to another file`,
    );
  }
  if (version > SQLITE_LAYOUTS.length) {
    throw new StoreError(
      `${file} was written by a newer Octavo (layout ${version}; this version supports up to ${SQLITE_LAYOUTS.length}); run that version or a newer one`,
    );
  }
  if (!isNew && !hasOurs) {
    throw new StoreError(`${file} ${DAMAGED}`);
  }
  return { version, isMarked };
}

/** A state file, or a database in memory. Prepares each statement once. */
export class SqliteDatabase implements SqlDatabase {
  readonly #database: DatabaseSync;
  readonly #file: string;
  readonly #statements = new Map<string, StatementSync>();
  readonly #current = new AsyncLocalStorage<SqliteStatements>();
  readonly #waiting: (() => void)[] = [];
  /** Identity of the file; null in memory. */
  readonly #opened: string | null;
  #isBusy = false;

  /** `file` is the name of the database in errors. */
  constructor(database: DatabaseSync, file: string) {
    this.#database = database;
    this.#file = file;
    this.#opened = identityOf(file);
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.#alone(() => this.#statementsFor(work));
  }

  write<T>(_scope: string, work: (sql: Sql) => Promise<T>, keeps?: (result: T) => boolean): Promise<T> {
    return this.#alone(async () => {
      // What is written to a file that was deleted is lost at the next start.
      if (this.#opened !== null && identityOf(this.#file) !== this.#opened) {
        throw new StoreError(`${this.#file} ${DELETED}`);
      }
      this.#control('BEGIN IMMEDIATE');
      try {
        const result = await this.#statementsFor(work);
        this.#control((keeps?.(result) ?? true) ? 'COMMIT' : 'ROLLBACK');
        return result;
      } catch (error) {
        // SQLite itself rolls back after some errors, such as a full disk.
        if (this.#database.isTransaction) {
          this.#control('ROLLBACK');
        }
        throw error;
      }
    });
  }

  /** Returns itself: the file has one owner, whose leases never end. */
  fenced(): SqlDatabase {
    return this;
  }

  async close(): Promise<void> {
    if (this.#database.isOpen) {
      await this.#alone(async () => withStoreErrors(this.#file, () => this.#database.close()));
    }
  }

  #control(statement: 'BEGIN IMMEDIATE' | 'COMMIT' | 'ROLLBACK'): void {
    withStoreErrors(this.#file, () => this.#prepare(statement).run());
  }

  readonly #prepare = (statement: string): StatementSync => {
    const prepared = this.#statements.get(statement) ?? this.#database.prepare(statement);
    this.#statements.set(statement, prepared);
    return prepared;
  };

  async #statementsFor<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const statements = new SqliteStatements(this.#prepare, this.#file);
    try {
      const result = await this.#current.run(statements, work, statements);
      statements.requireSuccess();
      return result;
    } finally {
      statements.isOpen = false;
    }
  }

  /** Runs work when no other work runs; at once if there is none. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#current.getStore()?.isOpen === true) {
      throw new Error('a transaction cannot start another one; use its statements');
    }
    if (this.#isBusy) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#isBusy = true;
    try {
      if (!this.#database.isOpen) {
        throw new StoreError(`${this.#file} is closed`);
      }
      return await work();
    } finally {
      const next = this.#waiting.shift();
      this.#isBusy = next !== undefined;
      next?.();
    }
  }
}

const DELETED =
  'was deleted or replaced while it was in use, so nothing is stored; stop Octavo, restore the file from a backup if you ' +
  'have one, and start Octavo again';

/** Returns what identifies a file as long as it exists; null if there is none. */
function identityOf(file: string): string | null {
  try {
    const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
    return stats === undefined ? null : `${stats.dev}/${stats.ino}`;
  } catch (error) {
    throw new StoreError(`${file} cannot be used: ${messageOf(error)}`, { cause: error });
  }
}

/** Statements of one transaction. They fail after its end, when another one may use the connection. */
class SqliteStatements implements Sql {
  readonly #prepare: (statement: string) => StatementSync;
  readonly #file: string;
  isOpen = true;
  #failure: unknown = null;

  constructor(prepare: (statement: string) => StatementSync, file: string) {
    this.#prepare = prepare;
    this.#file = file;
  }

  async run(statement: string, ...values: readonly SqlValue[]): Promise<number> {
    return this.#execute(() => Number(this.#prepare(statement).run(...values).changes));
  }

  async all<Row extends object = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#execute(() => this.#prepare(statement).all(...values) as object[] as Row[]);
  }

  async get<Row extends object = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<Row | undefined> {
    return this.#execute(() => this.#prepare(statement).get(...values) as object as Row | undefined);
  }

  jsonItems(expression: string): string {
    return `json_each(${expression}) AS each`;
  }

  jsonMember(expression: string, name: string): string {
    return `(${expression} ->> '${name}')`;
  }

  parse(text: unknown): Json {
    try {
      return JSON.parse(String(text)) as Json;
    } catch (error) {
      throw this.damagedError(error);
    }
  }

  damagedError(cause?: unknown): StoreError {
    return new StoreError(`${this.#file} ${DAMAGED}`, { cause });
  }

  /** Throws the first error of a statement: like PostgreSQL, nothing is committed after it. */
  requireSuccess(): void {
    if (this.#failure !== null) {
      throw this.#failure;
    }
  }

  #execute<T>(work: () => T): T {
    if (!this.isOpen) {
      throw new Error('the transaction of this statement has ended; await its statements');
    }
    try {
      return withStoreErrors(this.#file, work);
    } catch (error) {
      this.#failure ??= error;
      throw error;
    }
  }
}

/** Primary result codes of SQLite that have specific advice. */
const BUSY = 5;
const READ_ONLY = 8;
const IO = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** Runs work on the state file. Turns failures into a StoreError with the name of the file and advice. */
function withStoreErrors<T>(file: string, work: () => T): T {
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
function requireWritable(file: string): void {
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
function keepPrivate(files: readonly string[]): void {
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
