/** Fake providers as the contract of all sources sees them: tickets, and what can happen to them. */
import { expect } from 'vitest';
import type { PollingSource } from '../../src/conversations/model/source.ts';
import type { Part, SourceRecord, TicketSkipReason } from '../../src/conversations/model/ticket.ts';
import { openFreshdesk } from '../../src/conversations/sources/freshdesk.ts';
import { openGithub } from '../../src/conversations/sources/github.ts';
import { openIntercom } from '../../src/conversations/sources/intercom.ts';
import { openZendesk } from '../../src/conversations/sources/zendesk.ts';
import { openMemoryStore } from '../../src/store/memory.ts';
import { FakeFreshdesk } from './fake-freshdesk.ts';
import { FakeGithub } from './fake-github.ts';
import { FakeIntercom } from './fake-intercom.ts';
import type { FakeProvider } from './fake-provider.ts';
import { FakeZendesk } from './fake-zendesk.ts';
import { dependenciesOf, MINUTE, type SocketClock } from './polls.ts';

type Edits = Readonly<Record<string, (text: string) => unknown>>;

/** A ticket of a customer. */
export interface DeskTicket {
  readonly key: string;
  /** Id for a fetch. */
  readonly id: string;
  /** Path of the request for its messages. */
  readonly path: string;
  /** Edits that every provider has; after `remove`, it gets no more. */
  readonly edits: Edits & Readonly<Record<'ask' | 'answer' | 'solve' | 'reopen' | 'touch' | 'remove', Edits[string]>>;
  /** Gives its title another type. */
  damage(): void;
  /** Record that the source must return last; null: it may return anything, or nothing. */
  expected(): unknown;
}

export interface Desk {
  readonly fake: FakeProvider;
  /** Adds an open ticket with one message of its customer. */
  add(text: string): DeskTicket;
  /** Opens a process that polls. */
  connect(settings?: { readonly token?: string }): PollingSource;
  /** Invalidates all cursors of the provider, if it has any. */
  expire(): void;
}

export interface DeskOptions {
  /** Largest page of a list. */
  readonly page?: number;
  /** Requests of the account in one window. */
  readonly limit?: number;
  /** False: Intercom has no list of deletions. */
  readonly lists?: boolean;
}

export interface Provider {
  readonly name: string;
  /** Path of its list. */
  readonly list: RegExp;
  /** Milliseconds until an edit is in its list. */
  readonly delay: number;
  /** True if its list is read in the order of the last change, without a cursor of the provider. */
  readonly isByUpdate: boolean;
  open(clock: SocketClock, options?: DeskOptions): Promise<Desk>;
}

/** Text that is never sent. */
export const PRIVATE = 'PRIVATE';

const skipped = (key: string, reason: TicketSkipReason): SourceRecord => ({ kind: 'skipped', key, reason });
const gone = (key: string): SourceRecord => ({ kind: 'gone', key });
const whole = (key: string, parts: readonly (Part | null)[]) => ({
  kind: 'ticket',
  ticket: expect.objectContaining({ key, parts: parts.filter((part) => part !== null) }),
});

const zendesk: Provider = {
  name: 'Zendesk',
  list: /^\/api\/v2\/incremental\/tickets\/cursor$/,
  delay: 61_000,
  isByUpdate: false,
  async open(clock, options = {}) {
    const fake = await new FakeZendesk({ clock, exportLimit: 1000, ...options }).listen();
    const customer = fake.addUser('end-user', 'Cora Customer', 'cora@customer.example');
    const agent = fake.addUser('agent', 'Abe Agent', 'abe@acme.example');
    const add = (text: string): DeskTicket => {
      const ticket = fake.addTicket(customer, text, text);
      const key = `zendesk/acme/${ticket.id}`;
      return {
        key,
        id: String(ticket.id),
        path: `/api/v2/tickets/${ticket.id}/comments`,
        edits: {
          ask: (words) => fake.comment(ticket, customer, words),
          answer: (words) => fake.comment(ticket, agent, words),
          note: (words) => fake.comment(ticket, agent, `${PRIVATE} ${words}`, false),
          solve: () => fake.solve(ticket),
          reopen: () => fake.edit(ticket, { status: 'open' }),
          touch: () => fake.touch(ticket),
          close: () => fake.systemEdit(ticket, { status: 'closed' }),
          merge: () => fake.merge(ticket),
          remove: () => fake.remove(ticket),
        },
        damage: () => Object.assign(ticket, { subject: { secret: PRIVATE } }),
        expected() {
          if (ticket.status === 'deleted') {
            return gone(key);
          }
          if (ticket.status !== 'solved' && ticket.status !== 'closed') {
            return skipped(key, 'open');
          }
          const parts = ticket.comments.map((comment): Part | null => {
            const role = comment.author_id === customer.id ? 'user' : 'team-member';
            return comment.public ? { role, body: comment.plain_body ?? '' } : null;
          });
          return ticket.tags.includes('closed_by_merge') ? skipped(key, 'merged') : whole(key, parts);
        },
      };
    };
    const note = openMemoryStore().note('tokens');
    const settings = { subdomain: 'acme', token: FakeZendesk.token, note };
    const connect: Desk['connect'] = (over) => openZendesk({ ...dependenciesOf(fake), ...settings, ...over });
    return { fake, add, connect, expire: () => fake.expireCursors() };
  },
};

/** Seconds until Intercom's search returns a change; polls look back further. */
const INDEXING = 240;

const intercom: Provider = {
  name: 'Intercom',
  list: /^\/conversations\/search$/,
  delay: INDEXING * 1000 + 1000,
  isByUpdate: false,
  async open(clock, options = {}) {
    const fake = await new FakeIntercom({ clock, indexing: INDEXING, ...options }).listen();
    const customer = fake.author('user', 'Cora');
    const admin = fake.author('admin', 'Abe');
    const machine = fake.author('bot', 'Fin', { from_ai_agent: true });
    const roles = { user: 'user', admin: 'team-member', bot: 'assistant' } as const;
    const add = (text: string): DeskTicket => {
      const conversation = fake.begin(customer, text);
      const key = `intercom/ab12cd/${conversation.id}`;
      const say = (author: typeof admin, words: string, more = {}) => fake.add(conversation, author, words, more);
      return {
        key,
        id: conversation.id,
        path: `/conversations/${conversation.id}`,
        edits: {
          ask: (words) => say(customer, words),
          answer: (words) => say(admin, words),
          machine: (words) => say(machine, words),
          note: (words) => say(admin, `${PRIVATE} ${words}`, { part_type: 'note' }),
          redact: (words) => say(customer, `${PRIVATE} ${words}`, { redacted: true }),
          solve: () => fake.close(conversation),
          reopen: () => fake.edit(conversation, { state: 'open' }),
          touch: () => fake.edit(conversation, {}),
          remove: () => fake.remove(conversation),
        },
        damage: () => Object.assign(conversation, { title: { secret: PRIVATE } }),
        expected() {
          if (conversation.deletedAt !== null) {
            return gone(key);
          }
          const parts = conversation.parts.map((part): Part | null => {
            const role = roles[part.author.type as keyof typeof roles];
            return part.part_type === 'comment' && !part.redacted ? { role, body: part.body ?? '' } : null;
          });
          const first: Part = { role: 'user', body: conversation.source.body };
          return conversation.state === 'closed' ? whole(key, [first, ...parts]) : skipped(key, 'open');
        },
      };
    };
    const settings = { appId: 'ab12cd', token: FakeIntercom.token, region: 'us', lookback: 5 * MINUTE } as const;
    const connect: Desk['connect'] = (over) => openIntercom({ ...dependenciesOf(fake), ...settings, ...over });
    return { fake, add, connect, expire: () => fake.expirePositions() };
  },
};

const freshdesk: Provider = {
  name: 'Freshdesk',
  list: /^\/api\/v2\/tickets$/,
  delay: 0,
  isByUpdate: true,
  async open(clock, options = {}) {
    const fake = await new FakeFreshdesk({ clock, limit: 100_000, listLimit: 100_000, ...options }).listen();
    const customer = fake.addPerson('contacts', 'Cora Customer', 'cora@customer.example');
    const agent = fake.addPerson('agents', 'Abe Agent', 'abe@acme.example');
    const add = (text: string): DeskTicket => {
      const ticket = fake.addTicket(customer, text);
      const key = `freshdesk/acme/${ticket.id}`;
      const mark = (change: Partial<typeof ticket>) => fake.touch(Object.assign(ticket, change));
      return {
        key,
        id: String(ticket.id),
        path: `/api/v2/tickets/${ticket.id}/conversations`,
        edits: {
          ask: (words) => fake.message(ticket, customer, words),
          answer: (words) => fake.message(ticket, agent, words),
          note: (words) => fake.message(ticket, agent, `${PRIVATE} ${words}`, { private: true }),
          solve: () => fake.setStatus(ticket, 4),
          close: () => fake.setStatus(ticket, 5),
          reopen: () => fake.setStatus(ticket, 2),
          touch: () => fake.touch(ticket),
          spam: () => mark({ spam: true }),
          delete: () => mark({ deleted: true }),
          remove: () => fake.destroy(ticket),
        },
        damage: () => Object.assign(ticket, { subject: { secret: PRIVATE } }),
        expected() {
          if (ticket.spam || ticket.deleted || !fake.tickets.includes(ticket)) {
            return null;
          }
          const parts = ticket.messages.map((one): Part | null => {
            return one.private ? null : { role: one.incoming ? 'user' : 'team-member', body: one.body_text };
          });
          const first: Part = { role: 'user', body: ticket.text };
          return ticket.status >= 4 ? whole(key, [first, ...parts]) : skipped(key, 'open');
        },
      };
    };
    // Practically no lookback: it would repair what a poll misses.
    const settings = { domain: 'acme', token: FakeFreshdesk.token, lookback: 1 };
    const connect: Desk['connect'] = (over) => openFreshdesk({ ...dependenciesOf(fake), ...settings, ...over });
    return { fake, add, connect, expire: () => {} };
  },
};

const github: Provider = {
  name: 'GitHub',
  list: /\/issues$/,
  delay: 0,
  isByUpdate: true,
  async open(clock, options = {}) {
    const fake = await new FakeGithub({ clock, limit: 100_000, ...options }).listen();
    const repositories = ['acme/product', 'acme/other'].map((name) => fake.addRepository(name));
    let added = 0;
    const add = (text: string): DeskTicket => {
      // Most of them are in the first repository.
      added += 1;
      const repository = repositories[added % 5 === 0 ? 1 : 0] as (typeof repositories)[0];
      const issue = fake.addIssue(repository, 'cora', text);
      const key = `github/${issue.node_id}`;
      return {
        key,
        id: `${repository.name}#${issue.number}:${issue.node_id}`,
        path: `/repos/${repository.name}/issues/${issue.number}/comments`,
        edits: {
          ask: (words) => fake.comment(issue, 'cora', words),
          answer: (words) => fake.comment(issue, 'abe', words, { author_association: 'MEMBER' }),
          bot: () => fake.comment(issue, 'stale[bot]', PRIVATE, { user: { login: 'stale[bot]', type: 'Bot' } }),
          hide: () => fake.comment(issue, 'troll', PRIVATE, { minimized: { reason: 'abuse' } }),
          uncomment: () => fake.uncomment(issue),
          solve: () => fake.close(issue),
          decline: () => fake.close(issue, 'not_planned'),
          reopen: () => fake.reopen(issue),
          touch: () => fake.touch(issue),
          remove: () => fake.remove(repository, issue),
        },
        damage: () => Object.assign(issue, { title: { secret: PRIVATE } }),
        expected() {
          if (!repository.issues.includes(issue)) {
            return null;
          }
          const parts = issue.comments.map((one): Part | null => {
            const role = one.author_association === 'MEMBER' ? 'team-member' : 'user';
            return one.body === PRIVATE ? null : { role, body: one.body ?? '' };
          });
          if (issue.state === 'open' || issue.state_reason === 'not_planned') {
            return skipped(key, issue.state === 'open' ? 'open' : 'declined');
          }
          return whole(key, [{ role: 'user', body: issue.body ?? '' }, ...parts]);
        },
      };
    };
    const settings = {
      repositories: repositories.map(({ name }) => name),
      token: FakeGithub.token,
      teamMembers: [],
      includeNotPlanned: false,
    };
    const connect: Desk['connect'] = (over) => openGithub({ ...dependenciesOf(fake), ...settings, ...over });
    return { fake, add, connect, expire: () => {} };
  },
};

/** Providers whose APIs are polled. */
export const PROVIDERS: readonly Provider[] = [zendesk, intercom, freshdesk, github];
