/** Source of Freshdesk: the list of tickets, their conversion, rate limits and the webhook. */
import * as z from 'zod';
import { isObject } from '../../core/json.ts';
import { headerOf, isSameSecret, type WebhookRequest } from '../../core/signature.ts';
import { type RateHeaders, readRateHeaders } from '../../queue/request.ts';
import { textOfHtml } from '../model/html.ts';
import { type Batch, jsonWebhook, type PollingSource, type PollOptions, type Webhook } from '../model/source.ts';
import {
  firstTime,
  listAttribute,
  type Part,
  PeopleCollector,
  type Person,
  type SourceRecord,
  ticketOrSkipped,
  withoutTicket,
} from '../model/ticket.ts';
import {
  nextLink,
  openProviderClient,
  orRejected,
  type ProviderOptions,
  ProviderSource,
  readAnswer,
  readPages,
  readRecord,
} from './provider.ts';
import { pollUpdated, positionOf, RecentVersions, type UpdatedList } from './updated-list.ts';

const id = z.number().int().nonnegative();
const text = z.string().nullish();
/** Flag that counts as `true` unless it is `false`, so that nothing becomes public because a flag is invalid. */
const guarded = z.boolean().nullish().catch(true);

/** Members of a ticket that the scan needs; the others are read for each ticket. */
const listSchema = z.array(z.looseObject({ id, updated_at: z.string() }));
type ListedTicket = z.output<typeof listSchema>[number];

const addresses = z.array(z.string()).nullish().catch(null);

const ticketSchema = z.object({
  id,
  subject: text,
  description: text,
  description_text: text,
  status: z.number().int(),
  source: z.number().int().nullish(),
  spam: guarded,
  deleted: guarded,
  created_at: text,
  updated_at: text,
  tags: z.array(z.string()).nullish(),
  requester_id: id.nullish(),
  cc_emails: addresses,
  fwd_emails: addresses,
  reply_cc_emails: addresses,
  to_emails: addresses,
  requester: z.object({ id: id.nullish(), name: text, email: text }).nullish().catch(null),
  stats: z.object({ resolved_at: text, closed_at: text }).nullish().catch(null),
});
type FreshdeskTicket = z.output<typeof ticketSchema>;

const messageSchema = z.object({
  id,
  body: text,
  body_text: text,
  incoming: z.boolean().nullish().catch(null),
  private: z.boolean().catch(true),
  user_id: id.nullish(),
  created_at: text,
  from_email: text.catch(null),
  cc_emails: addresses,
  bcc_emails: addresses,
  to_emails: addresses,
});
/** A message after the description, which Freshdesk calls a conversation. */
type FreshdeskMessage = z.output<typeof messageSchema>;

const contactSchema = z.object({ name: text, email: text });
const agentSchema = z.object({ contact: contactSchema }).transform(({ contact }) => contact);

type FreshdeskOptions = Omit<ProviderOptions<'freshdesk'>, 'webhookHeader'>;

const PAGE = 100;
/** Last page of a list that Freshdesk returns. Source: docs/helpdesk-notes.md#freshdesk */
const MAX_PAGES = 300;
/** Maximum number of people whose names are cached. */
const MAX_PEOPLE = 10_000;
const LIST = 'list tickets';

/** Opens the Freshdesk source: tickets in the order of their last change, then the messages of each settled one. */
export function openFreshdesk(options: FreshdeskOptions): PollingSource {
  const credentials = `Basic ${Buffer.from(`${options.token}:X`).toString('base64')}`;
  const client = openProviderClient(options, {
    label: 'Freshdesk',
    baseUrl: options.baseUrl ?? `https://${options.domain}.freshdesk.com`,
    headers: async () => ({ authorization: credentials }),
    rate: readFreshdeskRate,
  });
  return new Freshdesk(options, client);
}

class Freshdesk extends ProviderSource<FreshdeskOptions> {
  readonly #seen = new RecentVersions();
  readonly #people = new Map<string, Promise<Person | null>>();

  /** The cursor is the newest `updated_at` seen, verbatim, and the number of the batch. */
  async *poll({ cursor, since, signal }: PollOptions): AsyncIterable<Batch> {
    const { domain: account, lookback } = this.options;
    const own = isObject(cursor) && cursor.account === account ? cursor : {};
    const last = typeof own.batch === 'number' ? own.batch : 0;
    this.#seen.startAfter(last);
    const from = { reached: positionOf(own, since), batch: last, lookback };
    for await (const { found, reached, batch } of pollUpdated(this.#list(signal), from, this.#seen, signal)) {
      yield { found, cursor: { account, batch, ...reached } };
    }
  }

  async fetch(ticket: string, signal: AbortSignal): Promise<SourceRecord> {
    const key = keyOf(this.options.domain, ticket);
    if (!/^\d{1,15}$/.test(ticket)) {
      return { kind: 'rejected', place: key, reason: 'not a ticket id' };
    }
    const path = `/api/v2/tickets/${ticket}?${new URLSearchParams({ include: 'requester,stats' })}`;
    const answer = await this.find({ name: 'get ticket', path, signal });
    return answer === null ? { kind: 'gone', key } : this.#read(ticket, answer.body, signal);
  }

  #list(signal: AbortSignal): UpdatedList<ListedTicket> {
    return {
      label: `Freshdesk: ${LIST}`,
      mostPages: MAX_PAGES,
      idOf: (ticket) => String(ticket.id),
      read: (ticket, ended) => this.#read(ticket.id, ticket, ended),
      first: (since) => {
        // Newer accounts list no description unless it is requested. Source: docs/helpdesk-notes.md#freshdesk
        const include = 'description,requester,stats';
        return `/api/v2/tickets?${new URLSearchParams({ updated_since: since, order_by: 'updated_at', order_type: 'asc', include })}`;
      },
      page: async (path) => {
        const { body, next, at } = await this.#page(path, LIST, 'search', [], signal);
        return { items: readAnswer(listSchema, body, `Freshdesk: ${LIST}`), next, at };
      },
    };
  }

  /** Reads a page of a list. The path of the first page has no page number. */
  async #page(path: string, name: string, kind: 'read' | 'search', accepts: readonly number[], signal: AbortSignal) {
    const [resource = '', query] = path.split('?');
    const parameters = new URLSearchParams(query);
    const number = Number(parameters.get('page') ?? 1);
    parameters.set('per_page', String(PAGE));
    parameters.set('page', String(number));
    const request = { name, path: `${resource}?${parameters}`, class: kind, accepts, signal };
    const answer = await this.client.request(request);
    const length = Array.isArray(answer.body) ? answer.body.length : 0;
    parameters.set('page', String(number + 1));
    const hasMore = length >= PAGE || (length > 0 && nextLink(answer.headers.link) !== null);
    return { ...answer, next: hasMore ? `${resource}?${parameters}` : null };
  }

  #read(ticketId: number | string, record: unknown, signal: AbortSignal): Promise<SourceRecord> {
    return orRejected(keyOf(this.options.domain, ticketId), async () => {
      const ticket = readRecord(ticketSchema, record);
      return decidedByTicket(this.options.domain, ticket) ?? (await this.#thread(ticket, signal));
    });
  }

  async #thread(ticket: FreshdeskTicket, signal: AbortSignal): Promise<SourceRecord> {
    const messages = await this.#messages(ticket.id, signal);
    return messages === null
      ? { kind: 'gone', key: keyOf(this.options.domain, ticket.id) }
      : ticketOf(this.options.domain, ticket, messages, await this.#authors(ticket, messages, signal));
  }

  /** Returns all messages after the description; null if the ticket no longer exists. */
  async #messages(ticket: number, signal: AbortSignal): Promise<FreshdeskMessage[] | null> {
    const name = 'list conversations';
    const all = await readPages(
      `Freshdesk: ${name}`,
      `/api/v2/tickets/${ticket}/conversations`,
      async (path: string) => {
        const { status, body, next } = await this.#page(path, name, 'read', [404], signal);
        return status === 404 ? null : { items: readRecord(z.array(messageSchema), body), next };
      },
    );
    return all === null ? null : [...new Map(all.map((message) => [message.id, message])).values()];
  }

  /** Returns the authors with their names: messages contain only their ids, and redaction needs names. */
  async #authors(
    { requester_id: requester }: FreshdeskTicket,
    messages: readonly FreshdeskMessage[],
    signal: AbortSignal,
  ): Promise<Person[]> {
    const authors = new Map<number, Person>();
    for (const { user_id: author, incoming } of messages) {
      if (author == null || author === requester || authors.has(author)) {
        continue;
      }
      const person = await this.#person(incoming === true ? 'contacts' : 'agents', author, signal);
      if (person !== null) {
        authors.set(author, person);
      }
    }
    return [...authors.values()];
  }

  #person(kind: 'agents' | 'contacts', author: number, signal: AbortSignal): Promise<Person | null> {
    const path = `/api/v2/${kind}/${author}`;
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
    const answer = await this.find({ name: `get ${kind}`, path, signal }, [403, 404]);
    const schema = kind === 'agents' ? agentSchema : contactSchema;
    const { data } = schema.safeParse(answer?.body);
    return data === undefined ? null : { names: [data.name ?? ''], emails: [data.email ?? ''] };
  }
}

const SETTLED = { resolved: 4, closed: 5 };
/** Ticket sources whose first message is from the team. Source: docs/helpdesk-notes.md#freshdesk */
const BY_TEAM = new Set([10, 14]);
/** Ticket source whose conversation repeats the description. Source: docs/helpdesk-notes.md#freshdesk */
const WEB_CHAT = 15;
const CHANNELS: Readonly<Record<number, string>> = {
  1: 'email',
  2: 'portal',
  3: 'phone',
  7: 'chat',
  9: 'feedback-widget',
  10: 'outbound-email',
  15: 'web-chat',
};

function keyOf(domain: string, ticket: number | string): string {
  return `freshdesk/${domain}/${ticket}`;
}

/** Decides from the ticket alone whether it is skipped; null: its messages must be read. */
function decidedByTicket(domain: string, { id, deleted, spam, status }: FreshdeskTicket): SourceRecord | null {
  const unsettled = Object.values(SETTLED).includes(status) ? null : 'open';
  const skipped = spam === true ? 'spam' : unsettled;
  return withoutTicket(keyOf(domain, id), deleted === true ? 'gone' : skipped);
}

/**
 * Converts a Freshdesk ticket. `authors` are the known authors of its messages. The status and the time of the last
 * update are not attributes: a resolved ticket is closed automatically some days later, and would otherwise be sent
 * again.
 */
function ticketOf(
  domain: string,
  wire: FreshdeskTicket,
  messages: readonly FreshdeskMessage[],
  authors: readonly Person[],
): SourceRecord {
  const ordered = [...messages].sort((a, b) => timeOf(a) - timeOf(b) || a.id - b.id);
  const shown = ordered.filter((one) => !one.private);
  const { source, status, stats, updated_at: updated } = wire;
  const { resolved_at: resolved, closed_at: closed } = stats ?? {};
  return ticketOrSkipped(
    {
      key: keyOf(domain, wire.id),
      subject: wire.subject ?? '',
      createdAt: wire.created_at ?? null,
      settledAt:
        status === SETTLED.resolved ? firstTime(resolved, closed, updated) : firstTime(closed, resolved, updated),
      url: `https://${domain}.freshdesk.com/a/tickets/${wire.id}`,
      attributes: {
        ...(source == null ? {} : { channel: CHANNELS[source] ?? String(source) }),
        ...listAttribute('tags', wire.tags),
      },
      parts: partsOf(wire, shown),
      people: peopleOf(wire, ordered, authors),
      // Freshdesk does not report the number of messages.
      completeness: null,
      // Freshdesk's list has no deleted tickets and no spam.
      recheck: String(wire.id),
    },
    shown.length < messages.length ? 'private' : 'empty',
  );
}

function timeOf({ created_at: created }: FreshdeskMessage): number {
  return firstTime(created) ?? 0;
}

function partsOf(wire: FreshdeskTicket, shown: readonly FreshdeskMessage[]): Part[] {
  const description = textOf(wire.description_text, wire.description);
  const messages = shown.map(
    (one): Part => ({ role: one.incoming === true ? 'user' : 'team-member', body: textOf(one.body_text, one.body) }),
  );
  const repeated = wire.source === WEB_CHAT && sameWords(messages[0]?.body ?? '', description);
  const first: Part = { role: BY_TEAM.has(wire.source ?? 0) ? 'team-member' : 'user', body: description };
  return [...(repeated ? [] : [first]), ...messages].filter(({ body }) => body !== '');
}

/** Returns the text, or the text of the HTML if there is none. */
function textOf(plain: string | null | undefined, html: string | null | undefined): string {
  const trimmed = (plain ?? '').trim();
  return trimmed === '' ? textOfHtml(html ?? '') : trimmed;
}

function sameWords(a: string, b: string): boolean {
  const words = (some: string) => some.split(/\s+/).join(' ');
  return words(a) === words(b);
}

/** Returns the people of a ticket, including authors of private notes, who may be named in public messages. */
function peopleOf(wire: FreshdeskTicket, all: readonly FreshdeskMessage[], authors: readonly Person[]): Person[] {
  const people = new PeopleCollector();
  people.add([wire.requester?.name], [wire.requester?.email]);
  for (const { names, emails } of authors) {
    people.add(names, emails);
  }
  const copied = [
    ...[wire, ...all].flatMap((one) => one.cc_emails ?? []),
    ...(wire.reply_cc_emails ?? []),
    ...(wire.fwd_emails ?? []),
    ...all.flatMap((one) => one.bcc_emails ?? []),
  ];
  for (const address of [...copied, ...all.map(({ from_email: from }) => from ?? '')]) {
    addAddress(people, address);
  }
  for (const address of [wire, ...all].flatMap((one) => one.to_emails ?? [])) {
    // The name of the receiving address is usually that of the product.
    addAddress(people, address.replace(/^[^<]*</, '<'));
  }
  return people.all();
}

/** Adds a person from `Bo Example <bo@example.org>` or an address alone. */
function addAddress(people: PeopleCollector, address: string): void {
  const trimmed = address.trim();
  const start = trimmed.indexOf('<');
  const inner = trimmed.endsWith('>') && start >= 0 ? trimmed.slice(start + 1, -1) : '';
  if (inner === '' || /[<>\s]/.test(inner)) {
    people.add([], [address.includes('@') ? address : '']);
  } else {
    people.add([trimmed.slice(0, start).trim().replaceAll('"', '').trim()], [inner]);
  }
}

const hintedId = z.union([z.number().int().positive(), z.string().regex(/^\d{1,15}$/)]);
/** The body is written by the author of the automation rule; these are Freshdesk's default and the simple forms. */
const bodySchema = z.union([
  z
    .object({ freshdesk_webhook: z.object({ ticket_id: hintedId }) })
    .transform((body) => body.freshdesk_webhook.ticket_id),
  z.object({ ticket_id: hintedId }).transform((body) => body.ticket_id),
  z.object({ ticket: z.object({ id: hintedId }) }).transform((body) => body.ticket.id),
]);

/** Webhook of an automation rule. Freshdesk has no signatures: a secret in a custom header replaces them. */
export function freshdeskWebhook({
  name,
  header,
  secret,
}: Readonly<Record<'name' | 'header' | 'secret', string>>): Webhook {
  const field = header.toLowerCase();
  const refusal = ({ headers }: WebhookRequest) =>
    isSameSecret(headerOf(headers, field) ?? '', secret) ? null : 'the secret is missing or wrong';
  return jsonWebhook(name, refusal, bodySchema, 'the body names no ticket: ticket_id is expected', (ticket) => ({
    kind: 'hints',
    delivery: null,
    ids: [String(ticket)],
  }));
}

/**
 * Length of a window, in seconds. Freshdesk does not report when a window ends, so a whole minute is assumed, which is
 * never too short. Source: docs/helpdesk-notes.md#freshdesk
 */
const WINDOW = 60;

/** Reads `X-RateLimit-Total`, `X-RateLimit-Remaining` and `Retry-After`, which count for the whole account. */
function readFreshdeskRate(headers: WebhookRequest['headers']): RateHeaders {
  const read = readRateHeaders({ ...headers, 'x-ratelimit-limit': headers['x-ratelimit-total'] });
  return { ...read, reset: read.remaining === null ? null : WINDOW };
}
