import { DatabaseSync } from 'node:sqlite';
import { SQLITE_LAYOUTS } from './layouts/state-file.ts';
import { SqliteDatabase } from './sql/sqlite-database.ts';
import { openSqlStore } from './sql-store.ts';
import type { Store } from './store.ts';

/** Opens a store in memory, for tests and for passes that record nothing. */
export function openMemoryStore(): Store {
  return openSqlStore(openMemoryDatabase(), null);
}

/** Opens the database of a store in memory, with empty tables. */
export function openMemoryDatabase(): SqliteDatabase {
  const connection = new DatabaseSync(':memory:');
  connection.exec(SQLITE_LAYOUTS.join('\n'));
  return new SqliteDatabase(connection, 'the state in memory');
}
