import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PlatformDestination } from '../../src/conversations/destination.ts';
import type { ConversationEvents, SenderState } from '../../src/conversations/model/source.ts';
import { ConversationSender, decide } from '../../src/conversations/sender.ts';
import { WakeUpSignal } from '../../src/core/clock.ts';
import { StoreError } from '../../src/core/errors.ts';
import { openWriter } from '../../src/platform/client.ts';
import { ConversationsProbe } from '../../src/platform/conversations-probe.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import { ConversationSink } from '../support/conversation-sink.ts';

const MINUTE = 60_000;

let clock: VirtualClock;
let sink: ConversationSink;
let outbox: Outbox;
let work: WakeUpSignal;
let sender: ConversationSender;
let states: SenderState[];
let reportedEvents: string[];

beforeEach(() => {
  clock = createVirtualClock();
  sink = new ConversationSink();
  outbox = openMemoryStore().outbox('org_1', { items: 10_000, bytes: 100_000_000 });
  work = new WakeUpSignal();
  states = [];
  reportedEvents = [];
  open();
});
afterEach(() => clock.run(sender.stop(0)));

function open(batch = { maxConversations: 50, maxBytes: 1_000_000 }, of: Outbox = outbox): void {
  const connection = sink.connect(clock);
  const writer = openWriter(connection, { organization: 'org_1', priority: 'ingestion' });
  const events: ConversationEvents = {
    onSenderState: (state) => states.push(state),
    onRefused: ({ key, reason }) => reportedEvents.push(`${key}: ${reason}`),
    onDoubt: ({ items, times }) => reportedEvents.push(`${items} in doubt, ${times}`),
  };
  sender = new ConversationSender({
    outbox: of,
    destination: new PlatformDestination({
      writer,
      site: null,
      probe: new ConversationsProbe(),
      bytes: 1e6,
      events: {},
    }),
    batch,
    clock,
    // Non-zero, so that times are fractional, as with a real generator.
    random: () => 1e-7,
    work,
    room: new WakeUpSignal(),
    events,
  });
}

async function put(...keys: string[]): Promise<void> {
  await outbox.put({
    source: 'desk',
    at: clock.now(),
    entries: keys.map((name) => {
      const [key = '', version = '1', length = '1'] = name.split(':');
      const body = `${version} `.padEnd(Number(length), 'x');
      return {
        kind: 'content',
        key,
        hash: name,
        redactor: '1',
        payload: JSON.stringify({ id: key, parts: [{ type: 'message', role: 'user', body }] }),
        notBefore: null,
      };
    }),
    counts: {},
  });
  work.notify();
}
const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
const tried = () => sink.attempts.map(({ ids }) => ids.join(''));
const taken = () => sink.accepted.map(({ conversations }) => conversations.map(({ id }) => id).join(''));
async function sourceStatus() {
  return (await outbox.status()).sources.find(({ source }) => source === 'desk');
}
const sendDue = () => clock.run(sender.sendDue());

describe('batches', () => {
  test('are limited by count, oldest first; a batch of one is not a list', async () => {
    open({ maxConversations: 2, maxBytes: 1_000_000 });
    await put('a', 'b', 'c');
    expect(await sendDue()).toEqual({ kind: 'idle' });
    expect(taken()).toEqual(['ab', 'c']);
    expect(sink.accepted.map(({ body }) => body[0])).toEqual(['[', '{']);
    expect(await sourceStatus()).toMatchObject({ waiting: 0, sending: 0, counts: { sent: 3 } });
  });

  test('are limited by bytes; a larger conversation is sent alone', async () => {
    open({ maxConversations: 50, maxBytes: 1000 });
    await put('a:1:300', 'b:1:300', 'c:1:2000', 'd', 'e:1:800');
    await sendDue();
    expect(taken()).toEqual(['ab', 'c', 'de']);
    expect(sink.accepted.every(({ body, conversations }) => body.length <= 1000 || conversations.length === 1)).toBe(
      true,
    );
  });
});

describe('the number of batches in flight', () => {
  test('is at most four, after the first one was answered', async () => {
    open({ maxConversations: 2, maxBytes: 1_000_000 });
    await put(...letters);
    sender.start();
    await clock.advance(99);
    expect(tried()).toEqual(['ab']);
    expect(sender.inFlight).toBe(1);
    await clock.advance(100);
    expect(tried()).toEqual(['ab', 'cd', 'ef', 'gh', 'ij']);
    expect(sender.inFlight).toBe(4);
    await clock.advance(MINUTE);
    expect(sink.contents.size).toBe(26);
    expect(sender.inFlight).toBe(0);
    expect(sender.state).toEqual({ kind: 'idle' });
  });

  test('keeps them together not much longer than the largest batch', async () => {
    open({ maxConversations: 2, maxBytes: 1000 });
    await put('a', 'b');
    await sendDue();
    await put('c:1:600', 'd:1:600', 'e:1:300', 'f', 'g', 'h');
    sender.start();
    await clock.advance(60);
    expect(tried()).toEqual(['ab', 'c', 'd']);
    await clock.advance(100);
    expect(tried()).toEqual(['ab', 'c', 'd', 'ef', 'gh']);
  });
});

describe('several batches in flight', () => {
  beforeEach(async () => {
    open({ maxConversations: 2, maxBytes: 1_000_000 });
    // Until the first answer, only one is in flight.
    await put('a', 'b');
    await sendDue();
  });

  test('that are lost together count as one failure, and one batch at a time is tried until an answer', async () => {
    await put(...letters.slice(2));
    sink.fault = () => 'drop-after';
    sender.start();
    await clock.advance(1100);
    expect(tried()).toHaveLength(5);
    expect(await sourceStatus()).toMatchObject({ inDoubt: 8 });
    expect(sender.state).toMatchObject({ kind: 'failing' });
    await clock.advance(1000);
    // After the first backoff, of a second; all four are still resting, and no fifth batch is put in doubt.
    expect(tried()).toHaveLength(5);
    let most = 0;
    for (let n = 0; n < 1200; n += 1) {
      await clock.advance(10);
      most = Math.max(most, sender.inFlight);
    }
    expect(most).toBe(1);
    expect(tried().length).toBeLessThan(10);
    sink.fault = () => null;
    await clock.advance(MINUTE);
    expect(sink.contents.size).toBe(26);
    expect(sink.needless()).toEqual([]);
  });

  test('an answer to a request from before a failure does not end the pause', async () => {
    sink.fault = ({ number }) => (number === 2 ? 401 : null);
    await put('c', 'd', 'e', 'f', 'g', 'h');
    sender.start();
    await clock.advance(MINUTE);
    expect(sink.contents.size).toBe(6);
    expect(sender.state).toMatchObject({ kind: 'refused' });
    expect(await sourceStatus()).toMatchObject({ waiting: 2, sending: 0, inDoubt: 0 });
    await put('i');
    await clock.advance(8 * MINUTE);
    expect(tried()).toHaveLength(4);
  });

  test('each get their time when the sender stops, and no request is started', async () => {
    await put(...letters.slice(2));
    sender.start();
    await clock.advance(60);
    await clock.run(sender.stop(5000));
    expect(tried()).toHaveLength(5);
    expect(await sourceStatus()).toMatchObject({ sending: 0, waiting: 16, counts: { sent: 10 } });
    expect([sender.inFlight, sender.state]).toEqual([0, { kind: 'stopped' }]);
  });

  test('that wait for the rate limit are returned when the sender stops, and the others are recorded', async () => {
    sink.fault = ({ number }) => (number > 2 ? 429 : null);
    await put(...letters.slice(2));
    sender.start();
    await clock.advance(500);
    await clock.run(sender.stop(300));
    expect(await sourceStatus()).toMatchObject({ sending: 0, inDoubt: 0, counts: { sent: 4 } });
  });
});

describe('a refused batch', () => {
  test.each([400, 413, 422])(
    'with status %i is halved until the bad item is alone, and the others are sent',
    async (status) => {
      await put(...letters);
      sink.fault = ({ ids }) => (ids.includes('k') ? status : null);
      expect(await sendDue()).toEqual({ kind: 'idle' });
      expect([...sink.contents.keys()].sort()).toEqual(letters.filter((key) => key !== 'k'));
      expect(sink.attempts.length).toBeLessThan(12);
      expect(await outbox.dead({}, 10)).toMatchObject([
        { key: 'k', reason: `ingestConversations: the platform refused it (${status}): fault ${status}` },
      ]);
      expect(reportedEvents).toHaveLength(1);
      expect(sink.needless()).toEqual([]);
    },
  );

  test('a platform that refuses lists is detected, and gets one conversation at a time', async () => {
    sink.takesLists = false;
    await put(...letters, ...letters.map((key) => key.toUpperCase()));
    await sendDue();
    expect(sink.contents.size).toBe(52);
    expect(await outbox.dead({}, 10)).toEqual([]);
    await put('1', '2', '3');
    const before = sink.attempts.length;
    await sendDue();
    expect(tried().slice(before)).toEqual(['1', '2', '3']);
  });

  test('is the only one in flight until it is known what the platform accepts', async () => {
    sink.takesLists = false;
    open({ maxConversations: 4, maxBytes: 1_000_000 });
    await put(...letters);
    sender.start();
    let most = 0;
    while (tried().filter((ids) => ids.length === 1).length < 3) {
      await clock.advance(10);
      most = Math.max(most, sender.inFlight);
    }
    expect(most).toBe(1);
    await clock.advance(MINUTE);
    expect(sink.contents.size).toBe(26);
    expect(await outbox.dead({}, 10)).toEqual([]);
  });

  test('a conversation that the client refuses to send becomes a dead letter', async () => {
    await put('a', 'x'.repeat(300), 'b');
    await sendDue();
    expect(taken().join('')).toBe('ab');
    expect(await outbox.dead({}, 10)).toMatchObject([
      { key: 'x'.repeat(300), reason: expect.stringContaining('not sent') },
    ]);
  });
});

describe('a lost answer', () => {
  test('is followed by the same body, once', async () => {
    await put('a', 'b', 'c');
    sink.fault = ({ number }) => (number === 1 ? 'drop-after' : null);
    sender.start();
    await clock.advance(MINUTE);
    expect(sink.attempts).toHaveLength(2);
    expect(sink.attempts[0]?.body).toBe(sink.attempts[1]?.body);
    expect(reportedEvents).toEqual(['3 in doubt, 1']);
    expect(await sourceStatus()).toMatchObject({ inDoubt: 0, counts: { sent: 3, doubted: 3 } });
    expect(sender.state).toEqual({ kind: 'idle' });
  });

  test('of an earlier process stays in doubt until the platform accepts requests', async () => {
    await put('a', 'b');
    await outbox.next({ items: 50, bytes: 1000, open: 1 }, clock.now());
    await put('c');
    sink.fault = ({ number }) => (number === 1 ? 401 : null);
    sender.start();
    await clock.advance(1000);
    expect(await sourceStatus()).toMatchObject({ inDoubt: 2 });
    sender.resume();
    await clock.advance(MINUTE);
    expect(tried()).toEqual(['ab', 'ab', 'c']);
  });

  test('that repeats for every batch causes backoff, and all are sent after recovery', async () => {
    open({ maxConversations: 1, maxBytes: 1000 });
    await put(...letters);
    sink.fault = () => 500;
    sender.start();
    await clock.advance(60 * MINUTE);
    expect(sender.state).toMatchObject({ kind: 'failing', reason: expect.stringContaining('500') });
    expect((await sourceStatus())?.inDoubt).toBeLessThan(9);
    expect(sink.attempts.length).toBeLessThan(40);
    sink.fault = () => null;
    await clock.advance(20 * MINUTE);
    expect(sink.contents.size).toBe(26);
    expect(sink.needless()).toEqual([]);
    expect(await outbox.dead({}, 10)).toEqual([]);
  });

  test('that repeats for one conversation makes it a dead letter, without delaying others', async () => {
    await put('a', 'b', 'c', 'bad', 'e');
    sink.fault = ({ ids }) => (ids.includes('bad') ? 502 : null);
    sender.start();
    for (let n = 0; n < 200; n += 1) {
      await put(`later${n}`);
      await clock.advance(MINUTE);
    }
    expect(sink.contents.size).toBe(204);
    expect(await outbox.dead({}, 10)).toMatchObject([
      { key: 'bad', reason: expect.stringMatching(/^no response after 6 attempts, while other batches/) },
    ]);
    expect(sink.needless()).toEqual([]);
  });
});

test('a batch that an intermediary refused is in doubt: the platform may have accepted it', () => {
  const refused = { kind: 'refused', reason: 'why', maybeTaken: true } as const;
  expect(decide({ items: 2, doubts: 0, othersAnswered: true }, refused)).toMatchObject({ change: { kind: 'doubt' } });
});

describe('a platform that accepts nothing', () => {
  test.each([
    [401, 'refused', 'the platform does not accept the token (401): fault 401; replace it, see docs/token.md'],
    [403, 'refused', 'the token has no permission for ingestConversations (403): fault 403'],
    [402, 'refused', 'ingestConversations: the platform refused it (402): fault 402'],
    [
      404,
      'unsupported',
      'this platform has no conversations: ingestConversations: not found (404): fault 404; does the organization ' +
        '"org_1" exist, and may the token see it?; from 0.167 on, platforms take context records of a site instead: ' +
        'name the site in conversations.site',
    ],
    [410, 'unsupported', expect.stringContaining('conversations.site')],
  ] as const)('%i: %s, and nothing is lost', async (status, kind, reason) => {
    await put('a', 'b');
    sink.fault = () => status;
    sender.start();
    await clock.advance(9 * MINUTE);
    expect(sink.attempts).toHaveLength(1);
    expect(sender.state).toEqual({ kind, reason });
    await put('c');
    await clock.advance(MINUTE / 2);
    // No retry only to refresh the status; waiting conversations are not in doubt.
    expect(sink.attempts).toHaveLength(1);
    expect(await sourceStatus()).toMatchObject({ waiting: 3, inDoubt: 0, deadLetters: 0 });
    await clock.advance(55 * MINUTE);
    expect(sink.attempts.length).toBeGreaterThan(1);
    sink.fault = () => null;
    sender.resume();
    await clock.advance(MINUTE);
    expect([...sink.contents.keys()]).toEqual(['a', 'b', 'c']);
    expect(sender.state).toEqual({ kind: 'idle' });
    expect(states.map((state) => state.kind)).toEqual([kind, 'sending', 'idle']);
  });

  test('without a connection, everything waits again and nothing is in doubt', async () => {
    await put('a', 'b');
    sink.fault = () => 429;
    sender.start();
    await clock.advance(MINUTE);
    expect((await sourceStatus())?.inDoubt).toBe(0);
    sink.fault = () => null;
    await clock.advance(15 * MINUTE);
    expect(taken()).toEqual(['ab']);
  });
});

describe('stopping', () => {
  test('marks a request as in doubt that does not end in time', async () => {
    await put('a');
    sink.fault = () => 'drop-after';
    sender.start();
    await clock.advance(60);
    await clock.run(sender.stop(10));
    expect(await sourceStatus()).toMatchObject({ inDoubt: 1 });
  });
});

test('does not delay requests when the wall clock is set back by a day', async () => {
  const { now } = clock;
  let back = 0;
  // Like real clocks: only the monotonic one has fractions of milliseconds.
  clock.now = () => Math.floor(now()) - back;
  const { monotonic } = clock;
  clock.monotonic = () => monotonic() + (back === 0 ? 0 : 0.4);
  await put('a', 'b');
  sink.fault = ({ number }) => (number === 1 ? 'drop-after' : null);
  sender.start();
  await clock.advance(500);
  await put('c');
  back = 24 * 60 * MINUTE;
  await clock.advance(5 * MINUTE);
  expect(taken()).toEqual(['ab', 'c', 'ab']);
});

test('reads an outbox without content once a minute, and writes nothing', async () => {
  const calls: string[] = [];
  const watched: Outbox = {
    ...outbox,
    next: (limits, now) => {
      calls.push('next');
      return outbox.next(limits, now);
    },
    dueAt: (limits) => {
      calls.push('dueAt');
      return outbox.dueAt(limits);
    },
  };
  open(undefined, watched);
  sender.start();
  await clock.advance(1000);
  calls.length = 0;
  await clock.advance(5 * MINUTE);
  expect(calls).toEqual(Array(5).fill('dueAt'));
  expect(sender.state).toEqual({ kind: 'idle' });
});

test('finds what another process has stored without a notification within a minute', async () => {
  sender.start();
  await clock.advance(90_000);
  const { notify } = work;
  work.notify = () => undefined;
  await put('a');
  work.notify = notify;
  await clock.advance(MINUTE);
  expect(taken()).toEqual(['a']);
});

test('records a pending outcome before it sends anything else', async () => {
  let isBroken = true;
  const broken: Outbox = {
    ...outbox,
    sent: (batch, at) => (isBroken ? Promise.reject(new StoreError('the disk is full')) : outbox.sent(batch, at)),
  };
  open({ maxConversations: 1, maxBytes: 1000 }, broken);
  await put('a', 'b');
  sender.start();
  await clock.advance(10 * MINUTE);
  expect(taken()).toEqual(['a']);
  expect(sender.state).toEqual({ kind: 'failing', reason: 'the disk is full' });
  isBroken = false;
  await clock.advance(10 * MINUTE);
  expect(taken()).toEqual(['a', 'b']);
});
