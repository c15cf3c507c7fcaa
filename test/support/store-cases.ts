/** Stores that pass the same contract, each with an empty database for every test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openMemoryDatabase } from '../../src/store/memory.ts';
import { openPostgresDatabase } from '../../src/store/postgres/database.ts';
import type { Sql, SqlDatabase } from '../../src/store/sql/database.ts';
import { openSqliteDatabase } from '../../src/store/sqlite.ts';
import { openSqlStore, type Store } from '../../src/store/store.ts';
import { hasPostgres } from './postgres.ts';
import { shareCluster, shareDatabase } from './shared-cluster.ts';

/** Statements that fill the tables of a new store: faster than its methods for many rows. */
type Fill = (sql: Sql) => Promise<unknown>;

/** Name of a store, and a function that opens a new one. The test closes it. */
export type StoreCase = readonly [name: string, open: (fill?: Fill) => Promise<Store>];

/** Returns the cases of a test file; without PostgreSQL's programs, they are memory and SQLite. Call it once in a file. */
export function storeCases(): readonly StoreCase[] {
  let folder: string;
  let files = 0;
  const emptyDatabase = shareDatabase(shareCluster());
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-stores-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const sqlite = (fill?: Fill) => {
    files += 1;
    return openStore(openSqliteDatabase(join(folder, `${files}.db`)), fill);
  };
  const postgres = async (fill?: Fill) =>
    openStore(await openPostgresDatabase({ url: await emptyDatabase(), pool: 2 }), fill);
  return [
    ['memory', (fill) => openStore(openMemoryDatabase(), fill)],
    ['sqlite', sqlite],
    ...(hasPostgres ? [['postgres', postgres] as const] : []),
  ];
}

async function openStore(database: SqlDatabase, fill?: Fill): Promise<Store> {
  if (fill !== undefined) {
    await database.write('fill', fill);
  }
  return openSqlStore(database, null);
}
