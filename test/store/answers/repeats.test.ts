/**
 * Writes whose answer was lost are repeated by their callers. Each operation either leaves the same state when it is
 * repeated, or is listed here with the check that its caller makes first.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openMemoryDatabase } from '../../../src/store/memory.ts';
import type { SqlDatabase, SqlRow } from '../../../src/store/sql/database.ts';
import { openSqlStore } from '../../../src/store/store.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { FLEET_OPERATIONS } from './fleet-operations.ts';
import { NOTIFICATION_OPERATIONS } from './notification-operations.ts';
import { answer, calls, name, type Operation, operation, organization, type StoreRun, time } from './operation.ts';
import { OUTBOX_OPERATIONS } from './outbox-operations.ts';
import { RECORD_OPERATIONS } from './record-operations.ts';

const LIMIT = { items: 20, bytes: 4000 };

/** Operations that are made of several calls elsewhere, as the one call that is repeated. */
const SINGLE: Readonly<Record<string, Operation>> = {
  'outbox.bury': operation(
    fc.tuple(organization, fc.integer({ min: 1, max: 4 }), name, time),
    ({ store }, [id, batch, reason, at]) => store.outbox(id, LIMIT).bury(batch, reason, at),
  ),
  'notifications.end': operation(
    fc.tuple(
      fc.nat(3),
      fc.oneof(
        fc.record({ result: fc.constant('sent' as const), receipt: fc.constant({ ts: '1' }), at: time }),
        fc.record({
          result: fc.constantFrom('not-taken' as const, 'unknown' as const),
          reason: name,
          nextAttemptAt: time,
        }),
      ),
    ),
    async ({ store }, [index, result]) => {
      const deliveries = await store.notifications().deliveries({ limit: 10 });
      const id = deliveries[index % Math.max(1, deliveries.length)]?.id ?? 'none';
      await store.notifications().end(id, result, { reporter: 'channel/ops', facts: [] });
    },
    4,
  ),
};

/** Operations that change more when they are repeated, and what their callers do about it. */
const CHECKED: Readonly<Record<string, string>> = {
  'history.addPass': 'The recorder says that the pass may be stored: see the tests of the history.',
  'history.addAudit': 'Actions say that the entry may be stored: see the tests of the history.',
  'notifications.begin': 'The delivery loop cancels the attempts that may have begun.',
  'notifications.advance': 'The notifier plans from the stored state, which has what was stored.',
  'commands.add': 'The person gets the error and is asked to check; commands state their effect and can be repeated.',
  'outbox.put':
    'Sources poll from the stored cursor, and webhooks repeat the id of their delivery; some numbers count twice.',
  'outbox.hint': 'A hint without the id of a delivery makes a ticket be fetched once more.',
  'outbox.reset': 'A poll starts again from the same time.',
  'outbox.doubt': 'A further doubt lets the batch rest for longer.',
  'outbox.split': 'The first half is divided once more, into smaller batches.',
};

const OPERATIONS: Readonly<Record<string, Operation>> = {
  ...{ ...RECORD_OPERATIONS, ...NOTIFICATION_OPERATIONS, ...OUTBOX_OPERATIONS, ...FLEET_OPERATIONS },
  ...SINGLE,
};

/** Returns all rows of all tables. */
function dump(database: SqlDatabase): Promise<Readonly<Record<string, readonly string[]>>> {
  return database.read(async (sql) => {
    const tables = await sql.all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    const rows = tables.map(async ({ name: table }) => {
      const found = await sql.all(`SELECT * FROM ${String(table)}`);
      return [String(table), found.map((row: SqlRow) => JSON.stringify(row)).toSorted()] as const;
    });
    return Object.fromEntries(await Promise.all(rows));
  });
}

function open() {
  const database = openMemoryDatabase();
  return { database, run: { store: openSqlStore(database, null), hints: [] } as StoreRun };
}

/** Returns the names of all methods of a part of the store. */
function methodsOf(part: object): readonly string[] {
  const prototype = Object.getPrototypeOf(part) as object;
  const inherited = prototype === Object.prototype ? [] : Object.getOwnPropertyNames(prototype);
  return [...Object.keys(part), ...inherited].filter((each) => each !== 'constructor');
}

describe('a write that is repeated because its answer was lost', () => {
  test('is among the operations of these tests', () => {
    const { store } = open().run;
    const parts = {
      ...{ record: store.organization('a'), note: store.note('a'), history: store.history('a') },
      ...{ statuses: store.commitStatuses('a'), sessions: store.sessions(), notifications: store.notifications() },
      ...{ commands: store.commands(), states: store.organizationStates(), outbox: store.outbox('a', LIMIT) },
    };
    const all = Object.entries(parts).flatMap(([part, methods]) => methodsOf(methods).map((each) => `${part}.${each}`));
    expect(all.filter((each) => OPERATIONS[each] === undefined)).toEqual([]);
    expect(Object.keys(CHECKED).filter((each) => !all.includes(each))).toEqual([]);
  });

  test('leaves the same state, unless its caller checks first', async () => {
    const property = fc.asyncProperty(calls(OPERATIONS), async (list) => {
      const { database, run } = open();
      for (const { name: each, input } of list) {
        await answer(run, OPERATIONS[each], input);
        if (CHECKED[each] === undefined) {
          const { hints } = run;
          const before = await dump(database);
          await answer(run, OPERATIONS[each], input);
          run.hints = hints;
          expect(await dump(database), each).toEqual(before);
        }
      }
      await run.store.close();
    });
    await fc.assert(property, { numRuns: countCases({ sample: 4, ci: 8, full: 500 }), seed: SEED });
  });
});
