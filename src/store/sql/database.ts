/** A database behind the store: statements in the SQL that SQLite and PostgreSQL share. See docs/fleet.md. */

import type { StoreError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { append } from '../../core/lists.ts';

/** Integers are whole; true and false are stored as 1 and 0, times as milliseconds since the epoch, lists as JSON text. */
export type SqlValue = string | number | null;

/** Row by column name: texts, numbers (also for 64-bit integers, and 1 or 0 for a condition) and nulls. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Runs statements one after the other. Each `?` in a statement is one value. A statement is written in the SQL that both
 * dialects understand: `ON CONFLICT (columns)` and not `INSERT OR REPLACE`, CASE and not `MAX(a, b)`, no `json_each`
 * (see `jsonItems`), no implicit conversions. Throws StoreError.
 */
export interface Sql {
  /** Returns the number of changed rows. */
  run(statement: string, ...values: readonly SqlValue[]): Promise<number>;
  /** Returns all rows. `Row` names the types that the columns have in the tables; nothing checks them. */
  all<Row extends object = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Returns the first row; undefined if there is none. */
  get<Row extends object = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<Row | undefined>;
  /** Returns an item of FROM, `each`, whose column `value` has the items of a JSON list: texts, or numbers to CAST. */
  jsonItems(expression: string): string;
  /** Returns an expression: the text of a member of a JSON object, or NULL if there is none. */
  jsonMember(expression: string, name: string): string;
  /** Parses stored JSON. Throws StoreError. */
  parse(text: unknown): Json;
  /** Returns the error for content that Octavo cannot have written. */
  damagedError(): StoreError;
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
  /** Ends the connections, after the work under way. */
  close(): Promise<void>;
}

/** Rows to insert: values by column. */
interface NewRows {
  readonly table: string;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  /** The other columns. */
  readonly columns: readonly string[];
  /** Values of `key`, then of `columns`. */
  readonly rows: readonly (readonly SqlValue[])[];
}

/** Adds rows, or replaces those with the same key. Of several new rows with the same key, the last one stays. */
export function upsertRows(sql: Sql, target: NewRows): Promise<void> {
  const { key, columns, rows } = target;
  const update = columns.map((column) => `${column} = excluded.${column}`).join(', ');
  const keyOf = (row: readonly SqlValue[]) => JSON.stringify(row.slice(0, key.length));
  const last = rows.length < 2 ? rows : [...new Map(rows.map((row) => [keyOf(row), row])).values()];
  return insert(sql, { ...target, rows: last }, `DO UPDATE SET ${update}`);
}

/** Adds rows, except for those whose key exists. */
export function insertNewRows(sql: Sql, target: NewRows): Promise<void> {
  return insert(sql, target, 'DO NOTHING');
}

async function insert(sql: Sql, { table, key, columns, rows }: NewRows, conflict: string): Promise<void> {
  const names = [...key, ...columns];
  const start = `INSERT INTO ${table} (${names.join(', ')}) VALUES `;
  const end = ` ON CONFLICT (${key.join(', ')}) ${conflict}`;
  await runBatches(sql, `(${names.map(() => '?').join(', ')})`, rows, (list) => `${start}${list}${end}`);
}

const MAX_VALUES = 500;
/** Length of the texts of a batch, in UTF-16 units; a row with a longer one is written alone. */
const MAX_LENGTH = 1024 * 1024;
/** Sizes of batches with more rows are multiples of this, so that few different statements are prepared. */
const STEP = 8;

/**
 * Runs a statement on rows, several at a time, and returns the rows that it returns. `row` is the text of one row, such as
 * `(?, ?)`; `statement` gets the list of them, to follow VALUES.
 */
export async function runBatches<Row extends object = SqlRow>(
  sql: Sql,
  row: string,
  rows: readonly (readonly SqlValue[])[],
  statement: (list: string) => string,
): Promise<readonly Row[]> {
  const most = Math.max(1, Math.floor(MAX_VALUES / (rows[0]?.length ?? 1)));
  const returned: Row[] = [];
  for (let start = 0; start < rows.length; ) {
    const fitting = countFitting(rows, start, most);
    const batch = rows.slice(start, start + (fitting > STEP ? fitting - (fitting % STEP) : fitting));
    append(returned, await sql.all<Row>(statement(batch.map(() => row).join(', ')), ...batch.flat()));
    start += batch.length;
  }
  return returned;
}

function countFitting(rows: readonly (readonly SqlValue[])[], start: number, most: number): number {
  const end = Math.min(rows.length, start + most);
  let length = 0;
  for (let index = start; index < end; index += 1) {
    for (const value of rows[index] ?? []) {
      length += typeof value === 'string' ? value.length : 0;
    }
    if (length > MAX_LENGTH && index > start) {
      return index - start;
    }
  }
  return end - start;
}

/** Listener for the duration of each transaction, also of one that failed, in milliseconds. */
export type TransactionListener = (operation: 'read' | 'write', milliseconds: number) => void;

/** Returns a condition that matches a column with the items of a JSON list of texts, which is one value. */
export function inTexts(sql: Sql, column: string): string {
  return `${column} IN (SELECT each.value FROM ${sql.jsonItems('?')})`;
}

/** Returns a condition that matches a column with the items of a JSON list of whole numbers, which is one value. */
export function inNumbers(sql: Sql, column: string): string {
  return `${column} IN (SELECT CAST(each.value AS BIGINT) FROM ${sql.jsonItems('?')})`;
}
