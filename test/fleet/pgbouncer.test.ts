import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPgBouncer, PgBouncer } from '../support/pgbouncer.ts';
import { hasPostgres } from '../support/postgres.ts';
import { shareCluster } from '../support/shared-cluster.ts';

/** Checks that the pooler takes away everything that clients of the store must not rely on. */
describe.skipIf(!hasPostgres || !hasPgBouncer)('the pooler for tests', () => {
  const cluster = shareCluster();
  let bouncer: PgBouncer;
  const clients: pg.Client[] = [];

  beforeAll(async () => {
    bouncer = await PgBouncer.start(cluster(), 1);
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await bouncer[Symbol.asyncDispose]();
  });

  async function open(options: pg.ClientConfig = {}): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: bouncer.url('postgres'), ...options });
    clients.push(client);
    await client.connect();
    return client;
  }

  test('gives each transaction a connection that others use as well', async () => {
    const [a, b] = [await open(), await open()];
    const pid = async (client: pg.Client) => (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    expect(await pid(a)).toBe(await pid(b));
    await a.query('SET search_path = elsewhere');
    expect((await b.query('SHOW search_path')).rows).toEqual([{ search_path: 'elsewhere' }]);
  });

  test('refuses startup parameters that it does not track', async () => {
    await expect(open({ options: '-c search_path=octavo' })).rejects.toThrow(/unsupported startup parameter/);
  });
});
