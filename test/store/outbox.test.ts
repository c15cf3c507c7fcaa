import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import type { NewContent, OutgoingBatch } from '../../src/store/outbox/tables.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { storeCases } from '../support/store-cases.ts';
import { content, deposit } from './samples.ts';

const LIMIT = { items: 1000, bytes: 1_000_000 };
const BATCH = { items: 50, bytes: 100_000, open: 4 };

const payloads = (batch: OutgoingBatch | null) => batch?.items.map(({ payload }) => payload) ?? null;
const keysOf = (batch: OutgoingBatch | null) => batch?.items.map(({ key }) => key) ?? null;

let folder: string;
let store: Store;
let outbox: Outbox;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'octavo-outbox-'));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function desk() {
  const { sources } = await outbox.status();
  return sources.find(({ source }) => source === 'desk');
}
function required(batch: OutgoingBatch | null): OutgoingBatch {
  if (batch === null) {
    throw new Error('there is nothing to send');
  }
  return batch;
}
const next = async (now = 1000) => required(await outbox.next(BATCH, now));
/** Stores one conversation and has it sent. */
async function send(entry: NewContent): Promise<void> {
  await outbox.put(deposit([entry]));
  await outbox.sent((await next()).id, 1000);
}

describe.each(storeCases())('an outbox in %s', (_name, open) => {
  beforeEach(async () => {
    store = await open();
    outbox = store.outbox('org_1', LIMIT);
  });

  test('sends what fits into a batch, with the commas between and the brackets around its payloads', async () => {
    const entries = [content('a'), content('b')];
    await outbox.put(deposit(entries));
    const bytes = entries.reduce((sum, { payload }) => sum + payload.length, 0);
    const batch = async (limit: number) => {
      const taken = required(await outbox.next({ items: 50, bytes: limit, open: 1 }, 1000));
      await outbox.release(taken.id);
      return keysOf(taken);
    };
    expect(await batch(bytes + 2)).toEqual(['a']);
    expect(await batch(bytes + 3)).toEqual(['a', 'b']);
  });

  test('stores fractions of a millisecond as whole milliseconds', async () => {
    await outbox.put(
      deposit([content('a', 1, { notBefore: 500.25 }), content('b', 1, { recheck: 'b', notBefore: 300.5 })]),
    );
    await outbox.postponeRecheck('desk', 'b', 600.5);
    expect(await outbox.recheckAt('desk')).toBe(601);
    const { id } = await next(501);
    await outbox.doubt(id, 700.1);
    expect(await outbox.dueAt({ open: 1 })).toBe(701);
    await outbox.rest(id, 800.9);
    expect(await outbox.dueAt({ open: 1 })).toBe(801);
    await outbox.correctTimes(300.4);
    expect([await outbox.dueAt({ open: 1 }), await outbox.recheckAt('desk')]).toEqual([300, 301]);
  });

  test('stores processed items with the cursor of their round, and a reset clears them', async () => {
    const move = (round: number, add: string[], remove: string[] = []) =>
      outbox.put(deposit([], { cursor: { value: 1, round, processed: { add, remove } } }));
    await move(0, ['a', 'b']);
    await move(0, ['b', 'c'], ['a']);
    expect([...(await outbox.processed('desk'))].toSorted()).toEqual(['b', 'c']);
    expect([...(await outbox.processed('other'))]).toEqual([]);
    await outbox.reset('desk', 0);
    expect(await move(0, ['d'])).toEqual({ kind: 'stale' });
    expect([...(await outbox.processed('desk'))]).toEqual([]);
  });

  test('sends content once, the oldest that is due first', async () => {
    await outbox.put(deposit([content('b', 1, { notBefore: 500 }), content('a')]));
    await outbox.put(deposit([content('c')], { at: 300 }));
    expect(await outbox.dueAt({ open: 1 })).toBe(100);
    expect(keysOf(await outbox.next({ ...BATCH, open: 9 }, 99))).toBeNull();
    const batch = await next();
    expect(batch).toMatchObject({ doubts: 0, items: [{ key: 'a' }, { key: 'c' }, { key: 'b' }] });
    await outbox.sent(batch.id, 1000);
    expect(await outbox.next(BATCH, 9999)).toBeNull();
    expect(await outbox.dueAt({ open: 1 })).toBeNull();
    expect(await desk()).toMatchObject({ waiting: 0, sending: 0, counts: { queued: 3, sent: 3 } });
    expect((await outbox.status()).stored).toEqual({ items: 0, bytes: 0 });
  });

  test('ignores unchanged content that waits, is being sent, was sent, or is dead', async () => {
    const again = () => outbox.put(deposit([content('a')]));
    expect(await again()).toMatchObject({ waiting: 1, unchanged: 0 });
    expect(await again()).toMatchObject({ waiting: 0, unchanged: 1 });
    const batch = await next();
    expect(await again()).toMatchObject({ waiting: 0, unchanged: 1 });
    await outbox.sent(batch.id, 1000);
    expect(await again()).toMatchObject({ waiting: 0, unchanged: 1 });
    await outbox.put(deposit([content('x')]));
    await outbox.bury((await next()).id, 'refused', 1000);
    expect(await outbox.put(deposit([content('x')]))).toMatchObject({ waiting: 0, unchanged: 1 });
    expect(await outbox.dueAt({ open: 1 })).toBeNull();
    expect(await desk()).toMatchObject({ counts: { queued: 2, unchanged: 4, sent: 1, refused: 1 } });
  });

  test('sends changed content again, only the last of several versions', async () => {
    await send(content('a'));
    await outbox.put(deposit([content('a', 2), content('a', 3)]));
    expect(payloads(await next())).toEqual(['{"key":"a","version":3}']);
  });

  test('does not send content that changed and changed back', async () => {
    await send(content('a'));
    await outbox.put(deposit([content('a', 2)]));
    await outbox.put(deposit([content('a', 1)]));
    expect(await outbox.next(BATCH, 1000)).toBeNull();
  });

  test('restarts the delay if a ticket is solved again with the same text', async () => {
    await outbox.put(deposit([content('a', 1, { notBefore: 200 })]));
    await outbox.put(deposit([content('a', 1, { notBefore: 900 })]));
    await outbox.put(deposit([content('a')]));
    expect(await outbox.dueAt({ open: 1 })).toBe(900);
  });

  test('sends content that needs a check only after the check', async () => {
    const rests = content('a', 1, { notBefore: 500, recheck: '1' });
    await outbox.put(deposit([rests, content('b', 1, { notBefore: 100, recheck: '2' }), content('c')]));
    const others = await next();
    expect(keysOf(others)).toEqual(['b', 'c']);
    await outbox.sent(others.id, 1000);
    expect(await outbox.rechecks('desk', 499, 9)).toEqual([]);
    expect(await outbox.recheckAt('desk')).toBe(500);
    expect(await outbox.recheckAt('other')).toBeNull();
    expect(await outbox.rechecks('desk', 500, 9)).toEqual([{ key: 'a', id: '1' }]);
    // A fetch from before its end, however late it is stored, does not count as a fetch at its end.
    expect(await outbox.put(deposit([rests], { at: 900, lookedAt: 499 }))).toMatchObject({ confirmed: 0 });
    expect(await outbox.rechecks('desk', 900, 9)).toHaveLength(1);
    await outbox.postponeRecheck('desk', 'a', 950);
    expect(await outbox.rechecks('desk', 949, 9)).toEqual([]);
    expect(await outbox.put(deposit([rests], { at: 960 }))).toMatchObject({ unchanged: 1, confirmed: 1 });
    expect(await outbox.recheckAt('desk')).toBeNull();
    expect(keysOf(await next())).toEqual(['a']);
  });

  test('does not send old content if the check finds another key or nothing', async () => {
    await outbox.put(deposit([content('a', 1, { notBefore: 500, recheck: '1' })]));
    const renamed = content('z', 1, { notBefore: 500, recheck: '1' });
    expect(await outbox.put(deposit([renamed], { at: 600, rechecked: ['a'] }))).toMatchObject({ withdrawn: 1 });
    expect(keysOf(await next())).toEqual(['z']);
    expect((await outbox.status()).stored.items).toBe(1);
  });

  test('sends checked content even if its source no longer asks for checks', async () => {
    await outbox.put(deposit([content('a', 1, { notBefore: 500, recheck: '1' })]));
    const unchecked = content('a', 1, { notBefore: 500 });
    expect(await outbox.put(deposit([unchecked], { at: 600 }))).toMatchObject({ unchanged: 1, confirmed: 0 });
    expect(await outbox.rechecks('desk', 600, 9)).toHaveLength(1);
    const looked = deposit([unchecked], { at: 700, rechecked: ['a'] });
    expect(await outbox.put(looked)).toMatchObject({ unchanged: 1, confirmed: 1 });
    expect(await outbox.recheckAt('desk')).toBeNull();
    expect(keysOf(await next())).toEqual(['a']);
  });

  test('corrects what a clock that was ahead has stored', async () => {
    const ahead = 9_000_000;
    const due = ahead + 700;
    const delayed = content('b', 1, { notBefore: due, recheck: '1' });
    await outbox.put(deposit([content('a'), content('d')], { at: 50 }));
    const doubted = await next();
    await outbox.doubt(doubted.id, ahead);
    await outbox.put(deposit([content('c'), delayed], { at: ahead }));
    await outbox.correctTimes(200);
    await outbox.correctTimes(200);
    expect(await outbox.next({ ...BATCH, inFlight: [doubted.id] }, 200)).toMatchObject({ items: [{ key: 'c' }] });
    expect(await next(200)).toEqual({ ...doubted, doubts: 1 });
    expect(await desk()).toMatchObject({ waiting: 1, waitingSince: 200 });
    expect(await outbox.recheckAt('desk')).toBe(due);
    await outbox.postponeRecheck('desk', 'b', 2 * ahead);
    await outbox.correctTimes(1000);
    expect(await outbox.recheckAt('desk')).toBe(due);
  });

  test('sends changed content at once, even if a clock that is ahead stored the change', async () => {
    await outbox.put(deposit([content('a')]));
    await outbox.put(deposit([content('a', 2)], { at: 9_000_000 }));
    expect(payloads(await next(200))).toEqual(['{"key":"a","version":2}']);
  });

  test('keeps the delay of content when the clock is right', async () => {
    await outbox.put(
      deposit([content('a', 1, { notBefore: 5000, recheck: '1' }), content('b', 1, { notBefore: 700 })]),
    );
    await outbox.correctTimes(100);
    await outbox.correctTimes(400);
    expect([await outbox.recheckAt('desk'), await outbox.dueAt({ open: 1 })]).toEqual([5000, 700]);
  });

  test('does not send withdrawn content', async () => {
    await outbox.put(deposit([content('a'), content('b'), content('c')]));
    const entries = [
      { kind: 'ineligible', key: 'a' },
      { kind: 'gone', key: 'b' },
      { kind: 'gone', key: 'never seen' },
    ] as const;
    const none = { waiting: 0, unchanged: 0, confirmed: 0 };
    expect(await outbox.put(deposit(entries))).toEqual({ kind: 'kept', ...none, withdrawn: 2 });
    expect(keysOf(await next())).toEqual(['c']);
  });

  test('keeps batches within their limits, and sends a larger item alone', async () => {
    const large = JSON.stringify('x'.repeat(200));
    await outbox.put(deposit([content('a'), content('b'), content('c', 1, { payload: large }), content('d')]));
    const sizes: number[] = [];
    for (let batch = await outbox.next({ items: 3, bytes: 60, open: 1 }, 1000); batch !== null; ) {
      sizes.push(batch.items.length);
      await outbox.sent(batch.id, 1000);
      batch = await outbox.next({ items: 3, bytes: 60, open: 1 }, 1000);
    }
    expect(sizes).toEqual([2, 1, 1]);
  });

  test('returns a batch that was not accepted to waiting, except items that are newer, ineligible or gone', async () => {
    await outbox.put(deposit([content('a'), content('b'), content('c')]));
    const batch = await next();
    await outbox.put(deposit([content('a', 2), { kind: 'gone', key: 'b' }]));
    await outbox.release(batch.id);
    expect(payloads(await next())).toEqual(['{"key":"c","version":1}', '{"key":"a","version":2}']);
    expect((await outbox.status()).stored.items).toBe(2);
  });

  test('keeps content that becomes eligible again while it is being sent', async () => {
    await outbox.put(deposit([content('a')]));
    const batch = await next();
    await outbox.put(deposit([{ kind: 'ineligible', key: 'a' }]));
    await outbox.put(deposit([content('a')]));
    await outbox.release(batch.id);
    expect((await next()).items).toHaveLength(1);
  });

  test('lists, retries, dismisses and replaces dead letters', async () => {
    await outbox.put(deposit(['a', 'b', 'c', 'd'].map((key) => content(key))));
    for (let left = 4; left > 0; left -= 1) {
      await outbox.bury((await outbox.next({ ...BATCH, items: 1 }, 1000))?.id ?? 0, 'no', 1000 + left);
    }
    expect((await outbox.dead({}, 2)).map(({ key }) => key)).toEqual(['d', 'c']);
    expect(await outbox.dead({ source: 'other' }, 10)).toEqual([]);
    expect(await outbox.dead({ key: 'b' }, 10)).toEqual([
      { key: 'b', source: 'desk', reason: 'no', at: 1003, bytes: content('b').payload.length },
    ]);
    expect(await outbox.deadLetter('a')).toMatchObject({ reason: 'no', payload: content('a').payload });
    expect(await outbox.deadLetter('z')).toBeNull();
    expect(await outbox.retry({ key: 'a' }, 2000)).toBe(1);
    expect(keysOf(await next(2000))).toEqual(['a']);
    await outbox.bury((await next(2000)).id, 'still no', 2000);
    expect(await outbox.drop({ key: 'a' })).toBe(1);
    // Unchanged, it is not accepted again; changed, it is.
    expect(await outbox.put(deposit([content('a')]))).toMatchObject({ unchanged: 1 });
    expect(await outbox.put(deposit([content('a', 2), content('b', 2)]))).toMatchObject({ waiting: 2 });
    expect((await outbox.dead({}, 10)).map(({ key }) => key)).toEqual(['d', 'c']);
    expect(await outbox.retry({ source: 'desk' }, 3000)).toBe(2);
    expect(await outbox.drop({})).toBe(0);
    expect((await outbox.status()).stored.items).toBe(4);
  });

  test('does not bury refused content that was replaced in the meantime', async () => {
    await outbox.put(deposit([content('a')]));
    const batch = await next();
    await outbox.put(deposit([content('a', 2)]));
    await outbox.bury(batch.id, 'no', 1000);
    expect(await outbox.dead({}, 10)).toEqual([]);
    expect(payloads(await next())).toEqual(['{"key":"a","version":2}']);
  });

  test('rejects deposits that grow a full outbox, without moving the cursor', async () => {
    outbox = store.outbox('org_small', { items: 2, bytes: 1_000_000 });
    await outbox.put(deposit([content('a'), content('b'), content('c')], { cursor: { value: 1, round: 0 } }));
    const more = deposit([content('d')], { cursor: { value: 2, round: 0 }, counts: { found: 1 }, delivery: 'd1' });
    expect(await outbox.put(more)).toEqual({ kind: 'full' });
    expect((await outbox.position('desk')).cursor).toBe(1);
    expect((await outbox.status()).isFull).toBe(true);
    // Deposits that free space or take none are accepted.
    const none = deposit([content('a'), { kind: 'gone', key: 'b' }], { cursor: { value: 3, round: 0 } });
    expect(await outbox.put(none)).toMatchObject({ kind: 'kept', withdrawn: 1 });
    await outbox.sent((await outbox.next({ ...BATCH, items: 1 }, 1000))?.id ?? 0, 1000);
    expect(await outbox.put(more)).toMatchObject({ kind: 'kept', waiting: 1 });
    expect((await outbox.position('desk')).cursor).toBe(2);
    expect((await desk())?.counts.found).toBe(1);
  });

  test('rejects deposits beyond the byte limit', async () => {
    outbox = store.outbox('org_small', { items: 100, bytes: 30 });
    await outbox.put(deposit([content('a'), content('b')]));
    expect(await outbox.put(deposit([content('c')]))).toEqual({ kind: 'full' });
  });

  test('a reset discards the cursor of a poll that began before it', async () => {
    const { round } = await outbox.position('desk');
    await outbox.reset('desk', 77);
    expect(await outbox.put(deposit([content('a')], { cursor: { value: 9, round } }))).toEqual({ kind: 'stale' });
    const position = await outbox.position('desk');
    expect(position).toMatchObject({ cursor: null, since: 77 });
    await outbox.put(deposit([], { cursor: { value: { page: 'x' }, round: position.round } }));
    expect((await outbox.position('desk')).cursor).toEqual({ page: 'x' });
  });

  test('keeps hints until they are resolved, and a repeated hint after that', async () => {
    expect(await outbox.hint('desk', 'delivery 1', ['7', '8'], 100)).toBe(true);
    expect(await outbox.hint('desk', 'delivery 1', ['9'], 100)).toBe(false);
    expect(await outbox.hint('desk', null, ['9'], 100)).toBe(true);
    const hints = await outbox.hints('desk', 2);
    expect(hints.map(({ id }) => id)).toEqual(['7', '8']);
    await outbox.hint('desk', 'delivery 2', ['8'], 100);
    await outbox.put(deposit([content('7'), content('8')], { handled: hints }));
    expect((await outbox.hints('desk', 10)).map(({ id }) => id)).toEqual(['9', '8']);
    expect(await desk()).toMatchObject({ hints: 2, counts: { hinted: 4 } });
  });

  test('accepts a delivery once within a few days', async () => {
    const day = 24 * 3_600_000;
    const of = (key: string, at: number) => outbox.put(deposit([content(key)], { delivery: 'd1', at }));
    expect(await of('a', 0)).toMatchObject({ kind: 'kept' });
    expect(await of('b', 3 * day)).toEqual({ kind: 'known' });
    expect(await outbox.hint('desk', 'd1', ['1'], 3 * day)).toBe(false);
    expect(await of('c', 5 * day)).toMatchObject({ kind: 'kept' });
  });

  test('reports the status of each source', async () => {
    await outbox.put(deposit([content('a')], { counts: { found: 3, 'skipped.open': 2 } }));
    await outbox.put(deposit([content('b')], { source: 'mail', at: 50 }));
    await outbox.polled('desk', 1234);
    expect(await outbox.status()).toMatchObject({
      stored: { items: 2 },
      limit: LIMIT,
      isFull: false,
      sources: [
        {
          source: 'desk',
          cursor: null,
          polledAt: 1234,
          arrivedAt: 100,
          waiting: 1,
          waitingSince: 100,
          sending: 0,
          inDoubt: 0,
          deadLetters: 0,
          hints: 0,
          counts: { found: 3, 'skipped.open': 2, queued: 1 },
        },
        { source: 'mail', polledAt: null, waiting: 1, waitingSince: 50 },
      ],
    });
  });

  describe('the last 30 days', () => {
    const DAY = 24 * 3_600_000;
    const START = Date.parse('2026-11-27T00:00:00Z');
    const numbers = async (now: number) => {
      const { days } = await outbox.recent(now);
      return Object.fromEntries([...days].map(([name, each]) => [name, each.join(' ').replace(/^(0 )*/, '')]));
    };

    test('have the numbers of each UTC day, over all sources, and the totals stay', async () => {
      const skipped = { found: 4, 'skipped.open': 2, 'redacted.email': 9 };
      await outbox.put(deposit([content('a'), content('b')], { at: START - 1, counts: skipped }));
      await outbox.put(deposit([content('c')], { at: START, counts: { 'skipped.spam': 1 } }));
      await outbox.put(deposit([content('d'), content('a')], { source: 'mail', at: START + DAY - 1, counts: {} }));
      await outbox.sent((await next(START)).id, START);
      await outbox.bury((await next(START + DAY)).id, 'no', START + DAY);
      expect(await numbers(START + DAY)).toEqual({
        ...{ queued: '2 2 0', sent: '3 0', refused: '1', 'skipped.open': '2 0 0', 'skipped.spam': '1 0' },
      });
      expect((await outbox.recent(START)).days.get('queued')).toHaveLength(30);
      expect((await store.outbox('org_2', LIMIT).recent(START)).days.size).toBe(0);
      expect((await desk())?.counts).toMatchObject({ queued: 3, sent: 3, 'skipped.open': 2, found: 4 });
    });

    test('are forgotten after that, and so is what was left out then', async () => {
      const leave = (key: string, at: number) =>
        outbox.put(deposit([{ kind: 'ineligible', key, reason: 'open' }], { at, counts: { 'skipped.open': 1 } }));
      await leave('a', START - 1);
      await leave('b', START);
      expect(await numbers(START + 29 * DAY)).toEqual({ 'skipped.open': `1${' 0'.repeat(29)}` });
      await leave('c', START + 29 * DAY);
      expect(await numbers(START)).toEqual({ 'skipped.open': '1' });
      expect(await outbox.find('a')).toEqual([]);
      expect(await outbox.find('b')).toMatchObject([{ leftOut: { reason: 'open', at: START } }]);
    });

    test('do not keep numbers of a clock that was ahead', async () => {
      await outbox.put(deposit([content('a')], { at: START + 400 * DAY }));
      await outbox.put(deposit([content('b')], { at: START }));
      expect(await numbers(START)).toEqual({ queued: '1' });
      expect(await numbers(START + 400 * DAY)).toEqual({});
    });

    test('do not count a deposit that is not kept', async () => {
      outbox = store.outbox('org_small', { items: 1, bytes: 1000 });
      await outbox.put(deposit([content('a')], { at: START }));
      const more = [content('b'), { kind: 'ineligible', key: 'c', reason: 'open' }] as const;
      expect(await outbox.put(deposit(more, { at: START, counts: { 'skipped.open': 1 } }))).toEqual({ kind: 'full' });
      expect(await numbers(START)).toEqual({ queued: '1' });
      expect(await outbox.find('c')).toEqual([]);
    });

    test('have a few examples for each reason, without tickets that were taken since', async () => {
      const leave = (keys: readonly string[], reason: string, at: number) =>
        outbox.put(
          deposit(
            keys.map((key) => ({ kind: 'ineligible', key, reason })),
            { at, counts: { [`skipped.${reason}`]: keys.length } },
          ),
        );
      await leave(['1', '2', '3', '4', '5'], 'open', START);
      await leave(['5', '6'], 'spam', START + 1);
      await outbox.put(deposit([content('6')], { at: START + 2 }));
      await leave(['9'], 'open', START + 3);
      expect(Object.fromEntries((await outbox.recent(START + 3)).leftOut)).toEqual({
        open: ['9', '1', '2'],
        spam: ['5'],
      });
    });
  });

  test('finds a ticket by its key or its id in any account, in each of its states, without its content', async () => {
    const keys = ['zendesk/acme/1', 'zendesk/acme/2', 'zendesk/other/2', 'webhook/forms/a/b', 'github/I_9', 'plain'];
    await outbox.put(deposit(keys.map((key) => content(key, 1, { notBefore: key.endsWith('/1') ? 5000 : null }))));
    const none = { waiting: null, isSending: false, refused: null, sentAt: null, isDiscarded: false, leftOut: null };
    const state = (key: string, over: object) => [{ key, source: 'desk', ...none, ...over }];
    expect(await outbox.find('1')).toEqual(state('zendesk/acme/1', { waiting: { since: 100, at: 5000 } }));
    expect((await outbox.find('2')).map(({ key }) => key)).toEqual(['zendesk/acme/2', 'zendesk/other/2']);
    expect(await outbox.find('a/b')).toMatchObject([{ key: 'webhook/forms/a/b' }]);
    expect(await outbox.find('I_9')).toMatchObject([{ key: 'github/I_9' }]);
    expect(await outbox.find('plain')).toMatchObject([{ key: 'plain' }]);
    for (const text of [
      '',
      'b',
      'zendesk',
      'zendesk/acme/',
      '%',
      '\u0000',
      '\ud800',
      'x'.repeat(100_000),
      "' OR 1=1 --",
    ]) {
      expect(await outbox.find(text)).toEqual([]);
    }
    const batch = await next();
    expect(await outbox.find('zendesk/acme/2')).toEqual(state('zendesk/acme/2', { isSending: true }));
    await outbox.sent(batch.id, 1500);
    expect(await outbox.find('zendesk/acme/2')).toEqual(state('zendesk/acme/2', { sentAt: 1500 }));
    await outbox.bury((await next(5000)).id, 'too long', 5001);
    expect(await outbox.find('1')).toEqual(state('zendesk/acme/1', { refused: { reason: 'too long', at: 5001 } }));
    await outbox.drop({});
    expect(await outbox.find('1')).toEqual(state('zendesk/acme/1', { isDiscarded: true }));
    const again = [
      { kind: 'ineligible', key: 'zendesk/acme/2', reason: 'open' },
      { kind: 'gone', key: 'zendesk/new/7' },
    ] as const;
    await outbox.put(deposit(again, { at: 6000 }));
    expect(await outbox.find('zendesk/acme/2')).toMatchObject([
      { sentAt: 1500, leftOut: { reason: 'open', at: 6000 } },
    ]);
    expect(await outbox.find('7')).toEqual(state('zendesk/new/7', { leftOut: { reason: 'gone', at: 6000 } }));
    expect(await store.outbox('org_2', LIMIT).find('zendesk/acme/2')).toEqual([]);
  });

  test('counts waiting content of another redactor version until it is deposited again', async () => {
    await outbox.put(deposit([content('a'), content('b'), content('c', 1, { redactor: '2' })]));
    await outbox.put(deposit([content('d')], { source: 'mail' }));
    expect([...(await outbox.outdated('2'))]).toEqual([
      ['desk', 2],
      ['mail', 1],
    ]);
    await outbox.put(deposit([content('a', 1, { redactor: '2' }), content('b', 2, { redactor: '2' })]));
    expect([...(await outbox.outdated('2'))]).toEqual([['mail', 1]]);
    // A conversation in flight cannot be changed any more.
    await outbox.next(BATCH, 1000);
    expect([...(await outbox.outdated('2'))]).toEqual([]);
  });

  test('separates organizations', async () => {
    const other = store.outbox('org_2', LIMIT);
    await outbox.put(deposit([content('a')], { cursor: { value: 1, round: 0 } }));
    await outbox.hint('desk', 'd', ['1'], 100);
    expect((await other.status()).sources).toEqual([]);
    expect(await other.next(BATCH, 1000)).toBeNull();
    expect((await other.position('desk')).cursor).toBeNull();
    expect(await other.hint('desk', 'd', [], 100)).toBe(true);
  });
});

test('removes payloads of sent content from the file, and keeps everything else across a restart', async () => {
  const file = join(folder, 'octavo.db');
  store = openSqliteStore(file);
  outbox = store.outbox('org_1', LIMIT);
  await send(content('a'));
  await outbox.put(deposit([content('b'), content('c')], { cursor: { value: 'here', round: 0 } }));
  const batch = await outbox.next({ ...BATCH, items: 1 }, 1000);
  const before = await outbox.status();
  await store.close();
  store = openSqliteStore(file);
  outbox = store.outbox('org_1', LIMIT);
  expect(await outbox.status()).toEqual(before);
  expect(await outbox.put(deposit([content('a')]))).toMatchObject({ unchanged: 1 });
  await outbox.recover();
  expect(await next()).toEqual({ ...batch, doubts: 1 });
});
