/** Connections to PostgreSQL: their settings, and a pool that is replaced when one of them does not answer. */

import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { ClientConfig, Pool, PoolClient, QueryResult } from 'pg';
import type { Clock } from '../../core/clock.ts';
import { StoreError } from '../../core/errors.ts';
import { type PostgresUrl, parsePostgresUrl } from '../../core/postgres-url.ts';
import type { SqlValue } from '../sql/database.ts';
import { createTag, readRunningTags, SilenceWatch, type WaitingConnection } from './silence-watch.ts';

/** Database and limits. Times are in milliseconds. */
export interface PostgresOptions {
  /** With its password, so it is a secret. */
  readonly url: string;
  /** Largest number of connections of this process. */
  readonly pool: number;
  /** Certificates of the authorities that may sign the server's certificate, as PEM; undefined: those of Node.js. */
  readonly ca?: string | undefined;
  /** Longest wait for a connection; default: 10 s. */
  readonly connectTimeout?: number | undefined;
  /** Longest time of a statement; default: 30 s. */
  readonly statementTimeout?: number | undefined;
  /** Longest time that a transaction waits for its own process; default: 4 s. */
  readonly idleTimeout?: number | undefined;
  /** Longest silence of a connection until the server is asked whether it runs the statement; default: 4 s. */
  readonly silenceLimit?: number | undefined;
}

const CONNECT_TIMEOUT = 10_000;
export const STATEMENT_TIMEOUT = 30_000;
/** Time until a connection is given up, over the time until the server ends a statement by itself. */
const ANSWER_LIMIT = 7 / 6;
const KEEPALIVE_DELAY = 10_000;

/** Longest name that PostgreSQL keeps. */
const MAX_NAME = 63;

/** Parses the URL of the options. Throws StoreError if it cannot be used. */
export function readUrl(options: PostgresOptions): PostgresUrl {
  const url = parsePostgresUrl(options.url);
  if (typeof url === 'string') {
    throw new StoreError(`store.url ${url}`);
  }
  return url;
}

/**
 * Returns the settings of one connection. The name is the address of the replica. There are no other startup parameters,
 * because PgBouncer refuses them: each transaction sets its own.
 */
export function connectionConfig(options: PostgresOptions): ClientConfig {
  const { host, port, database, user, password, sslMode } = readUrl(options);
  const verifies = sslMode === 'verify-full' || sslMode === 'verify-ca';
  const ca = options.ca === undefined ? {} : { ca: options.ca };
  return {
    host,
    port,
    database,
    user,
    password,
    ssl:
      sslMode === 'disable'
        ? false
        : {
            ...ca,
            rejectUnauthorized: verifies,
            ...(sslMode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
          },
    application_name: `octavo ${hostname()} ${process.pid}`.slice(0, MAX_NAME),
    connectionTimeoutMillis: options.connectTimeout ?? CONNECT_TIMEOUT,
    query_timeout: Math.ceil((options.statementTimeout ?? STATEMENT_TIMEOUT) * ANSWER_LIMIT),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_DELAY,
    types: { getTypeParser: ((oid: number) => PARSERS.get(oid) ?? String) as never },
  };
}

const NUMBERS = [20, 21, 23, 700, 701, 1700];
const BOOLEAN = 16;

/** Parsers of values by the id of their type: numbers, also of 64 bits, and 1 or 0 for booleans. The others are texts. */
const PARSERS: ReadonlyMap<number, (text: string) => number> = new Map([
  ...NUMBERS.map((oid) => [oid, toNumber] as const),
  [BOOLEAN, (text: string) => (text === 't' ? 1 : 0)] as const,
]);

function toNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && !Number.isSafeInteger(number) && /^-?\d+$/.test(text)) {
    throw new RangeError('an integer of the database is too large for a number');
  }
  return number;
}

/** Milliseconds that connections have to end in order. */
const END_LIMIT = 2000;

interface PoolOptions {
  /** Largest number of connections. */
  readonly size: number;
  readonly clock: Clock;
  /** Milliseconds without an answer after which the server is asked whether it runs the statement. */
  readonly silenceLimit?: number | undefined;
}

/**
 * A network that forgets one connection has usually forgotten all of them, and each would be tried for as long as a
 * statement may take. So a connection that does not answer replaces the pool.
 */
export class ConnectionPool {
  readonly #create: () => Generation;
  readonly #watch: SilenceWatch;
  readonly #id = randomBytes(6).toString('hex');
  #number = 0;
  #current: Generation;
  readonly #tags = new WeakMap<PoolClient, string>();
  #isClosed = false;

  private constructor(create: () => Generation, config: ClientConfig, { clock, silenceLimit }: PoolOptions) {
    this.#create = create;
    this.#current = create();
    this.#watch = new SilenceWatch({
      clock,
      limit: silenceLimit,
      askServer: () => readRunningTags(config, this.#nextTag()),
    });
  }

  static async open(config: ClientConfig, options: PoolOptions): Promise<ConnectionPool> {
    const { Client, Pool } = await import('pg');
    const create = () => {
      const sockets = new Map<PoolClient, Socket>();
      class ClientWithSocket extends Client {
        constructor(settings: ClientConfig) {
          const socket = new Socket();
          // The pool hides the password from loops over its settings.
          super({ ...settings, password: settings.password, stream: () => socket });
          const client = this as unknown as PoolClient;
          sockets.set(client, socket);
          socket.once('close', () => sockets.delete(client));
        }
      }
      const pool = new Pool({ ...config, Client: ClientWithSocket as never, pipeline: true, max: options.size });
      // A connection that breaks is removed from the pool; the statement on it, or the next one, fails.
      pool.on('error', () => undefined);
      pool.on('connect', (client) => client.on('error', () => undefined));
      return { pool, sockets, replaced: new Set<() => void>() };
    };
    return new ConnectionPool(create, config, options);
  }

  /** Returns a connection that nobody else uses. */
  async connect(): Promise<PooledConnection> {
    for (;;) {
      const generation = this.#current;
      const client = await connectTo(generation);
      if (client !== null) {
        return new PooledConnection({
          client,
          socket: generation.sockets.get(client) ?? new Socket(),
          tag: this.#findTag(client),
          watch: this.#watch,
          replacePool: () => this.#replace(generation),
        });
      }
    }
  }

  /** Ends all connections when the calls under way have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await endAll(this.#current);
    this.#watch.stop();
  }

  /** Calls on the other connections may end. Those that wait for a connection get one of the next pool. */
  #replace(generation: Generation): void {
    if (this.#current === generation && !this.#isClosed) {
      this.#current = this.#create();
      for (const onReplaced of generation.replaced) {
        onReplaced();
      }
      void endAll(generation);
    }
  }

  /** Returns the tag of a connection. With one for each transaction, pg_stat_statements would be full of different texts. */
  #findTag(client: PoolClient): string {
    const tag = this.#tags.get(client) ?? this.#nextTag();
    this.#tags.set(client, tag);
    return tag;
  }

  #nextTag(): string {
    this.#number += 1;
    return createTag(`${this.#id} ${this.#number}`);
  }
}

interface Generation {
  readonly pool: Pool;
  readonly sockets: ReadonlyMap<PoolClient, Socket>;
  /** Functions that are called when it is replaced. */
  readonly replaced: Set<() => void>;
}

/** Returns null if the pool was replaced while the call waited. */
async function connectTo({ pool, replaced }: Generation): Promise<PoolClient | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const onReplaced = () => resolve(null);
  replaced.add(onReplaced);
  const connecting = pool.connect();
  try {
    const client = await Promise.race([connecting, promise]);
    if (client === null) {
      connecting.then(
        (late) => late.release(true),
        () => undefined,
      );
    }
    return client;
  } finally {
    replaced.delete(onReplaced);
  }
}

/** Ends connections in order; those that do not answer are dropped a little later. */
async function endAll({ pool, sockets }: Generation): Promise<void> {
  await pool.end();
  setTimeout(() => {
    for (const socket of sockets.values()) {
      socket.destroy();
    }
  }, END_LIMIT).unref();
}

interface PooledConnectionOptions {
  readonly client: PoolClient;
  readonly socket: Socket;
  /** Comment at the beginning of its statements. */
  readonly tag: string;
  readonly watch: SilenceWatch;
  /** Replaces the pool that it is from; see `ConnectionPool`. */
  readonly replacePool: () => void;
}

/** Connection of a pool that one transaction uses. It is given up if its answers are lost. */
export class PooledConnection implements WaitingConnection {
  readonly #options: PooledConnectionOptions;
  #waiting = 0;
  #isLost = false;

  constructor(options: PooledConnectionOptions) {
    this.#options = options;
  }

  get tag(): string {
    return this.#options.tag;
  }

  get bytesRead(): number {
    return this.#options.socket.bytesRead;
  }

  async query(text: string, values?: readonly SqlValue[]): Promise<QueryResult> {
    const { client, tag } = this.#options;
    this.#waitFor(1);
    try {
      return await client.query(`${tag}${text}`, values as SqlValue[] | undefined);
    } catch (error) {
      throw this.#isLost
        ? new Error('Connection terminated: its answers are lost, while the server answers on a new connection')
        : error;
    } finally {
      this.#waitFor(-1);
    }
  }

  /** Gives it back to the pool; `isBroken`: it is not used again. */
  release(isBroken = false): void {
    this.#options.client.release(isBroken);
  }

  /** Replaces the pool, because this connection did not answer. */
  replacePool(): void {
    this.#options.replacePool();
  }

  giveUp(): void {
    this.#isLost = true;
    this.#options.replacePool();
    this.#options.socket.destroy();
  }

  #waitFor(change: 1 | -1): void {
    this.#waiting += change;
    if (this.#waiting > 0) {
      this.#options.watch.watch(this);
    } else {
      this.#options.watch.unwatch(this);
    }
  }
}
