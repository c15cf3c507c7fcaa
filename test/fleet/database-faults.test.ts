import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { PostgresDatabase } from '../../src/store/postgres/database.ts';
import { countCases, pickCases, SEED } from '../support/campaign.ts';
import { hasPgBouncer } from '../support/pgbouncer.ts';
import { hasPostgres, startPostgres } from '../support/postgres.ts';
import { causeFaults, createDice, openProxied, WAYS } from './fault-schedule.ts';

/*
 * Transactions of several clients while connections stall, break and are abandoned, and while the server is restarted. A
 * transaction adds one item and counts it, so an item that is lost, doubled or half written is seen.
 */

const FAULTS = countCases({ sample: 4, ci: 5, full: 200 });
/** Milliseconds of the longest fault. */
const LONGEST = 700;
const CLIENTS = 3;
/** Milliseconds of the limits of each client. */
const LIMITS = { connectTimeout: 500, statementTimeout: 500 };
/** Milliseconds within which every call ends: it waits for a connection, sends twice, and gives up. */
const CALL_LIMIT = 4000;

describe.skipIf(!hasPostgres)('a database that fails', () => {
  for (const [way, { pool, isPooled }] of pickCases(Object.entries(WAYS), 1)) {
    test.skipIf(isPooled && !hasPgBouncer).concurrent(
      `through ${way}, loses and doubles nothing, and every call ends`,
      async () => {
        await using cluster = await startPostgres();
        await using opened = await openProxied(cluster, CLIENTS, { pool, isPooled }, pool, LIMITS);
        const { name, proxies } = opened;
        await using cleanup = new AsyncDisposableStack();
        const clients = opened.databases.map((database, number) => new Client(`client-${number}`, database));
        await cluster.query(TABLES, name);
        const over = new AbortController();
        cleanup.defer(() => over.abort());
        const work = clients.map((client) => client.work(over.signal));
        const dice = createDice(SEED + pool);
        const caused = await causeFaults({ cluster, proxies }, dice, { count: FAULTS, longest: LONGEST });
        for (const client of clients) {
          await client.recovered();
        }
        over.abort();
        await Promise.all(work);
        const story = `seed ${SEED}: ${caused.join(', ')}`;
        expect(
          clients.flatMap(({ slow }) => slow),
          story,
        ).toEqual([]);
        expect(
          clients.flatMap(({ torn }) => torn),
          story,
        ).toEqual([]);
        const rows = await cluster.query('SELECT id FROM octavo.item', name);
        const stored = new Set(rows.map(({ id }) => String(id)));
        const [{ items } = {}] = await cluster.query('SELECT items FROM octavo.total', name);
        expect(Number(items), story).toBe(stored.size);
        expect(
          clients.flatMap(({ acknowledged }) => acknowledged).filter((id) => !stored.has(id)),
          story,
        ).toEqual([]);
        expect(
          clients.flatMap(({ refused }) => refused).filter((id) => stored.has(id)),
          story,
        ).toEqual([]);
      },
      60_000 + FAULTS * LONGEST * 4,
    );
  }
});

const TABLES = `CREATE TABLE octavo.item (id TEXT PRIMARY KEY);
CREATE TABLE octavo.total (items BIGINT NOT NULL);
INSERT INTO octavo.total VALUES (0);`;

/** Writes items and reads their number, again and again. */
class Client {
  readonly acknowledged: string[] = [];
  /** Items whose transaction failed in a way that says that nothing was stored. */
  readonly refused: string[] = [];
  /** Calls that took too long. */
  readonly slow: string[] = [];
  /** Reads that saw half of a transaction. */
  readonly torn: string[] = [];
  readonly #name: string;
  readonly #database: PostgresDatabase;
  #written = 0;
  #succeeded = 0;

  constructor(name: string, database: PostgresDatabase) {
    this.#name = name;
    this.#database = database;
  }

  async work(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.#timed('a write', () => this.#write());
      await this.#timed('a read', () => this.#read());
    }
  }

  /** Waits until both kinds of calls succeed again. */
  async recovered(): Promise<void> {
    const before = this.#succeeded;
    const limit = performance.now() + 2 * CALL_LIMIT;
    while (this.#succeeded < before + 4) {
      if (performance.now() > limit) {
        throw new Error(`${this.#name} does not recover by itself`);
      }
      await pause(20);
    }
  }

  async #write(): Promise<void> {
    const id = `${this.#name}/${this.#written}`;
    this.#written += 1;
    let hasStarted = false;
    try {
      await this.#database.write('items', async (sql) => {
        hasStarted = true;
        await sql.run('INSERT INTO item (id) VALUES (?)', id);
        await sql.run('UPDATE total SET items = items + 1');
      });
      this.acknowledged.push(id);
    } catch (error) {
      if (!hasStarted) {
        this.refused.push(id);
      }
      throw error;
    }
  }

  async #read(): Promise<void> {
    const { counted, total } = await this.#database.read(async (sql) => ({
      counted: await sql.get('SELECT count(*) AS n FROM item'),
      total: await sql.get('SELECT items AS n FROM total'),
    }));
    if (counted?.n !== total?.n) {
      this.torn.push(`${this.#name} read ${counted?.n} items, of which ${total?.n} are counted`);
    }
  }

  async #timed(what: string, call: () => Promise<void>): Promise<void> {
    const began = performance.now();
    let outcome = 'succeeded';
    try {
      await call();
      this.#succeeded += 1;
    } catch (error) {
      outcome = `failed with ${(error as Error).name}: ${(error as Error).message}`;
      if ((error as Error).name !== 'StoreError') {
        throw error;
      }
    }
    const took = performance.now() - began;
    if (took > CALL_LIMIT) {
      this.slow.push(`${what} of ${this.#name} took ${Math.round(took)} ms and ${outcome}`);
    }
  }
}
