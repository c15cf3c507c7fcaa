/** Random operations on two outboxes have the same results: one in SQLite, the other in PostgreSQL. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Deposit, NewContent, Outbox, Withdrawal } from '../../src/store/outbox/outbox.ts';
import { openPostgresDatabase } from '../../src/store/postgres/database.ts';
import { openSqlStore, type Store } from '../../src/store/store.ts';
import { countCases } from '../support/campaign.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../support/postgres.ts';

const RUNS = countCases({ sample: 15, ci: 30, full: 1000 });
const LIMIT = { items: 12, bytes: 100_000 };
const KEYS = ['a', 'b', 'c', 'd', 'ä', 'Z'];

/** Operation at a time. `batch` is the place of a batch among those that are open. */
type Operation = (outbox: Outbox, now: number, batches: readonly number[]) => Promise<unknown>;

const key = fc.constantFrom(...KEYS);
const source = fc.constantFrom('desk', 'mail');
const time = fc.integer({ min: 0, max: 60 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const content: fc.Arbitrary<NewContent> = fc
  .record({
    ...{ key, version: fc.integer({ min: 1, max: 3 }), redactor: fc.constantFrom('1', '2') },
    ...{ notBefore: fc.option(fc.integer({ min: 0, max: 400 })), recheck: optional(fc.constantFrom('1', '2')) },
  })
  .map(({ key, version, redactor, notBefore, recheck }) => ({
    ...{ kind: 'content', key, hash: `${key}#${version}`, redactor, payload: `{"ü":${version}}`, notBefore },
    ...(recheck === undefined ? {} : { recheck }),
  }));

/** Mails whose ids are the digits of a few texts, so that threads meet and merge. */
const mail: fc.Arbitrary<NewContent> = fc
  .record({ id: fc.integer({ min: 0, max: 9 }), links: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 3 }) })
  .chain(({ id, links }) =>
    fc.record({ at: fc.option(time), names: fc.boolean() }).map(({ at, names }) => ({
      ...{ kind: 'content' as const, key: `mail/${id}`, hash: '', redactor: '1', payload: '', notBefore: null },
      thread: {
        mails: [{ id: `${id}`, at, role: id % 3 === 0 ? 'agent' : 'user', subject: '', body: `Anna ${id}` }],
        links: [id, ...links].map(String),
        redactAgain: (text: string) => (names ? text.replace('Anna', '[name]') : text),
        compose: (whole: string, mails) =>
          mails.some(({ role }) => role === 'user')
            ? { hash: JSON.stringify(mails), payload: JSON.stringify([whole, mails]), notBefore: mails.length * 10 }
            : null,
      },
    })),
  );

const withdrawal: fc.Arbitrary<Withdrawal> = fc.record({ kind: fc.constantFrom('ineligible', 'gone'), key });

const put: fc.Arbitrary<Operation> = fc
  .record({
    source,
    entries: fc.array(fc.oneof({ weight: 4, arbitrary: content }, mail, withdrawal), { maxLength: 6 }),
    counts: fc.constantFrom<Record<string, number>>({}, { found: 2, 'skipped.open': 1 }),
    delivery: optional(fc.constantFrom(null, 'd1', 'd2')),
    early: fc.integer({ min: 0, max: 100 }),
    rechecked: optional(fc.array(key, { maxLength: 3 })),
    cursor: optional(
      fc.record({ add: fc.array(key, { maxLength: 3 }), remove: fc.array(key, { maxLength: 3 }), value: time }),
    ),
    handled: fc.boolean(),
  })
  .map(({ early, cursor, handled, ...others }) => async (outbox, now) => {
    const deposit: Deposit = {
      ...{ ...others, at: now, lookedAt: now - early },
      ...(handled ? { handled: await outbox.hints(others.source, 2) } : {}),
      ...(cursor === undefined
        ? {}
        : {
            cursor: {
              ...{ value: cursor.value, round: (await outbox.position(others.source)).round, processed: cursor },
            },
          }),
    };
    return outbox.put(deposit);
  });

const batchOperation = (work: (outbox: Outbox, batch: number, now: number) => Promise<unknown>) =>
  fc.nat({ max: 3 }).map(
    (index): Operation =>
      async (outbox, now, batches) =>
        batches.length === 0 ? null : work(outbox, batches[index % batches.length] ?? 0, now),
  );

const next: fc.Arbitrary<Operation> = fc
  .record({ items: fc.integer({ min: 1, max: 4 }), bytes: fc.integer({ min: 5, max: 200 }), isFlying: fc.boolean() })
  .map(
    ({ items, bytes, isFlying }) =>
      (outbox, now, batches) =>
        outbox.next({ items, bytes, open: 3, ...(isFlying ? { inFlight: batches } : {}) }, now),
  );

const filter = fc.record({ source, key }, { requiredKeys: [] });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 8, arbitrary: put },
  { weight: 5, arbitrary: next },
  { weight: 2, arbitrary: batchOperation((outbox, batch, now) => outbox.sent(batch, now)) },
  batchOperation((outbox, batch, now) => outbox.doubt(batch, now + 20)),
  batchOperation((outbox, batch, now) => outbox.rest(batch, now + 30)),
  batchOperation((outbox, batch) => outbox.release(batch)),
  batchOperation((outbox, batch) => outbox.split(batch)),
  { weight: 2, arbitrary: batchOperation((outbox, batch, now) => outbox.bury(batch, 'no', now)) },
  filter.map(
    (each): Operation =>
      (outbox, now) =>
        outbox.retry(each, now),
  ),
  filter.map(
    (each): Operation =>
      (outbox) =>
        outbox.drop(each),
  ),
  fc.record({ source, key }).map(
    (each): Operation =>
      (outbox, now) => {
        return outbox.postponeRecheck(each.source, each.key, now + 15);
      },
  ),
  fc.tuple(source, fc.array(key, { maxLength: 4 })).map(
    ([name, ids]): Operation =>
      (outbox, now) => {
        return outbox.hint(name, ids.length > 2 ? `h${ids.length}` : null, ids, now);
      },
  ),
  source.map(
    (name): Operation =>
      (outbox, now) =>
        outbox.polled(name, now),
  ),
  source.map(
    (name): Operation =>
      (outbox) =>
        outbox.reset(name, 7),
  ),
  fc.constant<Operation>((outbox, now) => outbox.correctTimes(now - 40)),
  fc.constant<Operation>((outbox) => outbox.recover()),
);

/** Returns everything that an outbox tells about its state. */
async function describeState(outbox: Outbox, now: number) {
  const perSource = ['desk', 'mail'].map(async (name) => [
    await outbox.position(name),
    [...(await outbox.processed(name))].sort(),
    (await outbox.hints(name, 9)).map(({ id }) => id),
    await outbox.rechecks(name, now, 9),
    await outbox.recheckAt(name),
  ]);
  return [
    ...[await outbox.status(), await Promise.all(perSource), await outbox.dead({}, 9), await outbox.deadLetter('a')],
    ...[await outbox.dueAt({ open: 3 }), [...(await outbox.outdated('2'))]],
  ];
}

/** Runs operations on both outboxes, and compares each result. */
async function compare(operations: readonly (readonly [Operation, number])[], first: Outbox, second: Outbox) {
  let now = 100;
  let batches: readonly number[] = [];
  for (const [operate, pause] of operations) {
    now += pause;
    const expected = await operate(first, now, batches);
    expect(await operate(second, now, batches)).toEqual(expected);
    expect(await describeState(second, now)).toEqual(await describeState(first, now));
    const started = (expected as { id?: number } | null)?.id;
    batches = started === undefined ? batches : [...new Set([...batches, started, started + 1])].slice(-4);
  }
}

let cluster: PostgresCluster | undefined;
beforeAll(async () => {
  if (hasPostgres) {
    cluster = await startPostgres();
  }
});
afterAll(() => cluster?.stop());

test.runIf(hasPostgres)('an outbox in PostgreSQL gives the same results as one in SQLite', async () => {
  const memory = openMemoryStore();
  const url = (await cluster?.createDatabase()) ?? '';
  const postgres = openSqlStore(await openPostgresDatabase({ url, pool: 2 }), null);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(operation, time), { minLength: 10, maxLength: 40 }), async (operations) => {
      runs += 1;
      const open = (store: Store) => store.outbox(`org_${runs}`, LIMIT);
      await compare(operations, open(memory), open(postgres));
    }),
    { numRuns: RUNS },
  );
  await Promise.all([memory.close(), postgres.close()]);
});
