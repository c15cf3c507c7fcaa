import { describe, expect, test } from 'vitest';
import { openFreshdesk } from '../../src/conversations/sources/freshdesk.ts';
import { type Listed, scanUpdated, type UpdatedList } from '../../src/conversations/sources/updated-list.ts';
import { NotThePlatformError, RejectedError } from '../../src/core/errors.ts';
import { FakeFreshdesk, type FakeFreshdeskOptions, type FakeFreshdeskTicket } from '../support/fake-freshdesk.ts';
import { cursorOf, DAY, foundOf, PolledProvider, type SocketClock, START, ticketsOf } from '../support/polls.ts';

const LIST = /^\/api\/v2\/tickets$/;
const CHILDREN = /\/conversations$/;

let clock: SocketClock;
let desk: FakeFreshdesk;
let customer: number;
let agent: number;
const { open, reconnect, poll, fetch } = new PolledProvider<FakeFreshdesk, FakeFreshdeskOptions, { lookback: number }>(
  (options) => new FakeFreshdesk(options),
  (settings) => openFreshdesk({ domain: 'acme', token: FakeFreshdesk.token, lookback: DAY, ...settings }),
  (fake, itsClock) => {
    [desk, clock] = [fake, itsClock];
    customer = desk.addPerson('contacts', 'Cora Customer', 'cora@customer.example');
    agent = desk.addPerson('agents', 'Abe Agent', 'abe@acme.example');
  },
);

const keyOf = ({ id }: FakeFreshdeskTicket) => `freshdesk/acme/${id}`;

function resolved(text = 'How do I export?', more: Partial<FakeFreshdeskTicket> = {}): FakeFreshdeskTicket {
  const ticket = desk.addTicket(customer, text, more);
  desk.message(ticket, agent, 'Under Settings.');
  desk.setStatus(ticket, 4);
  return ticket;
}

describe('a ticket', () => {
  test('contains its description and its public messages in order, with their authors', async () => {
    const ticket = desk.addTicket(customer, 'How do I export?', { subject: 'Export' });
    desk.message(ticket, agent, 'Later.', { created_at: '2026-03-01T13:00:00Z' });
    desk.message(ticket, customer, 'Hello?', { created_at: '2026-03-01T12:30:00Z' });
    desk.setStatus(ticket, 4);
    expect(ticketsOf(await poll())).toEqual([
      {
        key: keyOf(ticket),
        subject: 'Export',
        createdAt: '2026-03-01T12:00:00Z',
        settledAt: START,
        url: `https://acme.freshdesk.com/a/tickets/${ticket.id}`,
        attributes: { channel: 'email', tags: 'export' },
        parts: [
          { role: 'user', body: 'How do I export?' },
          { role: 'user', body: 'Hello?' },
          { role: 'team-member', body: 'Later.' },
        ],
        people: [
          { names: ['Cora Customer'], emails: ['cora@customer.example'] },
          { names: ['Abe Agent'], emails: ['abe@acme.example'] },
        ],
        completeness: null,
        recheck: String(ticket.id),
      },
    ]);
  });

  test('omits a private note, but lists its author among the people', async () => {
    const ticket = resolved();
    const other = desk.addPerson('agents', 'Nora Note', 'nora@acme.example');
    desk.message(ticket, other, 'private: this customer is late to pay', { private: true });
    const [found] = ticketsOf(await poll());
    expect(JSON.stringify(found?.parts)).not.toContain('private');
    expect(found?.people.flatMap(({ names }) => names)).toContain('Nora Note');
  });

  test('of a web chat contains its first message once', async () => {
    const repeated = desk.addTicket(customer, 'Hi  there', { source: 15 });
    desk.message(repeated, customer, 'Hi there');
    const other = desk.addTicket(customer, 'Hi', { source: 15 });
    desk.message(other, customer, 'Something else');
    const mail = desk.addTicket(customer, 'Ping', { source: 1 });
    desk.message(mail, customer, 'Ping');
    for (const ticket of [repeated, other, mail]) {
      desk.setStatus(ticket, 4);
    }
    const words = ticketsOf(await poll()).map(({ parts }) => parts.map(({ body }) => body));
    expect(words).toEqual([['Hi there'], ['Hi', 'Something else'], ['Ping', 'Ping']]);
  });

  test.each([10, 14])('started by the team (source %i) has no customer until one replies', async (begun) => {
    const silent = resolved('Our offer', { source: begun });
    const answered = desk.addTicket(customer, 'Our offer', { source: begun });
    desk.message(answered, customer, 'Yes, please.');
    desk.setStatus(answered, 4);
    const [first, second] = foundOf(await poll());
    expect(first).toEqual({ kind: 'skipped', key: keyOf(silent), reason: 'no-customer' });
    expect(second).toMatchObject({ ticket: { parts: [{ role: 'team-member' }, { role: 'user' }] } });
  });

  test('is skipped if it is open, spam, deleted, empty or private', async () => {
    const pending = desk.addTicket(customer, 'Open', { status: 3 });
    const empty = desk.addTicket(customer, ' ', { status: 4 });
    const hidden = desk.addTicket(customer, '', { status: 4 });
    desk.message(hidden, agent, 'A note', { private: true });
    const spam = resolved('Spam', { spam: true });
    const deleted = resolved('Deleted', { deleted: true });
    expect(foundOf(await poll())).toEqual([
      { kind: 'skipped', key: keyOf(pending), reason: 'open' },
      { kind: 'skipped', key: keyOf(empty), reason: 'empty' },
      { kind: 'skipped', key: keyOf(hidden), reason: 'private' },
    ]);
    expect(await fetch(spam.id)).toEqual({ kind: 'skipped', key: keyOf(spam), reason: 'spam' });
    expect(await fetch(deleted.id)).toEqual({ kind: 'gone', key: keyOf(deleted) });
    expect(desk.count(CHILDREN)).toBe(2);
  });

  test('is settled since it was resolved or closed', async () => {
    const ticket = resolved();
    await clock.advance(3 * DAY);
    desk.setStatus(ticket, 5);
    const [found] = ticketsOf(await poll());
    expect(found?.settledAt).toBe(START + 3 * DAY);
  });

  test('has the people of all its address fields, and no agent names if the key cannot list agents', async () => {
    const ticket = resolved();
    Object.assign(ticket, { fwd_emails: ['Cy Day <cy@x.example>'], to_emails: ['"Acme Docs" <docs@acme.example>'] });
    desk.showsAgents = false;
    expect(ticketsOf(await poll())[0]?.people).toEqual([
      { names: ['Cora Customer'], emails: ['cora@customer.example'] },
      { names: ['Cy Day'], emails: ['cy@x.example'] },
      { names: [], emails: ['docs@acme.example'] },
    ]);
  });

  test('omits a message with an invalid privacy flag', async () => {
    const ticket = resolved();
    ticket.messages.push({ ...desk.message(ticket, customer, 'hush'), id: 9, private: 'no' as unknown as boolean });
    ticket.messages.splice(1, 1);
    expect(JSON.stringify(ticketsOf(await poll())[0]?.parts)).not.toContain('hush');
  });
});

describe('a poll', () => {
  test('finds tickets older than a month by their update', async () => {
    const ticket = resolved('Old', { created_at: '2025-01-01T00:00:00Z' });
    expect(foundOf(await poll()).map((found) => found.kind)).toEqual(['ticket']);
    expect(desk.requests[0]?.query.get('updated_since')).toBe('2026-01-30T12:00:00Z');
    expect(ticket.created_at).toBe('2025-01-01T00:00:00Z');
  });

  test('reads more pages than one list returns', async () => {
    await open({ page: 3, mostPages: 3 });
    for (let index = 0; index < 40; index += 1) {
      desk.addTicket(customer, `Ticket ${index}`);
      await clock.advance(1000);
    }
    const batches = await poll();
    expect(new Set(foundOf(batches).map((found) => 'key' in found && found.key)).size).toBe(40);
    expect(desk.count(LIST, 400)).toBe(0);
  });

  test('fails if one update time has more pages than a list returns', async () => {
    await open({ page: 3, mostPages: 3 });
    for (let index = 0; index < 10; index += 1) {
      desk.addTicket(customer, `Ticket ${index}`);
    }
    await expect(poll()).rejects.toBeInstanceOf(RejectedError);
    expect(desk.count(LIST, 400)).toBe(1);
  });

  test('finds tickets that the list returns up to a day late', async () => {
    const first = resolved('First');
    await clock.advance(DAY);
    const kept = await poll();
    const late = desk.addTicket(customer, 'Late', { status: 4, updated_at: '2026-02-28T13:00:00Z' });
    desk.addTicket(customer, 'Too late', { status: 4, updated_at: '2026-02-28T11:00:00Z' });
    await reconnect();
    expect(ticketsOf(await poll(cursorOf(kept))).map(({ key }) => key)).toEqual([late, first].map(keyOf));
  });

  test('leaves a part of the rate limit to other clients of the account', async () => {
    await open({ limit: 30 });
    Array.from({ length: 50 }, (_, index) => resolved(`Ticket ${index}`));
    expect(ticketsOf(await poll())).toHaveLength(50);
    expect(desk.count(/./, 429)).toBe(0);
  });
});

describe('a list ordered by the last change', () => {
  const T0 = '2026-03-01T12:00:00Z';
  const listOf = (page: (number: number) => string[], mostPages = 300): UpdatedList<Listed> & { asked: number } => ({
    label: 'Freshdesk: list tickets',
    mostPages,
    asked: 0,
    idOf: () => null,
    read: () => expect.unreachable(),
    first: (since) => `1 ${since}`,
    async page(path) {
      this.asked += 1;
      const number = Number.parseInt(path, 10);
      return { items: page(number).map((updated_at) => ({ updated_at })), next: `${number + 1} on`, at: START };
    },
  });
  const scan = async (list: UpdatedList<Listed>) => {
    for await (const _ of scanUpdated(list, T0)) {
      // Only its end matters.
    }
  };

  test('fails after 300 pages with the same time, without skipping later ones', async () => {
    const list = listOf(() => [T0, T0]);
    await expect(scan(list)).rejects.toThrow(/more than 300 pages changed at 2026-03-01T12:00:00Z/);
    expect(list.asked).toBe(300);
  });

  test('is refused in another order or with invalid times', async () => {
    await expect(scan(listOf(() => ['2026-03-01T12:00:02Z', '2026-03-01T12:00:01Z']))).rejects.toBeInstanceOf(
      NotThePlatformError,
    );
    await expect(scan(listOf(() => ['yesterday']))).rejects.toBeInstanceOf(NotThePlatformError);
  });
});
