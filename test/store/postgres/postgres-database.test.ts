import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LeaseLostError, StoreError } from '../../../src/core/errors.ts';
import { openPostgresDatabase, type PostgresDatabase } from '../../../src/store/postgres/database.ts';
import type { SqlValue } from '../../../src/store/sql/database.ts';
import { hasPgBouncer, PgBouncer } from '../../support/pgbouncer.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../../support/postgres.ts';

let cluster: PostgresCluster;
beforeAll(async () => {
  if (hasPostgres) {
    cluster = await startPostgres();
  }
});
afterAll(() => cluster?.stop());

const CREATE = 'CREATE TABLE item (name TEXT COLLATE "C" PRIMARY KEY, number BIGINT, rate DOUBLE PRECISION)';

/** Opens a new database with a table `item`. */
async function open(options: { pool?: number; statementTimeout?: number; port?: number } = {}) {
  const url = await cluster.createDatabase();
  const { port, ...others } = options;
  const used = port === undefined ? url : url.replace(`:${cluster.port}/`, `:${port}/`);
  const database = await openPostgresDatabase({ url: used, pool: 3, ...others });
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
  test('commits what was written, and returns the number of changed rows', async () => {
    const { database } = await open();
    await insert(database, 'a', 1);
    await insert(database, 'b', 2);
    expect(await database.write('x', (sql) => sql.run('UPDATE item SET number = number + ?', 5))).toBe(2);
    expect(await database.read((sql) => sql.get('SELECT * FROM item WHERE name = ?', 'b'))).toEqual({
      ...{ name: 'b', number: 7, rate: null },
    });
    expect(await database.read((sql) => sql.get('SELECT * FROM item WHERE name = ?', 'c'))).toBeUndefined();
    await database.close();
  });

  test('take names with backslashes as texts, whatever the settings of the database are', async () => {
    const { url, database: first } = await open();
    await first.close();
    const name = url.split('/').at(-1);
    await cluster.query(`ALTER DATABASE ${name} SET standard_conforming_strings = off`);
    const database = await openPostgresDatabase({ url, pool: 3 });
    for (const scope of ["a\\'; DROP TABLE octavo.item; --", 'a\\', "a\\''", '\\x27; DROP TABLE octavo.item; --']) {
      expect(await database.write(scope, (sql) => sql.run('INSERT INTO item (name) VALUES (?)', scope))).toBe(1);
    }
    const list = JSON.stringify(['\0', 'b', '\\u0000']);
    const items = await database.read((sql) => sql.all(`SELECT each.value FROM ${sql.jsonItems('?')}`, list));
    expect(items.map(({ value }) => value)).toEqual(['\ufffd', 'b', '\\u0000']);
    expect(await names(database)).toHaveLength(4);
    await database.close();
  });

  test('rolls back if the work throws, and if the result is not to be kept', async () => {
    const { database } = await open();
    const failing = database.write('x', async (sql) => {
      await sql.run("INSERT INTO item (name) VALUES ('a')");
      throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    const refused = database.write(
      'x',
      (sql) => sql.run("INSERT INTO item (name) VALUES ('a')"),
      () => false,
    );
    expect(await refused).toBe(1);
    expect(await names(database)).toEqual([]);
    await database.close();
  });

  test('stores nothing after a failed statement, even if the work ignores the failure', async () => {
    const { database } = await open();
    await insert(database, 'a');
    const ignoring = database.write('x', async (sql) => {
      await sql.run("INSERT INTO item (name) VALUES ('b')");
      await sql.run("INSERT INTO item (name) VALUES ('a')").catch(() => 0);
    });
    await expect(ignoring).rejects.toThrow(StoreError);
    const unawaited = database.write('x', async (sql) => {
      sql.run("INSERT INTO item (name) VALUES ('c')").catch(() => 0);
      sql.run("INSERT INTO item (name) VALUES ('a')").catch(() => 0);
    });
    await expect(unawaited).rejects.toThrow(StoreError);
    expect(await names(database)).toEqual(['a']);
    await database.close();
  });

  test('refuses a transaction inside another one, and statements after the end', async () => {
    const { database } = await open({ pool: 1 });
    await expect(database.write('x', () => insert(database, 'a'))).rejects.toThrow('cannot start another one');
    const late = await database.write('x', async (sql) => () => sql.run('DELETE FROM item'));
    await expect(late()).rejects.toThrow('has ended');
    expect(await names(database)).toEqual([]);
    await database.close();
  });

  test('writes of one scope run one after the other, those of different scopes side by side', async () => {
    const { database, url } = await open();
    const other = await openPostgresDatabase({ url, pool: 3 });
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
    await Promise.all([database.close(), other.close()]);
  });

  test('the statements of a read see one state, and cannot write', async () => {
    const { database, url } = await open();
    const other = await openPostgresDatabase({ url, pool: 1 });
    const counts = await database.read(async (sql) => {
      const before = await sql.all('SELECT name FROM item');
      await insert(other, 'a');
      return [before.length, (await sql.all('SELECT name FROM item')).length];
    });
    expect(counts).toEqual([0, 0]);
    expect(await names(database)).toEqual(['a']);
    await expect(database.read((sql) => sql.run('DELETE FROM item'))).rejects.toThrow(/read-only/);
    await Promise.all([database.close(), other.close()]);
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
    await database.close();
  });

  test('a fenced write changes nothing unless the lease is held with its epoch', async () => {
    const { database } = await open();
    await database.write('x', (sql) =>
      sql.run(`INSERT INTO replica VALUES ('r', '1', 'a', 1, 0, clock_timestamp(),
        clock_timestamp() + interval '1 minute', clock_timestamp())`),
    );
    await database.write('x', (sql) => sql.run("INSERT INTO lease VALUES ('o''1?', 'r', 7, clock_timestamp())"));
    const write = (epoch: number, name = "o'1?") =>
      database.fenced({ name, epoch }).write('x', (sql) => sql.run('INSERT INTO item (name) VALUES (?)', `e${epoch}`));
    expect(await write(7)).toBe(1);
    await expect(write(6)).rejects.toThrow(LeaseLostError);
    await expect(write(8)).rejects.toThrow(LeaseLostError);
    await expect(write(7, "' OR true --")).rejects.toThrow(LeaseLostError);
    await database.write('x', (sql) => sql.run("UPDATE replica SET expires_at = clock_timestamp() - interval '1 ms'"));
    await expect(write(7)).rejects.toThrow(LeaseLostError);
    expect(await names(database)).toEqual(['e7']);
    await database.close();
  });

  test('takes two round trips for a write of one statement, one more for each other, and one for a read', async () => {
    await using counter = await countRoundTrips(cluster.port);
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
    await database.close();
  });
});

describe.runIf(hasPostgres)('values', () => {
  test.each([
    ['NUL', 'a\0b', 'a\ufffdb'],
    ['lone surrogates', 'a\ud800b\udc00', 'a\ufffdb\ufffd'],
    ['quotes and placeholders', `'"\\ $1 ? ?? -- /* */ :x %s`, `'"\\ $1 ? ?? -- /* */ :x %s`],
    ['1 MB', 'ü😀'.repeat(170_000), 'ü😀'.repeat(170_000)],
  ])('stores %s', async (_title, text, stored) => {
    const { database } = await open();
    await database.write('x', (sql) => sql.run('CREATE TABLE text (value TEXT)'));
    await database.write('x', (sql) => sql.run('INSERT INTO text VALUES (?)', text));
    expect(await database.read((sql) => sql.get('SELECT value FROM text WHERE value = ?', text))).toEqual({
      value: stored,
    });
    await database.close();
  });

  test('leaves placeholders in literals, names and comments alone', async () => {
    const { database } = await open();
    const row = await database.read((sql) =>
      sql.get(
        `SELECT '?''?' AS a, '$1' AS b, /* ? */ CAST(? AS TEXT) AS "c?", 1 -- ?
         AS d WHERE ? = 2`,
        ...['x', 2],
      ),
    );
    expect(row).toEqual({ a: "?'?", b: '$1', 'c?': 'x', d: 1 });
    await database.close();
  });

  test('returns 64-bit integers, sums, fractions and truth values as numbers', async () => {
    const { database } = await open();
    await database.write('x', (sql) =>
      sql.run('INSERT INTO item VALUES (?, ?, ?), (?, ?, ?)', 'a', Number.MAX_SAFE_INTEGER, 0.1, 'b', -5, -1e300),
    );
    expect(
      await database.read((sql) =>
        sql.all(`SELECT number, rate, number > 0 AS positive, (SELECT COUNT(*) FROM item) AS count,
          (SELECT SUM(number) FROM item) AS sum FROM item ORDER BY name`),
      ),
    ).toEqual([
      { number: 9007199254740991, rate: 0.1, positive: 1, count: 2, sum: 9007199254740986 },
      { number: -5, rate: -1e300, positive: 0, count: 2, sum: 9007199254740986 },
    ]);
    await database.close();
  });

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
    await database.close();
  });

  test('refuses to read an integer that a number cannot hold', async () => {
    const { database } = await open();
    await database.write('x', (sql) => sql.run("INSERT INTO item VALUES ('a', 9007199254740993, 0)"));
    await expect(database.read((sql) => sql.all('SELECT number FROM item'))).rejects.toThrow('too large for a number');
    expect(await names(database)).toEqual(['a']);
    await database.close();
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
    await database.close();
  });

  test('returns a member of a JSON object, also if others cannot be converted to text', async () => {
    const { database } = await open();
    const json = JSON.stringify({ a: 'n\0\ud800', checksum: 'abc', n: null });
    const member = (name: string) =>
      database.read((sql) =>
        sql.get(`SELECT ${sql.jsonMember('j.value', name)} AS m FROM (SELECT ? AS value) AS j`, json),
      );
    expect(await member('checksum')).toEqual({ m: 'abc' });
    expect(await member('none')).toEqual({ m: null });
    expect(await member('n')).toEqual({ m: null });
    await database.close();
  });

  test('orders texts by their bytes, whatever the database does by default', async () => {
    const { database } = await open();
    for (const name of ['b', 'B', 'a-b', 'ab', 'é', 'z', '\u{1f600}', '\uffee']) {
      await insert(database, name);
    }
    expect(await names(database)).toEqual(['B', 'a-b', 'ab', 'b', 'z', 'é', '\uffee', '\u{1f600}']);
    await database.close();
  });
});

describe.runIf(hasPostgres)('failures', () => {
  test('the next call works after the server was restarted and after connections were ended', async () => {
    await using own = await startPostgres();
    const database = await openPostgresDatabase({ url: own.url(), pool: 3 });
    await database.write('x', (sql) => sql.run(CREATE));
    await Promise.all([1, 2, 3].map((each) => insert(database, `a${each}`)));
    await own.restart('immediate');
    await insert(database, 'b');
    expect(await own.terminateConnections()).toBeGreaterThan(0);
    await insert(database, 'c');
    await own.shutDown('fast');
    await expect(insert(database, 'd')).rejects.toThrow(/cannot be reached; check that the server runs/);
    await own.start();
    await insert(database, 'e');
    expect(await names(database)).toEqual(['a1', 'a2', 'a3', 'b', 'c', 'e']);
    await database.close();
  });

  test('a connection that ends within a transaction fails the work, which stores nothing', async () => {
    const { database, url } = await open();
    const work = database.write('x', async (sql) => {
      await sql.run("INSERT INTO item (name) VALUES ('a')");
      await cluster.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'",
        url.split('/').at(-1),
      );
      await sql.run("INSERT INTO item (name) VALUES ('b')");
    });
    await expect(work).rejects.toThrow(StoreError);
    expect(await names(database)).toEqual([]);
    await database.close();
  });

  test('ends a statement that takes too long', async () => {
    const { database } = await open({ pool: 1, statementTimeout: 200 });
    await expect(database.read((sql) => sql.get('SELECT pg_sleep(60)'))).rejects.toThrow(/did not answer in time/);
    expect(await names(database)).toEqual([]);
    await database.close();
  });

  test('calls wait for a free connection, and none is lost by failures', async () => {
    const { database } = await open({ pool: 1 });
    const calls = Array.from({ length: 30 }, (_, index) => insert(database, String(index % 10).padStart(2, '0')));
    const ends = await Promise.allSettled(calls);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    expect(await names(database)).toHaveLength(10);
    await database.close();
    await expect(names(database)).rejects.toThrow('is closed');
  });

  test.runIf(hasPgBouncer)(
    'works through PgBouncer in transaction mode, where each transaction has another connection',
    async () => {
      await using bouncer = await PgBouncer.start(cluster, 2);
      const { database } = await open({ pool: 5, port: bouncer.port });
      await Promise.all(Array.from({ length: 20 }, (_, index) => insert(database, `n${index}`, index)));
      expect(await database.read((sql) => sql.get('SELECT SUM(number) AS sum FROM item'))).toEqual({ sum: 190 });
      await database.close();
    },
  );
});
