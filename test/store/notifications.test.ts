/** Contract of the notifications in the state file, for both implementations. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Condition,
  type Fact,
  NOTIFICATION_RETENTION,
  type NotificationDelivery,
  type NotificationEvent,
  type NotifierChange,
  type NotifierState,
} from '../../src/store/notifications.ts';
import type { Store } from '../../src/store/store.ts';
import { storeCases } from '../support/store-cases.ts';
import { ANA, auditEntry, pass } from './samples.ts';

const DAY = 24 * 3_600_000;
const fact = (organization: string | null, over: Partial<Fact> = {}): Fact => ({
  code: 'drift',
  scope: { organization, token: 't', platform: 'p' },
  subject: '',
  since: 10,
  summary: 'The title of a space was changed',
  details: ['team/"docs"'],
  path: '/o/acme',
  ...over,
});
const condition = (id: string, over: Partial<Condition> = {}): Condition => ({
  id,
  fact: fact('org_1'),
  state: 'firing',
  since: 10,
  firedAt: 20,
  resolvedAt: null,
  clearSince: null,
  isInhibited: false,
  starts: [20],
  ...over,
});
const delivery = (id: string, over: Partial<NotificationDelivery> = {}): NotificationDelivery => ({
  ...{ id, channel: 'ops', thread: id, kind: 'firing', about: [], createdAt: 100, state: 'queued' },
  mayHaveArrived: false,
  ...over,
});
const event = (id: string, over: Partial<NotificationEvent> = {}): NotificationEvent => ({
  ...{ id, code: 'applied', organization: 'org_1', at: 50, summary: '3 changes applied', details: [], path: null },
  ...over,
});
const notice = (condition: string, thread: string, resolved: string | null = null) => ({
  ...{ channel: 'ops', condition, thread, notifiedAt: 100, resolved },
});
const change = (over: Partial<NotifierChange>): NotifierChange => ({
  ...{ conditions: [], removed: [], created: [], cancelled: [], notified: null, events: [] },
  ...over,
});
const healthy = { reporter: 'channel/ops', facts: [] };

let store: Store;
afterEach(async () => {
  await store.close();
});

describe.each(storeCases())('notifications in %s', (_name, open) => {
  beforeEach(async () => {
    store = await open();
  });

  const advance = (over: Partial<NotifierChange>, now = 100) => store.notifications().advance(now, () => change(over));
  const state = async (now = 100): Promise<NotifierState> => {
    let found: NotifierState | null = null;
    await store.notifications().advance(now, (read) => {
      found = read;
      return change({});
    });
    return found as unknown as NotifierState;
  };

  test('replace the facts of a reporter, keep their start, and report whether something changed', async () => {
    const notifications = store.notifications();
    const stale = fact('org_1', { code: 'stale' });
    expect(await notifications.report({ reporter: 'org_1', facts: [fact('org_1'), stale] })).toBe(true);
    expect(await notifications.report({ reporter: 'org_1', facts: [fact('org_1', { since: 99 }), stale] })).toBe(false);
    expect(await notifications.report({ reporter: 'org_2', facts: [fact('org_2')] })).toBe(true);
    expect(await notifications.report({ reporter: 'org_1', facts: [fact('org_1', { since: 99 })] })).toBe(true);
    expect(await notifications.facts()).toEqual([fact('org_1'), fact('org_2')]);
    await notifications.retainReporters(['org_2']);
    expect(await notifications.facts()).toEqual([fact('org_2')]);
  });

  test('return a fact of several reporters once, with its earliest start and all details', async () => {
    const dead = fact(null, { code: 'platform-failing' });
    await store.notifications().report({ reporter: 'a', facts: [{ ...dead, since: 7, details: ['x', 'a'] }] });
    await store.notifications().report({ reporter: 'b', facts: [{ ...dead, since: 3, details: ['x', 'b'] }] });
    expect((await state()).facts).toEqual([{ ...dead, since: 3, details: ['x', 'a', 'b'] }]);
    const many = Array.from({ length: 9 }, (_, index) => `line ${index}`);
    await store.notifications().report({ reporter: 'c', facts: [{ ...dead, since: 8, details: many }] });
    const [joined] = await store.notifications().facts();
    expect(joined?.details.slice(-2)).toEqual(['line 5', 'and 3 more']);
  });

  test('return everything that was written, in one transaction', async () => {
    const written = { ...delivery('d1', { about: ['c1'] }) };
    await advance({ conditions: [condition('c1')], created: [written], notified: [notice('c1', 'd1')] });
    expect(await state()).toMatchObject({
      ...{ conditions: [condition('c1')], deliveries: [written], notified: [notice('c1', 'd1')] },
    });
    const again = advance({ conditions: [condition('c2')], created: [delivery('d1')] });
    await expect(again).rejects.toThrow();
    expect((await state()).conditions).toEqual([condition('c1')]);
  });

  test('return resolved conditions while they may count as flapping, or until their end is announced', async () => {
    const resolved = { state: 'resolved', resolvedAt: 200 } as const;
    await advance({
      conditions: [condition('recent', resolved), condition('told', resolved), condition('gone', { state: 'pending' })],
      created: [delivery('d1')],
      notified: [notice('told', 'd1')],
    });
    await advance({ removed: ['gone'] });
    expect((await state(300)).conditions.map(({ id }) => id)).toEqual(['recent', 'told']);
    expect((await state(DAY)).conditions.map(({ id }) => id)).toEqual(['told']);
    expect((await store.notifications().conditions(10)).length).toBe(2);
  });

  test('begin the delivery that is due first, and none twice', async () => {
    await advance({ created: [delivery('d1'), delivery('d2'), delivery('other', { channel: 'mail' })] });
    const notifications = store.notifications();
    expect(await notifications.begin('ops', 99)).toBeNull();
    expect(await notifications.dueAt('ops')).toBe(100);
    expect((await notifications.begin('ops', 100))?.delivery).toEqual(delivery('d1', { state: 'open' }));
    expect((await notifications.begin('ops', 100))?.delivery.id).toBe('d2');
    expect(await notifications.begin('ops', 100)).toBeNull();
    expect(await notifications.dueAt('ops')).toBeNull();
  });

  test('do not begin a delivery before an older one of its thread has ended', async () => {
    await advance({ created: [delivery('d1'), delivery('d2', { thread: 'd1', kind: 'resolved' }), delivery('d3')] });
    const notifications = store.notifications();
    await notifications.begin('ops', 100);
    expect((await notifications.begin('ops', 100))?.delivery.id).toBe('d3');
    const failure = { result: 'not-taken', reason: 'refused', nextAttemptAt: 500 } as const;
    await notifications.end('d1', failure, healthy);
    expect(await notifications.begin('ops', 499)).toBeNull();
    expect(await notifications.dueAt('ops')).toBe(500);
    expect((await notifications.begin('ops', 500))?.delivery.id).toBe('d1');
    await notifications.end('d1', { result: 'sent', receipt: { ts: '1' }, at: 510 }, healthy);
    const follower = await notifications.begin('ops', 510);
    expect([follower?.delivery.id, follower?.receipt]).toEqual(['d2', { ts: '1' }]);
  });

  test('give an attempt the conditions of its thread, its events, and what is true', async () => {
    await store.notifications().report({ reporter: 'org_1', facts: [fact('org_1')] });
    await store.notifications().addEvents([event('e1'), event('e2')]);
    await advance({
      conditions: [condition('c1'), condition('c2'), condition('c3')],
      created: [
        delivery('d1', { about: ['c1', 'c2', 'e1'] }),
        delivery('d2', { about: ['c1'], thread: 'd1', kind: 'resolved' }),
      ],
    });
    const notifications = store.notifications();
    expect(await notifications.begin('ops', 200)).toMatchObject({
      ...{ attempts: 1, firstAttemptAt: 200, receipt: null, facts: [fact('org_1')], events: [event('e1')] },
      conditions: [condition('c1'), condition('c2')],
    });
    await notifications.end('d1', { result: 'sent', receipt: null, at: 210 }, healthy);
    const second = await notifications.begin('ops', 210);
    expect(second?.conditions.map(({ id }) => id)).toEqual(['c1', 'c2']);
    expect(second?.events).toEqual([]);
  });

  test('remember that a delivery may have arrived', async () => {
    await advance({ created: [delivery('d1'), delivery('d2'), delivery('d3')] });
    const notifications = store.notifications();
    for (const _ of [1, 2, 3]) {
      await notifications.begin('ops', 100);
    }
    const next = { reason: 'timeout', nextAttemptAt: 900 };
    await notifications.end('d1', { result: 'unknown', ...next }, healthy);
    await notifications.end('d2', { result: 'not-taken', ...next }, healthy);
    const states = async () =>
      (await notifications.deliveries({ limit: 9 })).map((each) => [each.id, each.state, each.mayHaveArrived]);
    expect(await states()).toEqual([
      ['d3', 'open', false],
      ['d2', 'refused', false],
      ['d1', 'queued', true],
    ]);
    // A new process finds an attempt that has not ended.
    await notifications.recover(300);
    expect(await states()).toEqual([
      ['d3', 'queued', true],
      ['d2', 'refused', false],
      ['d1', 'queued', true],
    ]);
    expect(await notifications.dueAt('ops')).toBe(300);
    await notifications.begin('ops', 300);
    await notifications.end('d1', { result: 'not-taken', ...next }, healthy);
    expect((await states())[2]).toEqual(['d1', 'queued', true]);
  });

  test('end an attempt and replace the facts of the channel together', async () => {
    await advance({ created: [delivery('d1')] });
    const notifications = store.notifications();
    await notifications.begin('ops', 100);
    const failing = fact(null, { code: 'channel-failing', subject: 'ops' });
    const failed = { result: 'failed', mayHaveArrived: false, reason: 'no such channel', at: 120 } as const;
    await notifications.end('d1', failed, { reporter: 'channel/ops', facts: [failing] });
    expect(await notifications.facts()).toEqual([failing]);
    expect(await notifications.deliveries({ channel: 'ops', isPending: true, limit: 5 })).toMatchObject([
      { id: 'd1', state: 'failed', reason: 'no such channel', endedAt: 120, nextAttemptAt: null, attempts: 1 },
    ]);
    expect(await notifications.lastSent()).toEqual(new Map());
  });

  test('never send what was cancelled', async () => {
    await advance({ created: [delivery('d1'), delivery('d2')] });
    await advance({ cancelled: ['d1'] });
    expect((await store.notifications().begin('ops', 100))?.delivery.id).toBe('d2');
    expect((await state()).deliveries.map(({ id }) => id)).toEqual(['d2']);
  });

  test('return events until all channels have a delivery, and ignore known ones', async () => {
    const notifications = store.notifications();
    await notifications.addEvents([event('e1'), event('e2', { at: 40 })]);
    await notifications.addEvents([event('e1', { summary: 'again' })]);
    expect((await state()).events).toEqual([
      { event: event('e2', { at: 40 }), channels: null },
      { event: event('e1'), channels: null },
    ]);
    await advance({
      events: [
        { id: 'e1', channels: ['mail'] },
        { id: 'e2', channels: [] },
      ],
    });
    expect((await state()).events).toEqual([{ event: event('e1'), channels: ['mail'] }]);
  });

  test('return events again whose delivery was given up, to the channels that were asked for', async () => {
    const notifications = store.notifications();
    await notifications.addEvents([event('e1'), event('e2'), event('e3')]);
    const events = ['e1', 'e2', 'e3'].map((id) => ({ id, channels: [] }));
    const created = [
      delivery('d1', { kind: 'event', about: ['e1'] }),
      delivery('d2', { kind: 'digest', about: ['c1', 'e1', 'e2'], channel: 'mail' }),
      delivery('d3', { kind: 'event', about: ['e3'], channel: 'mail' }),
      delivery('d4', { about: ['c1'] }),
    ];
    await advance({ conditions: [condition('c1')], events, created });
    const failed = { result: 'failed', mayHaveArrived: false, reason: 'gone', at: 300 } as const;
    for (const id of ['d1', 'd2', 'd4']) {
      await notifications.begin(id === 'd2' ? 'mail' : 'ops', 200);
      await notifications.end(id, failed, healthy);
    }
    expect((await state()).events).toEqual([]);
    expect(await notifications.retryEvents('ops')).toBe(1);
    expect((await state()).events).toEqual([{ event: event('e1'), channels: ['ops'] }]);
    expect(await notifications.retryEvents(null)).toBe(2);
    expect((await state()).events).toEqual([
      { event: event('e1'), channels: ['ops', 'mail'] },
      { event: event('e2'), channels: ['mail'] },
    ]);
    expect(await notifications.retryEvents(null)).toBe(0);
    const left = await notifications.deliveries({ isPending: true, limit: 9 });
    expect(left.map(({ id, state: each }) => [id, each])).toEqual([
      ['d4', 'failed'],
      ['d3', 'queued'],
    ]);
  });

  test('add the events of a pass, an audit entry and a decision together with them', async () => {
    const history = store.history('org_1');
    await history.addAudit(auditEntry(), [event('audit')]);
    const decision = { checksum: 'sha256:1', verdict: 'approved', by: ANA, reason: '', at: 5 } as const;
    await store.organization('org_1').decide(decision, [event('decision')]);
    await history.addPass(pass(60), (number) => [event(`pass ${number}`)]);
    expect((await state()).events.map(({ event: { id } }) => id)).toEqual(['audit', 'decision', 'pass 1']);
    const unreadable = () => {
      throw new Error('no events');
    };
    await expect(history.addPass(pass(60, { commit: 'd' }), unreadable)).rejects.toThrow();
    expect(await history.passes({ limit: 5 })).toHaveLength(1);
  });

  test('remove what is old, but not what a resolve or a waiting delivery needs', async () => {
    const notifications = store.notifications();
    const resolved = { state: 'resolved', resolvedAt: 100 } as const;
    await notifications.addEvents([event('old'), event('waiting'), event('queued')]);
    await advance({
      conditions: ['old', 'told', 'about'].map((id) => condition(id, resolved)),
      created: ['old', 'told', 'queued'].map((id) => delivery(id)),
      events: ['old', 'queued'].map((id) => ({ id, channels: [] })),
    });
    for (const id of ['old', 'told']) {
      await notifications.begin('ops', 100);
      await notifications.end(id, { result: 'sent', receipt: null, at: 110 }, healthy);
    }
    const later = 200 + NOTIFICATION_RETENTION.age;
    await advance(
      { created: [delivery('new', { about: ['about', 'queued'] })], notified: [notice('told', 'told')] },
      later,
    );
    expect((await notifications.conditions(9)).map(({ id }) => id).toSorted()).toEqual(['about', 'told']);
    expect((await notifications.deliveries({ limit: 9 })).map(({ id }) => id)).toEqual(['new', 'queued', 'told']);
    await notifications.addEvents([event('old'), event('queued')]);
    expect((await state()).events.map(({ event: { id } }) => id)).toEqual(['old', 'waiting']);
  });

  test('keep the latest resolved conditions and deliveries up to a number', async () => {
    const { count } = NOTIFICATION_RETENTION;
    const numbers = Array.from({ length: count + 5 }, (_, index) => index);
    const resolved = numbers.map((index) => condition(`c${index}`, { state: 'resolved', resolvedAt: index }));
    await advance({ conditions: resolved }, count + 5);
    expect(await store.notifications().conditions(count + 9)).toHaveLength(count);
  });
});
