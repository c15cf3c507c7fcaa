/** Database of node:sqlite: one connection, which one transaction at a time uses. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { statSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { messageOf, StoreError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { Sql, SqlDatabase, SqlRow, SqlValue } from './database.ts';
import { damagedFileError, withStoreErrors } from './store-errors.ts';

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

  parse(text: unknown): Json {
    try {
      return JSON.parse(String(text)) as Json;
    } catch (error) {
      throw damagedFileError(this.#file, error);
    }
  }

  damagedError(): StoreError {
    return damagedFileError(this.#file);
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
      statements.end();
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
  #isOpen = true;
  #failure: unknown = null;

  constructor(prepare: (statement: string) => StatementSync, file: string) {
    this.#prepare = prepare;
    this.#file = file;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async run(statement: string, ...values: readonly SqlValue[]): Promise<number> {
    return this.#execute(() => Number(this.#prepare(statement).run(...values).changes));
  }

  async all(statement: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    return this.#execute(() => this.#prepare(statement).all(...values));
  }

  async get(statement: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined> {
    return this.#execute(() => this.#prepare(statement).get(...values));
  }

  jsonItems(expression: string): string {
    return `json_each(${expression}) AS each`;
  }

  jsonMember(expression: string, name: string): string {
    return `(${expression} ->> '${name}')`;
  }

  /** Throws the first error of a statement: like PostgreSQL, nothing is committed after it. */
  requireSuccess(): void {
    if (this.#failure !== null) {
      throw this.#failure;
    }
  }

  end(): void {
    this.#isOpen = false;
  }

  #execute<T>(work: () => T): T {
    if (!this.#isOpen) {
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
