/** Store in a PostgreSQL database. */
import type { Clock, Random } from '../../core/clock.ts';
import { type TransactionListener, timedDatabase } from '../sql/timed-database.ts';
import { openSqlStore } from '../sql-store.ts';
import type { Store } from '../store.ts';
import type { PostgresOptions } from './connection.ts';
import { openFleetStore } from './fleet-store.ts';
import { openPostgresDatabase } from './postgres-database.ts';

/** Opens the store, and creates or migrates its tables. Throws StoreError. */
export async function openPostgresStore(
  options: PostgresOptions,
  clock: Clock,
  random: Random,
  onTransaction?: TransactionListener,
): Promise<Store> {
  const database = await openPostgresDatabase(options);
  const timed = onTransaction === undefined ? database : timedDatabase(database, clock, onTransaction);
  return openSqlStore(timed, await openFleetStore(options, clock, random));
}
