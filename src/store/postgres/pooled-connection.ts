import type { Socket } from 'node:net';
import type { PoolClient, QueryResult } from 'pg';
import type { SqlValue } from '../sql/database.ts';
import type { SilenceWatch, WaitingConnection } from './silence-watch.ts';

export interface PooledConnectionOptions {
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
