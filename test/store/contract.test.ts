import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import { COMMIT_STATUS_RETENTION, type CommitStatusRecord } from '../../src/store/commit-statuses.ts';
import type { PlanDecision, RecordEntry } from '../../src/store/record.ts';
import type { Store } from '../../src/store/store.ts';
import { storeCases } from '../support/store-cases.ts';
import { ANA, recordEntry } from './samples.ts';

const entry = (address: string, over: Partial<RecordEntry> = {}) =>
  recordEntry(address, {
    fields: { title: 'Ünïcode "quoted"', members: [{ email: 'a@b' }], nothing: null },
    metadata: { hash: 'sha256:1' },
    ...over,
  });

const decision = (checksum: string, at: number, over: Partial<PlanDecision> = {}): PlanDecision => ({
  ...{ checksum, verdict: 'approved', by: ANA, reason: 'looks "fine"', at },
  ...over,
});

let store: Store;
afterEach(async () => {
  await store.close();
});

describe.each(storeCases())('a store in %s', (_name, open) => {
  beforeEach(async () => {
    store = await open();
  });

  test('returns the entries that were written, sorted by address, and keeps organizations apart', async () => {
    const record = store.organization('org_1');
    expect(await record.read()).toEqual({ head: null, entries: [] });
    const entries = [entry('team/b'), entry('organization', { id: null, protect: true, metadata: {} })];
    await record.put(entries);
    await record.moveHead({ commit: 'abc', at: 1_800_000_000_123 }, []);
    await record.decide(decision('sha256:1', 1));
    await store.organization('org_2').remove(['team/b']);
    const stored = { head: { commit: 'abc', at: 1_800_000_000_123 }, entries: [entries[1], entries[0]] };
    expect(await record.read()).toEqual(stored);
    expect(await store.organization('org_2').read()).toEqual({ head: null, entries: [] });
    expect(await store.organization('org_2').decisions()).toEqual([]);
    await record.moveHead({ commit: null, at: 5 }, []);
    expect((await record.read()).head).toEqual({ commit: null, at: 5 });
  });

  test('uses an approval once, and lists decisions oldest first', async () => {
    const record = store.organization('org_1');
    await record.decide(decision('sha256:b', 1));
    await record.decide(decision('sha256:a', 2));
    await record.decide(decision('sha256:b', 3));
    expect(await record.decisions()).toEqual([decision('sha256:b', 1), decision('sha256:a', 2)]);
    await record.moveHead({ commit: null, at: 4 }, ['sha256:b', 'sha256:unknown']);
    expect(await record.decisions()).toEqual([decision('sha256:a', 2)]);
  });

  test('keeps a session until it expires or is removed', async () => {
    const sessions = store.sessions();
    const session = (id: string, expiresAt: number) => ({ id, data: { name: 'ana', groups: ['docs'] }, expiresAt });
    await sessions.put(session('a', 100), 1);
    await sessions.put(session('b', 200), 1);
    expect(await sessions.get('a', 99)).toEqual(session('a', 100));
    expect(await sessions.get('a', 100)).toBe(null);
    await sessions.put(session('b', 300), 150);
    expect(await sessions.get('a', 50)).toBe(null);
    expect(await store.sessions().get('b', 250)).toEqual(session('b', 300));
    await sessions.put(session('c', 400), 150);
    expect(await sessions.list(299)).toEqual([session('c', 400), session('b', 300)]);
    expect(await sessions.list(300)).toEqual([session('c', 400)]);
    await sessions.update('b', { name: 'ben' });
    expect(await sessions.get('b', 250)).toEqual({ ...session('b', 300), data: { name: 'ben' } });
    expect([await sessions.remove('b'), await sessions.remove('b')]).toEqual([true, false]);
    await sessions.update('b', { name: 'ben' });
    expect(await sessions.get('b', 250)).toBe(null);
  });

  test('keeps the newest commit statuses of each organization', async () => {
    const statuses = store.commitStatuses('org_1');
    const record = (commit: string, changedAt: number, over: Partial<CommitStatusRecord> = {}): CommitStatusRecord => ({
      ...{ commit, context: 'octavo/org_1', changedAt, applied: 2, total: null, sent: null },
      wanted: { state: 'pending', description: '3 changes "planned"', url: null },
      deployment: { wanted: 'in_progress', sent: null, id: null, isAttempted: true },
      ...over,
    });
    await statuses.put([record('a', 1), record('b', 2)]);
    const sent = record('a', 3, { sent: record('a', 1).wanted, deployment: null });
    await statuses.put([sent]);
    await store.commitStatuses('org_2').put([record('c', 4)]);
    expect(await store.commitStatuses('org_1').list()).toEqual([sent, record('b', 2)]);
    await statuses.put(Array.from({ length: COMMIT_STATUS_RETENTION - 1 }, (_, at) => record(`n${at}`, 10 + at)));
    const kept = await statuses.list();
    expect(kept).toHaveLength(COMMIT_STATUS_RETENTION);
    expect(kept.at(-1)).toEqual(sent);
    expect(await store.commitStatuses('org_2').list()).toEqual([record('c', 4)]);
  });

  test('throws StoreError after it was closed', async () => {
    const record = store.organization('org_1');
    const [outbox, history] = [store.outbox('org_1', { items: 1, bytes: 1 }), store.history('org_1')];
    const notifications = store.notifications();
    await store.close();
    await store.close();
    const calls = [
      () => record.read(),
      () => record.remove(['a']),
      () => outbox.status(),
      () => history.resume(''),
      () => notifications.facts(),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toThrow(StoreError);
    }
  });
});
