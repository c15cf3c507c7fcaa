import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type NewPass, RETENTION } from '../../src/store/history.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { storeCases } from '../support/store-cases.ts';
import { ANA, auditEntry, pass } from './samples.ts';

const change = (address: string, status = 'applied') => ({ address, action: 'update', status, error: null });
/** Adds entries to the audit of org_1, numbered from 1. */
const AUDIT_ENTRIES = `WITH RECURSIVE entry(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM entry WHERE number < ?)
  INSERT INTO audit (organization, number, at, actor, method, action, subject, reason, outcome, detail)
  SELECT 'org_1', number, 5, 'ana@example.com', 'oidc', 'approve', '', '', 'done', '' FROM entry`;

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-history-'));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

describe.each(storeCases())('the history in %s', (_name, open) => {
  beforeEach(async () => {
    store = await open();
  });

  test('merges consecutive passes that wrote nothing and ended the same way', async () => {
    const history = store.history('org_1');
    expect(await history.addPass(pass(10))).toBe(1);
    expect(await history.addPass(pass(20, { refused: 2 }))).toBe(1);
    expect(await history.addPass(pass(30, { trigger: 'commit', refused: 1, reads: 4 }))).toBe(1);
    expect(await history.passes({ limit: 10 })).toEqual([
      expect.objectContaining({
        ...{ number: 1, times: 3, firstEndedAt: 10, endedAt: 30, refused: 3, reads: 4, trigger: 'commit' },
      }),
    ]);
  });

  test('records a repeated pass once, whether it was merged or not', async () => {
    const history = store.history('org_1');
    const events: number[] = [];
    const onNumber = (number: number) => {
      events.push(number);
      return [];
    };
    const add = (added: NewPass) => history.addPass(added, onNumber, true);
    expect(await add(pass(10))).toBe(1);
    expect(await add(pass(10))).toBe(1);
    expect(await history.addPass(pass(20))).toBe(1);
    expect(await add(pass(20))).toBe(1);
    expect(await add(pass(20, { trigger: 'manual', writes: 1 }))).toBe(2);
    expect(events).toEqual([1, 1, 1, 2]);
    const passes = await history.passes({ limit: 10 });
    expect(passes.map(({ number, times, endedAt }) => [number, times, endedAt])).toEqual([
      [2, 1, 20],
      [1, 2, 20],
    ]);
  });

  test('records a repeated entry of the audit once, with its events', async () => {
    const history = store.history('org_1');
    const entry = auditEntry({ at: 10, action: 'pause', subject: 'team/a', reason: 'a freeze' });
    await history.addAudit(entry, [], true);
    await history.addAudit(entry, [], true);
    await history.addAudit({ ...entry, at: 11 }, [], true);
    expect((await history.audit({ limit: 10 })).map(({ at }) => at)).toEqual([11, 10]);
  });

  test('returns the plan of a pass and the changes of a resource', async () => {
    const history = store.history('org_1');
    const plan = { format: 'octavo.plan/2', changes: [{ address: 'team/a', fields: [{ path: 'title', to: 'Ä' }] }] };
    await history.addPass(pass(10, { writes: 1, plan, changes: [change('team/b', 'failed'), change('team/a')] }));
    await history.addPass(pass(20, { writes: 1, commit: 'c2', changes: [change('team/a')] }));
    await store.history('org_2').addPass(pass(30, { changes: [change('team/a')] }));
    const details = await history.pass(1);
    expect(details?.plan).toEqual(plan);
    expect(details?.changes).toEqual([change('team/a'), change('team/b', 'failed')]);
    expect(details?.pass.subject).toBe('Add "docs" <b>');
    expect(await history.changesOf('team/a', 10)).toEqual([
      { ...change('team/a'), pass: 2, commit: 'c2', subject: 'Add "docs" <b>', at: 20 },
      { ...change('team/a'), pass: 1, commit: 'c1', subject: 'Add "docs" <b>', at: 10 },
    ]);
    expect(await history.changesOf('team/a', 1)).toHaveLength(1);
    expect(await history.pass(99)).toBeNull();
  });

  test('finds the last pass of a plan by its checksum', async () => {
    const history = store.history('org_1');
    await history.addPass(pass(10, { writes: 1, checksum: 'sha256:a', plan: { changes: [] } }));
    await history.addPass(pass(20, { writes: 1, checksum: 'sha256:b' }));
    await history.addPass(pass(30, { writes: 1, checksum: 'sha256:a', plan: { changes: [1] } }));
    expect(await history.passOfPlan('sha256:a')).toMatchObject({ pass: { number: 3 }, plan: { changes: [1] } });
    await history.addPass(pass(40, { outcome: 'held', checksum: 'sha256:d', plan: { heldChecksum: 'sha256:e' } }));
    expect(await history.passOfPlan('sha256:e')).toMatchObject({ pass: { number: 4 } });
    expect(await history.passOfPlan('sha256:c')).toBeNull();
    expect((await history.passes({ limit: 1, before: 3 })).map(({ number }) => number)).toEqual([2]);
    expect(await store.history('org_2').passOfPlan('sha256:a')).toBeNull();
  });

  test('removes passes that are too old or too many, with their changes', async () => {
    const history = store.history('org_1');
    await history.addPass(pass(0, { writes: 1, changes: [change('team/old')] }));
    await history.addPass(pass(RETENTION.age, { writes: 1 }));
    expect(await history.pass(1)).not.toBeNull();
    await history.addPass(pass(RETENTION.age + 1, { writes: 1 }));
    expect(await history.pass(1)).toBeNull();
    expect(await history.changesOf('team/old', 10)).toEqual([]);
    for (let number = 4; number <= RETENTION.passes + 2; number += 1) {
      await history.addPass(pass(RETENTION.age + number, { writes: 1 }));
    }
    const kept = await history.passes({ limit: 10_000 });
    expect(kept).toHaveLength(RETENTION.passes);
    expect(kept.at(-1)?.number).toBe(3);
  });

  test('removes the plans and changes of the oldest passes that take too many bytes, and keeps the passes', async () => {
    const history = store.history('org_1');
    const plan = { text: 'ä'.repeat(RETENTION.plans / 8) };
    for (let index = 1; index <= 6; index += 1) {
      await history.addPass(pass(index, { writes: 1, checksum: `sha256:${index}`, plan, changes: [change('team/a')] }));
    }
    await store.history('org_2').addPass(pass(1, { writes: 1, plan }));
    const kept = await history.passes({ limit: 10 });
    expect(kept.map(({ number, hasPlan }) => [number, hasPlan])).toEqual([
      [6, true],
      [5, true],
      [4, true],
      [3, false],
      [2, false],
      [1, false],
    ]);
    expect(await history.pass(3)).toMatchObject({ plan: null, changes: [] });
    expect(await history.pass(4)).toMatchObject({ plan, changes: [change('team/a')] });
    expect((await history.changesOf('team/a', 10)).map(({ pass: number }) => number)).toEqual([6, 5, 4]);
  });

  test('keeps the last 10,000 entries of the audit', async () => {
    await store.close();
    const stored = RETENTION.audit - 2;
    store = await open((sql) => sql.run(AUDIT_ENTRIES, stored));
    const history = store.history('org_1');
    const entry = auditEntry();
    await history.addAudit(entry);
    await history.addAudit(entry);
    expect(await history.audit({ limit: 20_000 })).toHaveLength(RETENTION.audit);
    await history.addAudit(entry);
    await history.addAudit(entry);
    const kept = await history.audit({ limit: 20_000 });
    expect([kept.length, kept.at(-1)?.number]).toEqual([RETENTION.audit, 3]);
  });

  test('keeps the audit in order, and never mixes organizations', async () => {
    const entry = auditEntry({ subject: 'sha256:1', reason: 'ok' });
    await store.history('org_1').addAudit(entry);
    await store.history('org_1').addAudit({ ...entry, outcome: 'refused', detail: 'no such plan' });
    expect(await store.history('org_2').audit({ limit: 5 })).toEqual([]);
    expect(await store.history('org_1').audit({ limit: 5 })).toEqual([
      { ...entry, number: 2, outcome: 'refused', detail: 'no such plan' },
      { ...entry, number: 1 },
    ]);
    expect(await store.history('org_1').audit({ limit: 5, before: { at: 5, number: 2 } })).toEqual([
      { ...entry, number: 1 },
    ]);
  });

  test('returns pauses until they end or are resumed', async () => {
    const history = store.history('org_1');
    const pause = { address: 'team/a', reason: 'migration', by: ANA, since: 1, until: 100 };
    const whole = { ...pause, address: '', until: null };
    await history.pause({ ...pause, until: 50 });
    await history.pause(pause);
    await history.pause(whole);
    expect(await history.pauses(99)).toEqual([whole, pause]);
    expect(await history.pauses(100)).toEqual([whole]);
    expect(await history.resume('')).toBe(true);
    expect(await history.resume('')).toBe(false);
    expect(await store.history('org_2').pauses(0)).toEqual([]);
  });
});

test('counts every pass exactly once, whatever their order', async () => {
  const any = fc.record({
    outcome: fc.constantFrom('done', 'held', 'failed'),
    commit: fc.constantFrom('c1', 'c2', null),
    checksum: fc.constantFrom('sha256:1', 'sha256:2'),
    error: fc.constantFrom(null, 'platform unreachable'),
    writes: fc.nat(1),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(any, { maxLength: 30 }), async (list) => {
      store = openMemoryStore();
      const history = store.history('org_1');
      for (const [index, over] of list.entries()) {
        await history.addPass(pass(index, over));
      }
      const kept = await history.passes({ limit: 1000 });
      expect(kept.reduce((sum, { times }) => sum + times, 0)).toBe(list.length);
      const expanded = kept
        .toReversed()
        .flatMap(({ outcome, commit, checksum, error, writes, times }) =>
          Array.from({ length: times }, () => ({ outcome, commit, checksum, error, writes })),
        );
      expect(expanded).toEqual(list);
    }),
    { numRuns: 200 },
  );
});

test('lists of the history are read from indexes, without sorting or reading other organizations', async () => {
  const statements = new Set<string>();
  let database: DatabaseSync | undefined;
  store = openSqliteStore(join(folder, 'octavo.db'), (opened) => {
    database = opened;
    const prepare = opened.prepare.bind(opened);
    opened.prepare = (sql, ...rest) => {
      statements.add(sql);
      return prepare(sql, ...rest);
    };
  });
  const history = store.history('org_1');
  await history.passes({ limit: 50 });
  await history.pass(1);
  await history.passOfPlan('sha256:1');
  await history.changesOf('team/a', 20);
  await history.audit({ limit: 50 });
  await history.pauses(1);
  const reads = [...statements].filter((sql) => sql.startsWith('SELECT'));
  expect(reads.length).toBeGreaterThanOrEqual(7);
  for (const sql of reads) {
    const plan = database?.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() ?? [];
    const steps = plan
      .map(({ detail }) => String(detail))
      .filter((step) => !/^(CO-ROUTINE|SCAN held$|SCAN \(subquery)/.test(step));
    expect(steps.length, sql).toBeGreaterThan(0);
    for (const step of steps) {
      expect(step, sql).toMatch(/^SEARCH .* USING (COVERING )?(INDEX|PRIMARY KEY) .*\(organization=\?/);
    }
  }
});
