/** Store in memory. */
import { DatabaseSync } from 'node:sqlite';
import { SQLITE_LAYOUTS } from './sql/schema-migrations.ts';
import { SqliteDatabase } from './sqlite.ts';
import { openSqlStore, type Store } from './store.ts';

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
