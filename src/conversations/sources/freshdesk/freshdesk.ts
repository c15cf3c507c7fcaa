import type { ConversationsConfig } from '../../../config/conversations.ts';
import type { Clock, Random } from '../../../core/clock.ts';
import { TransientError } from '../../../core/errors.ts';
import { isObject, type Json } from '../../../core/json.ts';
import { orRejected, readAnswer, readRecord } from '../../model/answers.ts';
import type { Batch, PollingSource, PollOptions } from '../../model/source.ts';
import type { Person, SourceRecord } from '../../model/ticket.ts';
import { nextLink } from '../../polling/next-link.ts';
import { openProviderClient, type ProviderAnswer, type ProviderClient } from '../../polling/provider-client.ts';
import { RecentVersions } from '../../polling/recent-versions.ts';
import type { UpdatedList, UpdatedPage } from '../../polling/updated-list.ts';
import { pollUpdated, positionOf } from '../../polling/updated-poll.ts';
import { readFreshdeskRate } from './rate.ts';
import { decidedByTicket, keyOf, ticketOf } from './ticket.ts';
import {
  agentSchema,
  contactSchema,
  conversationsSchema,
  type FreshdeskConversation,
  type FreshdeskTicket,
  type ListedTicket,
  listSchema,
  ticketSchema,
} from './wire.ts';

export type FreshdeskSettings = NonNullable<ConversationsConfig['sources'][number]['freshdesk']>;

export interface FreshdeskOptions extends Omit<FreshdeskSettings, 'webhookHeader' | 'webhookSecret'> {
  readonly name: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum number of requests in flight; default 4. */
  readonly concurrency?: number;
}

const PAGE = 100;
/** Last page of a list that Freshdesk returns. Source: docs/helpdesk-notes.md#freshdesk */
const MAX_PAGES = 300;
/** Maximum number of pages with messages of one ticket. */
const MAX_CHILD_PAGES = 1000;
/** Maximum number of people whose names are cached. */
const MAX_PEOPLE = 10_000;
const LIST = 'list tickets';

/** Opens the Freshdesk source: tickets in the order of their last change, then the messages of each settled one. */
export function openFreshdesk(options: FreshdeskOptions): PollingSource {
  const credentials = `Basic ${Buffer.from(`${options.token}:X`).toString('base64')}`;
  const client = openProviderClient({
    label: 'Freshdesk',
    baseUrl: options.baseUrl ?? `https://${options.domain}.freshdesk.com`,
    userAgent: options.userAgent,
    headers: async () => ({ authorization: credentials }),
    rate: readFreshdeskRate,
    concurrency: options.concurrency ?? 4,
    clock: options.clock,
    random: options.random,
  });
  return new Freshdesk(options, client);
}

interface Page {
  readonly answer: ProviderAnswer;
  readonly next: string | null;
}

class Freshdesk implements PollingSource {
  readonly name: string;
  readonly #domain: string;
  readonly #lookback: number;
  readonly #clock: Clock;
  readonly #client: ProviderClient;
  readonly #seen = new RecentVersions();
  readonly #people = new Map<string, Promise<Person | null>>();

  constructor({ name, domain, lookback, clock }: FreshdeskOptions, client: ProviderClient) {
    this.name = name;
    this.#domain = domain;
    this.#lookback = lookback;
    this.#clock = clock;
    this.#client = client;
  }

  /** The cursor is the newest `updated_at` seen, verbatim, and the number of the batch. */
  async *poll({ cursor, since, signal }: PollOptions): AsyncIterable<Batch> {
    const account = this.#domain;
    const own: Json = isObject(cursor) && cursor.account === account ? (cursor as Json) : null;
    const last = isObject(own) && typeof own.batch === 'number' ? own.batch : 0;
    this.#seen.startAfter(last);
    const progress = pollUpdated<ListedTicket>({
      list: this.#list(signal),
      reached: positionOf(own, since),
      lookback: this.#lookback,
      seen: this.#seen,
      batch: last,
      idOf: ({ id }) => String(id),
      read: (ticket, ended) => this.#read(ticket.id, ticket, ended),
      signal,
    });
    for await (const { found, reached, batch } of progress) {
      yield { found, cursor: { account, batch, ...reached } };
    }
  }

  async fetch(id: string, signal: AbortSignal): Promise<SourceRecord> {
    const key = keyOf(this.#domain, id);
    if (!/^\d{1,15}$/.test(id)) {
      return { kind: 'rejected', place: key, reason: 'not a ticket id' };
    }
    const path = `/api/v2/tickets/${id}?${new URLSearchParams({ include: 'requester,stats' })}`;
    const answer = await this.#client.request({ name: 'get ticket', path, accepts: [404], signal });
    return answer.status === 404 ? { kind: 'gone', key } : this.#read(id, answer.body, signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #list(signal: AbortSignal): UpdatedList<ListedTicket> {
    return {
      label: `Freshdesk: ${LIST}`,
      mostPages: MAX_PAGES,
      first: (since) => {
        // Newer accounts list no description unless it is requested. Source: docs/helpdesk-notes.md#freshdesk
        const include = 'description,requester,stats';
        return `/api/v2/tickets?${new URLSearchParams({ updated_since: since, order_by: 'updated_at', order_type: 'asc', include })}`;
      },
      page: async (path): Promise<UpdatedPage<ListedTicket>> => {
        const { answer, next } = await this.#page(path, LIST, 'search', [], signal);
        const date = Date.parse(String(answer.headers.date ?? ''));
        const at = Number.isNaN(date) ? this.#clock.now() : date;
        return { items: readAnswer(listSchema, answer.body, `Freshdesk: ${LIST}`), next, at };
      },
    };
  }

  /** Reads a page of a list. The path of the first page has no page number. */
  async #page(
    path: string,
    name: string,
    kind: 'read' | 'search',
    accepts: readonly number[],
    signal: AbortSignal,
  ): Promise<Page> {
    const [resource = '', query] = path.split('?');
    const parameters = new URLSearchParams(query);
    const number = Number(parameters.get('page') ?? 1);
    parameters.set('per_page', String(PAGE));
    parameters.set('page', String(number));
    const request = { name, path: `${resource}?${parameters}`, class: kind, accepts, signal };
    const answer = await this.#client.request(request);
    const length = Array.isArray(answer.body) ? answer.body.length : 0;
    parameters.set('page', String(number + 1));
    const hasMore = length >= PAGE || (length > 0 && nextLink(answer.headers.link) !== null);
    return { answer, next: hasMore ? `${resource}?${parameters}` : null };
  }

  #read(id: number | string, record: unknown, signal: AbortSignal): Promise<SourceRecord> {
    const key = keyOf(this.#domain, id);
    return orRejected(key, async () => {
      const ticket = readRecord(ticketSchema, record);
      return decidedByTicket(this.#domain, ticket) ?? (await this.#thread(ticket, signal));
    });
  }

  async #thread(ticket: FreshdeskTicket, signal: AbortSignal): Promise<SourceRecord> {
    const conversations = await this.#conversations(ticket.id, signal);
    if (conversations === null) {
      return { kind: 'gone', key: keyOf(this.#domain, ticket.id) };
    }
    return ticketOf(this.#domain, ticket, conversations, await this.#authors(ticket, conversations, signal));
  }

  /** Returns all messages after the description; null if the ticket no longer exists. */
  async #conversations(ticket: number, signal: AbortSignal): Promise<FreshdeskConversation[] | null> {
    const byId = new Map<number, FreshdeskConversation>();
    let path: string | null = `/api/v2/tickets/${ticket}/conversations`;
    for (let pages = 0; path !== null; pages += 1) {
      if (pages >= MAX_CHILD_PAGES) {
        throw new TransientError('Freshdesk: list conversations: the list does not end', false);
      }
      const { answer, next }: Page = await this.#page(path, 'list conversations', 'read', [404], signal);
      if (answer.status === 404) {
        return null;
      }
      for (const one of readRecord(conversationsSchema, answer.body)) {
        byId.set(one.id, one);
      }
      path = next;
    }
    return [...byId.values()];
  }

  /** Returns the authors with their names: messages contain only their ids, and redaction needs names. */
  async #authors(
    { requester_id: requester }: FreshdeskTicket,
    conversations: readonly FreshdeskConversation[],
    signal: AbortSignal,
  ) {
    const authors = new Map<number, Person>();
    for (const { user_id: id, incoming } of conversations) {
      if (id == null || id === requester || authors.has(id)) {
        continue;
      }
      const person = await this.#person(incoming === true ? 'contacts' : 'agents', id, signal);
      if (person !== null) {
        authors.set(id, person);
      }
    }
    return authors;
  }

  #person(kind: 'agents' | 'contacts', id: number, signal: AbortSignal): Promise<Person | null> {
    const path = `/api/v2/${kind}/${id}`;
    const known = this.#people.get(path);
    if (known !== undefined) {
      return known;
    }
    if (this.#people.size >= MAX_PEOPLE) {
      this.#people.clear();
    }
    const asked = this.#ask(path, kind, signal);
    this.#people.set(path, asked);
    asked.catch(() => this.#people.delete(path));
    return asked;
  }

  /** Returns a person; null if the person no longer exists or the key has no access to people. */
  async #ask(path: string, kind: 'agents' | 'contacts', signal: AbortSignal): Promise<Person | null> {
    const answer = await this.#client.request({ name: `get ${kind}`, path, accepts: [403, 404], signal });
    if (answer.status !== 200) {
      return null;
    }
    const read =
      kind === 'agents' ? agentSchema.safeParse(answer.body).data?.contact : contactSchema.safeParse(answer.body).data;
    return read === undefined ? null : { names: [read.name ?? ''], emails: [read.email ?? ''] };
  }
}
