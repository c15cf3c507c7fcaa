import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { openPostgresDatabase, type PostgresDatabase } from '../../../src/store/postgres/database.ts';
import type { SqlValue } from '../../../src/store/sql/database.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster, shareDatabase } from '../../support/shared-cluster.ts';

const cluster = shareCluster();
const emptyDatabase = shareDatabase(cluster);

const opened: PostgresDatabase[] = [];
afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));

/** Closes a database at the end of the test. */
function closing(database: PostgresDatabase): PostgresDatabase {
  opened.push(database);
  return database;
}

const CREATE = 'CREATE TABLE item (name TEXT COLLATE "C" PRIMARY KEY, number BIGINT, rate DOUBLE PRECISION)';

/** Opens the database with an empty table `item`. */
async function open(options: { pool?: number; statementTimeout?: number; port?: number } = {}) {
  const url = await emptyDatabase();
  const { port, ...others } = options;
  const used = port === undefined ? url : url.replace(`:${cluster().port}/`, `:${port}/`);
  const database = closing(await openPostgresDatabase({ url: used, pool: 3, ...others }));
  await database.write('x', (sql) => sql.run('DROP TABLE IF EXISTS item, text'));
  await database.write('x', (sql) => sql.run(CREATE));
  return { url, database };
}

const insert = (database: PostgresDatabase, name: string, number: SqlValue = null) =>
  database.write('x', (sql) => sql.run('INSERT INTO item (name, number) VALUES (?, ?)', name, number));
const names = (database: PostgresDatabase) =>
  database.read(async (sql) => (await sql.all('SELECT name FROM item ORDER BY name')).map((row) => row.name));

/**
 * TCP proxy that counts how often a client sends something and waits for the answer. Right for one connection at a time.
 */
async function countRoundTrips(target: number) {
  let roundTrips = 0;
  let isWaiting = false;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    client.on('close', () => upstream.destroy());
    client.on('data', (data) => {
      isWaiting = true;
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      roundTrips += isWaiting ? 1 : 0;
      isWaiting = false;
      client.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get roundTrips() {
      return roundTrips;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
    },
  };
}

describe.runIf(hasPostgres)('transactions', () => {
  test('take names with backslashes as texts, whatever the settings of the database are', async () => {
    const { url, database: first } = await open();
    await first.close();
    const name = url.split('/').at(-1);
    await cluster().query(`ALTER DATABASE ${name} SET standard_conforming_strings = off`);
    const database = closing(await openPostgresDatabase({ url, pool: 3 }));
    for (const scope of ["a\\'; DROP TABLE octavo.item; --", 'a\\', "a\\''", '\\x27; DROP TABLE octavo.item; --']) {
      expect(await database.write(scope, (sql) => sql.run('INSERT INTO item (name) VALUES (?)', scope))).toBe(1);
    }
    const list = JSON.stringify(['\0', 'b', '\\u0000']);
    const items = await database.read((sql) => sql.all(`SELECT each.value FROM ${sql.jsonItems('?')}`, list));
    expect(items.map(({ value }) => value)).toEqual(['\ufffd', 'b', '\\u0000']);
    expect(await names(database)).toHaveLength(4);
  });

  test('writes of one scope run one after the other, those of different scopes side by side', async () => {
    const { database, url } = await open();
    const other = closing(await openPostgresDatabase({ url, pool: 3 }));
    await insert(database, 'a', 0);
    const increment = (store: PostgresDatabase) =>
      store.write('x', async (sql) => {
        const row = await sql.get("SELECT number FROM item WHERE name = 'a'");
        await sql.run("UPDATE item SET number = ? WHERE name = 'a'", Number(row?.number) + 1);
      });
    await Promise.all(Array.from({ length: 20 }, (_, index) => increment(index % 2 === 0 ? database : other)));
    expect(await database.read((sql) => sql.get('SELECT number FROM item'))).toEqual({ number: 20 });

    let isInside = false;
    await database.write('x', async () => {
      await other.write('y', async () => {
        isInside = true;
      });
    });
    expect(isInside).toBe(true);
  });

  test('the statements of a read see one state, and cannot write', async () => {
    const { database, url } = await open();
    const other = closing(await openPostgresDatabase({ url, pool: 1 }));
    const counts = await database.read(async (sql) => {
      const before = await sql.all('SELECT name FROM item');
      await insert(other, 'a');
      return [before.length, (await sql.all('SELECT name FROM item')).length];
    });
    expect(counts).toEqual([0, 0]);
    expect(await names(database)).toEqual(['a']);
    await expect(database.read((sql) => sql.run('DELETE FROM item'))).rejects.toThrow(/read-only/);
  });

  test('runs a transaction again that the server undid because of another one', async () => {
    const { database } = await open();
    await database.write('x', (sql) => sql.run("INSERT INTO item VALUES ('a', 0, 0), ('b', 0, 0)"));
    const runs: string[] = [];
    let ready = 0;
    let release = () => {};
    const both = new Promise<void>((resolve) => {
      release = resolve;
    });
    // Each locks one row, then waits for the other's: the server ends one of them.
    const cross = (scope: string, first: string, second: string) =>
      database.write(scope, async (sql) => {
        runs.push(scope);
        await sql.run('UPDATE item SET number = number + 1 WHERE name = ?', first);
        ready += 1;
        if (ready === 2) {
          release();
        }
        await both;
        await sql.run('UPDATE item SET number = number + 1 WHERE name = ?', second);
      });
    await Promise.all([cross('x', 'a', 'b'), cross('y', 'b', 'a')]);
    expect(runs.length).toBeGreaterThan(2);
    expect(await database.read((sql) => sql.all('SELECT number FROM item'))).toEqual([{ number: 2 }, { number: 2 }]);
  });

  test('takes two round trips for a write of one statement, one more for each other, and one for a read', async () => {
    await using counter = await countRoundTrips(cluster().port);
    const { database } = await open({ pool: 1, port: counter.port });
    const count = async (work: () => Promise<unknown>) => {
      const before = counter.roundTrips;
      await work();
      return counter.roundTrips - before;
    };
    expect(await count(() => insert(database, 'a'))).toBe(2);
    expect(
      await count(() =>
        database.write('x', async (sql) => {
          await sql.run("UPDATE item SET number = 1 WHERE name = 'a'");
          await sql.run("UPDATE item SET number = 2 WHERE name = 'a'");
          await sql.run("UPDATE item SET number = 3 WHERE name = 'a'");
        }),
      ),
    ).toBe(4);
    expect(
      await count(() =>
        database
          .fenced({ name: 'none', epoch: 1 })
          .write('x', (sql) => sql.run('DELETE FROM item'))
          .catch(() => 0),
      ),
    ).toBe(2);
    expect(await count(() => names(database))).toBe(1);
  });
});

describe.runIf(hasPostgres)('values', () => {
  test.each([
    ['larger than 64 bits', 1e21],
    ['not whole', 1.5],
    ['not a number', Number.NaN],
    ['a text', 'private'],
  ])('refuses an integer that is %s, without showing it', async (_title, value) => {
    const { database } = await open();
    const error = await insert(database, 'a', value).catch((caught: unknown) => caught as StoreError);
    expect(error).toBeInstanceOf(StoreError);
    expect(String((error as StoreError).message)).toMatch(/refused a value that its column cannot hold \(22/);
    expect(String((error as StoreError).message)).not.toContain('private');
  });

  test('selects the items of a JSON list, as their texts are stored', async () => {
    const { database } = await open();
    const list = ['a', 'n\0', 's\ud800', 'q\'"', '\\u0000', '\\\0', '😀', ''];
    for (const name of list) {
      await insert(database, name);
    }
    await insert(database, 'other');
    const found = await database.read((sql) =>
      sql.all(
        `SELECT name FROM item WHERE name IN (SELECT value FROM ${sql.jsonItems('?')})`,
        JSON.stringify([...list, 'missing']),
      ),
    );
    expect(found).toHaveLength(list.length);
    const numbers = await database.read((sql) =>
      sql.all(`SELECT CAST(value AS BIGINT) AS n FROM ${sql.jsonItems('?')}`, '[1, 20, 300]'),
    );
    expect(numbers).toEqual([{ n: 1 }, { n: 20 }, { n: 300 }]);
  });
});

describe.runIf(hasPostgres)('failures', () => {
  test('the next call works after the server was restarted and after connections were ended', async () => {
    const { database } = await open();
    await Promise.all([1, 2, 3].map((each) => insert(database, `a${each}`)));
    await cluster().restart('immediate');
    await insert(database, 'b');
    expect(await cluster().terminateConnections()).toBeGreaterThan(0);
    await insert(database, 'c');
    await cluster().shutDown('fast');
    await expect(insert(database, 'd')).rejects.toThrow(/cannot be reached; check that the server runs/);
    await cluster().start();
    await insert(database, 'e');
    expect(await names(database)).toEqual(['a1', 'a2', 'a3', 'b', 'c', 'e']);
  });

  test('ends a statement that takes too long', async () => {
    const { database } = await open({ pool: 1, statementTimeout: 200 });
    await expect(database.read((sql) => sql.get('SELECT pg_sleep(60)'))).rejects.toThrow(/did not answer in time/);
    expect(await names(database)).toEqual([]);
  });
});
