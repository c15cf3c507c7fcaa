import { beforeEach, describe, expect, test } from 'vitest';
import type { Ingestion } from '../../src/conversations/ingestion.ts';
import { AuthError, RejectedError, TransientError } from '../../src/core/errors.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import { ConversationSink } from '../support/conversation-sink.ts';
import { createIngestion, Helpdesk, testWebhook } from '../support/helpdesk.ts';

/* A source whose list omits deleted tickets and spam: each ticket is fetched again at the end of its settle delay. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let clock: VirtualClock;
let sink: ConversationSink;
let desk: Helpdesk;
let outbox: Outbox;
let ingestion: Ingestion;
let reportedEvents: unknown[];

beforeEach(() => {
  clock = createVirtualClock();
  sink = new ConversationSink();
  desk = new Helpdesk({ listsDeleted: false });
  reportedEvents = [];
  open();
});

function open({ items = 1000, settleDelay = HOUR } = {}): void {
  outbox = openMemoryStore().outbox('org_1', { items, bytes: 1e6 });
  const polling = desk.source('desk', () => clock.sleep(200));
  ingestion = createIngestion({
    sources: [{ name: 'desk', polling, webhook: testWebhook(), every: 5 * MINUTE, since: 24 * HOUR }],
    outbox,
    writer: sink.write(clock),
    settleDelay,
    clock,
    events: { onRejected: (what) => reportedEvents.push(what) },
  });
}

const solve = (...ids: string[]) => {
  for (const id of ids) {
    desk.edit(id, 'solved', clock.now());
  }
};
const sentIds = () => sink.accepted.map(({ conversations }) => conversations.map(({ id }) => id.at(-1)).join(''));
const status = async () => (await ingestion.status()).sources[0];
/** Answers to a fetch of one ticket; the other tickets exist. */
function failFetches(of: readonly string[], error: Error | null) {
  const fetch = desk.found.bind(desk);
  desk.found = (id) => {
    if (error !== null && of.includes(id)) {
      throw error;
    }
    return fetch(id);
  };
  return () => {
    desk.found = fetch;
  };
}

test('an unchanged ticket is sent at the end of its settle delay, after one fetch and no poll', async () => {
  solve('1', '2');
  ingestion.start();
  await clock.advance(HOUR - MINUTE);
  expect([desk.fetches, sink.attempts.length]).toEqual([0, 0]);
  await clock.advance(MINUTE + 1000);
  expect(sentIds()).toEqual(['12']);
  expect(desk.fetches).toBe(2);
  await clock.advance(24 * HOUR);
  expect([desk.fetches, sink.attempts.length]).toEqual([2, 1]);
  expect(await status()).toMatchObject({ waiting: 0, counts: { queued: 2, unchanged: 2, sent: 2 } });
});

test('a ticket that was deleted, marked as spam or reopened during its settle delay is never sent', async () => {
  solve('1', '2', '3', '4');
  ingestion.start();
  await clock.advance(50 * MINUTE);
  expect(await status()).toMatchObject({ waiting: 4 });
  desk.edit('1', 'deleted', clock.now());
  desk.edit('2', 'spam', clock.now());
  desk.edit('3', 'open', clock.now());
  await clock.advance(24 * HOUR);
  expect(sentIds()).toEqual(['4']);
  expect(await status()).toMatchObject({ waiting: 0, counts: { withdrawn: 3 } });
  expect(JSON.stringify(sink.attempts)).not.toMatch(/desk\/acme\/[123]/);
});

test('a ticket that was solved again in the meantime waits again, and is rechecked at the new end', async () => {
  solve('1');
  ingestion.start();
  await clock.advance(HOUR - MINUTE);
  solve('1');
  await clock.advance(2 * MINUTE);
  expect(sink.attempts).toEqual([]);
  desk.edit('1', 'deleted', clock.now());
  await clock.advance(24 * HOUR);
  expect(sink.attempts).toEqual([]);
});

test('a ticket whose settle delay is over when it is found is sent at once, without another fetch', async () => {
  solve('1');
  await clock.advance(2 * HOUR);
  ingestion.start();
  await clock.advance(MINUTE);
  expect(sentIds()).toEqual(['1']);
  expect(desk.fetches).toBe(0);
});

describe('a fetch that fails', () => {
  test('of one ticket delays only this ticket, and is reported once', async () => {
    solve('1', '2', '3');
    const restoreFetches = failFetches(['2'], null);
    ingestion.start();
    await clock.advance(30 * MINUTE);
    failFetches(['2'], new RejectedError('desk: status 400', 400));
    await clock.advance(32 * MINUTE);
    expect(sentIds()).toEqual(['13']);
    expect(await status()).toMatchObject({ waiting: 1, pollAgeSeconds: expect.any(Number) });
    expect((await status())?.pollAgeSeconds).toBeLessThanOrEqual((5 * MINUTE) / 1000);
    expect(reportedEvents).toEqual([
      {
        source: 'desk',
        place: 'desk/acme/2',
        reason: 'cannot read the ticket again before sending it: desk: status 400',
      },
    ]);
    solve('4');
    await clock.advance(61 * MINUTE);
    expect(sentIds()).toEqual(['13', '4']);
    restoreFetches();
    await clock.advance(16 * MINUTE);
    expect(sentIds()).toEqual(['13', '4', '2']);
    expect(await status()).toMatchObject({ waiting: 0, error: null });
  });

  test('of every ticket is reported as a fault of the provider, and all are sent later', async () => {
    const ids = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
    solve(...ids);
    const restoreFetches = failFetches([], null);
    ingestion.start();
    await clock.advance(30 * MINUTE);
    failFetches(ids, new TransientError('desk: status 503', false));
    await clock.advance(30 * MINUTE + 1000);
    expect(desk.fetches).toBe(9);
    expect(await status()).toMatchObject({ waiting: 9, error: 'desk: status 503' });
    restoreFetches();
    await clock.advance(16 * MINUTE);
    expect(sentIds().join('').split('').sort()).toEqual(ids);
    expect(await status()).toMatchObject({ waiting: 0, error: null });
    expect(reportedEvents).toEqual([]);
  });

  test('because of the credentials pauses all requests', async () => {
    solve('1', '2');
    const restoreFetches = failFetches([], null);
    ingestion.start();
    await clock.advance(30 * MINUTE);
    failFetches(['1', '2'], new AuthError('desk: status 401', 401));
    await clock.advance(30 * MINUTE + 1000);
    expect(desk.fetches).toBe(2);
    expect(await status()).toMatchObject({ waiting: 2, error: 'desk: status 401' });
    restoreFetches();
    await clock.advance(HOUR);
    expect(sink.contents.size).toBe(2);
  });
});

test('a full outbox drains while rechecks wait for room', async () => {
  open({ items: 2 });
  solve('1', '2');
  ingestion.start();
  await clock.advance(30 * MINUTE);
  solve('3', '1');
  desk.edit('2', 'deleted', clock.now());
  await clock.advance(20 * MINUTE);
  expect(await status()).toMatchObject({ waiting: 2 });
  await clock.advance(4 * HOUR);
  expect(new Map([...sink.contents].map(([id, { parts }]) => [id, parts[0]?.body]))).toEqual(desk.expected());
  expect(sink.needless()).toEqual([]);
  expect(await status()).toMatchObject({ waiting: 0 });
});

test('a recheck can replace its ticket with a larger one even if the outbox is full', async () => {
  open({ items: 1 });
  for (let version = 1; version <= 8; version += 1) {
    desk.edit('9', 'open', clock.now());
  }
  solve('1');
  ingestion.start();
  await clock.advance(30 * MINUTE);
  solve('2');
  await clock.advance(20 * MINUTE);
  // Its version has one more digit now.
  solve('1');
  await clock.advance(4 * HOUR);
  expect(new Map([...sink.contents].map(([id, { parts }]) => [id, parts[0]?.body]))).toEqual(desk.expected());
  expect(sentIds()).toEqual(['1', '2']);
});

test('records that wait for room do not replace tickets that were rechecked in the meantime', async () => {
  open({ items: 1 });
  solve('1');
  const intake = ingestion.intake('desk');
  const { signal } = new AbortController();
  await intake.take([desk.found('1')], {}, signal);
  solve('1', '2');
  const earlier = [desk.found('1'), desk.found('2')];
  desk.edit('1', 'deleted', clock.now());
  const meanwhile = async () => {
    await intake.take([desk.found('1')], { rechecked: ['desk/acme/1'] }, signal);
    return new Set(['desk/acme/1']);
  };
  const taken = intake.take(earlier, {}, signal, { meanwhile });
  expect(await clock.run(taken)).toBe('kept');
  expect(await outbox.rechecks('desk', clock.now() + HOUR, 9)).toEqual([{ key: 'desk/acme/2', id: '2' }]);
  expect(await status()).toMatchObject({ waiting: 1 });
});

test('single runs send a ticket after its settle delay, and report a failed recheck', async () => {
  solve('1', '2');
  expect(await clock.run(ingestion.once())).toBe(true);
  await clock.advance(2 * HOUR);
  const restoreFetches = failFetches(['1'], new RejectedError('desk: status 400', 400));
  expect(await clock.run(ingestion.once())).toBe(false);
  expect(sentIds()).toEqual(['2']);
  restoreFetches();
  await clock.advance(HOUR);
  expect(await clock.run(ingestion.once())).toBe(true);
  expect(sentIds()).toEqual(['2', '1']);
});

test('a dead letter is rechecked before it is retried', async () => {
  solve('1', '2');
  sink.refuses = () => 'not today';
  ingestion.start();
  await clock.advance(2 * HOUR);
  expect(await status()).toMatchObject({ deadLetters: 2 });
  sink.refuses = () => null;
  desk.edit('1', 'deleted', clock.now());
  expect(await ingestion.retry({})).toBe(2);
  await clock.advance(1000);
  expect(sentIds()).toEqual(['2']);
  expect(await status()).toMatchObject({ waiting: 0, deadLetters: 0 });
});
