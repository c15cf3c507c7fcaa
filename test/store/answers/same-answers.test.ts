/** A store in SQLite and one in PostgreSQL give the same answers to the same operations. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openMemoryStore } from '../../../src/store/memory.ts';
import { openPostgresDatabase } from '../../../src/store/postgres/database.ts';
import { openSqlStore, type Store } from '../../../src/store/store.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { hasPostgres } from '../../support/postgres.ts';
import { shareCluster, shareDatabase } from '../../support/shared-cluster.ts';
import { FLEET_OPERATIONS } from './fleet-operations.ts';
import { NOTIFICATION_OPERATIONS } from './notification-operations.ts';
import { answer, calls, type StoreRun } from './operation.ts';
import { OUTBOX_OPERATIONS } from './outbox-operations.ts';
import { RECORD_OPERATIONS } from './record-operations.ts';

const emptyDatabase = shareDatabase(shareCluster());
let postgres: Store;
beforeAll(async () => {
  if (hasPostgres) {
    postgres = openSqlStore(await openPostgresDatabase({ url: await emptyDatabase(), pool: 2 }), null);
  }
});
afterAll(() => postgres?.close());

describe.skipIf(!hasPostgres)('random operations', () => {
  test.each([
    ['records, history, statuses and sessions', RECORD_OPERATIONS],
    ['notifications', NOTIFICATION_OPERATIONS],
    ['the outbox', OUTBOX_OPERATIONS],
    ['commands and states', FLEET_OPERATIONS],
    ['everything', { ...RECORD_OPERATIONS, ...NOTIFICATION_OPERATIONS, ...OUTBOX_OPERATIONS, ...FLEET_OPERATIONS }],
  ])('on %s have the same answers in SQLite and in PostgreSQL', async (_title, operations) => {
    // A failure is reported after this time, even if a shorter list of calls might show it.
    const interruptAfterTimeLimit = countCases({ sample: 40_000, ci: 50_000, full: 1_800_000 });
    const parameters = { numRuns: countCases({ sample: 5, ci: 12, full: 1000 }), seed: SEED, interruptAfterTimeLimit };
    const property = fc.asyncProperty(calls(operations), async (list) => {
      await emptyDatabase();
      const memory = openMemoryStore();
      const [first, second] = [memory, postgres].map((store): StoreRun => ({ store, hints: [] }));
      for (const { name, input } of list) {
        const operation = operations[name];
        const expected = await answer(first as StoreRun, operation, input);
        expect(await answer(second as StoreRun, operation, input), name).toEqual(expected);
      }
      await memory.close();
    });
    await fc.assert(property, parameters);
  });
});
