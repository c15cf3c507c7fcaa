/** Transactions, and statements that are prepared once. */
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';

/** Runs work in one transaction. Rolls it back if the work fails. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) {
      database.exec('ROLLBACK');
    }
    throw error;
  }
}

/** A database with a cache of prepared statements. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: (string | number | null)[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  all(sql: string, ...values: (string | number | null)[]): readonly Record<string, SQLOutputValue>[] {
    return this.#statement(sql).all(...values);
  }

  #statement(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}
