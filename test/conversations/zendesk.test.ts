import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Batch, PollingSource } from '../../src/conversations/model/source.ts';
import { openZendesk } from '../../src/conversations/sources/zendesk.ts';
import { AuthError, TransientError } from '../../src/core/errors.ts';
import type { Json } from '../../src/core/json.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { createSocketClock } from '../support/fake-provider.ts';
import { type FakeUser, FakeZendesk, type FakeZendeskOptions } from '../support/fake-zendesk.ts';
import { closeAround, collectBatches, cursorOf, foundOf, ticketsOf } from '../support/polls.ts';

const START = Date.parse('2026-03-01T12:00:00Z');
const DAY = 86_400_000;
const EXPORT = /^\/api\/v2\/incremental\/tickets\/cursor$/;
const COMMENTS = /\/comments$/;
const LOG = /\/conversation_log$/;

let clock: ReturnType<typeof createSocketClock>;
let helpdesk: FakeZendesk;
let source: PollingSource;
let customer: FakeUser;
let agent: FakeUser;

async function open(options: Partial<FakeZendeskOptions> = {}, settings: { token?: string; oauth?: boolean } = {}) {
  await close();
  clock = createSocketClock(START);
  helpdesk = await new FakeZendesk({ clock, ...options }).listen();
  customer = helpdesk.addUser('end-user', 'Cora Customer', 'cora@customer.example');
  agent = helpdesk.addUser('agent', 'Abe Agent', 'abe@acme.example');
  source = openZendesk({
    name: 'support',
    subdomain: 'acme',
    token: settings.token ?? FakeZendesk.token,
    ...(settings.oauth === true ? {} : { email: FakeZendesk.email }),
    note: openMemoryStore().note('tokens'),
    baseUrl: helpdesk.url,
    userAgent: 'octavo/0',
    clock,
    random: () => 0.5,
    concurrency: 4,
  });
}

async function close() {
  if (clock !== undefined) {
    await closeAround(clock, source, helpdesk);
  }
}

beforeEach(() => open());
afterEach(async () => {
  await close();
  clock = undefined as unknown as typeof clock;
});

/** Polls; `most`: batches after which the process is killed. */
function poll(cursor: Json = null, most = Number.POSITIVE_INFINITY, since = START - 30 * DAY): Promise<Batch[]> {
  return clock.run(collectBatches(source, { cursor, since, most }));
}

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
      via: { channel: 'email', source: { from: { name: 'C. Customer', address: 'cora@home.example' }, to: {} } },
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

  test('contains all public comments of any number of pages, and no internal note', async () => {
    const ticket = helpdesk.addTicket(customer, 'Long', 'part 0');
    for (let n = 1; n < 250; n += 1) {
      helpdesk.comment(
        ticket,
        n % 2 === 0 ? customer : agent,
        n % 10 === 5 ? `PRIVATE ${n}` : `part ${n}`,
        n % 10 !== 5,
      );
    }
    helpdesk.solve(ticket);
    await minute();
    const [read] = ticketsOf(await poll());
    expect(read?.parts).toHaveLength(225);
    expect(read?.parts.at(-1)?.body).toBe('part 249');
    expect(JSON.stringify(read)).not.toContain('PRIVATE');
    expect(read?.completeness).toEqual({ reported: 250, fetched: 250 });
    expect(helpdesk.count(COMMENTS)).toBe(3);
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

  test('contains every comment once even if pages are requested again', async () => {
    const ticket = helpdesk.addTicket(customer, 'Long', 'part 0');
    for (let n = 1; n < 250; n += 1) {
      helpdesk.comment(ticket, customer, `part ${n}`);
    }
    helpdesk.solve(ticket);
    await minute();
    let requests = 0;
    helpdesk.fault = ({ path }) => {
      requests += COMMENTS.test(path) ? 1 : 0;
      return COMMENTS.test(path) && requests % 2 === 1 ? 'truncated' : null;
    };
    const bodies = ticketsOf(await poll())[0]?.parts.map(({ body }) => body);
    expect(bodies).toEqual(Array.from({ length: 250 }, (_, n) => `part ${n}`));
    expect(helpdesk.count(COMMENTS)).toBe(6);
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

  test('is gone if it is deleted while it is read', async () => {
    const ticket = solvedTicket();
    helpdesk.meanwhile = ({ path }) => {
      if (COMMENTS.test(path)) {
        helpdesk.remove(ticket);
      }
    };
    await minute();
    expect(foundOf(await poll())).toEqual([{ kind: 'gone', key: `zendesk/acme/${ticket.id}` }]);
  });

  test('is rejected with its problem if it is invalid, and the others are read', async () => {
    const broken = solvedTicket();
    const good = solvedTicket();
    Object.assign(broken, { subject: { secret: 'S3cret' } });
    await minute();
    const found = foundOf(await poll());
    expect(found[0]).toEqual({
      kind: 'rejected',
      place: `zendesk/acme/${broken.id}`,
      reason: 'not as documented: subject',
    });
    expect(found[1]).toMatchObject({ kind: 'ticket', ticket: { key: `zendesk/acme/${good.id}` } });
  });

  test('is rejected if its comments are permanently refused, and the others are read', async () => {
    const refused = solvedTicket();
    const good = solvedTicket();
    helpdesk.fault = ({ path }) => (path.includes(`/${refused.id}/`) ? 422 : null);
    await minute();
    expect(foundOf(await poll())).toMatchObject([
      { kind: 'rejected', place: `zendesk/acme/${refused.id}` },
      { kind: 'ticket', ticket: { key: `zendesk/acme/${good.id}` } },
    ]);
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

  test('stops at the end of the stream although there is always a next cursor', async () => {
    solvedTicket();
    await minute();
    const first = await poll();
    expect(first).toHaveLength(1);
    const second = await poll(cursorOf(first));
    expect(second).toEqual([{ found: [], cursor: cursorOf(first) }]);
    expect(helpdesk.count(EXPORT)).toBe(2);
  });

  test('fails instead of looping if a cursor repeats', async () => {
    solvedTicket();
    await minute();
    const batches = await poll();
    const spinning = openZendesk({
      name: 'support',
      subdomain: 'acme',
      token: 't',
      note: openMemoryStore().note('tokens'),
      baseUrl: helpdesk.url,
      userAgent: 'octavo/0',
      clock,
      random: () => 0.5,
    });
    const handle = Reflect.get(helpdesk, 'handle') as (request: unknown) => { body: Record<string, unknown> };
    Reflect.set(helpdesk, 'admit', () => ({ status: 200 }));
    Reflect.set(helpdesk, 'handle', (request: unknown) => {
      const reply = handle.call(helpdesk, request);
      return { ...reply, body: { ...reply.body, end_of_stream: false } };
    });
    const signal = new AbortController().signal;
    const run = async () => {
      for await (const _ of spinning.poll({ cursor: cursorOf(batches), since: 0, signal })) {
        // Everything it has.
      }
    };
    await expect(clock.run(run())).rejects.toThrow(TransientError);
    await clock.run(spinning.close());
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

  test('returns the withheld last minute later', async () => {
    solvedTicket('First');
    await minute();
    const first = await poll();
    const second = solvedTicket('Second');
    await clock.advance(20_000);
    const none = await poll(cursorOf(first));
    expect(foundOf(none)).toEqual([]);
    await minute();
    expect(ticketsOf(await poll(cursorOf(none)))).toMatchObject([{ key: `zendesk/acme/${second.id}` }]);
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

  test('contains a ticket again that was edited, reopened or deleted during the read', async () => {
    await open({ page: 2 });
    const tickets = Array.from({ length: 6 }, (_, n) => solvedTicket(`Ticket ${n}`));
    const [a, b, c] = tickets as [(typeof tickets)[0], (typeof tickets)[0], (typeof tickets)[0]];
    await minute();
    let pages = 0;
    helpdesk.meanwhile = ({ path }) => {
      pages += EXPORT.test(path) ? 1 : 0;
      if (EXPORT.test(path) && pages === 3) {
        helpdesk.comment(a, customer, 'One thing more.');
        helpdesk.edit(b, { status: 'open' });
        helpdesk.remove(c);
      }
    };
    const first = await poll();
    helpdesk.meanwhile = () => undefined;
    await minute();
    const second = await poll(cursorOf(first));
    expect(ticketsOf(first)).toHaveLength(6);
    expect(foundOf(second)).toMatchObject([
      { kind: 'ticket', ticket: { parts: [{}, {}, { body: 'One thing more.' }] } },
      { kind: 'skipped', key: `zendesk/acme/${b.id}`, reason: 'open' },
      { kind: 'gone', key: `zendesk/acme/${c.id}` },
    ]);
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

  test('restarts for another account', async () => {
    const ticket = solvedTicket();
    await minute();
    const foreign = { account: 'other', cursor: 'b3RoZXI=', at: START / 1000 + 10 };
    expect(ticketsOf(await poll(foreign))).toMatchObject([{ key: `zendesk/acme/${ticket.id}` }]);
    expect(helpdesk.requests.some(({ query }) => query.has('cursor'))).toBe(false);
  });
});

describe('a failure', () => {
  test('of one ticket keeps its page for the next poll', async () => {
    await open({ page: 2 });
    const tickets = Array.from({ length: 4 }, (_, n) => solvedTicket(`Ticket ${n}`));
    const ill = tickets[3];
    await minute();
    helpdesk.fault = ({ path }) => (path.includes(`/${ill?.id}/`) ? 503 : null);
    const kept: Batch[] = [];
    const run = async () => {
      for await (const batch of source.poll({ cursor: null, since: 0, signal: new AbortController().signal })) {
        kept.push(batch);
      }
    };
    await expect(clock.run(run())).rejects.toThrow(TransientError);
    expect(ticketsOf(kept).map(({ subject }) => subject)).toEqual(['Ticket 0', 'Ticket 1']);
    helpdesk.fault = () => null;
    expect(ticketsOf(await poll(cursorOf(kept))).map(({ subject }) => subject)).toEqual(['Ticket 2', 'Ticket 3']);
  });

  test.each([500, 502, 409, 'truncated', 'dropped', 'html'] as const)(
    'that is temporary (%s) is retried',
    async (fault) => {
      const ticket = solvedTicket();
      await minute();
      let left = 2;
      helpdesk.fault = () => (left-- > 0 ? fault : null);
      expect(ticketsOf(await poll())).toMatchObject([{ key: `zendesk/acme/${ticket.id}`, parts: [{}, {}] }]);
    },
  );

  test('of the token ends the poll at once, without revealing the token', async () => {
    await open({}, { token: 'zd-Wr0ng-token' });
    solvedTicket();
    await minute();
    const error = await poll().then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(AuthError);
    expect(helpdesk.requests).toHaveLength(1);
    const text = `${(error as Error).stack} ${JSON.stringify(error)}`;
    expect(text).not.toContain('Wr0ng');
    expect(text).not.toContain(Buffer.from(`${FakeZendesk.email}/token:zd-Wr0ng-token`).toString('base64'));
  });

  test('does not occur with an OAuth token as bearer token', async () => {
    await open({}, { oauth: true });
    solvedTicket();
    await minute();
    expect(ticketsOf(await poll())).toHaveLength(1);
    expect(helpdesk.requests[0]?.headers.authorization).toBe(`Bearer ${FakeZendesk.token}`);
  });

  test('by an abort ends the poll', async () => {
    solvedTicket();
    await minute();
    const stop = new AbortController();
    helpdesk.meanwhile = ({ path }) => {
      if (COMMENTS.test(path)) {
        stop.abort();
      }
    };
    const run = async () => {
      for await (const _ of source.poll({ cursor: null, since: 0, signal: stop.signal })) {
        expect.unreachable();
      }
    };
    await expect(clock.run(run())).rejects.toThrow('cancelled');
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

  test('of the account are respected', async () => {
    await open({ limit: 20 });
    Array.from({ length: 50 }, () => solvedTicket());
    await minute();
    expect(ticketsOf(await poll())).toHaveLength(50);
    expect(helpdesk.count(/./, 429)).toBeLessThanOrEqual(2);
  });

  test('cause a wait for Retry-After if no header announced the limit', async () => {
    await open({ page: 1, exportLimit: 3, sendsLimitHeaders: false });
    Array.from({ length: 8 }, () => solvedTicket());
    await minute();
    expect(ticketsOf(await poll())).toHaveLength(8);
    expect(helpdesk.count(EXPORT, 429)).toBeLessThanOrEqual(3);
  });
});

describe('one ticket by its id', () => {
  const fetch = (id: string) => clock.run(source.fetch(id, new AbortController().signal));

  test('equals the ticket of the export', async () => {
    const ticket = solvedTicket();
    await minute();
    const [polled] = foundOf(await poll());
    expect(await fetch(String(ticket.id))).toEqual(polled);
  });

  test('is gone if it does not exist, and skipped if it is open', async () => {
    const ticket = helpdesk.addTicket(customer, 'Open', 'Hello?');
    expect(await fetch('4711')).toEqual({ kind: 'gone', key: 'zendesk/acme/4711' });
    expect(await fetch(String(ticket.id))).toMatchObject({ kind: 'skipped', reason: 'open' });
  });

  test('makes no request for an invalid id', async () => {
    expect(await fetch('../users/1')).toMatchObject({ kind: 'rejected' });
    expect(helpdesk.requests).toEqual([]);
  });
});
