import type { ConversationsConfig } from '../../../config/conversations.ts';
import type { Clock, Random } from '../../../core/clock.ts';
import { TransientError } from '../../../core/errors.ts';
import { isObject, type Json } from '../../../core/json.ts';
import type { Note } from '../../../store/record.ts';
import { orRejected, readAll, readAnswer, readRecord, validItems } from '../../model/answers.ts';
import type { Batch, PollingSource, PollOptions } from '../../model/source.ts';
import type { SourceRecord } from '../../model/ticket.ts';
import { openProviderClient, type ProviderAnswer, type ProviderClient } from '../../polling/provider-client.ts';
import { type OauthTokens, openOauthTokens } from './oauth-tokens.ts';
import { readZendeskRate } from './rate.ts';
import { decidedByTicket, keyOf, needsLog, ticketOf } from './ticket.ts';
import {
  commentsSchema,
  exportSchema,
  logSchema,
  shownSchema,
  ticketSchema,
  userSchema,
  type ZendeskTicket,
  type ZendeskUser,
} from './wire.ts';

export type ZendeskSettings = NonNullable<ConversationsConfig['sources'][number]['zendesk']>;

export interface ZendeskOptions extends Omit<ZendeskSettings, 'webhookSecret'> {
  readonly name: string;
  /** Storage of the tokens of an OAuth client. */
  readonly note: Note;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum number of requests in flight; default 4. */
  readonly concurrency?: number;
}

/** Position of an export. The cursor is Zendesk's, verbatim. */
interface Position {
  readonly account: string;
  /** Null: the export starts at `at`. */
  readonly cursor: string | null;
  /** Time of the latest ticket, in seconds since the epoch; an export with an expired cursor starts before it. */
  readonly at: number;
}

/**
 * Number of tickets in one page. The export allows 10 requests a minute, and each ticket takes a request for its
 * comments. Source: docs/helpdesk-notes.md#zendesk
 */
const PAGE = 100;
const CHILDREN = 100;
/** Maximum number of pages with comments of one ticket. */
const MAX_CHILD_PAGES = 1000;
/** Maximum number of consecutive empty pages of the export. */
const MAX_EMPTY = 3;
const SIDE_LOADS = 'users,metric_sets,comment_count';
/**
 * Minimum age of the start time of an export, in seconds. Zendesk requires one minute; the local clock may be ahead.
 * Source: docs/helpdesk-notes.md#zendesk
 */
const MIN_START_AGE = 120;
/** Lookback of an export whose cursor has expired, in seconds. Source: docs/helpdesk-notes.md#delivery-rules */
const EXPIRED_LOOKBACK = 300;
/** Response statuses that mean that the cursor has expired. */
const EXPIRED_CURSOR = [400, 404, 410, 422];

/**
 * Opens the Zendesk source: the cursor-based export of tickets, then the comments of each settled ticket. The export is
 * ordered by `generated_timestamp`, and is not filtered by time here, because system edits change no other timestamp.
 * Source: docs/helpdesk-notes.md#zendesk
 */
export function openZendesk(options: ZendeskOptions): PollingSource {
  const { baseUrl = `https://${options.subdomain}.zendesk.com` } = options;
  const tokens = tokensOf({ ...options, baseUrl });
  const client = openProviderClient({
    label: 'Zendesk',
    baseUrl,
    userAgent: options.userAgent,
    headers: async () => ({
      authorization: tokens === null ? credentialsOf(options) : `Bearer ${await tokens.access.token()}`,
    }),
    rate: readZendeskRate,
    concurrency: options.concurrency ?? 4,
    clock: options.clock,
    random: options.random,
  });
  return new Zendesk(options, tokens === null ? client : renewing(client, tokens));
}

function tokensOf(options: ZendeskOptions & { readonly baseUrl: string }): OauthTokens | null {
  const { clientId, clientSecret, refreshToken } = options;
  return clientId === undefined || clientSecret === undefined || refreshToken === undefined
    ? null
    : openOauthTokens({ ...options, oauth: { clientId, clientSecret, refreshToken } });
}

function credentialsOf({ email, token = '' }: ZendeskOptions): string {
  return email === undefined ? `Bearer ${token}` : `Basic ${Buffer.from(`${email}/token:${token}`).toString('base64')}`;
}

/** Wraps a client so that an access token may expire while a request is in flight. */
function renewing(client: ProviderClient, tokens: OauthTokens): ProviderClient {
  return {
    request: (request) => tokens.access.authorized(() => client.request(request)),
    async close() {
      await Promise.all([client.close(), tokens.close()]);
    },
  };
}

class Zendesk implements PollingSource {
  readonly name: string;
  readonly #subdomain: string;
  readonly #clock: Clock;
  readonly #client: ProviderClient;

  constructor({ name, subdomain, clock }: ZendeskOptions, client: ProviderClient) {
    this.name = name;
    this.#subdomain = subdomain;
    this.#clock = clock;
    this.#client = client;
  }

  async *poll({ cursor, since, signal }: PollOptions): AsyncIterable<Batch> {
    let position = this.#positionOf(cursor, since);
    let empty = 0;
    for (let ends = false; !ends; ) {
      const asked = await this.#page(position, signal);
      const { tickets, users, after_cursor: after, end_of_stream: isLast } = asked.page;
      const people = byId(users);
      const found = await readAll(tickets, signal, (ticket, ended) => this.#read(ticket, people, ended));
      const next = advance(asked.from, after ?? null, tickets);
      yield { found, cursor: { ...next } };
      if (!isLast && (next.cursor === null || next.cursor === asked.from.cursor)) {
        throw new TransientError(
          'Zendesk: export tickets: the page has no new cursor and is not the end of the stream',
          false,
        );
      }
      empty = tickets.length === 0 ? empty + 1 : 0;
      if (!isLast && empty >= MAX_EMPTY) {
        throw new TransientError('Zendesk: export tickets: the export does not end: its pages are empty', false);
      }
      position = next;
      ends = isLast;
    }
  }

  async fetch(id: string, signal: AbortSignal): Promise<SourceRecord> {
    const key = keyOf(this.#subdomain, id);
    if (!/^\d{1,20}$/.test(id)) {
      return { kind: 'rejected', place: key, reason: 'not a ticket id' };
    }
    return orRejected(key, async () => {
      const path = `/api/v2/tickets/${id}?${new URLSearchParams({ include: SIDE_LOADS })}`;
      const answer = await this.#client.request({ name: 'get ticket', path, accepts: [404], signal });
      if (answer.status === 404) {
        return { kind: 'gone', key };
      }
      const { ticket, users } = readRecord(shownSchema, answer.body);
      return this.#read(ticket, byId(users), signal);
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Reads a cursor; one of another account or source type is ignored. */
  #positionOf(cursor: Json, since: number): Position {
    const account = this.#subdomain;
    if (isObject(cursor) && cursor.account === account && typeof cursor.at === 'number') {
      return { account, cursor: typeof cursor.cursor === 'string' ? cursor.cursor : null, at: cursor.at };
    }
    return { account, cursor: null, at: Math.floor(since / 1000) };
  }

  /** Reads a page. `from` is the position that was used: an earlier one if the cursor has expired. */
  async #page(position: Position, signal: AbortSignal) {
    let from = position;
    let answer = await this.#export(from, signal);
    if (answer.status >= 400) {
      from = { ...position, cursor: null, at: position.at - EXPIRED_LOOKBACK };
      answer = await this.#export(from, signal);
    }
    return { from, page: readAnswer(exportSchema, answer.body, 'Zendesk: export tickets') };
  }

  #export({ cursor, at }: Position, signal: AbortSignal): Promise<ProviderAnswer> {
    const start = Math.max(0, Math.min(at, Math.floor(this.#clock.now() / 1000) - MIN_START_AGE));
    const query = new URLSearchParams({
      ...(cursor === null ? { start_time: String(start) } : { cursor }),
      per_page: String(PAGE),
      include: SIDE_LOADS,
    });
    return this.#client.request({
      name: 'export tickets',
      path: `/api/v2/incremental/tickets/cursor?${query}`,
      class: 'search',
      accepts: cursor === null ? [] : EXPIRED_CURSOR,
      signal,
    });
  }

  #read(record: unknown, users: ReadonlyMap<number, ZendeskUser>, signal: AbortSignal): Promise<SourceRecord> {
    const id = isObject(record) && typeof record.id === 'number' ? record.id : '?';
    return orRejected(keyOf(this.#subdomain, id), async () => {
      const ticket = readRecord(ticketSchema, record);
      return decidedByTicket(this.#subdomain, ticket) ?? (await this.#thread(ticket, users, signal));
    });
  }

  async #thread(
    ticket: ZendeskTicket,
    users: ReadonlyMap<number, ZendeskUser>,
    signal: AbortSignal,
  ): Promise<SourceRecord> {
    const read = await this.#children(ticket.id, 'comments', { include: 'users' }, commentsSchema, signal);
    if (read === null) {
      return { kind: 'gone', key: keyOf(this.#subdomain, ticket.id) };
    }
    const comments = read.flatMap((page) => page.comments);
    const log = needsLog(ticket, comments)
      ? await this.#children(ticket.id, 'conversation_log', {}, logSchema, signal)
      : null;
    const own = [...participantIds(ticket)].flatMap((id) => users.get(id) ?? []);
    const sideloaded = read.flatMap((page) => validItems(userSchema, page.users));
    return ticketOf(this.#subdomain, ticket, {
      comments,
      log: log?.flatMap((page) => page.events) ?? null,
      users: new Map([...own, ...sideloaded].map((user) => [user.id, user])),
    });
  }

  /** Reads all pages of a ticket's comments or log; null if the ticket no longer exists. */
  async #children<Page extends typeof commentsSchema | typeof logSchema>(
    ticket: number,
    what: 'comments' | 'conversation_log',
    parameters: Readonly<Record<string, string>>,
    schema: Page,
    signal: AbortSignal,
  ) {
    const pages: ReturnType<Page['parse']>[] = [];
    for (let after: string | null = null; ; ) {
      const query = new URLSearchParams({
        'page[size]': String(CHILDREN),
        ...parameters,
        ...(after === null ? {} : { 'page[after]': after }),
      });
      const answer: ProviderAnswer = await this.#client.request({
        name: `list ${what}`,
        path: `/api/v2/tickets/${ticket}/${what}?${query}`,
        accepts: [404],
        signal,
      });
      if (answer.status === 404) {
        return null;
      }
      const page = readRecord(schema, answer.body) as ReturnType<Page['parse']>;
      pages.push(page);
      const next: string | null = page.meta?.has_more === true ? (page.meta.after_cursor ?? null) : null;
      if (page.meta?.has_more !== true) {
        return pages;
      }
      if (next === null || next === after) {
        throw new TransientError(`Zendesk: list ${what}: the page announces more results but has no new cursor`, false);
      }
      if (pages.length >= MAX_CHILD_PAGES) {
        throw new TransientError(`Zendesk: list ${what}: the list does not end`, false);
      }
      after = next;
    }
  }
}

function advance(from: Position, after: string | null, tickets: readonly unknown[]): Position {
  const times = tickets.flatMap((ticket) =>
    isObject(ticket) && typeof ticket.generated_timestamp === 'number' ? [ticket.generated_timestamp] : [],
  );
  return { ...from, cursor: after ?? from.cursor, at: times.reduce((a, b) => Math.max(a, b), from.at) };
}

function byId(users: readonly unknown[] | null | undefined): ReadonlyMap<number, ZendeskUser> {
  return new Map(validItems(userSchema, users).map((user) => [user.id, user]));
}

/** Returns the ids of the people in one ticket: a page contains the users of all its tickets. */
function participantIds(ticket: ZendeskTicket): Set<number> {
  const single = [ticket.requester_id, ticket.submitter_id, ticket.assignee_id].filter((id) => id != null);
  return new Set([
    ...single,
    ...(ticket.collaborator_ids ?? []),
    ...(ticket.follower_ids ?? []),
    ...(ticket.email_cc_ids ?? []),
  ]);
}
