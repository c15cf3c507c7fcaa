/** Transactions and reads of the SQLite adapter run one after the other. */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import type { Sql } from '../../src/store/sql/database.ts';
import { SqliteDatabase } from '../../src/store/sqlite.ts';

let connection: DatabaseSync;
let database: SqliteDatabase;
beforeEach(() => open());

function open(): void {
  connection = new DatabaseSync(':memory:');
  connection.exec(`CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER NOT NULL CHECK (amount >= -9)) STRICT;
    INSERT INTO account VALUES (0, 0), (1, 0), (2, 0), (3, 0);`);
  database = new SqliteDatabase(connection, 'the test database');
}

const amounts = async (sql: Sql) => (await sql.all('SELECT amount FROM account ORDER BY id')).map((row) => row.amount);
const set = (sql: Sql, id: number, amount: number) => sql.run('UPDATE account SET amount = ? WHERE id = ?', amount, id);
const stored = () => database.read(amounts);

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await Promise.resolve();
  }
}

const work = fc.record({
  kind: fc.constantFrom('commit', 'throw', 'drop', 'fail', 'read' as const),
  from: fc.nat(3),
  to: fc.nat(3),
  amount: fc.integer({ min: 1, max: 12 }),
  /** Turns of the event loop before, within and after the first statement. */
  turns: fc.tuple(fc.nat(4), fc.nat(4), fc.nat(4)),
});

const FAILURES = {
  commit: /CHECK constraint/,
  drop: /CHECK constraint/,
  throw: /CHECK constraint|^RangeError: changed my mind/,
  fail: /(CHECK|NOT NULL) constraint/,
  read: /^never$/,
} as const;

test('concurrent transactions never interleave, and nothing sees what is not committed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(work, { minLength: 2, maxLength: 20 }), async (works) => {
      open();
      const expected = [0, 0, 0, 0];
      let running = 0;
      const play = async ({ kind, from, to, amount, turns: [before, within, after] }: (typeof works)[number]) => {
        await turns(before);
        const move = async (sql: Sql) => {
          running += 1;
          expect(running).toBe(1);
          try {
            const [seen, next] = [await amounts(sql), [...expected]];
            expect(seen).toEqual(expected);
            await turns(within);
            if (kind === 'read') {
              expect(await amounts(sql)).toEqual(expected);
              return;
            }
            const change = async (id: number, by: number) => {
              next[id] = (next[id] ?? 0) + by;
              await set(sql, id, next[id] ?? 0);
            };
            await change(to, amount);
            await turns(after);
            await change(from, -amount);
            if (kind === 'throw') {
              throw new RangeError('changed my mind');
            }
            if (kind === 'fail') {
              await sql.run('UPDATE account SET amount = NULL');
            }
            expect(await amounts(sql)).toEqual(next);
            if (kind === 'commit') {
              expected.splice(0, 4, ...next);
            }
          } finally {
            running -= 1;
          }
        };
        const moved = kind === 'read' ? database.read(move) : database.write('any', move, () => kind !== 'drop');
        await moved.catch((error: unknown) => expect(String(error)).toMatch(FAILURES[kind]));
      };
      await Promise.all(works.map(play));
      expect(await stored()).toEqual(expected);
      expect(expected.reduce((sum, amount) => sum + amount)).toBe(0);
    }),
  );
});

describe('a transaction', () => {
  test('runs at once if no other one runs, and the others run in their order', async () => {
    const order: string[] = [];
    const add = (name: string) => async () => void order.push(name);
    const all = [database.write('a', add('a')), database.read(add('b')), database.write('c', add('c'))];
    expect(order).toEqual(['a']);
    await Promise.all(all);
    expect(order).toEqual(['a', 'b', 'c']);
  });

  test('leaves the connection to work that was started in it and goes on after it', async () => {
    let later: Promise<unknown> = Promise.resolve();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await database.write('any', async () => {
      later = ended.then(() => database.write('later', (sql) => set(sql, 1, 7)));
    });
    end();
    await later;
    expect(await stored()).toEqual([0, 7, 0, 0]);
  });
});

test('closes after the work under way, twice, and refuses everything afterwards', async () => {
  await expect(database.write('any', () => database.close())).rejects.toThrow('cannot start another one');
  const written = database.write('any', async (sql) => {
    await turns(3);
    return set(sql, 2, 3);
  });
  const closed = database.close();
  const late = database.read(amounts);
  expect(await written).toBe(1);
  await closed;
  await database.close();
  const refusal = new StoreError('the test database is closed');
  await expect(late).rejects.toThrow(refusal);
  await expect(stored()).rejects.toThrow(refusal);
  await expect(database.write('any', amounts)).rejects.toThrow(refusal);
});

test('prepares each statement once', async () => {
  let prepared = 0;
  const prepare = connection.prepare.bind(connection);
  connection.prepare = (...args) => {
    prepared += 1;
    return prepare(...args);
  };
  for (let round = 0; round < 5; round += 1) {
    await database.write('any', (sql) => set(sql, 0, round));
  }
  expect(prepared).toBe(3);
});
