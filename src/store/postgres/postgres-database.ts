/** Database of PostgreSQL: a pool of connections. It works through PgBouncer in transaction mode. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { StoreError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import type { Sql, SqlDatabase } from '../sql/database.ts';
import { connectionConfig, type PostgresOptions, readUrl, STATEMENT_TIMEOUT } from './connection.ts';
import { ConnectionPool } from './connection-pool.ts';
import { isBroken, isConflict, PostgresErrors } from './errors.ts';
import { FENCE } from './lease-layout.ts';
import { migrate, SCHEMA } from './migrate.ts';
import { PlaceholderCache } from './placeholders.ts';
import { type FencingLease, PostgresTransaction } from './postgres-transaction.ts';

/**
 * A transaction that waits this long for its own process is ended by the server. It is shorter than any lease, so that a
 * process that is frozen or gone does not hold the locks of its transaction for longer than its leases.
 */
const IDLE_TIMEOUT = 4_000;
/** Largest number of runs of a transaction that the server undoes because of others. */
const MAX_ATTEMPTS = 5;

/**
 * Opens the database, and creates or migrates its tables. Throws StoreError if it cannot be reached or used. Later, a
 * database that cannot be reached fails only the calls that need it.
 */
export async function openPostgresDatabase(options: PostgresOptions): Promise<PostgresDatabase> {
  await migrate(options);
  return openPostgresPool(options);
}

/** Opens a database whose tables exist. Nothing is sent before it is used. */
export async function openPostgresPool(
  options: PostgresOptions,
  clock: Clock = systemClock,
): Promise<PostgresDatabase> {
  const { pool: size, silenceLimit } = options;
  const pool = await ConnectionPool.open(connectionConfig(options), { size, clock, silenceLimit });
  return new PostgresDatabase(pool, options);
}

/** Returns the check of a lease without placeholders, which a message of several statements cannot have. */
function fenceOf({ name, epoch }: FencingLease): string {
  const values = [quote(name), String(epoch)];
  return FENCE.replaceAll('?', () => values.shift() ?? 'NULL');
}

/** Returns one statement that changes settings until the transaction ends. The search path is not trusted before that. */
function localSettings(settings: Readonly<Record<string, string | number>>): string {
  const calls = Object.entries(settings).map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`);
  return `SELECT ${calls.join(', ')}`;
}

/** Returns a text as a literal of SQL, which does not depend on `standard_conforming_strings`. */
function quote(text: string): string {
  return `E'${text.replaceAll('\0', '\ufffd').replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** See `openPostgresDatabase`. */
export class PostgresDatabase implements SqlDatabase {
  readonly errors: PostgresErrors;
  readonly #pool: ConnectionPool;
  readonly #placeholders = new PlaceholderCache();
  readonly #current = new AsyncLocalStorage<PostgresTransaction>();
  readonly #settings: string;
  #isClosed = false;

  constructor(pool: ConnectionPool, options: PostgresOptions) {
    this.#pool = pool;
    this.errors = new PostgresErrors(readUrl(options));
    const timeout = options.statementTimeout ?? STATEMENT_TIMEOUT;
    this.#settings = localSettings({
      search_path: SCHEMA,
      standard_conforming_strings: 'on',
      statement_timeout: timeout,
      idle_in_transaction_session_timeout: options.idleTimeout ?? IDLE_TIMEOUT,
    });
  }

  read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;${this.#settings}`;
    return this.#transaction(begin, null, work, async (transaction) => {
      await transaction.requireSuccess();
      // Nothing is to be stored, so the answer does not wait for the end.
      void transaction.rollBack();
    });
  }

  write<T>(scope: string, work: (sql: Sql) => Promise<T>, keeps?: (result: T) => boolean): Promise<T> {
    return this.#write(null, scope, work, keeps);
  }

  fenced(lease: FencingLease): SqlDatabase {
    return {
      read: (work) => this.read(work),
      write: (scope, work, keeps) => this.#write(lease, scope, work, keeps),
      fenced: (other) => this.fenced(other),
      parse: (text) => this.parse(text),
      damagedError: () => this.damagedError(),
      close: () => this.close(),
    };
  }

  parse(text: unknown): Json {
    try {
      return JSON.parse(String(text)) as Json;
    } catch (error) {
      throw this.damagedError(error);
    }
  }

  damagedError(cause?: unknown): StoreError {
    return this.errors.create('has content that Octavo did not write; restore a backup, see docs/fleet.md', cause);
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
    return this.#transaction(first, lease, work, async (transaction, result) => {
      if (keeps?.(result) ?? true) {
        await transaction.commit();
      } else {
        await transaction.requireSuccess();
        await transaction.rollBack();
      }
    });
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
        const failure = transaction.failure;
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
      return new PostgresTransaction(connection, begin, lease, this.errors, this.#placeholders);
    } catch (error) {
      throw this.errors.convert(error);
    }
  }
}
