/** Connections to PostgreSQL that are used again, until one of them does not answer. */
import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import type { ClientConfig, Pool, PoolClient } from 'pg';
import type { Clock } from '../../core/clock.ts';
import { PooledConnection } from './pooled-connection.ts';
import { createTag, readRunningTags } from './running-statements.ts';
import { SilenceWatch } from './silence-watch.ts';

/** Milliseconds that connections have to end in order. */
const END_LIMIT = 2000;

export interface PoolOptions {
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
      ...{ clock, limit: silenceLimit },
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
          ...{
            client,
            socket: generation.sockets.get(client) ?? new Socket(),
            tag: this.#findTag(client),
            watch: this.#watch,
          },
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
