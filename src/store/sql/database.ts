/** A database behind the store: statements in the SQL that SQLite and PostgreSQL share. See docs/fleet.md. */
import type { StoreError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';

/** Integers are whole; true and false are stored as 1 and 0, times as milliseconds since the epoch, lists as JSON text. */
export type SqlValue = string | number | null;

/** Row by column name: texts, numbers (also for 64-bit integers) and nulls. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Runs statements one after the other. Each `?` in a statement is one value. A statement is written in the SQL that both
 * dialects understand: `ON CONFLICT (columns)` and not `INSERT OR REPLACE`, CASE and not `MAX(a, b)`, no `json_each`
 * (see `jsonItems`), no implicit conversions. Throws StoreError.
 */
export interface Sql {
  /** Returns the number of changed rows. */
  run(statement: string, ...values: readonly SqlValue[]): Promise<number>;
  all(statement: string, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
  /** Returns the first row; undefined if there is none. */
  get(statement: string, ...values: readonly SqlValue[]): Promise<SqlRow | undefined>;
  /** Returns an item of FROM, `each`, whose column `value` has the items of a JSON list: texts, or numbers to CAST. */
  jsonItems(expression: string): string;
  /** Returns an expression: the text of a member of a JSON object, or NULL if there is none. */
  jsonMember(expression: string, name: string): string;
}

/** A database with Octavo's tables. Every method throws StoreError if it cannot be used. */
export interface SqlDatabase {
  /** Runs statements that read: all of them see the same state. */
  read<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /**
   * Runs work in one transaction, which is committed when this resolves. No other work of the same scope, in any replica,
   * runs at the same time: the scope is the id of an organization, or the name of what is written. Rolls back if the work
   * throws, or if `keeps` returns false for its result. Work may be run again if the database refused the transaction
   * because of another one, so it changes nothing but the database.
   */
  write<T>(scope: string, work: (sql: Sql) => Promise<T>, keeps?: (result: T) => boolean): Promise<T>;
  /**
   * Returns the same database, whose `write` first checks in its transaction that the lease is held with this epoch by a
   * replica that is alive, and otherwise throws LeaseLostError. A write under way delays the next claim.
   */
  fenced(lease: { readonly name: string; readonly epoch: number }): SqlDatabase;
  /** Parses stored JSON. */
  parse(text: unknown): Json;
  /** Returns the error for content that Octavo cannot have written. */
  damagedError(): StoreError;
  /** Ends the connections, after the work under way. */
  close(): Promise<void>;
}
