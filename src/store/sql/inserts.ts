/** INSERT for many rows, in few statements. */
import type { Sql, SqlValue } from './database.ts';
import { rowBatches } from './row-batches.ts';

/** Rows to insert: values by column. */
export interface NewRows {
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
