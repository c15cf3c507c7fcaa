/** Reads whole tables in pages of bounded size, and computes checksums of their content. */
import { createHash } from 'node:crypto';
import type { Sql, SqlRow, SqlValue } from '../sql/database.ts';
import type { StoredTable } from './tables.ts';

/** Content of a table in short: equal checksums mean equal rows. */
export interface TableSummary {
  readonly name: string;
  readonly rows: number;
  readonly checksum: string;
}

const FIRST_PAGE = 16;
const MAX_PAGE = 500;
/** Length of the texts of a page, in UTF-16 units, above which the next one has fewer rows. */
const PAGE_LENGTH = 1024 * 1024;

/** Reads the rows of a table in the order of its key. */
export async function* readPages(sql: Sql, { name, key }: StoredTable): AsyncGenerator<readonly SqlRow[]> {
  const columns = key.join(', ');
  const order = `ORDER BY ${columns} LIMIT ?`;
  const next = `SELECT * FROM ${name} WHERE (${columns}) > (${key.map(() => '?').join(', ')}) ${order}`;
  let size = FIRST_PAGE;
  let rows = await sql.all(`SELECT * FROM ${name} ${order}`, size);
  while (rows.length > 0) {
    yield rows;
    const last = rows.at(-1);
    const isLong = lengthOf(rows) > PAGE_LENGTH;
    size = isLong ? Math.max(1, Math.floor(rows.length / 2)) : Math.min(MAX_PAGE, size * 2);
    rows = await sql.all(next, ...key.map((column) => last?.[column] as SqlValue), size);
  }
}

function lengthOf(rows: readonly SqlRow[]): number {
  let length = 0;
  for (const row of rows) {
    for (const value of Object.values(row)) {
      length += typeof value === 'string' ? value.length : 0;
    }
  }
  return length;
}

/** Running checksum of a table. The order of columns does not matter, that of rows does. */
export class TableChecksum {
  readonly #hash = createHash('sha256');
  readonly #name: string;
  #rows = 0;

  constructor({ name }: StoredTable) {
    this.#name = name;
  }

  add(rows: readonly SqlRow[]): void {
    for (const row of rows) {
      const columns = Object.keys(row).sort();
      this.#hash.update(`${JSON.stringify(columns.map((column) => row[column]))}\n`);
    }
    this.#rows += rows.length;
  }

  /** Ends the computation. */
  summary(): TableSummary {
    return { name: this.#name, rows: this.#rows, checksum: this.#hash.digest('hex') };
  }
}

/** Reads a table. */
export async function summarizeTable(sql: Sql, table: StoredTable): Promise<TableSummary> {
  const checksum = new TableChecksum(table);
  for await (const rows of readPages(sql, table)) {
    checksum.add(rows);
  }
  return checksum.summary();
}
