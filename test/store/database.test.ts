/** Contract of both databases. */
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import { openPostgresDatabase } from '../../src/store/postgres/database.ts';
import type { SqlDatabase, SqlValue } from '../../src/store/sql/database.ts';
import { SqliteDatabase } from '../../src/store/sqlite.ts';
import { hasPostgres } from '../support/postgres.ts';
import { shareCluster, shareDatabase } from '../support/shared-cluster.ts';

const emptyDatabase = shareDatabase(shareCluster());

const openSqlite = async () => new SqliteDatabase(new DatabaseSync(':memory:'), 'the test database');
const openPostgres = async () => openPostgresDatabase({ url: await emptyDatabase(), pool: 2 });

const insert = (database: SqlDatabase, name: string, number: SqlValue = null) =>
  database.write('x', (sql) => sql.run('INSERT INTO item (name, number) VALUES (?, ?)', name, number));
const names = (database: SqlDatabase) =>
  database.read(async (sql) => (await sql.all('SELECT name FROM item ORDER BY name')).map((row) => row.name));

const CASES: readonly (readonly [name: string, open: () => Promise<SqlDatabase>, columns: string])[] = [
  ['SQLite', openSqlite, 'name TEXT PRIMARY KEY, number INTEGER, rate REAL'],
  ...(hasPostgres
    ? [['PostgreSQL', openPostgres, 'name TEXT COLLATE "C" PRIMARY KEY, number BIGINT, rate DOUBLE PRECISION'] as const]
    : []),
];

describe.each(CASES)('a database of %s', (_name, open, columns) => {
  let database: SqlDatabase;
  beforeEach(async () => {
    database = await open();
    await database.write('x', (sql) => sql.run('DROP TABLE IF EXISTS item'));
    await database.write('x', (sql) => sql.run(`CREATE TABLE item (${columns})`));
  });
  afterEach(() => database.close());

  test('commits what was written, and returns the number of changed rows', async () => {
    await insert(database, 'a', 1);
    await insert(database, 'b', 2);
    expect(await database.write('x', (sql) => sql.run('UPDATE item SET number = number + ?', 5))).toBe(2);
    expect(await database.read((sql) => sql.get('SELECT * FROM item WHERE name = ?', 'b'))).toEqual({
      ...{ name: 'b', number: 7, rate: null },
    });
    expect(await database.read((sql) => sql.get('SELECT * FROM item WHERE name = ?', 'c'))).toBeUndefined();
  });

  test('rolls back if the work throws, and if the result is not to be kept', async () => {
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
  });

  test('stores nothing after a failed statement, even if the work ignores the failure', async () => {
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
  });

  test('refuses a transaction inside another one, and statements after the end', async () => {
    for (const start of [() => insert(database, 'a'), () => names(database)]) {
      await expect(database.write<unknown>('x', start)).rejects.toThrow('cannot start another one');
      await expect(database.read<unknown>(start)).rejects.toThrow('cannot start another one');
    }
    const late = await database.write('x', async (sql) => () => sql.run('DELETE FROM item'));
    await expect(late()).rejects.toThrow('has ended');
    expect(await names(database)).toEqual([]);
  });

  test('leaves placeholders in literals, names and comments alone', async () => {
    const row = await database.read((sql) =>
      sql.get(
        `SELECT '?''?' AS a, '$1' AS b, /* ? */ CAST(? AS TEXT) AS "c?", 1 -- ?
         AS d WHERE ? = 2`,
        ...['x', 2],
      ),
    );
    expect(row).toEqual({ a: "?'?", b: '$1', 'c?': 'x', d: 1 });
  });

  test('returns 64-bit integers, sums, fractions and truth values as numbers', async () => {
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
  });

  test('refuses to read an integer that a number cannot hold', async () => {
    await database.write('x', (sql) => sql.run("INSERT INTO item VALUES ('a', 9007199254740993, 0)"));
    await expect(database.read((sql) => sql.all('SELECT number FROM item'))).rejects.toThrow(
      /too large (for|to be represented as) a/,
    );
    expect(await names(database)).toEqual(['a']);
  });

  test('returns a member of a JSON object, also if others cannot be converted to text', async () => {
    const json = JSON.stringify({ a: 'n\0\ud800', checksum: 'abc', n: null });
    const member = (name: string) =>
      database.read((sql) =>
        sql.get(`SELECT ${sql.jsonMember('j.value', name)} AS m FROM (SELECT ? AS value) AS j`, json),
      );
    expect(await member('checksum')).toEqual({ m: 'abc' });
    expect(await member('none')).toEqual({ m: null });
    expect(await member('n')).toEqual({ m: null });
  });

  test('orders texts by their bytes, whatever the database does by default', async () => {
    for (const name of ['b', 'B', 'a-b', 'ab', 'é', 'z', '\u{1f600}', '\uffee']) {
      await insert(database, name);
    }
    expect(await names(database)).toEqual(['B', 'a-b', 'ab', 'b', 'z', 'é', '\uffee', '\u{1f600}']);
  });
});
