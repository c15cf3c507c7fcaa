/** Delivery loop of a channel: order, retries, the end of the daemon, and what it reports about the channel. */
import { beforeEach, describe, expect, test } from 'vitest';
import { WakeUpSignal } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import { type Channel, ChannelError, type Outgoing } from '../../src/notify/channel.ts';
import { DeliveryLoop } from '../../src/notify/delivery-loop.ts';
import type { Notification } from '../../src/notify/messages.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { NotificationDelivery, Notifications } from '../../src/store/notifications.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let clock: VirtualClock;
let notifications: Notifications;
let sent: { readonly id: string; readonly at: number; readonly receipt: Outgoing['receipt'] }[];
let failures: (Error | null)[];
let created: WakeUpSignal;
let stopping: AbortController;
let abort: AbortController;
beforeEach(() => {
  clock = createVirtualClock();
  notifications = openMemoryStore().notifications();
  sent = [];
  failures = [];
  created = new WakeUpSignal();
  stopping = new AbortController();
  abort = new AbortController();
});

/** Starts a loop whose channel fails with `failures`, one for each attempt, and then works. */
function start(send?: Channel['send'], left = () => Number.POSITIVE_INFINITY): Promise<void> {
  const channel: Channel = {
    ...{ name: 'ops', isPager: false, close: async () => undefined },
    send:
      send ??
      (async ({ id, receipt }) => {
        sent.push({ id, receipt, at: clock.now() });
        const failure = failures.shift() ?? null;
        if (failure !== null) {
          throw failure;
        }
        return { ts: id };
      }),
  };
  const events = { onSent: () => undefined, onFailed: () => undefined, onError: () => undefined };
  const render = () => ({}) as Notification;
  const loop = new DeliveryLoop({
    ...{ channel, notifications, clock, created, events, render, random: () => 0 },
    ...{ ended: new WakeUpSignal(), left },
  });
  return loop.run(stopping.signal, abort.signal);
}

async function queue(...deliveries: readonly (readonly [id: string, thread: string])[]): Promise<void> {
  const all = deliveries.map(
    ([id, thread]): NotificationDelivery => ({
      ...{ id, thread, channel: 'ops', kind: 'firing', about: [], createdAt: clock.now(), state: 'queued' },
      mayHaveArrived: false,
    }),
  );
  const nothing = { conditions: [], removed: [], cancelled: [], notified: null, events: [] };
  await notifications.advance(clock.now(), () => ({ ...nothing, created: all }));
  created.notify();
}

const states = async () => (await notifications.deliveries({ limit: 9 })).map(({ id, state }) => `${id} ${state}`);
const ids = () => sent.map(({ id }) => id);
const refusal = (retryAfter: number | null = null) => new ChannelError('busy', 'not-taken', retryAfter);

describe('the delivery loop', () => {
  test('sends what is queued at once, and passes the receipt of the first message to later ones', async () => {
    void start();
    await clock.advance(HOUR);
    await queue(['d1', 'd1'], ['d2', 'd1']);
    await clock.advance(1);
    expect(sent.map(({ id, receipt }) => [id, receipt])).toEqual([
      ['d1', null],
      ['d2', { ts: 'd1' }],
    ]);
    expect(await states()).toEqual(['d2 sent', 'd1 sent']);
  });

  test('leaves a channel alone for the time that it asks for, and then continues in order', async () => {
    failures = [refusal(10 * MINUTE)];
    await queue(['d1', 'd1'], ['d2', 'd2']);
    const start1 = clock.now();
    void start();
    await clock.advance(10 * MINUTE - 1);
    expect(ids()).toEqual(['d1']);
    await clock.advance(1);
    expect(ids().toSorted()).toEqual(['d1', 'd1', 'd2']);
    expect(sent[1]?.at).toBe(start1 + 10 * MINUTE);
  });

  test.each([25 * HOUR, Number.MAX_SAFE_INTEGER])(
    'is silenced for no longer than an hour by a wait of %i ms',
    async (wait) => {
      failures = [refusal(wait)];
      await queue(['d1', 'd1'], ['d2', 'd2']);
      void start();
      await clock.advance(HOUR);
      expect((await states()).toSorted()).toEqual(['d1 sent', 'd2 sent']);
    },
  );

  test('retries with a growing pause, and reports the channel until it works', async () => {
    failures = [refusal(), refusal(), new ChannelError('timeout', 'unknown')];
    await queue(['d1', 'd1']);
    const begin = clock.now();
    void start();
    await clock.advance(20_000);
    expect(sent.map(({ at }) => at - begin)).toEqual([0, 5000, 15_000]);
    expect(await notifications.facts()).toMatchObject([
      { code: 'channel-failing', subject: 'ops', since: begin, summary: expect.stringContaining('timeout') },
    ]);
    await clock.advance(MINUTE);
    expect(sent.at(-1)?.at).toBe(begin + 35_000);
    expect(await notifications.facts()).toEqual([]);
    expect(await states()).toEqual(['d1 sent']);
  });

  test('gives a delivery up after 24 hours', async () => {
    failures = Array.from({ length: 100 }, () => refusal());
    await queue(['d1', 'd1']);
    void start();
    await clock.advance(23 * HOUR);
    expect(await states()).toEqual(['d1 refused']);
    await clock.advance(2 * HOUR);
    expect(await states()).toEqual(['d1 failed']);
    expect(sent.length).toBeLessThan(40);
    expect((await notifications.facts()).length).toBe(1);
  });

  test('sends others while one is rejected, which is repeated each hour', async () => {
    failures = [new ChannelError('too large', 'rejected')];
    await queue(['d1', 'd1'], ['d2', 'd2']);
    void start();
    await clock.advance(1000);
    expect(ids()).toEqual(['d1', 'd2']);
    await clock.advance(HOUR);
    expect(ids()).toEqual(['d1', 'd2', 'd1']);
  });

  test('gives a message in flight time to end when the daemon stops, and starts no other', async () => {
    const answer = Promise.withResolvers<null>();
    await queue(['d1', 'd1'], ['d2', 'd2']);
    const running = start(() => answer.promise);
    await clock.advance(1000);
    stopping.abort();
    await clock.advance(1000);
    answer.resolve(null);
    await clock.run(running);
    expect(await states()).toEqual(['d2 queued', 'd1 sent']);
  });

  test('counts a message without an answer as one that may have arrived', async () => {
    await queue(['d1', 'd1']);
    void start((_outgoing, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject())));
    await clock.advance(61_000);
    expect(await notifications.deliveries({ limit: 1 })).toMatchObject([
      { id: 'd1', state: 'queued', mayHaveArrived: true, attempts: 1 },
    ]);
  });
});

describe('a delivery loop whose lease may end', () => {
  /** Starts a loop whose lease ends after some milliseconds. */
  function startLeased(milliseconds: number, send?: Channel['send']) {
    const end = clock.monotonic() + milliseconds;
    void start(send, () => end - clock.monotonic());
    return end;
  }

  test('sends nothing without enough of the lease for an attempt', async () => {
    await queue(['d1', 'd1']);
    startLeased(2999);
    await clock.advance(HOUR);
    expect(sent).toEqual([]);
    expect(await states()).toEqual(['d1 queued']);
  });

  test('gives an attempt up two seconds before the end, so that the next owner does not send at the same time', async () => {
    let abortedAt: number | null = null;
    await queue(['d1', 'd1']);
    const end = startLeased(30_000, (_outgoing, signal) => {
      signal.addEventListener('abort', () => {
        abortedAt = clock.monotonic();
      });
      return new Promise(() => undefined);
    });
    await clock.advance(30_000);
    expect(abortedAt).toBe(end - 2000);
    expect(await notifications.deliveries({ limit: 1 })).toMatchObject([{ id: 'd1', mayHaveArrived: true }]);
  });

  test('sends once what it has begun without knowing, because the answer of the database was lost', async () => {
    await queue(['d1', 'd1'], ['d2', 'd1']);
    const { begin } = notifications;
    let losses = 2;
    notifications.begin = async (...given) => {
      const attempt = await begin.apply(notifications, given);
      losses -= 1;
      if (losses >= 0) {
        throw new StoreError('did not confirm a commit');
      }
      return attempt;
    };
    void start();
    await clock.advance(HOUR);
    expect(ids()).toEqual(['d1', 'd2']);
    expect(await states()).toEqual(['d2 sent', 'd1 sent']);
  });

  test('sends nothing if the lease became too short after the delivery was taken', async () => {
    let isShort = false;
    await queue(['d1', 'd1']);
    const { begin } = notifications;
    notifications.begin = async (...given) => {
      const attempt = await begin.apply(notifications, given);
      isShort = true;
      return attempt;
    };
    void start(undefined, () => (isShort ? 2000 : 60_000));
    await clock.advance(HOUR);
    expect(sent).toEqual([]);
    expect(await states()).toEqual(['d1 refused']);
  });
});
