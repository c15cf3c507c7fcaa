// Reads of the status of an outbox by metrics and conditions.
import { beforeEach, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { type Outbox, RecentStatus } from '../../src/store/outbox/outbox.ts';
import { content, deposit } from './samples.ts';

const MINUTE = 60_000;

let outbox: Outbox;
let now: number;
let reads: number;
let failure: Error | null;
let recent: RecentStatus;

beforeEach(() => {
  outbox = openMemoryStore().outbox('org_1', { items: 10, bytes: 1000 }, () => recent.markChanged());
  now = 0;
  reads = 0;
  failure = null;
  const status = async () => {
    reads += 1;
    if (failure !== null) {
      throw failure;
    }
    return outbox.status();
  };
  recent = new RecentStatus({ status }, { monotonic: () => now });
});

const waiting = async () => (await recent.read()).sources.map((each) => each.waiting);

test('shows every write of this process at once, and reads without one only once a minute', async () => {
  expect(await waiting()).toEqual([]);
  expect(await waiting()).toEqual([]);
  expect(reads).toBe(1);
  await outbox.put(deposit([content('a')]));
  expect(await waiting()).toEqual([1]);
  await outbox.polled('desk', 7);
  expect((await recent.read()).sources).toMatchObject([{ polledAt: 7 }]);
  expect(reads).toBe(3);
  // Another process may have changed it.
  for (let passed = 0; passed < 5 * MINUTE; passed += 10_000) {
    now += 10_000;
    await recent.read();
  }
  expect(reads).toBe(8);
});

test('readers at the same time share a read, unless something was written in between', async () => {
  await Promise.all([recent.read(), recent.read()]);
  expect(reads).toBe(1);
  const first = recent.read();
  recent.markChanged();
  await Promise.all([first, recent.read()]);
  expect(reads).toBe(2);
});

test('is read again after a failure, and after a write that failed: it may be stored', async () => {
  failure = new StoreError('the database does not answer');
  const readers = [recent.read(), recent.read()];
  expect(await Promise.allSettled(readers)).toEqual(Array(2).fill({ status: 'rejected', reason: failure }));
  failure = null;
  expect(await waiting()).toEqual([]);
  await expect(outbox.polled('desk', 0.5)).rejects.toThrow(StoreError);
  await recent.read();
  expect(reads).toBe(3);
});
