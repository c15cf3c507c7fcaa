/** Opens the database of a store, for work on its tables. */
import { existsSync } from 'node:fs';
import { ConfigError } from '../../core/errors.ts';
import { nameDatabase } from '../../core/postgres-url.ts';
import type { Replica } from '../leases.ts';
import type { SqlDatabase } from '../sql/database.ts';
import { openSqliteDatabase } from '../sqlite.ts';
import type { StorePlace } from './open-store.ts';

export interface OpenDatabase {
  readonly database: SqlDatabase;
  /** Name for messages, without the password. */
  readonly name: string;
  readonly isPostgres: boolean;
  /** Returns the replicas that use it now; a state file is locked by its only process instead. */
  replicas(): Promise<readonly Replica[]>;
}

/**
 * Opens the database of a store. If it must exist, it is not changed: throws ConfigError for a missing file, and StoreError
 * for missing or older tables. Otherwise the tables are created or migrated. Throws StoreError.
 */
export async function openDatabase(place: StorePlace, mustExist: boolean): Promise<OpenDatabase> {
  if (place.path !== undefined) {
    if (mustExist && !existsSync(place.path)) {
      throw new ConfigError(`${place.path} does not exist; name a state file, or the URL of a PostgreSQL database`);
    }
    return {
      ...{ database: openSqliteDatabase(place.path, undefined, mustExist), name: place.path, isPostgres: false },
      replicas: async () => [],
    };
  }
  const [{ openPostgresDatabase, openPostgresPool }, { requireTables }, { PostgresLeases }, { readUrl }] =
    await Promise.all([
      import('../postgres/postgres-database.ts'),
      import('../postgres/migrate.ts'),
      import('../postgres/leases.ts'),
      import('../postgres/connection.ts'),
    ]);
  if (mustExist) {
    await requireTables(place);
  }
  const database = await (mustExist ? openPostgresPool : openPostgresDatabase)(place);
  return {
    ...{ database, name: nameDatabase(readUrl(place)), isPostgres: true },
    replicas: async () => (await new PostgresLeases(database).replicas()).filter(({ left }) => left > 0),
  };
}
