/** Finds connections whose answers are lost, long before their statements time out. See docs/fleet.md#failures. */

import { Socket } from 'node:net';
import type { ClientConfig } from 'pg';
import type { Clock } from '../../core/clock.ts';

/** Connection on which a statement waits for its answer. */
export interface WaitingConnection {
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
export function createTag(id: string): string {
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
export async function readRunningTags(config: ClientConfig, ownTag: string): Promise<ReadonlySet<string> | null> {
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
