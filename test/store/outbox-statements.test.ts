/** Number of statements of an outbox: with PostgreSQL, each one is a round trip. */
import { describe, expect, test } from 'vitest';
import { openMemoryDatabase } from '../../src/store/memory.ts';
import type { NewContent, ThreadAddition } from '../../src/store/outbox/tables.ts';
import { openSqlStore } from '../../src/store/store.ts';
import { wrapDatabase } from '../support/wrapped-database.ts';
import { content } from './samples.ts';

const COUNTS = { found: 3, incomplete: 1, 'skipped.spam': 2, 'redacted.email': 4 };

const contents = (many: number, version: number, over: Partial<NewContent> = {}) =>
  Array.from({ length: many }, (_, index) => content(`c${index}`, version, over));

function mail(index: number): ThreadAddition {
  return {
    mails: [{ id: `m${index}`, at: index, role: 'user', subject: '', body: 'Help' }],
    links: [`m${index}`],
    redactAgain: (text) => text,
    compose: (key) => ({ payload: key, hash: key, notBefore: null }),
  };
}

/**
 * Numbers of statements of the operations on this many conversations. `created` and `sent` are the first ones of their day,
 * and remove what is older than 30 days.
 */
async function statementsOf(many: number): Promise<Readonly<Record<string, number>>> {
  let statements = 0;
  const take = () => {
    const taken = statements;
    statements = 0;
    return taken;
  };
  // Transactions are not counted.
  const database = wrapDatabase(openMemoryDatabase(), (_statement, call) => {
    statements += 1;
    return call();
  });
  const outbox = openSqlStore(database, null).outbox('org_1', { items: 10_000, bytes: 1_000_000 });
  const put = async (entries: readonly NewContent[], at = 100) => {
    const kept = await outbox.put({ source: 'desk', at, entries, counts: COUNTS });
    expect(kept.kind).toBe('kept');
    return take();
  };
  const created = await put(contents(many, 1));
  const unchanged = await put(contents(many, 1));
  const changed = await put(contents(many, 2));
  const batch = await outbox.next({ items: many, bytes: 1_000_000, open: 4 }, 1000);
  const next = take();
  expect(batch?.items).toHaveLength(many);
  await outbox.sent(batch?.id ?? 0, 1000);
  const sent = take();
  const checked = await put(contents(many, 3, { recheck: 'id', notBefore: 500 }));
  const postponed = await put(contents(many, 3, { recheck: 'id', notBefore: 600 }));
  const mails = await put(contents(many, 1).map((each, index) => ({ ...each, thread: mail(index) })));
  await outbox.hint(
    'desk',
    'delivery',
    contents(many, 1).map(({ key }) => key),
    100,
  );
  const hinted = take();
  await outbox.put({ source: 'desk', at: 100, entries: [], counts: {}, handled: await outbox.hints('desk', many) });
  const answered = take();
  return { created, unchanged, changed, next, sent, checked, postponed, mails, hinted, answered };
}

describe('statements of an outbox', () => {
  test('are few for one conversation', async () => {
    expect(await statementsOf(1)).toEqual({
      ...{ created: 10, unchanged: 6, changed: 9, next: 3, sent: 8, checked: 9, postponed: 8 },
      ...{ mails: 15, hinted: 5, answered: 3 },
    });
  });

  test('grow by one for every 48 new conversations, and not with those that are settled', async () => {
    expect(await statementsOf(100)).toEqual({
      ...{ created: 12, unchanged: 6, changed: 11, next: 3, sent: 8, checked: 13, postponed: 11 },
      ...{ mails: 57, hinted: 5, answered: 3 },
    });
    expect(await statementsOf(1000)).toEqual({
      ...{ created: 30, unchanged: 6, changed: 29, next: 3, sent: 8, checked: 41, postponed: 26 },
      ...{ mails: 525, hinted: 5, answered: 3 },
    });
  });
});
