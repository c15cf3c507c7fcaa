import { DatabaseSync } from 'node:sqlite';
import { SQLITE_LAYOUTS } from './layouts/state-file.ts';
import { SqliteDatabase } from './sql/sqlite-database.ts';
import { openSqlStore } from './sql-store.ts';
import type { Store } from './store.ts';

/** Opens a store in memory, for tests and for passes that record nothing. */
export function openMemoryStore(): Store {
  const connection = new DatabaseSync(':memory:');
  connection.exec(SQLITE_LAYOUTS.join('\n'));
  return openSqlStore(new SqliteDatabase(connection, 'the state in memory'), null);
}
