/** Creates and migrates the tables in PostgreSQL, once for all replicas that start at the same time. */
import type { Client } from 'pg';
import { MIGRATIONS, type Migration } from '../sql/schema-migrations.ts';
import { connectionConfig, type PostgresOptions, readUrl } from './connection-pool.ts';
import { PostgresErrors } from './errors.ts';

/** Schema of all tables. */
export const SCHEMA = 'octavo';
const OLDEST_VERSION = 14;
const BEGIN =
  `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL search_path TO ${SCHEMA};` +
  `SELECT pg_advisory_xact_lock(hashtextextended('${SCHEMA}/migration', 0))`;
const HISTORY_TABLE = `CREATE TABLE IF NOT EXISTS migration (
  number INTEGER PRIMARY KEY, readable_by INTEGER NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
)`;

/**
 * Brings the database to the newest layout. Throws StoreError if it cannot be used: the layout is too new, the schema is
 * of another program or cannot be created, the server is too old or read-only, or its encoding is not UTF8; it is not
 * changed then. `migrations` is for tests.
 */
export function migrate(options: PostgresOptions, migrations = MIGRATIONS): Promise<void> {
  return connected(options, async (client, errors) => {
    if (!(await isNewest(client, errors, migrations))) {
      await client.query(BEGIN);
      await advance(client, errors, migrations);
      await client.query('COMMIT');
    }
  });
}

/** Throws StoreError if the database does not have all tables of the newest layout. Changes nothing. */
export function requireTables(options: PostgresOptions, migrations = MIGRATIONS): Promise<void> {
  return connected(options, async (client, errors) => {
    if (!(await isNewest(client, errors, migrations))) {
      throw errors.create(
        'has no tables of Octavo, or those of an older version; name another database, or start the daemon of this version once, which creates them',
      );
    }
  });
}

async function connected(
  options: PostgresOptions,
  work: (client: Client, errors: PostgresErrors) => Promise<void>,
): Promise<void> {
  const { Client } = await import('pg');
  const errors = new PostgresErrors(readUrl(options));
  // A migration may take longer than other statements.
  const client = new Client({ ...connectionConfig(options), query_timeout: 0 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await requireUsable(client, errors);
    await work(client, errors);
  } catch (error) {
    throw errors.convert(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function requireUsable(client: Client, errors: PostgresErrors): Promise<void> {
  const { rows } = await client.query(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
      pg_is_in_recovery() AS standby`,
  );
  const [{ version, encoding, standby } = { version: 0, encoding: '', standby: 0 }] = rows;
  if (version < OLDEST_VERSION * 10_000) {
    throw errors.create(
      `runs on PostgreSQL ${Math.floor(version / 10_000)}; Octavo needs version ${OLDEST_VERSION} or newer; upgrade the server`,
    );
  }
  if (encoding !== 'UTF8') {
    throw errors.create(
      `has the encoding ${encoding}; create another one: CREATE DATABASE … ENCODING UTF8 TEMPLATE template0`,
    );
  }
  if (standby === 1) {
    throw errors.create('is a read-only standby; name the primary server in store.url');
  }
}

/** Returns true if nothing is to be done. Throws StoreError if the layout is too new. */
async function isNewest(client: Client, errors: PostgresErrors, migrations: readonly Migration[]): Promise<boolean> {
  const { rows: found } = await client.query(
    `SELECT to_regclass('${SCHEMA}.migration') IS NOT NULL AS known,
      EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = '${SCHEMA}') AS used`,
  );
  const [{ known, used } = { known: 0, used: 0 }] = found;
  if (known !== 1) {
    if (used === 1) {
      throw errors.create(
        `has a schema "${SCHEMA}" of another program, which was not changed; name another database in store.url`,
      );
    }
    return false;
  }
  const { rows } = await client.query(
    `SELECT max(number) AS layout, max(readable_by) AS readable FROM ${SCHEMA}.migration`,
  );
  const [{ layout, readable } = { layout: 0, readable: 0 }] = rows;
  if (layout > migrations.length && readable > migrations.length) {
    throw errors.create(
      `was migrated by a newer Octavo (layout ${layout}; this version supports up to ${migrations.length}); run that version or a newer one`,
    );
  }
  return layout >= migrations.length;
}

/** Runs the migrations that are missing, in the transaction of the caller. */
async function advance(client: Client, errors: PostgresErrors, migrations: readonly Migration[]): Promise<void> {
  // Another replica may have been first.
  if (await isNewest(client, errors, migrations)) {
    return;
  }
  const schemas = await client.query(`SELECT 1 FROM pg_namespace WHERE nspname = '${SCHEMA}'`);
  if (schemas.rows.length === 0) {
    await client.query(`CREATE SCHEMA ${SCHEMA}`);
  }
  await client.query(HISTORY_TABLE);
  const { rows } = await client.query('SELECT coalesce(max(number), 0) AS layout FROM migration');
  const layout = Number(rows[0]?.layout);
  for (const [index, { readableBy, statements }] of migrations.slice(layout).entries()) {
    await client.query(statements);
    await client.query('INSERT INTO migration (number, readable_by) VALUES ($1, $2)', [layout + index + 1, readableBy]);
  }
}
