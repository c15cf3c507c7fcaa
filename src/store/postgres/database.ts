/** Database of PostgreSQL: transactions on a pool of connections. It works through PgBouncer in transaction mode. */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, QueryResult } from 'pg';
import { type Clock, systemClock } from '../../core/clock.ts';
import { LeaseLostError, type StoreError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { Sql, SqlDatabase, SqlRow, SqlValue, TransactionListener } from '../sql/database.ts';
import { MIGRATIONS, type Migration } from '../sql/schema-migrations.ts';
import {
  ConnectionPool,
  connectionConfig,
  type PooledConnection,
  type PostgresOptions,
  readUrl,
  STATEMENT_TIMEOUT,
} from './connection-pool.ts';
import { isBroken, isConflict, isUnanswered, PostgresErrors } from './errors.ts';

/**
 * A transaction that waits this long for its own process is ended by the server. It is shorter than any lease, so that a
 * process that is frozen or gone does not hold the locks of its transaction for longer than its leases.
 */
const IDLE_TIMEOUT = 4_000;
/** Largest number of runs of a transaction that the server undoes because of others. */
const MAX_ATTEMPTS = 5;

/** Lease that the first message of a transaction checks. */
type FencingLease = Parameters<SqlDatabase['fenced']>[0];

/**
 * Returns a statement that selects one row if the lease is held by a replica that is alive. Until the end of the
 * transaction nobody can claim, release or evict it. A message of several statements cannot have placeholders.
 */
function fenceOf({ name, epoch }: FencingLease): string {
  return `SELECT 1 AS held FROM lease JOIN replica ON replica.id = lease.holder
    WHERE lease.name = ${quote(name)} AND lease.epoch = ${epoch} AND replica.expires_at > clock_timestamp() FOR SHARE OF lease`;
}

/**
 * Opens the database, and creates or migrates its tables. Throws StoreError if it cannot be reached or used. Later, a
 * database that cannot be reached fails only the calls that need it.
 */
export async function openPostgresDatabase(
  options: PostgresOptions,
  clock: Clock = systemClock,
  onTransaction: TransactionListener = () => undefined,
): Promise<PostgresDatabase> {
  await migrate(options);
  // The network is silent in real time, whatever the clock of the daemon is.
  return new PostgresDatabase(await ConnectionPool.open(options, systemClock), options, clock, onTransaction);
}

/** Opens a database whose tables exist. Nothing is sent before it is used. */
export async function openPostgresPool(options: PostgresOptions): Promise<PostgresDatabase> {
  return new PostgresDatabase(await ConnectionPool.open(options, systemClock), options, systemClock, () => undefined);
}

/** Returns a text as a literal of SQL, which does not depend on `standard_conforming_strings`. */
function quote(text: string): string {
  return `E'${text.replaceAll('\0', '\ufffd').replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** See `openPostgresDatabase`. */
export class PostgresDatabase implements SqlDatabase {
  readonly errors: PostgresErrors;
  readonly #pool: ConnectionPool;
  readonly #clock: Clock;
  readonly #onTransaction: TransactionListener;
  readonly #current = new AsyncLocalStorage<PostgresTransaction>();
  readonly #settings: string;
  #isClosed = false;

  constructor(pool: ConnectionPool, options: PostgresOptions, clock: Clock, onTransaction: TransactionListener) {
    this.errors = new PostgresErrors(readUrl(options));
    this.#pool = pool;
    this.#clock = clock;
    this.#onTransaction = onTransaction;
    // Until the transaction ends. The search path is not trusted before that.
    const settings = Object.entries({
      search_path: SCHEMA,
      standard_conforming_strings: 'on',
      statement_timeout: options.statementTimeout ?? STATEMENT_TIMEOUT,
      idle_in_transaction_session_timeout: options.idleTimeout ?? IDLE_TIMEOUT,
    });
    const calls = settings.map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`);
    this.#settings = `SELECT ${calls.join(', ')}`;
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;${this.#settings}`;
    const end = async (transaction: PostgresTransaction) => {
      await transaction.requireSuccess();
      // Nothing is to be stored, so the answer does not wait for the end.
      void transaction.rollBack();
    };
    return this.#timed('read', () => this.#transaction(begin, null, work, end));
  }

  write<T>(scope: string, work: (sql: Sql) => Promise<T>, keeps?: (result: T) => boolean): Promise<T> {
    return this.#write(null, scope, work, keeps);
  }

  fenced(lease: FencingLease): SqlDatabase {
    return {
      read: (work) => this.read(work),
      write: (scope, work, keeps) => this.#write(lease, scope, work, keeps),
      fenced: (other) => this.fenced(other),
      close: () => this.close(),
    };
  }

  /** Ends all connections when the work under way has ended. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      await this.#pool.close();
    }
  }

  #write<T>(
    lease: FencingLease | null,
    scope: string,
    work: (sql: Sql) => Promise<T>,
    keeps?: (result: T) => boolean,
  ): Promise<T> {
    const lock = `SELECT pg_advisory_xact_lock(hashtextextended(${quote(scope)},0))`;
    const begin = `BEGIN ISOLATION LEVEL READ COMMITTED;${this.#settings};${lock}`;
    const first = lease === null ? begin : `${begin};${fenceOf(lease)}`;
    const end = async (transaction: PostgresTransaction, result: T) => {
      if (keeps?.(result) ?? true) {
        await transaction.commit();
      } else {
        await transaction.requireSuccess();
        await transaction.rollBack();
      }
    };
    return this.#timed('write', () => this.#transaction(first, lease, work, end));
  }

  async #timed<T>(operation: 'read' | 'write', work: () => Promise<T>): Promise<T> {
    const from = this.#clock.monotonic();
    try {
      return await work();
    } finally {
      this.#onTransaction(operation, this.#clock.monotonic() - from);
    }
  }

  async #transaction<T>(
    begin: string,
    lease: FencingLease | null,
    work: (sql: Sql) => Promise<T>,
    end: (transaction: PostgresTransaction, result: T) => Promise<void>,
  ): Promise<T> {
    if (this.#current.getStore()?.isOpen === true) {
      throw new Error('a transaction cannot start another one; use its statements');
    }
    for (let attempt = 1; ; attempt += 1) {
      const transaction = await this.#begin(begin, lease);
      try {
        const result = await this.#current.run(transaction, work, transaction);
        await end(transaction, result);
        return result;
      } catch (error) {
        const { failure } = transaction;
        await transaction.rollBack();
        const isStale = attempt === 1 && !transaction.hasBegun && isBroken(failure);
        if (!isStale && !(isConflict(failure) && attempt < MAX_ATTEMPTS)) {
          throw error;
        }
      }
    }
  }

  async #begin(begin: string, lease: FencingLease | null): Promise<PostgresTransaction> {
    if (this.#isClosed) {
      throw this.errors.create('is closed');
    }
    try {
      const connection = await this.#pool.connect();
      return new PostgresTransaction(connection, begin, lease, this.errors);
    } catch (error) {
      throw this.errors.convert(error);
    }
  }
}

/**
 * Escapes in JSON that PostgreSQL cannot convert to text: NUL, and halves of surrogate pairs. Stored texts have U+FFFD in
 * their place.
 */
const NOT_TEXT = "'(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|d[89a-f][0-9a-f]{2})', '\\1\\ufffd', 'g'";

/**
 * Statements of one transaction. Its first message begins it; the first statement is sent without waiting for the answer.
 * Fails after the end, and after the first failure: the server refuses further statements then.
 */
class PostgresTransaction implements Sql {
  readonly #connection: PooledConnection;
  readonly #errors: PostgresErrors;
  readonly #begun: Promise<void>;
  isOpen = true;
  /** True if the server confirmed the start. */
  hasBegun = false;
  /** First failure, as the client reported it; null if there is none. */
  failure: unknown = null;

  constructor(connection: PooledConnection, begin: string, lease: FencingLease | null, errors: PostgresErrors) {
    this.#connection = connection;
    this.#errors = errors;
    this.#begun = this.#begin(begin, lease);
    // Each statement reports the failure.
    this.#begun.catch(() => undefined);
  }

  async run(statement: string, ...values: readonly SqlValue[]): Promise<number> {
    return (await this.#execute(statement, values)).rowCount ?? 0;
  }

  async all<Row extends object = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> {
    return (await this.#execute(statement, values)).rows;
  }

  async get<Row extends object = SqlRow>(statement: string, ...values: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.all<Row>(statement, ...values))[0];
  }

  jsonItems(expression: string): string {
    return `json_array_elements_text(CAST(regexp_replace(${expression}, ${NOT_TEXT}) AS JSON)) AS each (value)`;
  }

  jsonMember(expression: string, name: string): string {
    return `(CAST(regexp_replace(${expression}, ${NOT_TEXT}) AS JSON) ->> '${name}')`;
  }

  parse(text: unknown): Json {
    try {
      return JSON.parse(String(text)) as Json;
    } catch (error) {
      throw this.damagedError(error);
    }
  }

  damagedError(cause?: unknown): StoreError {
    return this.#errors.create('has content that Octavo did not write; restore a backup, see docs/fleet.md', cause);
  }

  /** Commits. Throws StoreError if a statement failed, even if the work ignored it. */
  async commit(): Promise<void> {
    await this.requireSuccess();
    this.isOpen = false;
    try {
      const { command } = await this.#connection.query('COMMIT');
      if (command !== 'COMMIT') {
        throw new Error('a statement failed that nobody waited for');
      }
    } catch (error) {
      this.failure ??= error;
      throw isBroken(error) || isUnanswered(error)
        ? this.#errors.create('did not confirm a commit; what was written may be stored or not')
        : this.#errors.convert(this.failure);
    }
    this.#connection.release();
  }

  /** Throws the first failure, also of a statement whose failure the work ignored. */
  async requireSuccess(): Promise<void> {
    await this.#begun;
    if (this.failure !== null) {
      throw this.#errors.convert(this.failure);
    }
  }

  /** Ends the transaction without storing anything, and gives the connection back. */
  async rollBack(): Promise<void> {
    this.isOpen = false;
    try {
      if (isUnanswered(this.failure)) {
        this.#connection.replacePool();
      }
      if (isBroken(this.failure) || isUnanswered(this.failure)) {
        this.#connection.release(true);
      } else {
        await this.#connection.query('ROLLBACK');
        this.#connection.release();
      }
    } catch {
      this.#connection.release(true);
    }
  }

  async #begin(begin: string, lease: FencingLease | null): Promise<void> {
    try {
      // Several statements in a message have several results.
      const results = (await this.#connection.query(begin)) as unknown as readonly QueryResult[];
      this.hasBegun = true;
      if (lease !== null && results.at(-1)?.rowCount !== 1) {
        throw new LeaseLostError(lease.name);
      }
    } catch (error) {
      this.failure ??= error;
      throw this.#errors.convert(error);
    }
  }

  async #execute(statement: string, values: readonly SqlValue[]): Promise<QueryResult> {
    if (!this.isOpen) {
      throw new Error('the transaction of this statement has ended; await its statements');
    }
    try {
      const answer = this.#connection.query(toNumbered(statement), values.map(toStored));
      answer.catch(() => undefined);
      await this.#begun;
      return await answer;
    } catch (error) {
      this.failure ??= error;
      throw this.#errors.convert(this.failure);
    }
  }
}

/** PostgreSQL cannot store NUL in texts. */
function toStored(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}

/** Matches texts, quoted names and comments, which may contain `?`; then the placeholder itself. */
const PARTS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g;

/** Returns a statement with `$1`, `$2`, … for each `?`. */
function toNumbered(statement: string): string {
  let number = 0;
  return statement.replace(PARTS, (part) => {
    number += part === '?' ? 1 : 0;
    return part === '?' ? `$${number}` : part;
  });
}

/** Schema of all tables. */
const SCHEMA = 'octavo';
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
