/** Connections to PostgreSQL that are used again, until one of them does not answer. */
import { Socket } from 'node:net';
import type { ClientConfig, Pool, PoolClient } from 'pg';

/** Milliseconds that connections have to end in order. */
const END_LIMIT = 2000;

/**
 * A network that forgets one connection has usually forgotten all of them, and each would be tried for as long as a
 * statement may take. So a connection that does not answer replaces the pool.
 */
export class ConnectionPool {
  readonly #create: () => Generation;
  #current: Generation;
  #isClosed = false;

  private constructor(create: () => Generation) {
    this.#create = create;
    this.#current = create();
  }

  static async open(config: ClientConfig, size: number): Promise<ConnectionPool> {
    const { Pool } = await import('pg');
    return new ConnectionPool(() => {
      const sockets = new Set<Socket>();
      const stream = () => {
        const socket = new Socket();
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
        return socket;
      };
      const pool = new Pool({ ...config, stream, pipeline: true, max: size });
      // A connection that breaks is removed from the pool; the statement on it, or the next one, fails.
      pool.on('error', () => undefined);
      pool.on('connect', (client) => client.on('error', () => undefined));
      return { pool, sockets };
    });
  }

  /** Returns a connection, and the pool that it is from. */
  async connect(): Promise<{ readonly client: PoolClient; readonly pool: Pool }> {
    const { pool } = this.#current;
    return { client: await pool.connect(), pool };
  }

  /** Replaces a pool with a connection that did not answer. Calls on its other connections may end. */
  replace(pool: Pool): void {
    if (this.#current.pool === pool && !this.#isClosed) {
      const last = this.#current;
      this.#current = this.#create();
      void endAll(last);
    }
  }

  /** Ends all connections when the calls under way have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await endAll(this.#current);
  }
}

interface Generation {
  readonly pool: Pool;
  readonly sockets: ReadonlySet<Socket>;
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
