/** Contract of `outbox.next` while batches are in flight, for each store. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outbox, OutgoingBatch } from '../../src/store/outbox/outbox.ts';
import type { Store } from '../../src/store/store.ts';
import { storeCases } from '../support/store-cases.ts';

const OPEN = 4;
const NOW = 1000;

let store: Store;
let outbox: Outbox;
afterEach(() => store.close());

async function put(keys: readonly string[], version = 1): Promise<void> {
  const entries = keys.map((key) => {
    const payload = JSON.stringify({ key, version });
    return { kind: 'content', key, hash: `${key}#${version}`, redactor: '1', payload, notBefore: null } as const;
  });
  await outbox.put({ source: 'desk', at: 100, entries, counts: {} });
}

/** Starts a batch of at most two while others are in flight. */
function start(inFlight: readonly OutgoingBatch[], { now = NOW, open = OPEN } = {}): Promise<OutgoingBatch | null> {
  return outbox.next({ items: 2, bytes: 100_000, open, inFlight: inFlight.map(({ id }) => id) }, now);
}

async function started(inFlight: readonly OutgoingBatch[], now = NOW): Promise<OutgoingBatch> {
  const batch = await start(inFlight, { now });
  if (batch === null) {
    throw new Error('there is nothing to send');
  }
  return batch;
}

function dueAt(inFlight: readonly OutgoingBatch[], open = OPEN): Promise<number | null> {
  return outbox.dueAt({ open, inFlight: inFlight.map(({ id }) => id) });
}

const payloads = (batch: OutgoingBatch | null) => batch?.items.map(({ payload }) => payload) ?? null;
const keys = (batch: OutgoingBatch | null) => batch?.items.map(({ key }) => key) ?? null;

describe.each(storeCases())('batches in flight from an outbox in %s', (_name, open) => {
  beforeEach(async () => {
    store = await open();
    outbox = store.outbox('org_1', { items: 1000, bytes: 1_000_000 });
  });

  test('have different ids, and share no conversation', async () => {
    await put(['a', 'b', 'c', 'd', 'e']);
    const first = await started([]);
    const second = await started([first]);
    const third = await started([first, second]);
    expect([first, second, third].map(keys)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(new Set([first, second, third].map(({ id }) => id)).size).toBe(3);
    expect(await start([first, second, third])).toBeNull();
    expect(await dueAt([first, second, third])).toBeNull();
  });

  test('are settled one by one, in any order', async () => {
    await put(['a', 'b', 'c', 'd']);
    const first = await started([]);
    const second = await started([first]);
    await outbox.sent(second.id, NOW);
    expect(await start([first])).toBeNull();
    await outbox.bury(first.id, 'refused', NOW);
    expect((await outbox.dead({}, 10)).map(({ key }) => key)).toEqual(['a', 'b']);
    expect((await outbox.status()).sources[0]).toMatchObject({ waiting: 0, sending: 0, deadLetters: 2 });
  });

  test('hold back later content of their conversations, and nothing else', async () => {
    await put(['a', 'b']);
    const first = await started([]);
    await put(['a', 'c'], 2);
    const second = await started([first]);
    expect(payloads(second)).toEqual(['{"key":"c","version":2}']);
    expect(await start([first, second])).toBeNull();
    await outbox.sent(second.id, NOW);
    expect(await start([first])).toBeNull();
    await outbox.sent(first.id, NOW);
    expect(payloads(await start([]))).toEqual(['{"key":"a","version":2}']);
  });

  test('go first, as they were, once their response is lost and their delay has ended', async () => {
    await put(['a', 'b', 'c', 'd', 'e']);
    const first = await started([]);
    const second = await started([first]);
    await outbox.doubt(first.id, 5000);
    const third = await started([second]);
    expect(keys(third)).toEqual(['e']);
    expect(await dueAt([second, third])).toBe(5000);
    expect(await start([second, third], { now: 4999 })).toBeNull();
    expect(await start([second, third], { now: 5000 })).toEqual({ ...first, doubts: 1 });
    expect(await start([first, second, third], { now: 9999 })).toBeNull();
  });

  test('are not started while as many are open as allowed, in flight or in doubt', async () => {
    await put(['a', 'b', 'c', 'd', 'e']);
    const first = await started([]);
    const second = await started([first]);
    expect(await start([first, second], { open: 2 })).toBeNull();
    expect(await dueAt([first, second], 2)).toBeNull();
    await outbox.doubt(second.id, 5000);
    expect(await start([first], { open: 2 })).toBeNull();
    expect(await dueAt([first], 2)).toBe(5000);
    expect(await dueAt([first], 3)).toBe(100);
    await outbox.sent(first.id, NOW);
    expect(keys(await start([], { open: 2 }))).toEqual(['e']);
  });

  test('become two batches when they are split, and neither is in flight', async () => {
    await put(['a', 'b', 'c', 'd']);
    const first = await started([]);
    const second = await started([first]);
    await outbox.split(first.id);
    const half = await started([second]);
    const other = await started([second, half]);
    expect([half, other].map(keys)).toEqual([['a'], ['b']]);
    expect([half, other].map(({ id }) => id)).not.toContain(second.id);
    expect(await start([second, half, other])).toBeNull();
  });

  test('are all in doubt after a restart, and are returned one after the other', async () => {
    await put(['a', 'b', 'c', 'd', 'e']);
    const first = await started([]);
    const second = await started([first]);
    expect(await outbox.recover()).toBe(2);
    expect(await outbox.recover()).toBe(0);
    const again = await started([]);
    const then = await started([again]);
    expect([again, then]).toEqual([
      { ...first, doubts: 1 },
      { ...second, doubts: 1 },
    ]);
    expect(keys(await start([again, then]))).toEqual(['e']);
  });
});
