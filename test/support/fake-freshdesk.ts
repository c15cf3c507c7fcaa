/** Fake API of Freshdesk. */
import type { VirtualClock } from '../queue/virtual-clock.ts';
import { FakeProvider, onlyParameters, type ProviderReply, Refusal, type SeenRequest } from './fake-provider.ts';

/** 2 open, 3 pending, 4 resolved, 5 closed. */
function newTicket(id: number, requester: number, text: string, now: string) {
  return {
    id,
    subject: 'Help',
    text,
    status: 2,
    source: 1,
    spam: false,
    deleted: false,
    created_at: now,
    updated_at: now,
    resolved_at: null as string | null,
    closed_at: null as string | null,
    requester_id: requester,
    messages: [] as FakeMessage[],
  };
}
export type FakeFreshdeskTicket = ReturnType<typeof newTicket>;

function newMessage(id: number, user: number, body: string, incoming: boolean, now: string) {
  return { id, body_text: body, incoming, private: false, user_id: user, created_at: now };
}
export type FakeMessage = ReturnType<typeof newMessage>;

export interface FakeFreshdeskOptions {
  readonly clock: VirtualClock;
  /** Calls per minute of the account, and of the list alone. */
  readonly limit?: number;
  readonly listLimit?: number;
  /** Largest page, whatever is requested; 100 where absent. */
  readonly page?: number;
  /** Last page of the list of tickets; 300 where absent. */
  readonly mostPages?: number;
}

const TICKETS = {
  updated_since: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  order_by: /^(?:created_at|due_by|updated_at|status)$/,
  order_type: /^(?:asc|desc)$/,
  per_page: /^(?:[1-9]\d?|100)$/,
  page: /^[1-9]\d*$/,
  include: /^(?:stats|requester|description|company)(?:,(?:stats|requester|description|company))*$/,
};
const MESSAGES = { per_page: TICKETS.per_page, page: TICKETS.page };
const SHOWN = {
  include: /^(?:stats|requester|company|conversations|sla_policy)(?:,(?:stats|requester|company|sla_policy))*$/,
};
const MONTH = 30 * 86_400_000;
const MAX_PAGES = 300;

/** Freshdesk's API: its list omits spam and deleted tickets and ends at page 300, and times are in seconds. */
export class FakeFreshdesk extends FakeProvider {
  static readonly token = 'key-of-freshdesk';
  readonly tickets: FakeFreshdeskTicket[] = [];
  /** Agents and contacts by id. */
  readonly people = new Map<
    number,
    { readonly kind: 'agents' | 'contacts'; readonly name: string; readonly email: string }
  >();
  /** True if the key may read agents. */
  showsAgents = true;
  readonly #options: FakeFreshdeskOptions;
  #ids = 100;

  constructor(options: FakeFreshdeskOptions) {
    super(options.clock);
    this.#options = options;
  }

  addPerson(kind: 'agents' | 'contacts', name: string, email: string): number {
    this.#ids += 1;
    this.people.set(this.#ids, { kind, name, email });
    return this.#ids;
  }

  addTicket(requester: number, text: string, more: Partial<FakeFreshdeskTicket> = {}): FakeFreshdeskTicket {
    this.#ids += 1;
    const ticket = { ...newTicket(this.#ids, requester, text, this.time), ...more };
    this.tickets.push(ticket);
    return ticket;
  }

  message(ticket: FakeFreshdeskTicket, user: number, body: string, more: Partial<FakeMessage> = {}): FakeMessage {
    this.#ids += 1;
    const incoming = this.people.get(user)?.kind === 'contacts';
    const message = { ...newMessage(this.#ids, user, body, incoming, this.time), ...more };
    ticket.messages.push(message);
    this.touch(ticket);
    return message;
  }

  setStatus(ticket: FakeFreshdeskTicket, status: number): void {
    ticket.status = status;
    ticket.updated_at = this.time;
    ticket.resolved_at = status === 4 ? ticket.updated_at : status < 4 ? null : ticket.resolved_at;
    ticket.closed_at = status === 5 ? ticket.updated_at : null;
  }

  touch(ticket: FakeFreshdeskTicket): void {
    ticket.updated_at = this.time;
  }

  /** Deletes a ticket permanently: no request returns it any more. */
  destroy(ticket: FakeFreshdeskTicket): void {
    this.tickets.splice(this.tickets.indexOf(ticket), 1);
  }

  protected admit(request: SeenRequest): ProviderReply {
    const expected = `Basic ${Buffer.from(`${FakeFreshdesk.token}:X`).toString('base64')}`;
    if (request.headers.authorization !== expected) {
      return { status: 401, body: { code: 'invalid_credentials', message: 'You have to be logged in.' } };
    }
    const { limit = 700, listLimit = 200 } = this.#options;
    const isList = request.path === '/api/v2/tickets';
    const account = this.use('account', limit, 60_000);
    const own = isList ? this.use('list', listLimit, 60_000) : account;
    const headers = {
      'x-ratelimit-total': String(limit),
      'x-ratelimit-remaining': String(account.remaining),
      'x-ratelimit-used-currentrequest': '1',
    };
    if (!account.accepted || !own.accepted) {
      return {
        status: 429,
        headers: { ...headers, 'retry-after': String(own.resetsIn) },
        body: { message: 'Too many' },
      };
    }
    return { status: 200, headers };
  }

  protected handle(request: SeenRequest): ProviderReply {
    const [, resource, id, child, rest] =
      /^\/api\/v2\/([a-z]+)(?:\/(\d+))?(?:\/([a-z]+))?(\/.*)?$/.exec(request.path) ?? [];
    if (request.method !== 'GET' || rest !== undefined) {
      throw new Refusal(405, { message: `${request.method} is not allowed` });
    }
    if (resource === 'tickets' && id === undefined) {
      return this.#list(request);
    }
    if (resource === 'tickets' && child === 'conversations') {
      return this.#conversations(request, Number(id));
    }
    if (resource === 'tickets' && child === undefined) {
      return this.#show(request, Number(id));
    }
    if ((resource === 'agents' || resource === 'contacts') && child === undefined) {
      return this.#person(resource, Number(id));
    }
    throw new Refusal(404, {});
  }

  #list(request: SeenRequest): ProviderReply {
    const { query } = request;
    onlyParameters(query, TICKETS);
    const { mostPages = MAX_PAGES } = this.#options;
    if (Number(query.get('page') ?? 1) > mostPages) {
      const errors = [
        { field: 'page', message: `It should be less than or equal to ${mostPages}`, code: 'invalid_value' },
      ];
      throw new Refusal(400, { description: 'Validation failed', errors });
    }
    const since = query.get('updated_since');
    const by = query.get('order_by') === 'updated_at' ? 'updated_at' : 'created_at';
    const down = query.get('order_type') === 'asc' ? 1 : -1;
    const shown = this.tickets
      .filter(({ spam, deleted }) => !spam && !deleted)
      .filter((one) =>
        since === null
          ? Date.parse(one.created_at) >= this.clock.now() - MONTH
          : Date.parse(one.updated_at) >= Date.parse(since),
      )
      .sort((a, b) => down * (Date.parse(a[by]) - Date.parse(b[by]) || a.id - b.id));
    const include = (query.get('include') ?? '').split(',');
    return this.#paged(
      request,
      shown.map((one) => this.#view(one, include)),
      30,
    );
  }

  #conversations(request: SeenRequest, id: number): ProviderReply {
    onlyParameters(request.query, MESSAGES);
    const { messages } = this.#ticket(id);
    const shown = messages.map((one) => ({ ...one, body: `<div>${one.body_text}</div>`, source: one.private ? 2 : 0 }));
    return this.#paged(request, shown, 30);
  }

  #show({ query }: SeenRequest, id: number): ProviderReply {
    onlyParameters(query, SHOWN);
    const include = (query.get('include') ?? '').split(',');
    return { status: 200, body: this.#view(this.#ticket(id), [...include, 'description']) };
  }

  #person(kind: 'agents' | 'contacts', id: number): ProviderReply {
    const person = this.people.get(id);
    if (kind === 'agents' && !this.showsAgents) {
      throw new Refusal(403, { code: 'access_denied' });
    }
    if (person?.kind !== kind) {
      throw new Refusal(404, {});
    }
    const contact = { id, name: person.name, email: person.email };
    return { status: 200, body: kind === 'agents' ? { id, contact } : contact };
  }

  #ticket(id: number): FakeFreshdeskTicket {
    const ticket = this.tickets.find((one) => one.id === id);
    if (ticket === undefined) {
      throw new Refusal(404, {});
    }
    return ticket;
  }

  #view(ticket: FakeFreshdeskTicket, include: readonly string[]): object {
    const { text, messages: _, resolved_at, closed_at, ...shown } = ticket;
    const requester = this.people.get(ticket.requester_id);
    return {
      ...shown,
      tags: ['export'],
      ...(include.includes('description') ? { description: `<div>${text}</div>`, description_text: text } : {}),
      ...(include.includes('stats') ? { stats: { resolved_at, closed_at } } : {}),
      ...(include.includes('requester') && requester !== undefined
        ? { requester: { id: ticket.requester_id, name: requester.name, email: requester.email } }
        : {}),
    };
  }

  #paged({ path, query }: SeenRequest, all: readonly object[], usual: number): ProviderReply {
    const size = Math.min(Number(query.get('per_page') ?? usual), this.#options.page ?? 100);
    const page = Number(query.get('page') ?? 1);
    const next = new URLSearchParams(query);
    next.set('page', String(page + 1));
    const hasNext = all.length > page * size;
    return {
      status: 200,
      headers: hasNext ? { link: `<${this.url}${path}?${next}>; rel="next"` } : {},
      body: all.slice((page - 1) * size, page * size),
    };
  }
}
