/** Stores that pass the same contract, each in a new database for every test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openMemoryStore } from '../../src/store/memory.ts';
import { migrate } from '../../src/store/postgres/migrate.ts';
import { openPostgresDatabase } from '../../src/store/postgres/postgres-database.ts';
import { openSqlStore } from '../../src/store/sql-store.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { hasPostgres, type PostgresCluster, reportMissingPostgres, startPostgres } from './postgres.ts';

/** Name of a store, and a function that opens a new one. The test closes it. */
export type StoreCase = readonly [name: string, open: () => Promise<Store>];

/** Returns the cases of a test file; without PostgreSQL's programs, they are memory and SQLite. Call it once in a file. */
export function storeCases(tests: string): readonly StoreCase[] {
  let folder: string;
  let files = 0;
  let cluster: PostgresCluster | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-stores-'));
    if (hasPostgres) {
      cluster = await startPostgres();
      await cluster.query('CREATE DATABASE migrated');
      await migrate({ url: cluster.url('migrated'), pool: 1 });
    } else {
      reportMissingPostgres(`${tests} in PostgreSQL`);
    }
  });
  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true });
  });
  const sqlite = async () => {
    files += 1;
    return openSqliteStore(join(folder, `${files}.db`));
  };
  const postgres = async () => {
    const url = (await cluster?.createDatabase('TEMPLATE migrated')) ?? '';
    return openSqlStore(await openPostgresDatabase({ url, pool: 2 }), null);
  };
  return [
    ['memory', async () => openMemoryStore()],
    ['sqlite', sqlite],
    ...(hasPostgres ? [['postgres', postgres] as const] : []),
  ];
}
