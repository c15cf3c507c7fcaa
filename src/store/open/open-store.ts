/** Opens the store that the configuration names, or its database for work on the tables. */

import { existsSync } from 'node:fs';
import type { Clock, Random } from '../../core/clock.ts';
import { ConfigError } from '../../core/errors.ts';
import { nameDatabase } from '../../core/postgres-url.ts';
import type { Replica } from '../leases.ts';
import type { PostgresOptions } from '../postgres/connection-pool.ts';
import type { SqlDatabase, TransactionListener } from '../sql/database.ts';
import { openSqliteDatabase, openSqliteStore } from '../sqlite.ts';
import type { Store } from '../store.ts';

/** A state file, or a PostgreSQL database. */
export type StorePlace =
  | { readonly path: string; readonly url?: undefined }
  | (PostgresOptions & { readonly path?: undefined });

/**
 * Opens the store. The client of PostgreSQL is loaded only if it is used, and only its transactions are
 * reported. Throws StoreError.
 */
export async function openStore(
  place: StorePlace,
  clock: Clock,
  random: Random,
  onTransaction?: TransactionListener,
): Promise<Store> {
  if (place.path !== undefined) {
    return openSqliteStore(place.path);
  }
  const { openPostgresStore } = await import('../postgres/store.ts');
  return openPostgresStore(place, clock, random, onTransaction);
}

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
      database: openSqliteDatabase(place.path, undefined, mustExist),
      name: place.path,
      isPostgres: false,
      replicas: async () => [],
    };
  }
  const [{ openPostgresDatabase, openPostgresPool }, { requireTables }, { PostgresLeases }, { readUrl }] =
    await Promise.all([
      import('../postgres/database.ts'),
      import('../postgres/database.ts'),
      import('../postgres/store.ts'),
      import('../postgres/connection-pool.ts'),
    ]);
  if (mustExist) {
    await requireTables(place);
  }
  const database = await (mustExist ? openPostgresPool : openPostgresDatabase)(place);
  return {
    database,
    name: nameDatabase(readUrl(place)),
    isPostgres: true,
    replicas: async () => (await new PostgresLeases(database).replicas()).filter(({ left }) => left > 0),
  };
}
