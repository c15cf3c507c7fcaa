/** Opens the store that the configuration names. */
import type { Clock, Random } from '../../core/clock.ts';
import type { PostgresOptions } from '../postgres/connection.ts';
import type { TransactionListener } from '../sql/timed-database.ts';
import { openSqliteStore } from '../sqlite.ts';
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
  const { openPostgresStore } = await import('../postgres/postgres-store.ts');
  return openPostgresStore(place, clock, random, onTransaction);
}
