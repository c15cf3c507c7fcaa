import { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Ingestion } from '../../src/conversations/ingestion.ts';
import { convertTicket } from '../../src/conversations/intake.ts';
import type {
  ConversationEvents,
  IntakeCounts,
  PollingSource,
  WebhookResult,
} from '../../src/conversations/model/source.ts';
import type { Redactor, Ticket } from '../../src/conversations/model/ticket.ts';
import { RedactionThreads } from '../../src/conversations/redact/redaction-threads.ts';
import { createConversationRedactor } from '../../src/conversations/redact/redactor.ts';
import { AuthError, CancelledError, RateLimitedError, RejectedError, TransientError } from '../../src/core/errors.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import type { Outbox } from '../../src/store/outbox/outbox.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import { ConversationSink } from '../support/conversation-sink.ts';
import { createIngestion, Helpdesk, testRedactor, testWebhook } from '../support/helpdesk.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let clock: VirtualClock;
let sink: ConversationSink;
let desk: Helpdesk;
let outbox: Outbox;
let ingestion: Ingestion;
let taken: IntakeCounts[];
let reportedEvents: unknown[];

beforeEach(() => {
  clock = createVirtualClock();
  sink = new ConversationSink();
  desk = new Helpdesk();
  taken = [];
  reportedEvents = [];
  open();
});

interface Opening {
  readonly limit?: { readonly items: number; readonly bytes: number };
  readonly settleDelay?: number;
  readonly polling?: PollingSource;
  readonly redactor?: Redactor;
  readonly threads?: RedactionThreads;
}

function open({
  limit = { items: 1000, bytes: 1e6 },
  settleDelay = 0,
  polling = desk.source(),
  redactor = testRedactor,
  threads,
}: Opening = {}): void {
  outbox = openMemoryStore().outbox('org_1', limit);
  const events: ConversationEvents = {
    onIntake: (what) => taken.push(what),
    onRejected: (what) => reportedEvents.push({ rejected: what }),
    onShortfall: (what) => reportedEvents.push({ shortfall: what }),
    onPressure: (what) => reportedEvents.push({ pressure: what }),
    onPollEnd: ({ error, again }) => reportedEvents.push({ end: error?.message ?? null, again }),
  };
  ingestion = createIngestion({
    sources: [{ name: 'desk', polling, webhook: testWebhook(), every: 5 * MINUTE, since: 24 * HOUR }],
    outbox,
    redactor,
    ...(threads === undefined ? {} : { threads }),
    writer: sink.write(clock),
    settleDelay,
    clock,
    events,
  });
}

const solve = (...ids: string[]) => {
  for (const id of ids) {
    desk.edit(id, 'solved', clock.now());
  }
};
const received = () => new Map([...sink.contents].map(([id, { parts }]) => [id, parts[0]?.body]));
const deliver = (webhookResult: WebhookResult) => clock.run(deliverNow(webhookResult));
/** Delivers without the virtual clock: real threads take real time. */
const deliverNow = (webhookResult: WebhookResult) =>
  ingestion.deliver('desk', {
    headers: {},
    body: Buffer.from(JSON.stringify(webhookResult)),
    receivedAt: clock.now(),
  });
const status = async () => (await ingestion.status()).sources[0];

describe('from a source to the platform', () => {
  test('keeps what became of each ticket, and counts the days', async () => {
    solve('1', '2', '3');
    desk.edit('2', 'spam', clock.now());
    ingestion.start();
    await clock.advance(HOUR);
    desk.edit('3', 'open', clock.now());
    await clock.advance(HOUR);
    expect(await outbox.find('1')).toMatchObject([{ key: 'desk/acme/1', sentAt: expect.any(Number), leftOut: null }]);
    expect(await outbox.find('2')).toMatchObject([{ sentAt: null, leftOut: { reason: 'spam' } }]);
    expect(await outbox.find('desk/acme/3')).toMatchObject([
      { sentAt: expect.any(Number), leftOut: { reason: 'open' } },
    ]);
    solve('3');
    await clock.advance(HOUR);
    expect(await outbox.find('3')).toMatchObject([{ leftOut: null }]);
    const { days, leftOut } = await outbox.recent(clock.now());
    expect([days.get('sent')?.at(-1), leftOut.get('spam'), leftOut.get('open')]).toEqual([
      3,
      ['desk/acme/2'],
      undefined,
    ]);
    expect((await status())?.arrivedAt).toBeGreaterThan(clock.now() - 2 * HOUR);
  });

  test('finds, redacts and sends a ticket once', async () => {
    solve('1', '2', '3', '4');
    desk.edit('2', 'spam', clock.now());
    ingestion.start();
    await clock.advance(HOUR);
    expect(received()).toEqual(desk.expected());
    expect(sink.accepted.length).toBeLessThanOrEqual(2);
    expect(sink.needless()).toEqual([]);
    expect(await status()).toMatchObject({
      cursor: 5,
      waiting: 0,
      deadLetters: 0,
      inDoubt: 0,
      error: null,
      oldestWaitSeconds: null,
      counts: { sent: 3, 'skipped.spam': 2, 'redacted.secret': 3, found: 5 },
    });
    expect((await status())?.pollAgeSeconds).toBeLessThanOrEqual((5 * MINUTE) / 1000);
  });

  test('sends an edited ticket again, and an unchanged one only once', async () => {
    solve('1', '2');
    ingestion.start();
    await clock.advance(10 * MINUTE);
    solve('2');
    await ingestion.resync('desk', 0);
    await clock.advance(10 * MINUTE);
    expect(received()).toEqual(desk.expected());
    expect(sink.accepted.map(({ conversations }) => conversations.map(({ id }) => id.at(-1)).join(''))).toEqual([
      '12',
      '2',
    ]);
    expect((await status())?.counts.unchanged).toBe(1);
  });
});

/** A delivery with the conversations themselves. */
const foundIn = (delivery: string, ...ids: string[]): WebhookResult => ({
  kind: 'found',
  delivery,
  found: ids.map((id) => desk.found(id)),
});

describe('hints', () => {
  test('lead to an immediate fetch, and are followed once', async () => {
    ingestion.start();
    await clock.advance(MINUTE);
    solve('1');
    const hint: WebhookResult = { kind: 'hints', delivery: 'd1', ids: ['1'] };
    expect(await deliver(hint)).toEqual({ status: 202, reason: null });
    expect(await deliver(hint)).toEqual({ status: 202, reason: null });
    await clock.advance(1000);
    expect(desk.fetches).toBe(1);
    expect(received()).toEqual(desk.expected());
    expect(await status()).toMatchObject({ hints: 0 });
    const nobody = { headers: {}, body: Buffer.alloc(0), receivedAt: 0 };
    expect(await ingestion.deliver('other', nobody)).toMatchObject({ status: 404 });
  });

  test('are dropped after permanent failures, and kept after temporary ones', async () => {
    ingestion.start();
    await clock.advance(MINUTE);
    desk.failure = () => new TransientError('down', false);
    await deliver({ kind: 'hints', delivery: null, ids: ['1'] });
    await clock.advance(1000);
    expect(await status()).toMatchObject({ hints: 1, error: 'down' });
    desk.failure = () => new RejectedError('no such ticket', 400);
    await clock.advance(HOUR);
    expect(await status()).toMatchObject({ hints: 0, counts: { rejected: 1 } });
    expect(reportedEvents).toContainEqual({ rejected: { source: 'desk', place: 'a hint', reason: 'no such ticket' } });
  });

  test('for an inaccessible ticket are dropped, and do not delay polls', async () => {
    const fetch = desk.found.bind(desk);
    desk.found = (id) => {
      if (id === '1') {
        throw new AuthError('desk: status 403', 403);
      }
      return fetch(id);
    };
    await deliver({ kind: 'hints', delivery: null, ids: ['1'] });
    solve('2');
    ingestion.start();
    await clock.advance(MINUTE);
    expect([...received().keys()]).toEqual(['desk/acme/2']);
    expect(await status()).toMatchObject({ hints: 0, error: null });
  });

  test('with conversations are stored, recognized as known, or answered with a retry', async () => {
    open({ limit: { items: 1, bytes: 1e6 } });
    solve('1', '2');
    expect(await deliver(foundIn('d1', '1'))).toMatchObject({ status: 202 });
    expect(await deliver(foundIn('d1', '1'))).toMatchObject({ status: 202 });
    expect(await deliver(foundIn('d2', '2'))).toEqual({ status: 503, reason: 'outbox full; retry later' });
    expect(await status()).toMatchObject({ waiting: 1, counts: { found: 1 } });
  });

  test('with a conversation that cannot be redacted are refused each time, and its earlier version is sent', async () => {
    let isBroken = false;
    const redactor: Redactor = {
      ...testRedactor,
      redact: (ticket) => {
        if (isBroken && ticket.key === 'desk/acme/1') {
          throw new RangeError('Maximum call stack size exceeded');
        }
        return testRedactor.redact(ticket);
      },
    };
    open({ redactor });
    solve('1', '2');
    expect(await deliver(foundIn('d1', '1'))).toMatchObject({ status: 202 });
    isBroken = true;
    const reason = 'it cannot be redacted (RangeError)';
    for (let time = 0; time < 2; time += 1) {
      expect(await deliver(foundIn('d2', '1'))).toEqual({ status: 422, reason });
      expect(await deliver(foundIn('d3', '1', '2'))).toEqual({
        status: 422,
        reason: `${reason}; 1 of 2 conversations were not kept`,
      });
    }
    expect(reportedEvents).toContainEqual({ rejected: { source: 'desk', place: 'desk/acme/1', reason } });
    ingestion.start();
    await clock.advance(HOUR);
    expect([...received().keys()].map((id) => id.at(-1)).toSorted()).toEqual(['1', '2']);
  });

  test('with a conversation that ends its thread are refused with the reason, and the others are kept', async () => {
    const source = `
      const { parentPort } = require('node:worker_threads');
      parentPort.on('message', (tickets) => {
        if (tickets.some(({ key }) => key.endsWith('/1'))) process.exit(1);
        const redact = ({ key: id, parts }) => ({ conversation: { id, parts }, counts: {}, hasPrivateId: false });
        parentPort.postMessage({ answer: tickets.map(redact) });
      });
      parentPort.postMessage({ ready: true });`;
    const threads = new RedactionThreads({
      redaction: {},
      threads: 1,
      clock,
      start: () => new Worker(source, { eval: true }),
    });
    open({ threads });
    solve('1', '2', '3');
    expect(await deliverNow(foundIn('d1', '1', '2', '3'))).toEqual({
      status: 422,
      reason:
        'it cannot be redacted (its thread ended, probably for lack of memory); 1 of 3 conversations were not kept',
    });
    expect(await status()).toMatchObject({ waiting: 2, counts: { rejected: 1 } });
    await ingestion.stop(0);
  });

  test('are not confirmed when the ingestion stops while they are redacted, and are not kept', async () => {
    const source = `
      const { parentPort } = require('node:worker_threads');
      parentPort.on('message', () => {}).postMessage({ ready: true });`;
    const start = () => new Worker(source, { eval: true });
    open({ threads: new RedactionThreads({ redaction: {}, threads: 1, clock, start }) });
    solve('1');
    const delivered = expect(deliverNow(foundIn('d1', '1'))).rejects.toThrow(CancelledError);
    await ingestion.stop(0);
    await delivered;
    expect((await outbox.status()).stored.items).toBe(0);
  });

  test('with conversations are answered with a retry while too much waits for redaction', async () => {
    solve('1');
    const threads = { isFull: true, redact: async () => null, close: async () => {} };
    open({ threads: threads as unknown as RedactionThreads });
    const busy = foundIn('d1', '1');
    expect(await deliver(busy)).toEqual({
      status: 503,
      reason: 'too much text waits for redaction; retry later',
    });
    expect(await deliver({ kind: 'hints', delivery: 'd2', ids: ['1'] })).toMatchObject({ status: 202 });
    threads.isFull = false;
    expect(await deliver(busy)).toMatchObject({ status: 202 });
  });
});

describe('a full outbox', () => {
  test('pauses the poll between batches, loses nothing, and lets it continue', async () => {
    open({ limit: { items: 4, bytes: 1e6 } });
    sink.fault = () => 403;
    solve(...Array.from({ length: 20 }, (_, n) => `${n}`));
    ingestion.start();
    await clock.advance(2 * HOUR);
    const held = await ingestion.status();
    expect(held.outbox).toMatchObject({ isFull: true, stored: { items: 6 } });
    expect(held.sender).toMatchObject({ kind: 'refused' });
    expect(held.sources[0]).toMatchObject({ cursor: 6, waiting: 6, polledAt: null });
    expect(reportedEvents).toEqual([{ pressure: { source: 'desk', isFull: true } }]);
    sink.fault = () => null;
    ingestion.sender?.resume();
    await clock.advance(2 * HOUR);
    expect(received()).toEqual(desk.expected());
    expect(sink.needless()).toEqual([]);
    expect(reportedEvents).toContainEqual({ pressure: { source: 'desk', isFull: false } });
    expect((await ingestion.status()).outbox).toMatchObject({ isFull: false, stored: { items: 0 } });
  });
});

describe('reports', () => {
  test('name tickets with fewer parts than the source reported', async () => {
    desk.withheld = 2;
    solve('1');
    ingestion.start();
    await clock.advance(MINUTE);
    expect(reportedEvents).toContainEqual({
      shortfall: { source: 'desk', key: 'desk/acme/1', reported: 3, fetched: 1 },
    });
    expect(await status()).toMatchObject({ counts: { incomplete: 1 } });
  });

  test('name the reason and the next attempt when a provider fails; the cursor stays, and nothing is lost', async () => {
    solve('1', '2', '3', '4', '5');
    let calls = 0;
    desk.failure = () => {
      calls += 1;
      return calls === 2 ? new TransientError('desk: status 503', false) : null;
    };
    ingestion.start();
    await clock.advance(4000);
    expect(await status()).toMatchObject({ cursor: 3, error: 'desk: status 503', polledAt: null });
    await clock.advance(MINUTE);
    expect(received()).toEqual(desk.expected());
    expect(reportedEvents.slice(0, 2)).toEqual([
      { end: 'desk: status 503', again: 5000 },
      { end: null, again: 5 * MINUTE },
    ]);
  });

  test('name refused credentials; the source pauses, and the sender does not', async () => {
    desk.failure = () => new AuthError('desk: the credentials are not accepted', 401);
    ingestion.start();
    await deliver({ kind: 'found', delivery: null, found: [] });
    await clock.advance(14 * MINUTE);
    expect(reportedEvents).toEqual([{ end: 'desk: the credentials are not accepted', again: 15 * MINUTE }]);
    expect(ingestion.sender?.state).toEqual({ kind: 'idle' });
  });

  test('leave out the message of an unexpected error', async () => {
    desk.failure = () => new SyntaxError('Unexpected token in "hush-1"');
    ingestion.start();
    await clock.advance(MINUTE);
    expect(JSON.stringify([reportedEvents, await ingestion.status()])).not.toContain('hush');
    expect(await status().then((one) => one?.error ?? 'desk: unexpected SyntaxError while reading the source')).toBe(
      'desk: unexpected SyntaxError while reading the source',
    );
  });
});

test('follow a reset during a poll, which restarts it from the new position', async () => {
  solve('1', '2', '3', '4', '5', '6', '7');
  const source = desk.source();
  let resets = 0;
  open({
    polling: {
      ...source,
      async *poll(options) {
        for await (const batch of source.poll(options)) {
          yield batch;
          if (resets === 0) {
            resets += 1;
            await outbox.reset('desk', 0);
          }
        }
      },
    },
  });
  ingestion.start();
  await clock.advance(MINUTE);
  expect(await status()).toMatchObject({ cursor: 7, counts: { unchanged: 3, queued: 7 } });
  expect(received()).toEqual(desk.expected());
});

test('no sleep exceeds the limit of a timer, however late the next poll is', async () => {
  const sleep = vi.spyOn(clock, 'sleep');
  desk.failure = () => new RateLimitedError('rate limit exceeded', 1e12);
  ingestion.start();
  await clock.advance(MINUTE);
  expect(reportedEvents).toMatchObject([{ again: 1e12 }]);
  expect(Math.max(...sleep.mock.calls.map(([milliseconds]) => milliseconds))).toBeLessThan(2 ** 31);
});

describe('records that cannot become a conversation', () => {
  const ticket = (over: Partial<Ticket> = {}): Ticket => ({
    key: 'desk/acme/1',
    subject: 'Help',
    createdAt: null,
    settledAt: null,
    url: null,
    attributes: {},
    parts: [{ role: 'user', body: 'How?' }],
    people: [],
    completeness: null,
    ...over,
  });
  const _converted = (over: Partial<Ticket>) =>
    convertTicket(ticket(over), { redactor: testRedactor, settleDelay: 0, now: 1000 });

  test('never store, report or send a private id', async () => {
    const key = 'webhook/forms/hush-7';
    const skipped = { kind: 'skipped', key: 'webhook/forms/hush-8', reason: 'open' } as const;
    const gone = { kind: 'gone', key: 'webhook/forms/hush-9' } as const;
    const unread = { kind: 'rejected', place: 'letter of hush-1.eml:1', reason: 'is no mail' } as const;
    const short = { kind: 'ticket', ticket: ticket({ key, completeness: { reported: 2, fetched: 1 } }) } as const;
    const long = { kind: 'ticket', ticket: ticket({ key: `${key}${'x'.repeat(300)}` }) } as const;
    const webhookResult = { kind: 'found', delivery: 'hush-d', found: [short, skipped, gone, unread, long] } as const;
    const { found } = webhookResult;
    const partly = await ingestion.intake('forms').takeWebhook({ ...webhookResult, found });
    expect(partly).toMatchObject({ reason: expect.stringMatching(/^its id, .*; 1 of 5 conversations were not kept$/) });
    const whole = { ...webhookResult, found: found.filter((each) => each !== long) };
    expect(await ingestion.intake('forms').takeWebhook(whole)).toBe('kept');
    expect(await ingestion.intake('forms').takeWebhook(whole)).toBe('known');
    expect(reportedEvents).toHaveLength(5);
    const batch = await outbox.next({ items: 10, bytes: 1e6, open: 1 }, clock.now());
    expect(batch?.items).toHaveLength(1);
    expect(JSON.parse(batch?.items[0]?.payload ?? '').id).toBe(batch?.items[0]?.key);
    expect(JSON.stringify([reportedEvents, batch, partly])).not.toMatch(/hush-\d/);
  });

  test.each([
    ['a page', 'https://desk.example/4711', true],
    ['a page without encryption', 'http://desk.example/4711', true],
    ['a script', "javascript:alert('hello')", false],
    ['a data URL', 'data:text/html,hello', false],
    ['a file', 'file:///etc/hosts', false],
    ['a URL without a scheme', 'desk.example/4711', false],
    ['a long one', `https://desk.example/${'x'.repeat(2048)}`, false],
  ])('send a URL only if it is a web address: %s', (_what, url, isSent) => {
    const admission = convertTicket(ticket({ url }), {
      redactor: createConversationRedactor(),
      settleDelay: 0,
      now: 1000,
    });
    const sent = admission.kind === 'content' ? JSON.parse(admission.content.payload).metadata : admission;
    expect(sent).toEqual(isSent ? { url } : undefined);
  });

  test('with a settled time in the future wait no longer than others', () => {
    expect(
      convertTicket(ticket({ settledAt: 9e15 }), { redactor: testRedactor, settleDelay: 500, now: 1000 }),
    ).toMatchObject({ content: { notBefore: 1500 } });
  });
});
