import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Batch, PollingSource } from '../../src/conversations/model/source.ts';
import { openIntercom } from '../../src/conversations/sources/intercom.ts';
import { AuthError, NotThePlatformError, TransientError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json.ts';
import {
  type FakeAuthor,
  type FakeConversation,
  FakeIntercom,
  type FakeIntercomOptions,
} from '../support/fake-intercom.ts';
import { createSocketClock } from '../support/fake-provider.ts';
import { closeAround, collectBatches, cursorOf, foundOf, ticketsOf } from '../support/polls.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const SEARCH = /^\/conversations\/search$/;
const ONE = /^\/conversations\/\d+$/;
const DELETED = /^\/conversations\/deleted$/;

let clock: ReturnType<typeof createSocketClock> | undefined;
let helpdesk: FakeIntercom;
let source: PollingSource;
let customer: FakeAuthor;
let admin: FakeAuthor;

async function open(options: Partial<FakeIntercomOptions> = {}, settings: { token?: string; lookback?: number } = {}) {
  await close();
  clock = createSocketClock(START);
  helpdesk = await new FakeIntercom({ clock, ...options }).listen();
  customer = helpdesk.author('user', 'Cora');
  admin = helpdesk.author('admin', 'Abe');
  source = openIntercom({
    name: 'chat',
    appId: 'ab12cd',
    token: settings.token ?? FakeIntercom.token,
    region: 'us',
    lookback: settings.lookback ?? DAY,
    baseUrl: helpdesk.url,
    userAgent: 'octavo/0',
    clock,
    random: () => 0.5,
  });
}

async function close() {
  if (clock !== undefined) {
    await closeAround(clock, source, helpdesk);
    clock = undefined;
  }
}

beforeEach(() => open());
afterEach(close);

function running() {
  if (clock === undefined) {
    throw new Error('no helpdesk is open');
  }
  return clock;
}

/** Polls; `most`: batches after which the process is killed. */
async function poll(cursor: Json = null, most = Number.POSITIVE_INFINITY, since = START - 30 * DAY): Promise<Batch[]> {
  return running().run(collectBatches(source, { cursor, since, most }));
}

function closed(text = 'How do I export?', more: Partial<FakeConversation> = {}): FakeConversation {
  const conversation = helpdesk.begin(customer, text, more);
  helpdesk.add(conversation, admin, 'Under Settings.');
  helpdesk.close(conversation);
  return conversation;
}

const keyOf = ({ id }: { id: string }) => `intercom/ab12cd/${id}`;
const wait = (milliseconds = 2000) => running().advance(milliseconds);

test('a search whose pages stay empty, and a list of deletions that does not end, are errors', async () => {
  let pages = 0;
  helpdesk.fault = ({ path }) => {
    pages += 1;
    const next = { starting_after: btoa(JSON.stringify([pages])) };
    return SEARCH.test(path) ? { body: { conversations: [], pages: { next } } } : null;
  };
  await expect(poll()).rejects.toThrow('Intercom: search conversations: the list does not end: its pages are empty');
  expect(helpdesk.count(SEARCH)).toBe(3);
  await open({ lists: true });
  helpdesk.fault = ({ path }) =>
    DELETED.test(path)
      ? { body: { conversations: [{ id: '1', deleted_at: START / 1000 }], pages: { total_pages: 1e9 } } }
      : null;
  await expect(poll()).rejects.toThrow('Intercom: list deleted conversations: the list does not end');
  expect(helpdesk.count(DELETED)).toBe(1000);
});

describe('a conversation', () => {
  test('contains texts with authors, people and its URL, and no personal attributes', async () => {
    const conversation = helpdesk.begin(customer, 'How do I export?', {
      tags: ['export', 'billing'],
      title: 'Exports',
    });
    helpdesk.add(conversation, helpdesk.author('lead', 'Lea'), 'So do I.');
    helpdesk.add(conversation, helpdesk.author('bot', 'Fin', { from_ai_agent: true }), 'Perhaps under Settings.');
    helpdesk.add(conversation, helpdesk.author('bot', 'Operator'), 'You will get replies here.');
    helpdesk.add(conversation, admin, 'Under Settings.');
    helpdesk.add(conversation, helpdesk.author('team', 'Tea'), 'Bye.', { part_type: 'close' });
    helpdesk.close(conversation);
    await wait();
    expect(ticketsOf(await poll())).toEqual([
      {
        key: keyOf(conversation),
        subject: 'Exports',
        createdAt: '2026-03-01T12:00:00.000Z',
        settledAt: START,
        url: `https://app.intercom.com/a/inbox/_/inbox/conversation/${conversation.id}`,
        attributes: { channel: 'conversation', tags: 'billing, export' },
        parts: [
          { role: 'user', body: 'How do I export?' },
          { role: 'user', body: 'So do I.' },
          { role: 'assistant', body: 'Perhaps under Settings.' },
          { role: 'team-member', body: 'Under Settings.' },
          { role: 'team-member', body: 'Bye.' },
        ],
        people: [
          { names: ['Cora'], emails: ['cora@user.example'] },
          { names: ['Lea'], emails: ['lea@lead.example'] },
          { names: ['Abe'], emails: ['abe@admin.example'] },
          { names: ['Tea'], emails: ['tea@team.example'] },
        ],
        completeness: { reported: 5, fetched: 5 },
      },
    ]);
  });

  test('contains every kind of part with text, except notes and redacted parts', async () => {
    const conversation = helpdesk.begin(customer, 'My card is PRIVATE');
    conversation.source.redacted = true;
    for (const part_type of ['note', 'note_and_reopen', 'language_detection_details', 'something_new']) {
      helpdesk.add(conversation, admin, `PRIVATE ${part_type}`, { part_type });
    }
    helpdesk.add(conversation, customer, 'PRIVATE', { redacted: true });
    helpdesk.add(conversation, admin, null, { part_type: 'assignment' });
    helpdesk.add(conversation, admin, '  ');
    for (const part_type of ['comment', 'open', 'quick_reply', 'close', 'assignment']) {
      helpdesk.add(conversation, customer, part_type, { part_type });
    }
    helpdesk.close(conversation);
    await wait();
    const [read] = ticketsOf(await poll());
    expect(read?.parts.map(({ body }) => body)).toEqual(['comment', 'open', 'quick_reply', 'close', 'assignment']);
    expect(JSON.stringify(read)).not.toContain('PRIVATE');
  });

  test('reports how many parts are missing', async () => {
    const conversation = helpdesk.begin(customer, 'Long');
    for (let n = 0; n < 620; n += 1) {
      helpdesk.add(conversation, customer, `part ${n}`);
    }
    helpdesk.close(conversation);
    await wait();
    expect(ticketsOf(await poll())[0]?.completeness).toEqual({ reported: 620, fetched: 500 });
  });

  test('is plain text, also if it came as HTML, and keeps HTML that a customer quoted', async () => {
    closed('<p>How do I <b>export</b>?</p><p>Thanks</p>');
    closed('Why does <div> not close?');
    await wait();
    expect(ticketsOf(await poll()).map(({ parts }) => parts[0]?.body)).toEqual([
      'How do I export?\n\nThanks',
      'Why does <div> not close?',
    ]);
  });
});

describe('a conversation that is not sent', () => {
  test('is reported with its reason, without a request if the search is sufficient', async () => {
    const reasons = new Map<string, string>();
    const expectReason = (conversation: FakeConversation, reason: string) => {
      if (reason !== 'open') {
        helpdesk.close(conversation);
      }
      reasons.set(keyOf(conversation), reason);
    };
    expectReason(helpdesk.begin(customer, 'Hello?'), 'open');
    const snoozed = helpdesk.begin(customer, 'Hello?');
    helpdesk.edit(snoozed, { state: 'snoozed' });
    expectReason(snoozed, 'open');
    expectReason(helpdesk.begin(admin, 'News for everybody'), 'no-customer');
    expectReason(helpdesk.begin(helpdesk.author('bot', 'Operator'), 'Hi there'), 'bot');
    expectReason(helpdesk.begin(customer, ''), 'empty');
    const noted = helpdesk.begin(customer, '');
    helpdesk.add(noted, admin, 'PRIVATE', { part_type: 'note' });
    expectReason(noted, 'private');
    await wait();
    const found = foundOf(await poll());
    expect(
      Object.fromEntries(found.map((one) => (one.kind === 'skipped' ? [one.key, one.reason] : [one.kind, '']))),
    ).toEqual(Object.fromEntries(reasons));
    expect(helpdesk.count(ONE)).toBe(4);
  });

  test('is not a campaign that a customer answered', async () => {
    const campaign = helpdesk.begin(admin, 'News for everybody');
    helpdesk.add(campaign, customer, 'How does that work?');
    helpdesk.close(campaign);
    await wait();
    expect(ticketsOf(await poll())[0]?.parts.map(({ role }) => role)).toEqual(['team-member', 'user']);
  });

  test('is reported as gone if it was deleted, during the read or later', async () => {
    await open({ page: 2 });
    const [early, late] = [closed(), closed()];
    closed();
    closed();
    helpdesk.meanwhile = ({ path }) => {
      if (path === `/conversations/${early.id}`) {
        helpdesk.remove(early);
      }
    };
    await wait();
    const first = await poll();
    expect(foundOf(first).filter(({ kind }) => kind === 'gone')).toEqual([{ kind: 'gone', key: keyOf(early) }]);
    await wait(HOUR);
    helpdesk.remove(late);
    const second = await poll(cursorOf(first));
    expect(foundOf(second).filter(({ kind }) => kind === 'gone')).toEqual([
      { kind: 'gone', key: keyOf(late) },
      { kind: 'gone', key: keyOf(early) },
    ]);
  });

  test('is found in all pages of deletions since the start of the window', async () => {
    const old = closed();
    helpdesk.remove(old);
    await wait(40 * DAY);
    const many = Array.from({ length: 130 }, () => closed());
    for (const one of many) {
      helpdesk.remove(one);
    }
    await wait();
    const found = foundOf(await poll(null, Number.POSITIVE_INFINITY, running().now() - 30 * DAY));
    expect(new Set(found)).toEqual(new Set(many.map((one) => ({ kind: 'gone', key: keyOf(one) }))));
    expect(helpdesk.count(DELETED)).toBe(3);
  });

  test('does not need a list of deletions', async () => {
    await open({ lists: false });
    closed();
    await wait();
    expect(ticketsOf(await poll())).toHaveLength(1);
  });

  test('is rejected with its problem if it is invalid, and the others are read', async () => {
    const broken = closed();
    const good = closed();
    Object.assign(broken, { title: { secret: 'S3cret' } });
    await wait();
    expect(foundOf(await poll())).toMatchObject([
      { kind: 'rejected', place: keyOf(broken), reason: 'not as documented: title' },
      { kind: 'ticket', ticket: { key: keyOf(good) } },
    ]);
  });
});

describe('the window', () => {
  test.each([true, false])('misses nothing at its ends, whether inclusive (%s) or not', async (inclusive) => {
    await open({ inclusive }, { lookback: 1000 });
    const seen = new Set<string>();
    const all: FakeConversation[] = [];
    let cursor: Json = null;
    for (let second = 0; second < 10; second += 1) {
      all.push(closed());
      if (second % 3 === 0) {
        const batches = await poll(cursor);
        cursor = cursorOf(batches);
        for (const { key } of ticketsOf(batches)) {
          seen.add(key);
        }
      }
      await wait(1000);
    }
    await wait();
    for (const { key } of ticketsOf(await poll(cursor))) {
      seen.add(key);
    }
    expect(seen).toEqual(new Set(all.map(keyOf)));
  });

  test('ends at the start of the poll, where the next window begins', async () => {
    await open({}, { lookback: 1000 });
    closed();
    // Its timestamp is ahead of all others: a poll that continues from it misses earlier changes.
    const ahead = closed();
    ahead.updated_at += 86_400;
    await wait();
    const first = await poll();
    expect(cursorOf(first)).toEqual({ account: 'ab12cd', bookmark: START / 1000 + 2 });
    await wait(HOUR);
    const between = closed();
    await wait();
    expect(ticketsOf(await poll(cursorOf(first))).map(({ key }) => key)).toContain(keyOf(between));
  });

  test('includes conversations that were edited during the previous poll', async () => {
    await open({ page: 2 });
    const conversations = Array.from({ length: 6 }, () => closed());
    const [a, , , , , f] = conversations as [FakeConversation, ...FakeConversation[]];
    await wait();
    let searches = 0;
    helpdesk.meanwhile = ({ path }) => {
      searches += SEARCH.test(path) ? 1 : 0;
      if (SEARCH.test(path) && searches === 2) {
        helpdesk.add(a, customer, 'One thing more.');
        helpdesk.edit(f as FakeConversation, { state: 'open' });
      }
    };
    const first = await poll();
    helpdesk.meanwhile = () => undefined;
    expect(ticketsOf(first)).toHaveLength(5);
    await wait();
    const second = foundOf(await poll(cursorOf(first)));
    expect(second.findLast((one) => one.kind === 'ticket' && one.ticket.key === keyOf(a))).toMatchObject({
      ticket: { parts: [{}, {}, { body: 'One thing more.' }] },
    });
    expect(second).toContainEqual({ kind: 'skipped', key: keyOf(f as FakeConversation), reason: 'open' });
  });

  test('includes an old conversation that was just closed', async () => {
    const old = helpdesk.begin(customer, 'Long ago');
    await wait(90 * DAY);
    const first = await poll(null, Number.POSITIVE_INFINITY, running().now() - 30 * DAY);
    expect(foundOf(first)).toEqual([]);
    helpdesk.close(old);
    await wait();
    expect(ticketsOf(await poll(cursorOf(first)))).toMatchObject([{ key: keyOf(old) }]);
  });

  test('looks back for conversations that the search indexes late', async () => {
    await open({ indexing: 2 * 3600 });
    const late = closed();
    await wait();
    const first = await poll();
    expect(foundOf(first)).toEqual([]);
    await wait(3 * HOUR);
    expect(ticketsOf(await poll(cursorOf(first)))).toMatchObject([{ key: keyOf(late) }]);
  });

  test('continues after a kill from Intercom’s cursor, followed by the next window', async () => {
    await open({ page: 2 });
    const conversations = Array.from({ length: 6 }, () => closed());
    await wait();
    const until = START / 1000 + 2;
    const killed = await poll(null, 2);
    expect(cursorOf(killed)).toMatchObject({ from: START / 1000 - 30 * 86_400, until, after: expect.any(String) });
    await wait(HOUR);
    const between = closed();
    await wait();
    const batches = await poll(cursorOf(killed));
    expect(ticketsOf(batches.slice(0, 1)).map(({ key }) => key)).toEqual(conversations.slice(4).map(keyOf));
    expect(batches[0]?.cursor).toEqual({ account: 'ab12cd', bookmark: until });
    expect(ticketsOf(batches.slice(1)).map(({ key }) => key)).toContain(keyOf(between));
    expect(cursorOf(batches)).toEqual({ account: 'ab12cd', bookmark: running().now() / 1000 });
  });

  test('restarts if its cursor is no longer accepted', async () => {
    await open({ page: 2 });
    const conversations = Array.from({ length: 4 }, () => closed());
    await wait();
    const killed = await poll(null, 1);
    helpdesk.expirePositions();
    const keys = ticketsOf(await poll(cursorOf(killed))).map(({ key }) => key);
    expect(new Set(keys)).toEqual(new Set(conversations.map(keyOf)));
    expect(helpdesk.count(SEARCH, 400)).toBe(1);
  });

  test('leaves no gap when the clock is set back, and restarts for another workspace', async () => {
    closed();
    await wait();
    const future = { account: 'ab12cd', bookmark: START / 1000 + 90 * 86_400 };
    expect(ticketsOf(await poll(future))).toHaveLength(1);
    expect(ticketsOf(await poll({ ...future, account: 'other' }))).toHaveLength(1);
  });

  test('fails instead of looping if a cursor repeats', async () => {
    await open({ page: 1 });
    closed();
    closed();
    await wait();
    const handle = Reflect.get(helpdesk, 'handle') as (request: unknown) => { body: Record<string, unknown> };
    Reflect.set(helpdesk, 'admit', () => ({ status: 200 }));
    const batches: Batch[] = [];
    const cursor = { account: 'ab12cd', from: 0, until: START / 1000, after: 'again' };
    Reflect.set(helpdesk, 'handle', (request: { path: string }) =>
      SEARCH.test(request.path)
        ? { status: 200, body: { conversations: [], pages: { next: { starting_after: 'again' } } } }
        : handle.call(helpdesk, request),
    );
    await expect(running().run(collectBatches(source, { cursor, most: 10, since: 0 }, batches))).rejects.toThrow(
      TransientError,
    );
    expect(batches).toEqual([]);
  });
});

describe('a failure', () => {
  test('of one conversation keeps its page for the next poll', async () => {
    await open({ page: 2 });
    const conversations = Array.from({ length: 4 }, () => closed());
    await wait();
    helpdesk.fault = ({ path }) => (path.endsWith(`/${conversations[3]?.id}`) ? 503 : null);
    const kept: Batch[] = [];
    await expect(
      running().run(collectBatches(source, { cursor: null, most: 10, since: START - DAY }, kept)),
    ).rejects.toThrow(TransientError);
    expect(ticketsOf(kept).map(({ key }) => key)).toEqual(conversations.slice(0, 2).map(keyOf));
    helpdesk.fault = () => null;
    const rest = await poll(cursorOf(kept), 1);
    expect(ticketsOf(rest).map(({ key }) => key)).toEqual(conversations.slice(2).map(keyOf));
  });

  test('of the list of deletions keeps the window open', async () => {
    closed();
    await wait();
    helpdesk.fault = ({ path }) => (DELETED.test(path) ? 500 : null);
    const kept: Batch[] = [];
    await expect(running().run(collectBatches(source, { cursor: null, most: 10, since: 0 }, kept))).rejects.toThrow(
      TransientError,
    );
    expect(kept).toEqual([]);
  });

  test.each([500, 502, 409, 'truncated', 'dropped', 'html'] as const)(
    'that is temporary (%s) is retried',
    async (fault) => {
      closed();
      await wait();
      let left = 2;
      helpdesk.fault = () => (left-- > 0 ? fault : null);
      expect(ticketsOf(await poll())).toHaveLength(1);
    },
  );

  test('of the token ends the poll at once, without revealing the token', async () => {
    await open({}, { token: 'ic-Wr0ng-token' });
    await wait();
    const error = await poll().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AuthError);
    expect(`${(error as Error).stack} ${JSON.stringify(error)}`).not.toContain('Wr0ng');
    expect(helpdesk.requests).toHaveLength(1);
  });

  test('of a response that is not Intercom’s stops the poll, and names the difference from the documentation', async () => {
    Reflect.set(helpdesk, 'handle', () => ({ status: 200, body: { conversation: 'S3cret' } }));
    const error = await poll().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(String(error)).toContain('not as documented: conversations');
    expect(String(error)).not.toContain('S3cret');
  });
});

describe('the rate limit', () => {
  test('of ten seconds is respected', async () => {
    await open({ limit: 10 });
    Array.from({ length: 60 }, () => closed());
    await wait();
    const before = running().now();
    expect(ticketsOf(await poll())).toHaveLength(60);
    expect(helpdesk.count(/./, 429)).toBeLessThanOrEqual(3);
    expect(running().now() - before).toBeLessThan(120_000);
  });
});

describe('one conversation by its id', () => {
  const fetch = (id: string) => running().run(source.fetch(id, new AbortController().signal));

  test('is read as the search finds it', async () => {
    const conversation = closed();
    await wait();
    const [polled] = foundOf(await poll());
    expect(await fetch(conversation.id)).toEqual(polled);
  });

  test('is gone if it does not exist, and skipped if it is open', async () => {
    const conversation = helpdesk.begin(customer, 'Hello?');
    expect(await fetch('4711')).toEqual({ kind: 'gone', key: 'intercom/ab12cd/4711' });
    expect(await fetch(conversation.id)).toMatchObject({ kind: 'skipped', reason: 'open' });
  });

  test.each(['deleted', 'search', '../admins', ''])('makes no request for the invalid id "%s"', async (id) => {
    expect(await fetch(id)).toMatchObject({ kind: 'rejected' });
    expect(helpdesk.requests).toEqual([]);
  });
});
