import { describe, expect, test } from 'vitest';
import { openZendesk, readZendeskRate } from '../../src/conversations/sources/zendesk.ts';
import { TransientError } from '../../src/core/errors.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { type FakeUser, FakeZendesk, type FakeZendeskOptions } from '../support/fake-zendesk.ts';
import { cursorOf, DAY, foundOf, PolledProvider, type SocketClock, START, ticketsOf } from '../support/polls.ts';

const EXPORT = /^\/api\/v2\/incremental\/tickets\/cursor$/;
const COMMENTS = /\/comments$/;
const LOG = /\/conversation_log$/;

const CREDENTIALS = { subdomain: 'acme', token: FakeZendesk.token, email: FakeZendesk.email };
let clock: SocketClock;
let helpdesk: FakeZendesk;
let customer: FakeUser;
let agent: FakeUser;
const { open, poll } = new PolledProvider<FakeZendesk, FakeZendeskOptions, object>(
  (options) => new FakeZendesk(options),
  (settings) => openZendesk({ ...CREDENTIALS, note: openMemoryStore().note('tokens'), ...settings }),
  (fake, itsClock) => {
    [helpdesk, clock] = [fake, itsClock];
    customer = fake.addUser('end-user', 'Cora Customer', 'cora@customer.example');
    agent = fake.addUser('agent', 'Abe Agent', 'abe@acme.example');
  },
);

function solvedTicket(subject = 'Export', text = 'How do I export?') {
  const ticket = helpdesk.addTicket(customer, subject, text);
  helpdesk.comment(ticket, agent, 'Under Settings.');
  helpdesk.solve(ticket);
  return ticket;
}

const minute = () => clock.advance(61_000);

test('an export whose pages stay empty, and comments that do not end, are errors', async () => {
  let pages = 0;
  helpdesk.fault = ({ path }) => {
    pages += 1;
    return EXPORT.test(path)
      ? { body: { tickets: [], users: [], after_cursor: `c${pages}`, end_of_stream: false } }
      : null;
  };
  await expect(poll()).rejects.toThrow('Zendesk: export tickets: the export does not end: its pages are empty');
  expect(pages).toBe(3);
  await open();
  solvedTicket();
  await minute();
  helpdesk.fault = ({ path }) => {
    pages += 1;
    return COMMENTS.test(path)
      ? { body: { comments: [], users: [], meta: { has_more: true, after_cursor: `c${pages}` } } }
      : null;
  };
  await expect(poll()).rejects.toThrow('Zendesk: list comments: the list does not end');
  expect(helpdesk.count(COMMENTS)).toBe(1000);
});

describe('a ticket', () => {
  test('contains customer, team, people and URL, and no personal attributes', async () => {
    const ticket = helpdesk.addTicket(customer, 'Export', 'How do I export?', {
      tags: ['export', 'billing'],
      assignee_id: agent.id,
      via: {
        channel: 'email',
        source: {
          from: { name: 'C. Customer', address: 'cora@home.example', original_recipients: ['di@x.example'] },
          to: {},
        },
      },
    });
    helpdesk.comment(ticket, agent, 'Under&nbsp;Settings.');
    helpdesk.solve(ticket);
    await clock.advance(3_600_000);
    const [read] = ticketsOf(await poll());
    expect(read).toEqual({
      key: `zendesk/acme/${ticket.id}`,
      subject: 'Export',
      createdAt: ticket.created_at,
      settledAt: Date.parse(ticket.solvedAt ?? ''),
      url: `https://acme.zendesk.com/agent/tickets/${ticket.id}`,
      attributes: { channel: 'email', tags: 'billing, export', brand: '7' },
      parts: [
        { role: 'user', body: 'How do I export?' },
        { role: 'team-member', body: 'Under Settings.' },
      ],
      people: [
        { names: ['Cora Customer'], emails: ['cora@customer.example'] },
        { names: ['Abe Agent'], emails: ['abe@acme.example'] },
        { names: ['C. Customer'], emails: ['cora@home.example'] },
        { names: [], emails: ['di@x.example'] },
      ],
      completeness: { reported: 2, fetched: 2 },
    });
  });

  test('is unchanged when Zendesk closes it automatically', async () => {
    const ticket = solvedTicket();
    await minute();
    const before = await poll();
    await clock.advance(4 * DAY);
    helpdesk.systemEdit(ticket, { status: 'closed' });
    await minute();
    expect(ticketsOf(await poll(cursorOf(before)))).toEqual(ticketsOf(before));
  });

  test('treats participating end users and the requester as customers', async () => {
    const colleague = helpdesk.addUser('end-user', 'Cole', 'cole@customer.example');
    const ticket = helpdesk.addTicket(agent, 'Asked by one of the team', 'I ask.');
    helpdesk.comment(ticket, colleague, 'So do I.');
    helpdesk.comment(ticket, { id: 999_999 }, 'Who was that?');
    helpdesk.solve(ticket);
    await minute();
    expect(ticketsOf(await poll())[0]?.parts.map(({ role }) => role)).toEqual(['user', 'user', 'team-member']);
  });

  test('uses the body if there is no plain body', async () => {
    const ticket = solvedTicket();
    ticket.comments = ticket.comments.map((comment) => ({ ...comment, plain_body: null, body: 'written so' }));
    await minute();
    expect(ticketsOf(await poll())[0]?.parts[0]?.body).toBe('written so');
  });

  test('of messaging is read from its conversation log, without its notes', async () => {
    const ticket = helpdesk.addTicket(customer, 'Chat', '', { via: { channel: 'native_messaging' } });
    const message = (author: Record<string, unknown>, text: string) => ({
      type: 'Messaging::ConversationMessage',
      author,
      content: { type: 'text', text },
      metadata: {},
    });
    const note = (isPublic: boolean, body: string) => ({
      type: 'Comment',
      author: { type: 'agent', 'zen:support:user_id': agent.id, display_name: 'Abe' },
      content: { type: 'html', body },
      metadata: { public: isPublic },
    });
    ticket.log = [
      ...Array.from({ length: 120 }, (_, n) => message({ type: 'user', display_name: 'Cora' }, `question ${n}`)),
      message({ type: 'bot', display_name: 'Helper' }, 'An answer of a machine'),
      note(false, '<p>PRIVATE</p>'),
      note(true, '<p>An answer of <b>Abe</b></p>'),
      { type: 'Ticket::StatusChanged', author: {}, content: {}, metadata: { public: true } },
    ];
    helpdesk.solve(ticket);
    await minute();
    const [read] = ticketsOf(await poll());
    expect(read?.parts.slice(119)).toEqual([
      { role: 'user', body: 'question 119' },
      { role: 'assistant', body: 'An answer of a machine' },
      { role: 'team-member', body: 'An answer of Abe' },
    ]);
    expect(read?.people.flatMap(({ names }) => names)).toEqual(['Cora Customer', 'Cora', 'Abe']);
    expect(helpdesk.count(LOG)).toBe(2);
  });

  test('contains only its own people', async () => {
    const other = helpdesk.addUser('end-user', 'Otto', 'otto@customer.example');
    const copied = helpdesk.addUser('end-user', 'Copia', 'copia@customer.example');
    helpdesk.solve(helpdesk.addTicket(other, 'Another', 'Another matter.'));
    const ticket = helpdesk.addTicket(customer, 'Mine', 'My matter.', { collaborator_ids: [copied.id] });
    helpdesk.solve(ticket);
    await minute();
    const people = ticketsOf(await poll()).map((one) => one.people.flatMap(({ names }) => names));
    expect(people).toEqual([['Otto'], ['Cora Customer', 'Copia']]);
  });

  test('reports missing comments', async () => {
    const ticket = solvedTicket();
    helpdesk.meanwhile = ({ path }) => {
      if (COMMENTS.test(path)) {
        ticket.comments = ticket.comments.slice(0, 1);
      }
    };
    await minute();
    expect(ticketsOf(await poll())[0]?.completeness).toEqual({ reported: 2, fetched: 1 });
  });
});

describe('a ticket that is not sent', () => {
  test('is reported with its reason, without a request if the ticket is sufficient', async () => {
    const open = helpdesk.addTicket(customer, 'Open', 'Hello?');
    const merged = solvedTicket();
    helpdesk.merge(merged);
    const deleted = solvedTicket();
    helpdesk.remove(deleted);
    const notes = helpdesk.addTicket(customer, 'Notes', '');
    helpdesk.comment(notes, agent, 'PRIVATE', false);
    helpdesk.solve(notes);
    const empty = helpdesk.addTicket(customer, 'Empty', '');
    helpdesk.solve(empty);
    const outbound = helpdesk.addTicket(customer, 'News', '');
    helpdesk.comment(outbound, agent, 'We have news.');
    helpdesk.solve(outbound);
    await minute();
    const key = ({ id }: { id: number }) => `zendesk/acme/${id}`;
    expect(foundOf(await poll())).toEqual([
      { kind: 'skipped', key: key(open), reason: 'open' },
      { kind: 'skipped', key: key(merged), reason: 'merged' },
      { kind: 'gone', key: key(deleted) },
      { kind: 'skipped', key: key(notes), reason: 'private' },
      { kind: 'skipped', key: key(empty), reason: 'empty' },
      { kind: 'skipped', key: key(outbound), reason: 'no-customer' },
    ]);
    expect(helpdesk.count(COMMENTS)).toBe(3);
  });
});

describe('the export', () => {
  test('starts once, far enough back, and continues from the returned cursor', async () => {
    solvedTicket();
    await minute();
    const first = await poll(null, Number.POSITIVE_INFINITY, START);
    const [begun] = helpdesk.requests.filter(({ path }) => EXPORT.test(path));
    expect(Number(begun?.query.get('start_time')) * 1000).toBeLessThanOrEqual(clock.now() - 60_000);
    const second = solvedTicket('Second');
    await minute();
    expect(ticketsOf(await poll(cursorOf(first)))).toMatchObject([{ key: `zendesk/acme/${second.id}` }]);
    expect(helpdesk.requests.filter(({ query }) => query.has('start_time'))).toHaveLength(1);
    expect(helpdesk.requests.filter(({ query }) => query.has('cursor'))).toHaveLength(1);
  });

  test('fails instead of looping if a cursor repeats', async () => {
    solvedTicket();
    await minute();
    const batches = await poll();
    const handle = Reflect.get(helpdesk, 'handle') as (request: unknown) => { body: Record<string, unknown> };
    Reflect.set(helpdesk, 'admit', () => ({ status: 200 }));
    Reflect.set(helpdesk, 'handle', (request: unknown) => {
      const reply = handle.call(helpdesk, request);
      return { ...reply, body: { ...reply.body, end_of_stream: false } };
    });
    await expect(poll(cursorOf(batches))).rejects.toThrow(TransientError);
  });

  test('without tickets starts from the same time again', async () => {
    const first = await poll();
    expect(first).toEqual([{ found: [], cursor: { account: 'acme', cursor: null, at: (START - 30 * DAY) / 1000 } }]);
    // Solved right after that poll, and requested within the minute that the export withholds.
    const ticket = solvedTicket();
    await clock.advance(30_000);
    const second = await poll(cursorOf(first));
    expect(foundOf(second)).toEqual([]);
    await minute();
    expect(ticketsOf(await poll(cursorOf(second)))).toMatchObject([{ key: `zendesk/acme/${ticket.id}` }]);
  });

  test('contains edits of automations, which do not change the update time', async () => {
    const ticket = helpdesk.addTicket(customer, 'Export', 'How?');
    await minute();
    const first = await poll();
    const updated = ticket.updated_at;
    await clock.advance(DAY);
    helpdesk.systemEdit(ticket, { status: 'solved' });
    await minute();
    expect(ticket.updated_at).toBe(updated);
    expect(ticketsOf(await poll(cursorOf(first)))).toMatchObject([{ key: `zendesk/acme/${ticket.id}` }]);
  });

  test('restarts before the last seen update if its cursor has expired', async () => {
    solvedTicket('First');
    await minute();
    const first = await poll();
    const second = solvedTicket('Second');
    await clock.advance(40 * DAY);
    helpdesk.expireCursors();
    const batches = await poll(cursorOf(first));
    expect(ticketsOf(batches).map(({ subject }) => subject)).toEqual(['First', 'Second']);
    expect(second.generated_timestamp).toBeLessThan(clock.now() / 1000 - 30 * 86_400);
    const again = helpdesk.requests.findLast(({ query }) => query.has('start_time'));
    expect(Number(again?.query.get('start_time'))).toBe(START / 1000 - 300);
    expect(helpdesk.count(EXPORT, 422)).toBe(1);
    expect(foundOf(await poll(cursorOf(batches)))).toEqual([]);
  });
});

describe('rate limits', () => {
  test('of the export are respected, without delaying comments', async () => {
    await open({ page: 1, exportLimit: 3 });
    Array.from({ length: 8 }, () => solvedTicket());
    await minute();
    const before = clock.now();
    expect(ticketsOf(await poll())).toHaveLength(8);
    expect(helpdesk.count(EXPORT, 429)).toBeLessThanOrEqual(1);
    expect(clock.now() - before).toBeLessThan(4 * 60_000);
  });
});

describe('Zendesk’s rate headers', () => {
  test('describe the endpoint limit if less of it remains', () => {
    const headers = { 'ratelimit-limit': '700', 'ratelimit-remaining': '5', 'ratelimit-reset': '41' };
    const own = (remaining: number) => ({
      ...headers,
      'zendesk-ratelimit-tickets-index': `total=100; remaining=${remaining}; resets=12`,
    });
    expect(readZendeskRate(own(4))).toMatchObject({ limit: 100, remaining: 4, reset: 12 });
    expect(readZendeskRate(own(6))).toMatchObject({ limit: 700, remaining: 5, reset: 41 });
    expect(readZendeskRate(own(5))).toMatchObject({ limit: 700, remaining: 5, reset: 41 });
    const unknown = { 'zendesk-ratelimit-tickets-index': 'total=100; resets=12' };
    expect(readZendeskRate({ ...headers, ...unknown })).toMatchObject({ limit: 700, remaining: 5, reset: 41 });
    const only = { 'zendesk-ratelimit-tickets-index': 'total=100; remaining=9; resets=12' };
    expect(readZendeskRate(only)).toMatchObject({ limit: 100, remaining: 9, reset: 12 });
  });

  test('are ignored if they are invalid', () => {
    expect(readZendeskRate({ 'x-rate-limit': 'many', 'zendesk-ratelimit-x': 'soon', 'ratelimit-reset': '' })).toEqual({
      limit: null,
      remaining: null,
      reset: null,
      retryAfter: null,
      date: null,
    });
  });
});
