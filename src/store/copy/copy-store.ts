/** Copies a store into an empty one. See docs/fleet.md#set-up. */
import { CancelledError, ConfigError, StoreError } from '../../core/errors.ts';
import type { OpenDatabase } from '../open/open-database.ts';
import type { Sql, SqlRow, SqlValue } from '../sql/database.ts';
import { insertNewRows } from '../sql/inserts.ts';
import { readPages, summarizeTable, TableChecksum, type TableSummary } from './table-reader.ts';
import { STORED_TABLES, type StoredTable } from './tables.ts';

export interface StoreCopy {
  readonly tables: readonly TableSummary[];
  /** Texts with characters that PostgreSQL cannot store, which were replaced by U+FFFD. */
  readonly replaced: number;
}

const LONGEST_PAUSE = '1h';

/**
 * Copies all tables in one transaction, reads them back and compares the checksums. Throws ConfigError if the target is
 * not empty or a replica uses one of the stores, and StoreError if a checksum differs; the target stays empty then.
 */
export async function copyStore(from: OpenDatabase, to: OpenDatabase, signal: AbortSignal): Promise<StoreCopy> {
  await requireUnused(from);
  await requireUnused(to);
  return from.database.read(async (source) => {
    await allowPauses(source, from);
    return to.database.write('copy', async (target) => {
      await allowPauses(target, to);
      await requireEmpty(target, to.name);
      const copy = new RowCopy(source, target, to.isPostgres, signal);
      const tables: TableSummary[] = [];
      for (const table of STORED_TABLES) {
        const summary = await copy.copy(table);
        const stored = await summarizeTable(target, table);
        if (stored.checksum !== summary.checksum) {
          throw new StoreError(
            `the copy of the table ${table.name} differs from the original (${stored.rows} of ${summary.rows} rows); nothing was stored`,
          );
        }
        tables.push(summary);
      }
      return { tables, replaced: copy.replaced };
    });
  });
}

/** PostgreSQL ends a transaction that sends nothing for a few seconds; here, one waits while the other reads a whole table. */
async function allowPauses(sql: Sql, { isPostgres }: OpenDatabase): Promise<void> {
  if (isPostgres) {
    await sql.all(`SELECT set_config('idle_in_transaction_session_timeout', '${LONGEST_PAUSE}', true)`);
  }
}

async function requireUnused({ name, replicas }: OpenDatabase): Promise<void> {
  const running = await replicas();
  if (running.length > 0) {
    const addresses = running.map(({ address }) => address).join(', ');
    throw new ConfigError(`${name} is in use by running replicas (${addresses}); stop them first`);
  }
}

async function requireEmpty(sql: Sql, name: string): Promise<void> {
  for (const table of STORED_TABLES) {
    if ((await sql.get(`SELECT 1 AS found FROM ${table.name} LIMIT 1`)) !== undefined) {
      throw new ConfigError(`${name} is not empty (table ${table.name}); copy into a new file or database`);
    }
  }
}

class RowCopy {
  replaced = 0;
  readonly #source: Sql;
  readonly #target: Sql;
  readonly #isPostgres: boolean;
  readonly #signal: AbortSignal;

  constructor(source: Sql, target: Sql, isPostgres: boolean, signal: AbortSignal) {
    this.#source = source;
    this.#target = target;
    this.#isPostgres = isPostgres;
    this.#signal = signal;
  }

  async copy(table: StoredTable): Promise<TableSummary> {
    const { name, key } = table;
    const checksum = new TableChecksum(table);
    for await (const page of readPages(this.#source, table)) {
      if (this.#signal.aborted) {
        throw new CancelledError('interrupted; nothing was stored');
      }
      const rows = this.#isPostgres ? page.map((row) => this.#toText(row)) : page;
      checksum.add(rows);
      const columns = Object.keys(rows[0] ?? {}).filter((column) => !key.includes(column));
      const values = rows.map((row) => [...key, ...columns].map((column) => row[column] as SqlValue));
      await insertNewRows(this.#target, { table: name, key, columns, rows: values });
    }
    if (this.#isPostgres && table.isNumbered === true) {
      const [column = ''] = key;
      await this.#target.all(
        `SELECT setval(pg_get_serial_sequence('${name}', '${column}'), MAX(${column})) FROM ${name} HAVING COUNT(*) > 0`,
      );
    }
    return checksum.summary();
  }

  /** Replaces what PostgreSQL cannot store. */
  #toText(row: SqlRow): SqlRow {
    const hasOthers = Object.values(row).some((value) => typeof value === 'string' && isUnstorable(value));
    return hasOthers
      ? Object.fromEntries(Object.entries(row).map(([column, value]) => [column, this.#replace(value)]))
      : row;
  }

  #replace(value: unknown): unknown {
    if (typeof value !== 'string' || !isUnstorable(value)) {
      return value;
    }
    this.replaced += 1;
    return value.toWellFormed().replaceAll('\0', '\ufffd');
  }
}

function isUnstorable(value: string): boolean {
  return value.includes('\0') || !value.isWellFormed();
}
