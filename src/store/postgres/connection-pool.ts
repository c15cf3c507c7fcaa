/** Connections to PostgreSQL: their settings, and a pool that is replaced when one of them does not answer. */

import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { hostname } from 'node:os';
import type { ClientConfig, Pool, PoolClient, QueryResult } from 'pg';
import type { Clock } from '../../core/clock.ts';
import { StoreError } from '../../core/errors.ts';
import { type PostgresUrl, parsePostgresUrl } from '../../core/postgres-url.ts';
import type { SqlValue } from '../sql/database.ts';

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
  const { sslMode, ...address } = readUrl(options);
  const tls = {
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    rejectUnauthorized: sslMode === 'verify-full' || sslMode === 'verify-ca',
    ...(sslMode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {}),
  };
  return {
    ...address,
    ssl: sslMode === 'disable' ? false : tls,
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

/** Client of a pool, with its socket and the comment at the beginning of its statements. */
interface TaggedClient extends PoolClient {
  readonly socket: Socket;
  readonly tag: string;
}

/** Pool that is used until a connection of it does not answer. */
interface Generation {
  readonly pool: Pool;
  readonly sockets: ReadonlySet<Socket>;
  /** Functions that are called when it is replaced. */
  readonly replaced: Set<() => void>;
}

/**
 * A network that forgets one connection has usually forgotten all of them, and each would be tried for as long as a
 * statement may take. So a connection that does not answer replaces the pool.
 */
export class ConnectionPool {
  readonly #create: () => Generation;
  readonly #watch: SilenceWatch;
  #current: Generation;
  #isClosed = false;

  private constructor(create: () => Generation, watch: SilenceWatch) {
    this.#create = create;
    this.#current = create();
    this.#watch = watch;
  }

  /** Opens a pool. Nothing is sent before it is used. */
  static async open(options: PostgresOptions, clock: Clock): Promise<ConnectionPool> {
    const { Client, Pool } = await import('pg');
    const config = connectionConfig(options);
    const id = randomBytes(6).toString('hex');
    let tags = 0;
    const nextTag = () => {
      tags += 1;
      return createTag(`${id} ${tags}`);
    };
    const create = () => {
      const sockets = new Set<Socket>();
      class OwnClient extends Client {
        readonly socket: Socket;
        /** One for each connection: with one for each transaction, pg_stat_statements would be full of different texts. */
        readonly tag = nextTag();

        constructor(settings: ClientConfig) {
          const socket = new Socket();
          // The pool hides the password from loops over its settings.
          super({ ...settings, password: settings.password, stream: () => socket });
          this.socket = socket;
          sockets.add(socket);
          socket.once('close', () => sockets.delete(socket));
        }
      }
      const pool = new Pool({ ...config, Client: OwnClient as never, pipeline: true, max: options.pool });
      // A connection that breaks is removed from the pool; the statement on it, or the next one, fails.
      pool.on('error', () => undefined);
      pool.on('connect', (client) => client.on('error', () => undefined));
      return { pool, sockets, replaced: new Set<() => void>() };
    };
    const watch = new SilenceWatch(() => readRunningTags(config, nextTag()), clock, options.silenceLimit);
    return new ConnectionPool(create, watch);
  }

  /** Returns a connection that nobody else uses. */
  async connect(): Promise<PooledConnection> {
    for (;;) {
      const generation = this.#current;
      const client = await connectTo(generation);
      if (client !== null) {
        return new PooledConnection(client, this.#watch, () => this.#replace(generation));
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
}

/** Returns null if the pool was replaced while the call waited. */
async function connectTo({ pool, replaced }: Generation): Promise<TaggedClient | null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  const onReplaced = () => resolve(null);
  replaced.add(onReplaced);
  const connecting = pool.connect() as Promise<TaggedClient>;
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
    for (const socket of sockets) {
      socket.destroy();
    }
  }, END_LIMIT).unref();
}

/** Connection of a pool that one transaction uses. It is given up if its answers are lost. */
export class PooledConnection implements WaitingConnection {
  /** Replaces the pool that it is from, because it did not answer; see `ConnectionPool`. */
  readonly replacePool: () => void;
  readonly #client: TaggedClient;
  readonly #watch: SilenceWatch;
  #waiting = 0;
  #isLost = false;

  constructor(client: TaggedClient, watch: SilenceWatch, replacePool: () => void) {
    this.#client = client;
    this.#watch = watch;
    this.replacePool = replacePool;
  }

  get tag(): string {
    return this.#client.tag;
  }

  get bytesRead(): number {
    return this.#client.socket.bytesRead;
  }

  async query(text: string, values?: readonly SqlValue[]): Promise<QueryResult> {
    this.#waitFor(1);
    try {
      return await this.#client.query(`${this.tag}${text}`, values as SqlValue[] | undefined);
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
    this.#client.release(isBroken);
  }

  giveUp(): void {
    this.#isLost = true;
    this.replacePool();
    this.#client.socket.destroy();
  }

  #waitFor(change: 1 | -1): void {
    this.#waiting += change;
    if (this.#waiting > 0) {
      this.#watch.watch(this);
    } else {
      this.#watch.unwatch(this);
    }
  }
}

/** Connection on which a statement waits for its answer. */
interface WaitingConnection {
  /** Identifies its statements at the server. */
  readonly tag: string;
  readonly bytesRead: number;
  /** Fails its statements and drops it. */
  giveUp(): void;
}

/** Milliseconds without a byte after which the server is asked. */
const LIMIT = 4000;
/** Share of the limit between two checks, and between a suspicion and its consequence. */
const STEP = 1 / 4;

/** State of a connection since it last received something. */
interface Silence {
  bytesRead: number;
  since: number;
}

/**
 * A network can drop a connection without a reset. Then neither side notices, and a statement waits for its timeout. So
 * the server is asked on a new connection. A statement that it is running is slow, and goes on. Otherwise its answer is
 * lost, or the server never received it. If the server cannot be asked, nothing is given up.
 */
export class SilenceWatch {
  readonly #askServer: () => Promise<ReadonlySet<string> | null>;
  readonly #clock: Clock;
  readonly #limit: number;
  readonly #waiting = new Map<WaitingConnection, Silence>();
  readonly #stopped = new AbortController();
  #isRunning = false;

  /** `askServer` returns the tags of the statements that the server is running; null if it cannot be asked. Never rejects. */
  constructor(askServer: () => Promise<ReadonlySet<string> | null>, clock: Clock, limit = LIMIT) {
    this.#askServer = askServer;
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Watches a connection from now on. A second call means that it has received an answer. */
  watch(connection: WaitingConnection): void {
    this.#waiting.set(connection, { bytesRead: connection.bytesRead, since: this.#clock.monotonic() });
    if (!this.#isRunning && !this.#stopped.signal.aborted) {
      this.#isRunning = true;
      void this.#run();
    }
  }

  /** Ends the watch of a connection that waits for nothing. */
  unwatch(connection: WaitingConnection): void {
    this.#waiting.delete(connection);
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Checks regularly while a connection waits. Never rejects. */
  async #run(): Promise<void> {
    while (this.#waiting.size > 0 && (await this.#pause())) {
      await this.#check(this.#findSilent());
    }
    this.#isRunning = false;
  }

  #findSilent(): ReadonlyMap<WaitingConnection, Silence> {
    const now = this.#clock.monotonic();
    for (const [connection, silence] of this.#waiting) {
      if (connection.bytesRead !== silence.bytesRead) {
        Object.assign(silence, { bytesRead: connection.bytesRead, since: now });
      }
    }
    return new Map([...this.#waiting].filter(([, { since }]) => now - since >= this.#limit));
  }

  async #check(silent: ReadonlyMap<WaitingConnection, Silence>): Promise<void> {
    if (silent.size === 0) {
      return;
    }
    const running = await this.#askServer();
    const lost = running === null ? [] : [...silent].filter(([{ tag }]) => !running.has(tag));
    const isSilent = ([connection, silence]: readonly [WaitingConnection, Silence]) =>
      this.#waiting.get(connection) === silence && connection.bytesRead === silence.bytesRead;
    // The answer may be on its way, or received by this process and not read yet.
    if (lost.length > 0 && (await this.#pause())) {
      for (const [connection] of lost.filter(isSilent)) {
        connection.giveUp();
      }
    }
    // Those that are running are checked again after the same time.
    for (const silence of silent.values()) {
      silence.since = this.#clock.monotonic();
    }
  }

  /** Returns false if the watch was stopped. */
  #pause(): Promise<boolean> {
    return this.#clock.sleep(this.#limit * STEP, this.#stopped.signal).then(
      () => true,
      () => false,
    );
  }
}

/** Longest wait for each step of the question, in milliseconds. */
const ASK_LIMIT = 1500;

/** Returns a comment for the beginning of statements. It identifies them at the server, also behind PgBouncer. */
function createTag(id: string): string {
  return `/*octavo ${id}*/`;
}

/**
 * Statements with a tag that the server works on now. One that waits for its client (to send something, or to receive the
 * answer) is not running.
 */
const RUNNING = `SELECT substr(query, 1, strpos(query, '*/') + 1) AS tag FROM pg_stat_activity
  WHERE state = 'active' AND wait_event_type IS DISTINCT FROM 'Client' AND query LIKE '/*octavo %'`;

/**
 * Returns the tags of the statements that the server is running, on a new connection. Null: it does not answer, or does not
 * show statements. Never rejects.
 */
async function readRunningTags(config: ClientConfig, ownTag: string): Promise<ReadonlySet<string> | null> {
  const { Client } = await import('pg');
  const socket = new Socket();
  const limit = Math.min(config.connectionTimeoutMillis ?? ASK_LIMIT, ASK_LIMIT);
  const client = new Client({
    ...config,
    stream: () => socket,
    connectionTimeoutMillis: limit,
    query_timeout: limit,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ tag: string }>(`${ownTag}${RUNNING}`);
    const tags = new Set(rows.map(({ tag }) => tag));
    // The question itself is running. If it is not shown, others are not either.
    return tags.has(ownTag) ? tags : null;
  } catch {
    return null;
  } finally {
    void client.end().catch(() => undefined);
    setTimeout(() => socket.destroy(), limit).unref();
  }
}
