/** Rules of the notifier: routes, groups, quiet hours and reminders, with the stored state. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { NotificationsConfig } from '../../src/config/notifications.ts';
import { WakeUpSignal } from '../../src/core/clock.ts';
import type { ConditionCode } from '../../src/core/condition-codes.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Condition, DeliveryRecord, Fact, Notifications } from '../../src/store/notifications.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOON = Date.UTC(2026, 10, 23, 12);
type Config = Pick<NotificationsConfig, 'for' | 'groupInterval' | 'groupWait' | 'quietHours' | 'routes'>;

let now: number;
let ids = 0;
let notifications: Notifications;
let firing: readonly Condition[];
beforeEach(() => {
  now = NOON;
  notifications = openMemoryStore().notifications();
});

const fact = (code: ConditionCode, organization: string | null = 'org_1', over: Partial<Fact> = {}): Fact => ({
  ...{ code, scope: { organization, token: null, platform: 'p' }, subject: '', since: now },
  ...{ summary: code, details: [], path: null },
  ...over,
});
const event = (id: string, organization = 'org_1') =>
  ({ id, code: 'applied', organization, at: now, summary: id, details: [], path: null }) as const;

type Options = ConstructorParameters<typeof Notifier>[0];

function open(config: Partial<Config> = {}, pagers: readonly string[] = [], more: Partial<Options> = {}): Notifier {
  const rest = { for: {}, groupWait: 30_000, groupInterval: 5 * MINUTE, quietHours: [] };
  const names = [...new Set((config.routes ?? [{ channels: ['ops'] }]).flatMap(({ channels }) => channels))];
  return new Notifier({
    notifications,
    config: { ...rest, routes: [{ channels: ['ops'] }], ...config },
    channels: names.map((name) => ({ name, isPager: pagers.includes(name) })),
    clock: { now: () => now, monotonic: () => now, sleep: () => new Promise(() => undefined) },
    newId: () => {
      ids += 1;
      return `id${ids}`;
    },
    ...{ changed: new WakeUpSignal(), created: new WakeUpSignal(), isWoken: () => true },
    onFiring: (conditions) => {
      firing = conditions;
    },
    onError: (error) => {
      throw error;
    },
    ...more,
  });
}

/** Advances until a time, whenever the notifier wants to, and sends everything at once. */
async function until(notifier: Notifier, end: number): Promise<void> {
  for (;;) {
    await notifier.advance();
    for (const { channel } of await notifications.deliveries({ isPending: true, limit: 1000 })) {
      const attempt = await notifications.begin(channel, now);
      if (attempt !== null) {
        const report = { reporter: `channel/${channel}`, facts: [] };
        await notifications.end(attempt.delivery.id, { result: 'sent', receipt: null, at: now }, report);
      }
    }
    // The end of an attempt wakes the notifier.
    const wakeAt = await notifier.advance();
    if (wakeAt === null || wakeAt > end) {
      now = end;
      return;
    }
    now = Math.max(now, wakeAt);
  }
}

async function sent(channel = 'ops'): Promise<readonly DeliveryRecord[]> {
  return (await notifications.deliveries({ channel, limit: 1000 })).toReversed();
}
const kinds = async (channel = 'ops') => (await sent(channel)).map(({ kind, about }) => `${kind} ${about.length}`);
const report = (...facts: readonly Fact[]) => notifications.report({ reporter: 'org', facts });

/** Reports facts, and advances until their announcement is queued, without sending it. */
async function queueAnnouncement(notifier: Notifier, ...facts: readonly Fact[]): Promise<void> {
  await report(...facts);
  for (const _ of [1, 2]) {
    now += MINUTE;
    await notifier.advance();
  }
}

describe('the notifier', () => {
  test('announces a condition that lasts, and its end in the same thread', async () => {
    const notifier = open();
    await report(fact('pass-failing'));
    await until(notifier, now + 5 * MINUTE);
    expect(await sent()).toEqual([]);
    await until(notifier, now + MINUTE);
    expect(firing.map(({ fact: { code } }) => code)).toEqual(['pass-failing']);
    await report();
    await until(notifier, now + MINUTE);
    const [first, second, ...more] = await sent();
    expect([first?.kind, second?.kind, more]).toEqual(['firing', 'resolved', []]);
    expect([second?.thread, second?.about]).toEqual([first?.id, first?.about]);
    expect(firing).toEqual([]);
  });

  test('does not announce what ends before it has lasted', async () => {
    const notifier = open();
    await report(fact('pass-failing'));
    await until(notifier, now + 4 * MINUTE);
    await report();
    await until(notifier, now + HOUR);
    expect(await sent()).toEqual([]);
    expect(await notifications.conditions(9)).toEqual([]);
  });

  test('announces an inhibited condition only if it lasts after the end of its cause', async () => {
    const notifier = open();
    const cause = fact('platform-failing', null);
    await report(cause, fact('pass-failing'));
    await until(notifier, now + HOUR);
    expect(await kinds()).toEqual(['firing 1']);
    await report(fact('pass-failing'));
    await until(notifier, now + 4 * MINUTE);
    expect(await kinds()).toEqual(['firing 1', 'resolved 1']);
    await until(notifier, now + 2 * MINUTE);
    expect(await kinds()).toEqual(['firing 1', 'resolved 1', 'firing 1']);
  });

  test('tells 500 organizations behind a dead platform as one message and one recovery per channel', async () => {
    const notifier = open({ routes: [{ channels: ['ops', 'pager'] }] }, ['pager']);
    const organizations = Array.from({ length: 500 }, (_, index) => `org_${index}`);
    await notifications.report({ reporter: 'daemon', facts: [fact('platform-failing', null)] });
    for (const each of organizations) {
      await notifications.report({ reporter: each, facts: [fact('pass-failing', each), fact('stale', each)] });
    }
    await until(notifier, now + 3 * HOUR);
    await notifications.report({ reporter: 'daemon', facts: [] });
    for (const each of organizations) {
      await notifications.report({ reporter: each, facts: [] });
    }
    await until(notifier, now + 3 * HOUR);
    expect(await kinds('ops')).toEqual(['firing 1', 'resolved 1']);
    expect(await kinds('pager')).toEqual(['firing 1', 'resolved 1']);
  });

  test('puts conditions with one code into one message, and later ones into the next after the group interval', async () => {
    const notifier = open();
    const facts = ['a', 'b', 'c'].map((each) => fact('paused', each));
    await report(...facts.slice(0, 2));
    await until(notifier, now + MINUTE);
    await report(...facts);
    await until(notifier, now + 4 * MINUTE);
    expect(await kinds()).toEqual(['firing 2']);
    await until(notifier, now + 2 * MINUTE);
    expect(await kinds()).toEqual(['firing 2', 'firing 1']);
  });

  test('sends along all routes that match, and nowhere without one', async () => {
    const notifier = open({
      routes: [
        { channels: ['ops'], codes: ['paused'] },
        { channels: ['team', 'ops'], organizations: ['org_1'] },
        { channels: ['pager'], severities: ['page'] },
      ],
    });
    await report(fact('paused'), fact('paused', 'org_2'), fact('dead-letters', 'org_2'));
    await until(notifier, now + MINUTE);
    expect([await kinds('ops'), await kinds('team'), await kinds('pager')]).toEqual([['firing 2'], ['firing 1'], []]);
  });

  test('tells other channels about one that fails', async () => {
    const notifier = open({ routes: [{ channels: ['ops', 'mail'] }] });
    await report(fact('channel-failing', null, { subject: 'ops' }));
    await until(notifier, now + HOUR);
    expect([await kinds('ops'), await kinds('mail')]).toEqual([[], ['firing 1']]);
  });

  test('opens one incident of a pager about two channels that fail, which ends with the last of them', async () => {
    const notifier = open({ routes: [{ channels: ['pager'] }] }, ['pager']);
    const chats = ['chat', 'night'];
    for (const subject of chats) {
      await notifications.report({
        reporter: `channel/${subject}`,
        facts: [fact('channel-failing', null, { subject })],
      });
    }
    await until(notifier, now + HOUR);
    expect(await kinds('pager')).toEqual(['firing 2']);
    for (const [index, subject] of chats.entries()) {
      await notifications.report({ reporter: `channel/${subject}`, facts: [] });
      await until(notifier, now + HOUR);
      expect(await kinds('pager')).toEqual(['firing 2', ...(index === 0 ? [] : ['resolved 2'])]);
    }
  });

  test('sends events only where they are listed, those of half a minute in one message', async () => {
    const notifier = open({ routes: [{ channels: ['ops'] }, { channels: ['team'], codes: ['applied'] }] });
    await notifications.addEvents([event('e1')]);
    await until(notifier, now + 20_000);
    await notifications.addEvents([event('e2', 'org_2'), event('e1')]);
    await until(notifier, now + HOUR);
    expect([await kinds('ops'), await kinds('team')]).toEqual([[], ['event 2']]);
  });

  test('announces an event of a replica whose clock is an hour ahead like others', async () => {
    const notifier = open({ routes: [{ channels: ['ops'], codes: ['applied'] }] });
    await notifications.addEvents([{ ...event('e1'), at: now + HOUR }]);
    await until(notifier, now + MINUTE);
    expect(await kinds()).toEqual(['event 1']);
  });

  test('holds chats in quiet hours and ends them in one digest, but never holds a pager', async () => {
    now = Date.UTC(2026, 10, 23, 23);
    const quiet = { cron: '0 22 * * *', duration: 8 * HOUR, timezone: 'UTC', channels: ['ops', 'pager'] };
    const routes = [{ channels: ['ops', 'pager'] }, { channels: ['ops'], codes: ['applied' as const] }];
    const notifier = open({ quietHours: [quiet], routes }, ['pager']);
    await notifications.addEvents([event('e1')]);
    await report(fact('paused'), fact('dead-letters'), fact('manifests-invalid'));
    await until(notifier, now + HOUR);
    await report(fact('paused'), fact('dead-letters'));
    await until(notifier, Date.UTC(2026, 10, 24, 6) - 1);
    expect(await sent('ops')).toEqual([]);
    expect(await kinds('pager')).toEqual(['firing 1', 'firing 1', 'firing 1', 'resolved 1']);
    await until(notifier, Date.UTC(2026, 10, 24, 9));
    expect(await kinds('ops')).toEqual(['digest 3']);
    await report();
    await until(notifier, Date.UTC(2026, 10, 24, 10));
    expect(await kinds('ops')).toEqual(['digest 3', 'resolved 2']);
  });

  test('holds nothing in quiet hours that people are paged for, nor its end', async () => {
    now = Date.UTC(2026, 10, 23, 23);
    const quiet = { cron: '0 22 * * *', duration: 8 * HOUR, timezone: 'UTC', channels: ['ops'] };
    const notifier = open({ quietHours: [quiet] });
    await report(fact('paused'), fact('pass-failing'));
    await until(notifier, now + HOUR);
    await report(fact('paused'));
    await until(notifier, now + HOUR);
    expect(await kinds()).toEqual(['firing 1', 'resolved 1']);
    await until(notifier, Date.UTC(2026, 10, 24, 9));
    expect(await kinds()).toEqual(['firing 1', 'resolved 1', 'firing 1']);
  });

  test('announces a flapping condition once, and its end after half an hour without it', async () => {
    const notifier = open({ for: { paused: 0 }, groupWait: 0 });
    for (const _ of [1, 2, 3, 4, 5]) {
      await report(fact('paused'));
      await until(notifier, now + 5 * MINUTE);
      await report();
      await until(notifier, now + 2 * MINUTE);
    }
    expect(await kinds()).toEqual(['firing 1', 'resolved 1', 'firing 1', 'resolved 1', 'firing 1']);
    await until(notifier, now + 40 * MINUTE);
    expect((await kinds()).slice(5)).toEqual(['resolved 1']);
  });

  test('cancels what nobody has taken when it is over, and sends no end of it', async () => {
    const notifier = open();
    await queueAnnouncement(notifier, fact('paused'));
    expect((await sent()).map(({ state }) => state)).toEqual(['queued']);
    await report();
    await until(notifier, now + HOUR);
    expect((await sent()).map(({ kind, state }) => `${kind} ${state}`)).toEqual(['firing cancelled']);
  });

  test('ends what may have arrived with one message, although it was to be sent again', async () => {
    const notifier = open();
    await notifications.report({ reporter: 'p', facts: [fact('token-refused')] });
    await notifier.advance();
    now += 30_000;
    await notifier.advance();
    const attempt = await notifications.begin('ops', now);
    const lost = { result: 'unknown', reason: 'no answer', nextAttemptAt: now + MINUTE } as const;
    await notifications.end(attempt?.delivery.id ?? '', lost, { reporter: 'channel/ops', facts: [] });
    await notifications.report({ reporter: 'p', facts: [] });
    await until(notifier, now + HOUR);
    expect((await notifications.deliveries({ limit: 9 })).map(({ kind, state }) => [kind, state])).toEqual([
      ['resolved', 'sent'],
      ['firing', 'cancelled'],
    ]);
  });

  test('cancels deliveries to channels that are not configured any more, and ends what they have once they are', async () => {
    const both = open({ routes: [{ channels: ['ops', 'old'] }] });
    await report(fact('paused'));
    await until(both, now + MINUTE);
    await report();
    await open().advance();
    now += HOUR;
    await open().advance();
    expect((await sent('old')).map(({ kind }) => kind)).toEqual(['firing']);
    await until(open({ routes: [{ channels: ['ops', 'old'] }] }), now + HOUR);
    expect(await kinds('old')).toEqual(['firing 1', 'resolved 1']);
  });

  /** Ends the next attempt of a channel without further ones. */
  const giveUp = async (mayHaveArrived = false) => {
    const attempt = await notifications.begin('ops', now);
    const failed = { result: 'failed', mayHaveArrived, reason: 'refused', at: now } as const;
    await notifications.end(attempt?.delivery.id ?? '', failed, { reporter: 'channel/ops', facts: [] });
    return attempt?.delivery;
  };

  test('announces again what was given up, in a new thread', async () => {
    const notifier = open();
    await queueAnnouncement(notifier, fact('paused'));
    const first = await giveUp();
    await until(notifier, now + MINUTE);
    expect((await sent()).map(({ kind, state }) => `${kind} ${state}`)).toEqual(['firing failed', 'firing sent']);
    expect((await sent())[1]?.thread).not.toBe(first?.thread);
  });

  test('repeats in its thread what was given up without an answer', async () => {
    const notifier = open();
    await queueAnnouncement(notifier, fact('paused'));
    const first = await giveUp(true);
    await until(notifier, now + MINUTE);
    expect((await sent()).map(({ kind, state }) => `${kind} ${state}`)).toEqual(['firing failed', 'reminder sent']);
    expect((await sent())[1]?.thread).toBe(first?.thread);
  });

  test('sends the end again that was given up', async () => {
    const notifier = open();
    await report(fact('paused'));
    await until(notifier, now + MINUTE);
    await report();
    await notifier.advance();
    await giveUp();
    await until(notifier, now + MINUTE);
    const expected = ['firing sent', 'resolved failed', 'resolved sent'];
    expect((await sent()).map(({ kind, state }) => `${kind} ${state}`)).toEqual(expected);
  });

  test.each([
    ['once a minute', true, 5],
    ['every 5 seconds while changes of other replicas do not wake it', false, 60],
  ])('checks what is stored %s', async (_often, isWoken, expected) => {
    const clock = createVirtualClock();
    let checks = 0;
    const onFiring = () => {
      checks += 1;
    };
    const stopping = new AbortController();
    void open({}, [], { clock, isWoken: () => isWoken, onFiring }).run(stopping.signal);
    await clock.advance(5 * MINUTE - 1);
    stopping.abort();
    expect(checks).toBe(expected);
  });

  test('reminds nobody before the announcement has arrived', async () => {
    const notifier = open();
    await report(fact('token-refused'));
    await notifier.advance();
    now += MINUTE;
    await notifier.advance();
    now += 2 * HOUR;
    await notifier.advance();
    expect(await kinds()).toEqual(['firing 1']);
  });
});
