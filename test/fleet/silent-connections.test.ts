// Connections to PostgreSQL that a network drops without a reset: calls go on with new ones, and slow statements are kept.
import { describe, expect, test } from 'vitest';
import type { PostgresDatabase } from '../../src/store/postgres/database.ts';
import { eventually } from '../support/octavo-process.ts';
import { hasPgBouncer } from '../support/pgbouncer.ts';
import { hasPostgres } from '../support/postgres.ts';
import { shareCluster } from '../support/shared-cluster.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { openProxied } from './fault-schedule.ts';

/** Milliseconds without an answer until the server is asked. */
const SILENCE = 600;
/** Milliseconds of the statements that are only slow. */
const SLOW = 4 * SILENCE;
/** A call that waits for the timeout of its statement (10 minutes) fails the test by its own limit. */
const STATEMENT_TIMEOUT = 600_000;
const TEST_LIMIT = 60_000;

const cluster = shareCluster();

const WAYS = [
  ['directly', false],
  ['through PgBouncer', true],
] as const;

describe.runIf(hasPostgres).each(WAYS)('a database that is reached %s', (_way, isPooled) => {
  const run = test.skipIf(isPooled && !hasPgBouncer);

  /** Opens a database behind a proxy. */
  async function open(pool: number) {
    const limits = { statementTimeout: STATEMENT_TIMEOUT, connectTimeout: TEST_LIMIT, silenceLimit: SILENCE };
    const opened = await openProxied(cluster(), 1, { pool, isPooled }, 10, limits);
    const [proxy, database] = [opened.proxies[0] as TcpProxy, opened.databases[0] as PostgresDatabase];
    return { database, proxy, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
  }

  /** Uses all connections of the pool, so that they are open and idle. */
  const warmUp = (database: PostgresDatabase, connections: number) =>
    Promise.all(Array.from({ length: connections }, () => database.read((sql) => sql.get('SELECT pg_sleep(0.05)'))));
  const ask = (database: PostgresDatabase) => database.read(async (sql) => (await sql.get('SELECT 1 AS n'))?.n);

  run(
    'calls succeed after the network has forgotten all connections, also those that wait for one',
    async () => {
      await using opened = await open(2);
      const { database, proxy } = opened;
      await warmUp(database, 2);
      proxy.abandon();
      // Two of them use the dropped connections, and the others wait for those.
      expect(await Promise.all(Array.from({ length: 6 }, () => ask(database)))).toEqual([1, 1, 1, 1, 1, 1]);
    },
    TEST_LIMIT,
  );

  run(
    'a transaction that loses its connection fails, and stores nothing',
    async () => {
      await using opened = await open(1);
      const { database, proxy } = opened;
      await database.write('x', (sql) => sql.run('CREATE TABLE item (name TEXT)'));
      const work = database.write('x', async (sql) => {
        await sql.run("INSERT INTO item VALUES ('a')");
        proxy.abandon();
        await sql.run("INSERT INTO item VALUES ('b')");
      });
      await expect(work).rejects.toThrow(/cannot be reached; .*its answers are lost, while the server answers/);
      expect(await database.read((sql) => sql.all('SELECT name FROM item'))).toEqual([]);
    },
    TEST_LIMIT,
  );

  run(
    'slow statements, and those that wait for a lock, are not given up',
    async () => {
      await using opened = await open(4);
      const { database, proxy } = opened;
      await warmUp(database, 4);
      const accepted = proxy.accepted;
      const runs: string[] = [];
      const sleep = async (name: string) =>
        database.write('scope', async (sql) => {
          runs.push(name);
          await sql.get(`SELECT pg_sleep(${SLOW / 1000})`);
        });
      // The second one waits for the lock of the scope before it begins.
      await Promise.all([sleep('a'), sleep('b'), database.read((sql) => sql.get(`SELECT pg_sleep(${SLOW / 1000})`))]);
      expect(runs.toSorted()).toEqual(['a', 'b']);
      // The server was asked on connections of their own.
      expect(proxy.accepted).toBeGreaterThan(accepted + 1);
    },
    TEST_LIMIT,
  );

  run(
    'nothing is given up while new connections get no answer either, and work goes on when they do',
    async () => {
      await using opened = await open(2);
      const { database, proxy } = opened;
      await warmUp(database, 2);
      proxy.stall();
      const accepted = proxy.accepted;
      const call = ask(database);
      await eventually('two questions to the server', () => proxy.accepted >= accepted + 2);
      proxy.pass();
      expect(await call).toBe(1);
    },
    TEST_LIMIT,
  );
});
