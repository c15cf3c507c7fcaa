import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../src/core/errors.ts';
import { createPushReceiver, type PushReceiver } from '../../src/reconcile/push-receiver.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Note } from '../../src/store/record.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import { PUSHES, type PushOptions } from '../support/push-deliveries.ts';

const SECRET = 'a secret of more than 16 characters';
const START = Date.parse('2026-03-01T12:00:00Z');
const DAY = 86_400_000;

let clock: VirtualClock;
let fetches: number;
let store: Store;

beforeEach(() => {
  clock = createVirtualClock(START - 1000);
  fetches = 0;
  store = openMemoryStore();
});

function open(note: (name: string) => Note = (name) => store.note(name)): PushReceiver {
  const webhook = {
    forge: 'github',
    secret: SECRET,
    repository: 'acme/docs',
    ref: 'main',
    hasComments: false,
  } as const;
  const onPush = () => {
    fetches += 1;
  };
  return createPushReceiver(webhook, note, clock, onPush, () => {});
}

function send(receiver: PushReceiver, options: Partial<PushOptions> = {}) {
  return receiver.receive({ ...PUSHES.github({ secret: SECRET, ...options }), receivedAt: clock.now() });
}

describe('a delivery', () => {
  test('that is repeated is acknowledged and does nothing, also after a restart', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'octavo-')), 'state.db');
    store = openSqliteStore(path);
    await send(open(), { id: 'one' });
    expect(await send(open(), { id: 'one' })).toEqual({ status: 200, outcome: 'repeated', reason: null });
    await store.close();
    store = openSqliteStore(path);
    expect(await send(open(), { id: 'one' })).toMatchObject({ outcome: 'repeated' });
    expect(await send(open(), { id: 'two' })).toMatchObject({ outcome: 'accepted' });
    expect(fetches).toBe(2);
    await store.close();
  });

  test('that is repeated at the same time requests one fetch', async () => {
    const receiver = open();
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(receiver, { id: 'one' })));
    expect(answers.map(({ outcome }) => outcome).sort()).toEqual(['accepted', ...Array(4).fill('repeated')]);
    expect(fetches).toBe(1);
  });

  test('is forgotten after a day, or after a thousand later ones', async () => {
    const receiver = open();
    await send(receiver, { id: 'one' });
    await clock.advance(DAY + 1);
    await send(receiver, { id: 'two' });
    expect(await store.note('seen').read()).toHaveLength(1);
    expect(await send(receiver, { id: 'one' })).toMatchObject({ outcome: 'accepted' });
    for (let index = 0; index < 1000; index += 1) {
      await send(receiver, { id: `more-${index}` });
    }
    expect(await store.note('seen').read()).toHaveLength(1000);
    expect(await send(receiver, { id: 'more-999' })).toMatchObject({ outcome: 'repeated' });
    expect(await send(receiver, { id: 'two' })).toMatchObject({ outcome: 'accepted' });
  });

  test.each([
    ['a ping', { event: 'ping' }, { outcome: 'ping', mismatch: null }],
    ['another event', { event: 'issues' }, { outcome: 'ignored', mismatch: 'event' }],
    ['another branch', { ref: 'refs/heads/x' }, { outcome: 'ignored', mismatch: 'ref' }],
    ['another repository', { repository: 'acme/x' }, { outcome: 'ignored', mismatch: 'repository' }],
  ])('of %s is acknowledged without a fetch', async (_name, options, last) => {
    const receiver = open();
    expect(await send(receiver, options)).toEqual({ status: 200, outcome: last.outcome, reason: null });
    expect(fetches).toBe(0);
    expect((await receiver.status()).last).toEqual({ at: START, ...last });
  });

  test('with another secret stores nothing', async () => {
    const receiver = open((name) => {
      throw new Error(`${name} is not needed`);
    });
    expect(await send(receiver, { secret: 'another secret of many characters' })).toMatchObject({ status: 401 });
    expect(fetches).toBe(0);
  });
});

describe('a state file that fails', () => {
  const failing = { read: async () => null, write: async () => Promise.reject(new StoreError('the disk is full')) };

  test('does not prevent the fetch', async () => {
    await expect(send(open(() => failing))).rejects.toThrow(StoreError);
    const unreadable = { ...failing, read: async () => Promise.reject(new StoreError('the disk is gone')) };
    await expect(send(open(() => unreadable))).rejects.toThrow(StoreError);
    expect(fetches).toBe(2);
  });

  test('is read again with the next delivery', async () => {
    let isGone = true;
    const note = (name: string): Note => ({
      ...store.note(name),
      read: async () => (isGone ? Promise.reject(new StoreError('the disk is gone')) : store.note(name).read()),
    });
    const receiver = open(note);
    await expect(send(receiver)).rejects.toThrow(StoreError);
    isGone = false;
    expect(await send(receiver)).toMatchObject({ outcome: 'accepted' });
  });

  test('with other content is ignored', async () => {
    await store.note('seen').write('nothing');
    await store.note('last').write([1]);
    const receiver = open();
    expect((await receiver.status()).last).toBeNull();
    expect(await send(receiver)).toMatchObject({ outcome: 'accepted' });
  });
});
