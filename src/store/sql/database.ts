/** A database behind the store: statements in the SQL that SQLite and PostgreSQL share. See docs/fleet.md. */

import type { Clock } from '../../core/clock.ts';
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
export async function upsertRows(sql: Sql, { rows, ...target }: NewRows): Promise<void> {
  const { key, columns } = target;
  if (rows.length === 0) {
    return;
  }
  const update = columns.map((column) => `${column} = excluded.${column}`).join(', ');
  const last = rows.length < 2 ? rows : [...new Map(rows.map((row) => [keyText(row, key.length), row])).values()];
  await insertChunks(sql, { ...target, rows: last }, `DO UPDATE SET ${update}`);
}

/** Adds rows, except for those whose key exists. */
export async function insertNewRows(sql: Sql, target: NewRows): Promise<void> {
  if (target.rows.length > 0) {
    await insertChunks(sql, target, 'DO NOTHING');
  }
}

async function insertChunks(sql: Sql, { table, key, columns, rows }: NewRows, conflict: string): Promise<void> {
  const names = [...key, ...columns];
  for (const { list, values } of rowBatches(`(${names.map(() => '?').join(', ')})`, rows)) {
    await sql.run(
      `INSERT INTO ${table} (${names.join(', ')}) VALUES ${list} ON CONFLICT (${key.join(', ')}) ${conflict}`,
      ...values,
    );
  }
}

function keyText(row: readonly SqlValue[], length: number): string {
  return JSON.stringify(row.slice(0, length));
}

/** Part of the rows, as the text that follows VALUES, and its values. */
interface RowBatch {
  /** Such as `(?, ?), (?, ?)`. */
  readonly list: string;
  readonly values: readonly SqlValue[];
}

const MAX_VALUES = 500;
/** Length of the texts of a batch, in UTF-16 units; a row with a longer one is written alone. */
const MAX_LENGTH = 1024 * 1024;
/** Sizes of batches with more rows are multiples of this, so that few different statements are prepared. */
const STEP = 8;

/** Divides rows into batches. `row` is the text of one row, such as `(?, ?)`. */
export function* rowBatches(row: string, rows: readonly (readonly SqlValue[])[]): Generator<RowBatch> {
  const most = Math.max(1, Math.floor(MAX_VALUES / (rows[0]?.length ?? 1)));
  let start = 0;
  while (start < rows.length) {
    const fitting = countFitting(rows, start, most);
    const size = fitting > STEP ? fitting - (fitting % STEP) : fitting;
    const batch = rows.slice(start, start + size);
    yield { list: batch.map(() => row).join(', '), values: batch.flat() };
    start += size;
  }
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

/** Returns the same database, which reports how long its transactions took. */
export function timedDatabase(
  database: SqlDatabase,
  clock: Pick<Clock, 'monotonic'>,
  onTransaction: TransactionListener,
): SqlDatabase {
  const timed = async <T>(operation: 'read' | 'write', work: () => Promise<T>): Promise<T> => {
    const from = clock.monotonic();
    try {
      return await work();
    } finally {
      onTransaction(operation, clock.monotonic() - from);
    }
  };
  return {
    read: (work) => timed('read', () => database.read(work)),
    write: (scope, work, keeps) => timed('write', () => database.write(scope, work, keeps)),
    fenced: (lease) => timedDatabase(database.fenced(lease), clock, onTransaction),
    parse: (text) => database.parse(text),
    damagedError: () => database.damagedError(),
    close: () => database.close(),
  };
}

export function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

export function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** Returns a condition that matches a column with the items of a JSON list of texts, which is one value. */
export function inTexts(sql: Sql, column: string): string {
  return `${column} IN (SELECT each.value FROM ${sql.jsonItems('?')})`;
}

/** Returns a condition that matches a column with the items of a JSON list of whole numbers, which is one value. */
export function inNumbers(sql: Sql, column: string): string {
  return `${column} IN (SELECT CAST(each.value AS BIGINT) FROM ${sql.jsonItems('?')})`;
}
