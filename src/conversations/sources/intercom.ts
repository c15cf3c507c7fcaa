/** Source of Intercom: the search in windows of update times, the conversion and the webhook. */
import * as z from 'zod';
import { TransientError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { headerOf, isSignedBy, type WebhookRequest } from '../../core/signature.ts';
import { readRateHeaders } from '../../queue/request.ts';
import { textOfHtml } from '../model/html.ts';
import {
  type Batch,
  jsonWebhook,
  type PollingSource,
  type PollOptions,
  refused,
  type Webhook,
  type WebhookResult,
} from '../model/source.ts';
import {
  type AuthorRole,
  listAttribute,
  PeopleCollector,
  type SourceRecord,
  type TicketSkipReason,
  withoutTicket,
} from '../model/ticket.ts';
import {
  openProviderClient,
  orRejected,
  type ProviderAnswer,
  type ProviderOptions,
  ProviderSource,
  readAll,
  readAnswer,
  readPages,
  readRecord,
} from './provider.ts';

const id = z.union([z.string().min(1), z.number().int()]).transform(String);
/** Seconds since the epoch. */
const time = z.number();
const text = z.string().nullish();

const author = z.object({ type: text, name: text, email: text, from_ai_agent: z.boolean().nullish() }).nullish();
type IntercomAuthor = z.output<typeof author>;

/** Search result: enough to decide whether the conversation must be read. */
const itemSchema = z.object({ id, state: z.string() });

const searchSchema = z.object({
  conversations: z.array(z.unknown()),
  pages: z.object({ next: z.object({ starting_after: text }).nullish() }).nullish(),
});

/** The sender and the recipients of a message that is a mail. */
const mail = z
  .object({
    email_address_headers: z.array(z.object({ type: text, email_address: text, name: text })).nullish(),
  })
  .nullish()
  .catch(null);

const message = z.object({ body: text, redacted: z.boolean().nullish(), author, email_message_metadata: mail });
const partSchema = message.extend({ part_type: z.string() });
type IntercomPart = z.output<typeof partSchema>;

const conversationSchema = itemSchema.extend({
  title: text,
  created_at: time.nullish(),
  updated_at: time.nullish(),
  source: message.extend({ type: text, subject: text }).nullish(),
  contacts: z
    .object({ contacts: z.array(author).nullish() })
    .nullish()
    .catch(null),
  teammates: z
    .object({ admins: z.array(author).nullish() })
    .nullish()
    .catch(null),
  tags: z.object({ tags: z.array(z.object({ name: z.string() })).nullish() }).nullish(),
  statistics: z
    .object({ count_conversation_parts: z.number().int().nonnegative().nullish(), last_close_at: time.nullish() })
    .nullish(),
  conversation_parts: z.object({ conversation_parts: z.array(partSchema), total_count: z.number().nullish() }),
});
type IntercomConversation = z.output<typeof conversationSchema>;

const deletedSchema = z.object({
  // A time that cannot be read counts as recent.
  conversations: z.array(z.object({ id, deleted_at: time.nullish().catch(null) })),
  pages: z.object({ total_pages: z.number().nullish() }).nullish(),
});

type IntercomOptions = ProviderOptions<'intercom'>;

/**
 * API version that is pinned; otherwise the workspace's setting would apply. Source: docs/helpdesk-notes.md#intercom
 */
const VERSION = '2.16';
const PAGE = 50;
const DELETED_PAGE = 60;
/** Maximum number of consecutive empty pages of a search. */
const MAX_EMPTY = 3;
/** Statuses for an expired cursor. */
const EXPIRED_CURSOR = [400, 404, 422];

/**
 * Opens the Intercom source. A poll reads the conversations that were deleted since the start of a fixed window of
 * update times, then searches the window, oldest first, and reads each closed conversation in full. A deletion during
 * the poll is found by the next one, whose window overlaps.
 */
export function openIntercom(options: IntercomOptions): PollingSource {
  const client = openProviderClient(options, {
    label: 'Intercom',
    baseUrl: options.baseUrl ?? `https://api.${domainOf(options)}.io`,
    headers: async () => ({ authorization: `Bearer ${options.token}`, 'intercom-version': VERSION }),
    rate: readRateHeaders,
  });
  return new Intercom(options, client);
}

class Intercom extends ProviderSource<IntercomOptions> {
  /** True if the workspace has a list of deleted conversations. */
  #hasDeletionList = false;

  async *poll({ cursor, since, signal }: PollOptions): AsyncIterable<Batch> {
    const { appId: account, clock, lookback } = this.options;
    const now = Math.floor(clock.now() / 1000);
    const { data: progress } = progressSchema.safeParse(cursor);
    let from = Math.floor(since / 1000);
    if (progress?.account === account) {
      if ('from' in progress) {
        // Continue the window of an earlier poll.
        yield* this.#readWindow(progress, signal);
      }
      const bookmark = 'from' in progress ? progress.until : progress.bookmark;
      // The lookback is for late indexing. Leave no gap if the clock was set back.
      from = Math.max(0, Math.min(bookmark, now) - Math.ceil(lookback / 1000));
    }
    yield* this.#readWindow({ account, from, until: now, after: null }, signal);
  }

  async fetch(id: string, signal: AbortSignal): Promise<SourceRecord> {
    return /^\d{1,30}$/.test(id)
      ? this.#conversation(id, signal)
      : { kind: 'rejected', place: keyOf(this.options, id), reason: 'not a conversation id' };
  }

  async *#readWindow(window: Window, signal: AbortSignal): AsyncIterable<Batch> {
    const deleted = await this.#deleted(window.from, signal);
    this.#hasDeletionList = deleted !== null;
    let pending: readonly SourceRecord[] = deleted ?? [];
    let empty = 0;
    for (let position: Window | null = window; position !== null; ) {
      const { items, next } = await this.#search(position, signal);
      const found = await readAll(items, signal, (item, ended) => this.#read(item, ended));
      const following: Window | null = next === null ? null : { ...position, after: next };
      yield {
        found: [...pending, ...found],
        cursor: following ?? { account: window.account, bookmark: window.until },
      };
      pending = [];
      empty = items.length === 0 ? empty + 1 : 0;
      if (following !== null && empty >= MAX_EMPTY) {
        throw new TransientError('Intercom: search conversations: the list does not end: its pages are empty', false);
      }
      position = following;
    }
  }

  /** Reads a page of a window, or the first page if the cursor has expired. */
  async #search(position: Window, signal: AbortSignal) {
    let { after } = position;
    let answer = await this.#searchAfter(position, after, signal);
    if (answer.status >= 400) {
      after = null;
      answer = await this.#searchAfter(position, after, signal);
    }
    const { conversations, pages } = readAnswer(searchSchema, answer.body, 'Intercom: search conversations');
    const next = pages?.next?.starting_after ?? null;
    if (next !== null && next === after) {
      throw new TransientError('Intercom: search conversations: the next page has the same cursor', false);
    }
    return { items: conversations, next };
  }

  #searchAfter({ from, until }: Window, after: string | null, signal: AbortSignal): Promise<ProviderAnswer> {
    const field = 'updated_at';
    return this.client.request({
      name: 'search conversations',
      method: 'POST',
      path: '/conversations/search',
      body: {
        query: {
          operator: 'AND',
          value: [
            // Documentation and behavior differ on whether this includes equality, so the code works with both.
            { field, operator: '>', value: from - 1 },
            { field, operator: '<', value: until },
          ],
        },
        sort: { field, order: 'ascending' },
        pagination: { per_page: PAGE, ...(after === null ? {} : { starting_after: after }) },
      },
      accepts: after === null ? [] : EXPIRED_CURSOR,
      signal,
    });
  }

  #read(record: unknown, signal: AbortSignal): Promise<SourceRecord> {
    const id = isObject(record) && (typeof record.id === 'string' || typeof record.id === 'number') ? record.id : '?';
    return orRejected(keyOf(this.options, String(id)), async () => {
      const item = readRecord(itemSchema, record);
      return decidedByState(this.options, item) ?? (await this.#conversation(item.id, signal));
    });
  }

  #conversation(id: string, signal: AbortSignal): Promise<SourceRecord> {
    const key = keyOf(this.options, id);
    return orRejected(key, async () => {
      const path = `/conversations/${encodeURIComponent(id)}?display_as=plaintext`;
      const answer = await this.find({ name: 'get conversation', path, signal });
      if (answer === null) {
        return { kind: 'gone', key };
      }
      const found = ticketOf(this.options, readRecord(conversationSchema, answer.body));
      return found.kind !== 'ticket' || this.#hasDeletionList
        ? found
        : { kind: 'ticket', ticket: { ...found.ticket, recheck: id } };
    });
  }

  /**
   * Returns the conversations deleted since a time, newest first, so that a deletion in the meantime only moves others
   * to later pages. Null if the workspace has no such list.
   */
  async #deleted(since: number, signal: AbortSignal): Promise<SourceRecord[] | null> {
    const name = 'list deleted conversations';
    const label = `Intercom: ${name}`;
    return readPages(label, 1, async (page: number) => {
      const query = new URLSearchParams({ page: String(page), per_page: String(DELETED_PAGE), order: 'desc' });
      // Not every workspace has this list.
      const answer = await this.find({ name, path: `/conversations/deleted?${query}`, signal });
      if (answer === null) {
        return null;
      }
      const list = readAnswer(deletedSchema, answer.body, label);
      const recent = list.conversations.filter(({ deleted_at: at }) => at == null || at >= since);
      const isLast = recent.length < list.conversations.length || page >= (list.pages?.total_pages ?? 0);
      return {
        items: recent.map((one): SourceRecord => ({ kind: 'gone', key: keyOf(this.options, one.id) })),
        next: isLast ? null : page + 1,
      };
    });
  }
}

/** Window of update times: from `from` inclusive to `until` exclusive, in seconds since the epoch. */
const windowSchema = z.object({
  account: z.string(),
  from: z.number(),
  until: z.number(),
  /** Intercom's cursor inside the window, verbatim; null: the start. */
  after: z.string().nullable().catch(null),
});
type Window = z.output<typeof windowSchema>;

/**
 * Progress of polling. Between windows it is the time up to which everything is read: the start of the last poll, never
 * the latest update seen. Inside a window it is the window itself, so that reading can continue. Source:
 * docs/helpdesk-notes.md#intercom
 */
const progressSchema = z.union([windowSchema, z.object({ account: z.string(), bookmark: z.number() })]);

/** Types of parts that may be messages; notes and unknown types are excluded. */
const MESSAGES = new Set(['open', 'comment', 'quick_reply', 'close', 'assignment']);
/** A body that is HTML as a whole: plain text is requested, but not always returned. */
const HTML = /^\s*<(p|div|h[1-6]|ul|ol|blockquote)\b[^>]*>[\s\S]*<\/(?:p|div|h[1-6]|ul|ol|blockquote)>\s*$/i;

/** Settings that identify a workspace. */
type Workspace = Pick<IntercomOptions, 'appId' | 'region'>;

function keyOf({ appId }: Workspace, id: string): string {
  return `intercom/${appId}/${id}`;
}

function domainOf({ region }: Workspace): string {
  return region === 'us' ? 'intercom' : `${region}.intercom`;
}

/** Decides from the state alone whether a conversation is skipped; null: it must be read. */
function decidedByState(workspace: Workspace, { id, state }: { id: string; state: string }): SourceRecord | null {
  return withoutTicket(keyOf(workspace, id), state === 'closed' ? null : 'open');
}

/** Converts a conversation to a ticket. Its state and the time of its last update are not sent. */
function ticketOf(workspace: Workspace, wire: IntercomConversation): SourceRecord {
  const decided = decidedByState(workspace, wire);
  if (decided !== null) {
    return decided;
  }
  const key = keyOf(workspace, wire.id);
  const messages = messagesOf(wire);
  const parts = messages.flatMap(({ author, body }) => {
    const role = roleOf(author);
    return role === null ? [] : [{ role, body: textOf(body) }];
  });
  if (!parts.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', key, reason: reasonWithoutCustomer(wire, messages) };
  }
  const { conversation_parts: list, statistics, created_at: created, updated_at: updated, source, tags } = wire;
  const reported = statistics?.count_conversation_parts ?? list.total_count ?? null;
  const closed = statistics?.last_close_at ?? updated ?? null;
  const tagNames = tags?.tags?.map((tag) => tag.name);
  return {
    kind: 'ticket',
    ticket: {
      key,
      subject: textOf(source?.subject) || textOf(wire.title),
      createdAt: created == null ? null : new Date(created * 1000).toISOString(),
      settledAt: closed === null ? null : closed * 1000,
      url: `https://app.${domainOf(workspace)}.com/a/inbox/_/inbox/conversation/${wire.id}`,
      attributes: {
        ...(source?.type == null ? {} : { channel: source.type }),
        ...listAttribute('tags', tagNames),
      },
      parts,
      people: peopleOf(wire),
      completeness: reported === null ? null : { reported, fetched: list.conversation_parts.length },
    },
  };
}

/** Returns the first message and the following ones, without those redacted in Intercom. */
function messagesOf({ source, conversation_parts: list }: IntercomConversation): IntercomPart[] {
  const first = source == null ? [] : [{ ...source, part_type: 'open' }];
  return [...first, ...list.conversation_parts].filter(
    (part) => MESSAGES.has(part.part_type) && part.redacted !== true && textOf(part.body) !== '',
  );
}

/** Returns the role of an author; null for a machine that only forwards, and for unknown types. */
function roleOf(author: IntercomAuthor): AuthorRole | null {
  if (author?.from_ai_agent === true) {
    return 'assistant';
  }
  switch (author?.type) {
    case 'user':
    case 'lead':
    case 'contact':
      return 'user';
    case 'admin':
    case 'team':
      return 'team-member';
    default:
      return null;
  }
}

function reasonWithoutCustomer(
  { conversation_parts: list }: IntercomConversation,
  messages: readonly IntercomPart[],
): TicketSkipReason {
  if (messages.length === 0) {
    const isNoted = list.conversation_parts.some(({ part_type: type, body }) => type.startsWith('note') && body);
    return isNoted ? 'private' : 'empty';
  }
  return messages.every(({ author }) => author?.type === 'bot') ? 'bot' : 'no-customer';
}

function textOf(body: string | null | undefined): string {
  const text = body ?? '';
  return HTML.test(text) ? textOfHtml(text) : text.trim();
}

function peopleOf({ source, contacts, teammates, conversation_parts: list }: IntercomConversation) {
  const people = new PeopleCollector();
  const authors = [
    source?.author,
    ...list.conversation_parts.map(({ author }) => author),
    ...(contacts?.contacts ?? []),
    ...(teammates?.admins ?? []),
  ];
  for (const author of authors) {
    if (author?.type !== 'bot') {
      people.add([author?.name], [author?.email]);
    }
  }
  for (const one of [source, ...list.conversation_parts]) {
    for (const { type, name, email_address: address } of one?.email_message_metadata?.email_address_headers ?? []) {
      // The name of the receiving address is usually that of the product.
      people.add(type === 'to' ? [] : [name], [address]);
    }
  }
  return people.all();
}

const notificationSchema = z.object({
  topic: z.string(),
  id: text,
  data: z.object({ item: z.object({ type: text, id: z.unknown().optional() }).nullish() }).nullish(),
});
const idSchema = z.union([z.string().regex(/^\d{1,30}$/), z.number().int().nonnegative()]).transform(String);

/**
 * Webhook of Intercom. `X-Hub-Signature` is `sha1=` and the hexadecimal HMAC-SHA1 over the raw body.
 * Source: docs/helpdesk-notes.md#intercom
 */
export function intercomWebhook({ name, secret }: { readonly name: string; readonly secret: string }): Webhook {
  const refusal = (request: WebhookRequest) =>
    isGenuine(request, secret) ? null : 'the signature is missing or wrong';
  return jsonWebhook(name, refusal, notificationSchema, 'the body is not a notification', readNotification);
}

function isGenuine({ headers, body }: WebhookRequest, secret: string): boolean {
  const [, signature] = /^sha1=([\da-f]{40})$/.exec(headerOf(headers, 'x-hub-signature') ?? '') ?? [];
  return signature !== undefined && isSignedBy([signature], { algorithm: 'sha1', secret, encoding: 'hex' }, body);
}

/** Reads the id only: the conversation in the body may be older than the one that a fetch returns. */
function readNotification({ topic, id, data }: z.output<typeof notificationSchema>): WebhookResult {
  const item = data?.item;
  const delivery = id ?? null;
  if (!topic.startsWith('conversation.') || (item?.type ?? 'conversation') !== 'conversation') {
    return { kind: 'hints', delivery, ids: [] };
  }
  const conversation = idSchema.safeParse(item?.id);
  return conversation.success
    ? { kind: 'hints', delivery, ids: [conversation.data] }
    : refused(400, 'the notification names no conversation');
}
