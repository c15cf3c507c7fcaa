// Answers do not depend on the order in which a database happens to return rows.
import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openMemoryDatabase, openMemoryStore } from '../../../src/store/memory.ts';
import { openSqlStore, type Store } from '../../../src/store/store.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { wrapDatabase } from '../../support/wrapped-database.ts';
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

/** Store that returns the rows of statements without an order in reverse. */
function openReversed(): Store {
  const reversed = wrapDatabase(openMemoryDatabase(), async (statement, call) => {
    const rows = await call();
    return (typeof rows === 'number' || isOrdered(statement) ? rows : rows.toReversed()) as typeof rows;
  });
  return openSqlStore(reversed, null);
}

/** Shows everything in its order, also that of maps and sets. */
const show = (value: unknown) => inspect(value, { depth: null, maxArrayLength: null, maxStringLength: null });

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
