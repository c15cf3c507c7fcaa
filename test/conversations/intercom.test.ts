import { describe, expect, test } from 'vitest';
import type { Batch } from '../../src/conversations/model/source.ts';
import { openIntercom } from '../../src/conversations/sources/intercom.ts';
import { NotThePlatformError, TransientError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json.ts';
import {
  type FakeAuthor,
  type FakeConversation,
  FakeIntercom,
  type FakeIntercomOptions,
} from '../support/fake-intercom.ts';
import {
  collectBatches,
  cursorOf,
  DAY,
  foundOf,
  HOUR,
  PolledProvider,
  type SocketClock,
  START,
  ticketsOf,
} from '../support/polls.ts';

const SEARCH = /^\/conversations\/search$/;
const ONE = /^\/conversations\/\d+$/;
const DELETED = /^\/conversations\/deleted$/;

let clock: SocketClock;
let helpdesk: FakeIntercom;
let customer: FakeAuthor;
let admin: FakeAuthor;
const polled = new PolledProvider<FakeIntercom, FakeIntercomOptions, { lookback: number }>(
  (options) => new FakeIntercom(options),
  (settings) => openIntercom({ appId: 'ab12cd', token: FakeIntercom.token, region: 'us', lookback: DAY, ...settings }),
  (fake, itsClock) => {
    [helpdesk, clock] = [fake, itsClock];
    customer = helpdesk.author('user', 'Cora');
    admin = helpdesk.author('admin', 'Abe');
  },
);
const { open, poll } = polled;

function closed(text = 'How do I export?', more: Partial<FakeConversation> = {}): FakeConversation {
  const conversation = helpdesk.begin(customer, text, more);
  helpdesk.add(conversation, admin, 'Under Settings.');
  helpdesk.close(conversation);
  return conversation;
}

const keyOf = ({ id }: { id: string }) => `intercom/ab12cd/${id}`;
const wait = (milliseconds = 2000) => clock.advance(milliseconds);

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
    const email_address_headers = [
      { type: 'cc', name: 'Cy Day', email_address: 'cy@x.example' },
      { type: 'to', name: 'Acme Docs', email_address: 'docs@acme.example' },
    ];
    helpdesk.add(conversation, admin, 'Under Settings.');
    Object.assign(conversation.parts.at(-1) ?? {}, { email_message_metadata: { email_address_headers } });
    Object.assign(conversation, { contacts: { contacts: [{ name: 'Di Roe', email: 'di@x.example' }] } });
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
          { names: ['Di Roe'], emails: ['di@x.example'] },
          { names: ['Cy Day'], emails: ['cy@x.example'] },
          { names: [], emails: ['docs@acme.example'] },
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

  test('is found in all pages of deletions since the start of the window', async () => {
    const old = closed();
    helpdesk.remove(old);
    await wait(40 * DAY);
    const many = Array.from({ length: 130 }, () => closed());
    for (const one of many) {
      helpdesk.remove(one);
    }
    await wait();
    const found = foundOf(await poll(null, Number.POSITIVE_INFINITY, clock.now() - 30 * DAY));
    expect(new Set(found)).toEqual(new Set(many.map((one) => ({ kind: 'gone', key: keyOf(one) }))));
    expect(helpdesk.count(DELETED)).toBe(3);
  });
});

describe('the window', () => {
  test.each([true, false])('misses nothing at its ends, whether inclusive (%s) or not', async (inclusive) => {
    await open({ inclusive }, { lookback: 0 });
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

  test('includes an old conversation that was just closed', async () => {
    const old = helpdesk.begin(customer, 'Long ago');
    await wait(90 * DAY);
    const first = await poll(null, Number.POSITIVE_INFINITY, clock.now() - 30 * DAY);
    expect(foundOf(first)).toEqual([]);
    helpdesk.close(old);
    await wait();
    expect(ticketsOf(await poll(cursorOf(first)))).toMatchObject([{ key: keyOf(old) }]);
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
    expect(cursorOf(batches)).toEqual({ account: 'ab12cd', bookmark: clock.now() / 1000 });
  });

  test('leaves no gap when the clock is set back, and restarts for another workspace', async () => {
    closed();
    await wait();
    const future = { account: 'ab12cd', bookmark: START / 1000 + 90 * 86_400 };
    expect(ticketsOf(await poll(future))).toHaveLength(1);
    expect(ticketsOf(await poll({ ...future, account: 'other' }))).toHaveLength(1);
  });
});

describe('a failure', () => {
  test('of the list of deletions keeps the window open', async () => {
    closed();
    await wait();
    helpdesk.fault = ({ path }) => (DELETED.test(path) ? 500 : null);
    const kept: Batch[] = [];
    await expect(clock.run(collectBatches(polled.source, { cursor: null, most: 10, since: 0 }, kept))).rejects.toThrow(
      TransientError,
    );
    expect(kept).toEqual([]);
  });

  test('of a response that is not Intercom’s stops the poll, and names the difference from the documentation', async () => {
    Reflect.set(helpdesk, 'handle', () => ({ status: 200, body: { conversation: 'S3cret' } }));
    const error = await poll().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(String(error)).toContain('not as documented: conversations');
    expect(String(error)).not.toContain('S3cret');
  });
});
