/** Store in a PostgreSQL database, with the leases of its fleet. */

import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { backoffDelay, type Clock, endsWithin, type Random, WakeUpSignal } from '../../core/clock.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import {
  type ClaimedLease,
  type FleetSignal,
  type FleetSignals,
  type FleetStore,
  type LeaseRecord,
  type LeaseTable,
  type OwnReplica,
  type Replica,
  SIGNAL_KINDS,
} from '../leases.ts';
import { updateNote } from '../record.ts';
import type { Sql, SqlDatabase, TransactionListener } from '../sql/database.ts';
import { openSqlStore, type Store } from '../store.ts';
import { connectionConfig, type PostgresOptions } from './connection-pool.ts';
import { openPostgresDatabase, openPostgresPool } from './database.ts';

/** Opens the store, and creates or migrates its tables. Throws StoreError. */
export async function openPostgresStore(
  options: PostgresOptions,
  clock: Clock,
  random: Random,
  onTransaction?: TransactionListener,
): Promise<Store> {
  const database = await openPostgresDatabase(options, clock, onTransaction);
  return openSqlStore(database, await openFleetStore(options, clock, random));
}

/** Connections for leases and shared budgets: renewals do not wait for other work, nor for a renewal that gets no answer. */
const POOL = 4;
/** Milliseconds of a statement on leases. */
const STATEMENT_TIMEOUT = 10_000;
/** Milliseconds that a transaction on leases waits for its own process, and keeps the others from an eviction. */
const IDLE_TIMEOUT = 2000;

/**
 * Opens the leases and messages of a database whose tables exist, on connections of their own. Nothing is sent before
 * they are used.
 */
export async function openFleetStore(options: PostgresOptions, clock: Clock, random: Random): Promise<FleetStore> {
  const { Client } = await import('pg');
  const leasing = { ...options, pool: POOL, statementTimeout: STATEMENT_TIMEOUT, idleTimeout: IDLE_TIMEOUT };
  const database = await openPostgresPool(leasing);
  // Messages are sent without waiting for the answers to earlier ones.
  const createClient = () => new Client({ ...connectionConfig(leasing), pipeline: true });
  const signals = new PostgresSignals(createClient, clock, random);
  return {
    leases: new PostgresLeases(database),
    signals,
    update: (topic, change) => updateNote(database, topic, change),
    time: () =>
      database.read(async (sql) => {
        const row = await sql.get('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS time');
        return Number(row?.time);
      }),
    close: async () => {
      await Promise.all([signals.close(), database.close()]);
    },
  };
}

/** Greatest epoch that JavaScript can count. Only another program can write a greater one, and nobody claims that lease. */
const MAX_EPOCH = Number.MAX_SAFE_INTEGER;
const EPOCH = `LEAST(epoch, ${MAX_EPOCH}) AS epoch`;

/** Items of a JSON list of names. */
const NAMES = 'SELECT value FROM json_array_elements_text(?::json) AS item (value)';

/** Row with the greatest epoch of the leases that were removed. Nobody claims it. */
const REMOVED = 'removed';

/** Milliseconds that a renewal waits for an eviction or another renewal of the same replica. */
const LOCK_TIMEOUT = 1000;
const IN_MILLISECONDS = "clock_timestamp() + ? * interval '1 millisecond'";

/** Replicas and leases in PostgreSQL. Its clock alone decides what has expired. */
export class PostgresLeases implements LeaseTable {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async define(names: readonly string[]): Promise<void> {
    await this.#database.write('leases', (sql) =>
      sql.run(
        `INSERT INTO lease (name, holder, epoch, since)
         SELECT value, NULL, coalesce((SELECT epoch FROM lease WHERE name = ?), 0), clock_timestamp()
         FROM (${NAMES}) AS given ON CONFLICT (name) DO NOTHING`,
        ...[REMOVED, JSON.stringify([...new Set(names)])],
      ),
    );
  }

  renew(replica: OwnReplica, ttl: number, extension = ttl): Promise<readonly ClaimedLease[]> {
    const { id, version, address, weight, isDraining } = replica;
    return this.#database.write(`replica/${id}`, async (sql) => {
      if (extension > 0) {
        // Waits for an eviction under way. The next statement sees what it did. A renewal that arrives late does not
        // shorten a later one; a clock that was set back does. Renewals whose answers are lost hold the lock until the
        // server ends them, one after the other, so they wait only for a short time.
        await sql.run(
          `INSERT INTO replica (id, version, address, weight, is_draining, started_at, expires_at, seen_at)
           VALUES (?, ?, ?, ?, ?, (SELECT clock_timestamp() FROM set_config('lock_timeout', '${LOCK_TIMEOUT}', true)),
             ${IN_MILLISECONDS}, clock_timestamp())
           ON CONFLICT (id) DO UPDATE SET weight = excluded.weight, is_draining = excluded.is_draining,
           expires_at = greatest(${IN_MILLISECONDS}, least(replica.expires_at, ${IN_MILLISECONDS})),
           seen_at = clock_timestamp()`,
          ...[id, version, address, weight, isDraining ? 1 : 0, extension, extension, ttl],
        );
      }
      return sql.all(`SELECT name, ${EPOCH} FROM lease WHERE holder = ? ORDER BY name`, id);
    });
  }

  evict(): Promise<number> {
    return this.#database.write('evictions', async (sql) => {
      // A replica whose row is locked is renewing, claiming or leaving. The next eviction checks it again.
      const rows = await sql.all<{ id: string }>(
        'SELECT id FROM replica WHERE expires_at < clock_timestamp() ORDER BY id FOR UPDATE SKIP LOCKED',
      );
      for (const { id } of rows) {
        await removeReplica(sql, id);
      }
      return rows.length;
    });
  }

  claim(replica: string, names: readonly string[], limit: number): Promise<readonly ClaimedLease[]> {
    return this.#database.write(`replica/${replica}`, async (sql) => {
      // Locked, so that nobody evicts this replica before it has the leases.
      const own = await sql.get(
        'SELECT id FROM replica WHERE id = ? AND is_draining = 0 AND expires_at > clock_timestamp() FOR KEY SHARE',
        replica,
      );
      if (own === undefined) {
        return [];
      }
      return sql.all(
        `WITH free AS MATERIALIZED (
           SELECT name FROM lease WHERE holder IS NULL AND epoch < ${MAX_EPOCH} AND name IN (${NAMES})
           ORDER BY since, name LIMIT ? FOR UPDATE SKIP LOCKED
         )
         UPDATE lease SET holder = ?, epoch = epoch + 1, since = clock_timestamp() FROM free
         WHERE lease.name = free.name RETURNING lease.name, lease.epoch`,
        ...[JSON.stringify(names), limit, replica],
      );
    });
  }

  async release(replica: string, leases: readonly ClaimedLease[]): Promise<void> {
    await this.#database.write(`replica/${replica}`, (sql) =>
      sql.run(
        `UPDATE lease SET holder = NULL, since = clock_timestamp()
         FROM json_to_recordset(?::json) AS given (name TEXT, epoch BIGINT)
         WHERE lease.holder = ? AND lease.name = given.name AND lease.epoch = given.epoch`,
        ...[JSON.stringify(leases.map(({ name, epoch }) => ({ name, epoch }))), replica],
      ),
    );
  }

  async leave(replica: string): Promise<void> {
    await this.#database.write(`replica/${replica}`, async (sql) => {
      await sql.get('SELECT id FROM replica WHERE id = ? FOR UPDATE', replica);
      await removeReplica(sql, replica);
    });
  }

  async removeUnused(age: number): Promise<void> {
    await this.#database.write('leases', async (sql) => {
      await sql.run(
        `WITH removed AS (
           DELETE FROM lease WHERE holder IS NULL AND name <> ? AND since < clock_timestamp() - ? * interval '1 millisecond'
           RETURNING epoch
         )
         INSERT INTO lease (name, holder, epoch, since)
         SELECT ?, NULL, max(epoch), clock_timestamp() FROM removed HAVING count(*) > 0
         ON CONFLICT (name) DO UPDATE SET epoch = greatest(lease.epoch, excluded.epoch), since = excluded.since`,
        ...[REMOVED, age, REMOVED],
      );
      await sql.run(
        "DELETE FROM organization_state WHERE NOT EXISTS (SELECT 1 FROM lease WHERE lease.name = 'organization/' || organization)",
      );
    });
  }

  replicas(): Promise<readonly Replica[]> {
    return this.#database.read(async (sql) => {
      const rows = await sql.all<Omit<Replica, 'isDraining'> & { isDraining: number }>(
        `SELECT id, version, address, weight, is_draining AS "isDraining", ${milliseconds('started_at')} AS "startedAt",
         ${milliseconds('seen_at')} AS "seenAt", ${milliseconds('(expires_at - clock_timestamp())')} AS "left"
         FROM replica ORDER BY id`,
      );
      return rows.map((row) => ({ ...row, isDraining: row.isDraining === 1 }));
    });
  }

  leases(): Promise<readonly LeaseRecord[]> {
    return this.#database.read((sql) =>
      sql.all(
        `SELECT name, ${EPOCH}, holder, ${milliseconds('(clock_timestamp() - since)')} AS age FROM lease
         WHERE name <> ? ORDER BY name`,
        REMOVED,
      ),
    );
  }
}

async function removeReplica(sql: Sql, id: string): Promise<void> {
  await sql.run('UPDATE lease SET holder = NULL, since = clock_timestamp() WHERE holder = ?', id);
  await sql.run('DELETE FROM replica WHERE id = ?', id);
}

/** Returns an expression for the whole milliseconds of a time or an interval. */
function milliseconds(expression: string): string {
  return `floor(extract(epoch FROM ${expression}) * 1000)::bigint`;
}

const CHANNEL = 'octavo';
/** Bytes of a payload; PostgreSQL takes messages of less than 8000 bytes. */
const PAYLOAD_LIMIT = 7000;
/** Milliseconds between messages to this process itself, which show that the connection delivers. */
const HEARTBEAT = 30_000;
const ECHO_LIMIT = 10_000;
const RECONNECT = { first: 500, longest: 60_000 } as const;

/**
 * Connects with the first listener, and again when the connection breaks or delivers nothing. A pooler in transaction
 * mode loses messages: the replicas find everything by their regular checks, too.
 */
export class PostgresSignals implements FleetSignals {
  readonly #createClient: () => Client;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #listeners = new Set<(signal: FleetSignal) => void>();
  readonly #stopped = new AbortController();
  readonly #echo = new WakeUpSignal();
  #client: Client | null = null;
  /** Message that this process sent to itself. */
  #heartbeat = '';
  #running: Promise<void> | null = null;

  /** `createClient` returns a client that is not connected yet. */
  constructor(createClient: () => Client, clock: Clock, random: Random) {
    this.#createClient = createClient;
    this.#clock = clock;
    this.#random = random;
  }

  /** True if messages are delivered now. */
  get isConnected(): boolean {
    return this.#client !== null;
  }

  async send({ kind, payload }: FleetSignal): Promise<void> {
    const text = JSON.stringify({ kind, payload });
    const isTooLong = Buffer.byteLength(text) > PAYLOAD_LIMIT;
    try {
      await notify(this.#client, isTooLong ? JSON.stringify({ kind, payload: {} }) : text);
    } catch {
      // The connection breaks, and is opened again.
    }
  }

  listen(listener: (signal: FleetSignal) => void): () => void {
    this.#listeners.add(listener);
    this.#running ??= this.#run();
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for (let failures = 1; !signal.aborted; failures += 1) {
      if (await this.#serve()) {
        failures = 1;
      }
      const delay = backoffDelay(failures, RECONNECT.first, RECONNECT.longest, this.#random);
      await this.#clock.sleep(delay, signal).catch(() => undefined);
    }
  }

  /** Serves one connection until it ends. Returns true if it delivered messages. Never rejects. */
  async #serve(): Promise<boolean> {
    const client = this.#createClient();
    const ended = new AbortController();
    const end = () => ended.abort();
    const stop = () => void client.end().catch(() => undefined);
    this.#stopped.signal.addEventListener('abort', stop, { once: true });
    const signal = AbortSignal.any([ended.signal, this.#stopped.signal]);
    let hasDelivered = false;
    client.on('error', end);
    client.on('end', end);
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
      while (!signal.aborted && (await this.#delivers(client, signal))) {
        if (!hasDelivered) {
          hasDelivered = true;
          this.#client = client;
          // What the listeners may have missed.
          for (const kind of SIGNAL_KINDS) {
            this.#deliver({ kind, payload: {} });
          }
        }
        await this.#clock.sleep(HEARTBEAT, signal).catch(() => undefined);
      }
    } catch {
      // Connected again after a delay.
    }
    this.#client = null;
    this.#stopped.signal.removeEventListener('abort', stop);
    stop();
    return hasDelivered;
  }

  /** Sends a message to this process and returns true when it arrives. */
  async #delivers(client: Client, signal: AbortSignal): Promise<boolean> {
    this.#heartbeat = randomUUID();
    const seen = this.#echo.count;
    const sent = notify(client, JSON.stringify({ heartbeat: this.#heartbeat }));
    if (!(await endsWithin(this.#clock, ECHO_LIMIT, [sent]))) {
      return false;
    }
    await this.#echo.wait(seen, ECHO_LIMIT, this.#clock, signal);
    return this.#echo.count !== seen;
  }

  #receive(text: string): void {
    const message = parse(text);
    if (message?.heartbeat === this.#heartbeat) {
      this.#echo.notify();
    }
    const kind = SIGNAL_KINDS.find((each) => each === message?.kind);
    if (kind !== undefined && isObject(message?.payload)) {
      this.#deliver({ kind, payload: message.payload as JsonObject });
    }
  }

  #deliver(signal: FleetSignal): void {
    for (const listener of [...this.#listeners]) {
      listener(signal);
    }
  }
}

async function notify(client: Client | null, text: string): Promise<void> {
  await client?.query('SELECT pg_notify($1, $2)', [CHANNEL, text]);
}

/** Returns null for a message of another program. */
function parse(text: string): Record<string, unknown> | null {
  try {
    const message: unknown = JSON.parse(text);
    return isObject(message) ? message : null;
  } catch {
    return null;
  }
}
