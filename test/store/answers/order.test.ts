// Answers do not depend on the order in which a database happens to return rows.
import { DatabaseSync } from 'node:sqlite';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openMemoryStore } from '../../../src/store/memory.ts';
import type { Sql, SqlDatabase } from '../../../src/store/sql/database.ts';
import { SQLITE_LAYOUTS } from '../../../src/store/sql/schema-migrations.ts';
import { SqliteDatabase } from '../../../src/store/sqlite.ts';
import { openSqlStore, type Store } from '../../../src/store/store.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { FLEET_OPERATIONS } from './fleet-operations.ts';
import { NOTIFICATION_OPERATIONS } from './notification-operations.ts';
import { answer, calls, type StoreRun } from './operation.ts';
import { OUTBOX_OPERATIONS } from './outbox-operations.ts';
import { RECORD_OPERATIONS } from './record-operations.ts';

/** Returns true if the rows of a statement, not only those of a part in parentheses, have an order. */
function isOrdered(statement: string): boolean {
  let outer = statement;
  for (let before = ''; before !== outer; ) {
    before = outer;
    outer = outer.replaceAll(/\([^()]*\)/g, '');
  }
  return /\bORDER BY\b/.test(outer);
}

/** Returns the same statements. The rows of those without an order are returned in reverse. */
function reversedSql(sql: Sql): Sql {
  const all = async (statement: string, ...values: Parameters<Sql['all']>[1][]) => {
    const rows = await sql.all(statement, ...values);
    return isOrdered(statement) ? rows : rows.toReversed();
  };
  return {
    all,
    get: async (statement, ...values) => (await all(statement, ...values))[0],
    run: (statement, ...values) => sql.run(statement, ...values),
    jsonItems: (expression) => sql.jsonItems(expression),
    jsonMember: (expression, name) => sql.jsonMember(expression, name),
  };
}

function reversedDatabase(database: SqlDatabase): SqlDatabase {
  return {
    read: (work) => database.read((sql) => work(reversedSql(sql))),
    write: (scope, work, keeps) => database.write(scope, (sql) => work(reversedSql(sql)), keeps),
    fenced: (lease) => reversedDatabase(database.fenced(lease)),
    parse: (text) => database.parse(text),
    damagedError: () => database.damagedError(),
    close: () => database.close(),
  };
}

function openReversed(): Store {
  const connection = new DatabaseSync(':memory:');
  connection.exec(SQLITE_LAYOUTS.join('\n'));
  return openSqlStore(reversedDatabase(new SqliteDatabase(connection, 'the state in memory')), null);
}

/** Shows everything in its order, also that of maps and sets. */
const show = (value: unknown) => inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null });

test.each([
  ['SELECT a FROM t WHERE b IN (SELECT c FROM u ORDER BY c)', false],
  ['SELECT a FROM t ORDER BY COALESCE(b, (SELECT 1)), a LIMIT ?', true],
  ['UPDATE t SET a = 1 RETURNING a', false],
])('%s has an order: %s', (statement, expected) => {
  expect(isOrdered(statement)).toBe(expected);
});

test.each([
  ['records, history, statuses and sessions', RECORD_OPERATIONS],
  ['notifications', NOTIFICATION_OPERATIONS],
  ['the outbox', OUTBOX_OPERATIONS],
  ['commands and states', FLEET_OPERATIONS],
])('operations on %s have the same answers when rows without an order are reversed', async (_title, operations) => {
  const property = fc.asyncProperty(calls(operations), async (list) => {
    const stores = [openMemoryStore(), openReversed()];
    const [first, second] = stores.map((store): StoreRun => ({ store, hints: [] })) as [StoreRun, StoreRun];
    for (const { name, input } of list) {
      const operation = operations[name];
      const expected = show(await answer(first, operation, input));
      expect(show(await answer(second, operation, input)), name).toBe(expected);
    }
    await Promise.all(stores.map((store) => store.close()));
  });
  await fc.assert(property, { numRuns: countCases({ sample: 4, ci: 12, full: 1000 }), seed: SEED });
});
