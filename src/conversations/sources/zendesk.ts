/** Source of Zendesk: the export of tickets, the tokens of an OAuth client, rate limits and the webhook. */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { endsWithin } from '../../core/clock.ts';
import { AuthError, TransientError } from '../../core/errors.ts';
import { isObject, type Json } from '../../core/json.ts';
import { largest } from '../../core/lists.ts';
import { headerOf, isSignedBy, type WebhookRequest } from '../../core/signature.ts';
import { type RateHeaders, readRateHeaders } from '../../queue/request.ts';
import type { Note } from '../../store/record.ts';
import { type Batch, jsonWebhook, type PollingSource, type PollOptions, type Webhook } from '../model/source.ts';
import type { SourceRecord } from '../model/ticket.ts';
import {
  type FreshToken,
  type HeaderRecord,
  openProviderClient,
  orRejected,
  type ProviderAnswer,
  type ProviderOptions,
  ProviderSource,
  type ProviderTokens,
  RenewedToken,
  readAll,
  readAnswer,
  readPages,
  readRecord,
  validItems,
} from './provider.ts';
import {
  type ChildrenPage,
  commentsSchema,
  decidedByTicket,
  exportSchema,
  keyOf,
  logSchema,
  needsLog,
  shownSchema,
  ticketOf,
  ticketSchema,
  userSchema,
  type ZendeskTicket,
  type ZendeskUser,
} from './zendesk-ticket.ts';

type ZendeskOptions = ProviderOptions<'zendesk'> & {
  /** Storage of the tokens of an OAuth client. */
  readonly note: Note;
};

/** Position of an export. */
const positionSchema = z.object({
  account: z.string(),
  /** Zendesk's cursor, verbatim; null: the export starts at `at`. */
  cursor: z.string().nullable().catch(null),
  /** Time of the latest ticket, in seconds since the epoch; an export with an expired cursor starts before it. */
  at: z.number(),
});
type Position = z.output<typeof positionSchema>;

const updateSchema = z.object({ generated_timestamp: z.number() });

/**
 * Number of tickets in one page. The export allows 10 requests a minute, and each ticket takes a request for its
 * comments. Source: docs/helpdesk-notes.md#zendesk
 */
const PAGE = 100;
const CHILDREN = 100;
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
  const { baseUrl = `https://${options.subdomain}.zendesk.com`, clientId, clientSecret, refreshToken } = options;
  const tokens =
    clientId === undefined || clientSecret === undefined || refreshToken === undefined
      ? null
      : openOauthTokens(options, baseUrl, { clientId, clientSecret, refreshToken });
  const client = openProviderClient(options, {
    label: 'Zendesk',
    baseUrl,
    tokens,
    ...(tokens === null ? { headers: async () => ({ authorization: credentialsOf(options) }) } : {}),
    rate: readZendeskRate,
  });
  return new Zendesk(options, client);
}

function credentialsOf({ email, token = '' }: ZendeskOptions): string {
  return email === undefined ? `Bearer ${token}` : `Basic ${Buffer.from(`${email}/token:${token}`).toString('base64')}`;
}

class Zendesk extends ProviderSource<ZendeskOptions> {
  async *poll({ cursor, since, signal }: PollOptions): AsyncIterable<Batch> {
    let position = this.#positionOf(cursor, since);
    let empty = 0;
    for (let isLast = false; !isLast; ) {
      const { from, page } = await this.#page(position, signal);
      const { tickets, after_cursor: after } = page;
      const people = byId(page.users);
      const found = await readAll(tickets, signal, (ticket, ended) => this.#read(ticket, people, ended));
      const times = tickets.flatMap((ticket) => updateSchema.safeParse(ticket).data?.generated_timestamp ?? []);
      position = { ...from, cursor: after ?? from.cursor, at: largest(times, from.at) };
      yield { found, cursor: position };
      isLast = page.end_of_stream;
      if (!isLast && (position.cursor === null || position.cursor === from.cursor)) {
        const reason = 'the page has no new cursor and is not the end of the stream';
        throw new TransientError(`Zendesk: export tickets: ${reason}`, false);
      }
      empty = tickets.length === 0 ? empty + 1 : 0;
      if (!isLast && empty >= MAX_EMPTY) {
        throw new TransientError('Zendesk: export tickets: the export does not end: its pages are empty', false);
      }
    }
  }

  async fetch(id: string, signal: AbortSignal): Promise<SourceRecord> {
    const key = this.#keyOf(id);
    if (!/^\d{1,20}$/.test(id)) {
      return { kind: 'rejected', place: key, reason: 'not a ticket id' };
    }
    return orRejected(key, async () => {
      const path = `/api/v2/tickets/${id}?${new URLSearchParams({ include: SIDE_LOADS })}`;
      const answer = await this.find({ name: 'get ticket', path, signal });
      if (answer === null) {
        return { kind: 'gone', key };
      }
      const { ticket, users } = readRecord(shownSchema, answer.body);
      return this.#read(ticket, byId(users), signal);
    });
  }

  #keyOf(id: number | string): string {
    return keyOf(this.options.subdomain, id);
  }

  /** Reads a cursor; one of another account or source type is ignored. */
  #positionOf(cursor: Json, since: number): Position {
    const account = this.options.subdomain;
    const { data } = positionSchema.safeParse(cursor);
    return data?.account === account ? data : { account, cursor: null, at: Math.floor(since / 1000) };
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
    const start = Math.max(0, Math.min(at, Math.floor(this.options.clock.now() / 1000) - MIN_START_AGE));
    const query = new URLSearchParams({
      ...(cursor === null ? { start_time: String(start) } : { cursor }),
      per_page: String(PAGE),
      include: SIDE_LOADS,
    });
    return this.client.request({
      name: 'export tickets',
      path: `/api/v2/incremental/tickets/cursor?${query}`,
      class: 'search',
      accepts: cursor === null ? [] : EXPIRED_CURSOR,
      signal,
    });
  }

  #read(record: unknown, users: ReadonlyMap<number, ZendeskUser>, signal: AbortSignal): Promise<SourceRecord> {
    const id = isObject(record) && typeof record.id === 'number' ? record.id : '?';
    return orRejected(this.#keyOf(id), async () => {
      const ticket = readRecord(ticketSchema, record);
      return decidedByTicket(this.options.subdomain, ticket) ?? (await this.#thread(ticket, users, signal));
    });
  }

  async #thread(
    ticket: ZendeskTicket,
    users: ReadonlyMap<number, ZendeskUser>,
    signal: AbortSignal,
  ): Promise<SourceRecord> {
    const read = await this.#children(ticket.id, 'comments', commentsSchema, signal);
    if (read === null) {
      return { kind: 'gone', key: this.#keyOf(ticket.id) };
    }
    const comments = read.flatMap((page) => page.comments);
    const log = needsLog(ticket, comments)
      ? await this.#children(ticket.id, 'conversation_log', logSchema, signal)
      : null;
    const own = [...participantIds(ticket)].flatMap((id) => users.get(id) ?? []);
    const sideloaded = read.flatMap((page) => validItems(userSchema, page.users));
    return ticketOf(this.options.subdomain, ticket, {
      comments,
      log: log?.flatMap((page) => page.events) ?? null,
      users: new Map([...own, ...sideloaded].map((user) => [user.id, user])),
    });
  }

  /** Reads all pages of a ticket's comments or log; null if the ticket no longer exists. */
  #children<Page extends ChildrenPage>(
    ticket: number,
    what: 'comments' | 'conversation_log',
    schema: z.ZodType<Page>,
    signal: AbortSignal,
  ): Promise<Page[] | null> {
    const name = `list ${what}`;
    const label = `Zendesk: ${name}`;
    return readPages(label, '', async (after: string) => {
      const query = new URLSearchParams({
        'page[size]': String(CHILDREN),
        ...(what === 'comments' ? { include: 'users' } : {}),
        ...(after === '' ? {} : { 'page[after]': after }),
      });
      const answer = await this.find({ name, path: `/api/v2/tickets/${ticket}/${what}?${query}`, signal });
      if (answer === null) {
        return null;
      }
      const page = readRecord(schema, answer.body);
      const next = page.meta?.has_more === true ? (page.meta.after_cursor ?? '') : null;
      if (next === '' || next === after) {
        throw new TransientError(`${label}: the page announces more results but has no new cursor`, false);
      }
      return { items: [page], next };
    });
  }
}

function byId(users: readonly unknown[] | null | undefined): ReadonlyMap<number, ZendeskUser> {
  return new Map(validItems(userSchema, users).map((user) => [user.id, user]));
}

/** Returns the ids of the people in one ticket: a page contains the users of all its tickets. */
function participantIds(ticket: ZendeskTicket): Set<number> {
  const single = [ticket.requester_id, ticket.submitter_id, ticket.assignee_id].filter((id) => id != null);
  const lists = [ticket.collaborator_ids, ticket.follower_ids, ticket.email_cc_ids];
  return new Set([...single, ...lists.flatMap((list) => list ?? [])]);
}

/** Maximum difference between the timestamp and the time of receipt, in milliseconds, against replays. */
const TOLERANCE = 300_000;

const eventSchema = z.object({
  type: z.string(),
  detail: z.object({ id: z.union([z.string().regex(/^\d+$/), z.number().int().nonnegative()]) }).nullish(),
});

/**
 * Event webhook of Zendesk. The signature is the base64 of the HMAC-SHA256 of timestamp and raw body, with the characters
 * of the secret as the key. Source: docs/helpdesk-notes.md#zendesk
 */
export function zendeskWebhook({ name, secret }: { readonly name: string; readonly secret: string }): Webhook {
  const refusal = (request: WebhookRequest) =>
    isGenuine(request, secret) ? null : 'the signature is missing, wrong or too old';
  return jsonWebhook(name, refusal, eventSchema, 'the body is not an event', ({ type, detail }, headers) => ({
    kind: 'hints',
    delivery: headerOf(headers, 'x-zendesk-webhook-invocation-id'),
    ids: type.startsWith('zen:event-type:ticket.') && detail != null ? [String(detail.id)] : [],
  }));
}

function isGenuine({ headers, body, receivedAt }: WebhookRequest, secret: string): boolean {
  const signature = headerOf(headers, 'x-zendesk-webhook-signature');
  const timestamp = headerOf(headers, 'x-zendesk-webhook-signature-timestamp');
  if (signature === null || timestamp === null) {
    return false;
  }
  const signed = isSignedBy([signature], { algorithm: 'sha256', secret, encoding: 'base64' }, timestamp, body);
  return signed && Math.abs(receivedAt - Date.parse(timestamp)) <= TOLERANCE;
}

/** Stored tokens. Times are milliseconds since the epoch. */
const storedSchema = z.object({
  /** Digest of the settings; with other settings the stored tokens are not used. */
  origin: z.string(),
  refreshToken: z.string().min(1),
  access: z.object({ token: z.string().min(1), until: z.number() }).nullable(),
});
type StoredTokens = z.output<typeof storedSchema>;

const grantSchema = z.object({
  access_token: z.string().min(1),
  /** Absent if the last refresh token stays valid. */
  refresh_token: z.string().min(1).nullish(),
  /** Seconds; absent if the access token does not expire. */
  expires_in: z.number().positive().nullish(),
});
const refusalSchema = z.object({ error: z.string().regex(/^[a-z_]{1,40}$/) });

const RENEW = 'renew the access token';
const REFUSED = [400, 401, 403];
/** Time before its expiry at which an access token is renewed, in milliseconds; at most a tenth of its lifetime. */
const RENEWAL_MARGIN = 300_000;
const NEVER = Number.MAX_SAFE_INTEGER;
/** Time limit in milliseconds for a renewal in flight on shutdown. */
const CLOSE_TIMEOUT = 2000;

/**
 * Access tokens of Zendesk's refresh token grant. A refresh token can be used once: the response contains the next one,
 * and invalidates the previous access token. The next refresh token is therefore stored before the new access token is
 * used. A new refresh token in the configuration replaces the stored one. Source: docs/helpdesk-notes.md#zendesk
 */
function openOauthTokens(
  options: ZendeskOptions,
  baseUrl: string,
  { clientId, clientSecret, refreshToken }: Readonly<Record<'clientId' | 'clientSecret' | 'refreshToken', string>>,
): ProviderTokens {
  const { name, clock, note } = options;
  const origin = createHash('sha256')
    .update(JSON.stringify([baseUrl, clientId, refreshToken]))
    .digest('hex');
  const client = openProviderClient(
    { ...options, concurrency: 1 },
    { label: 'Zendesk', baseUrl, rate: readZendeskRate },
  );
  const closing = new AbortController();
  let kept: StoredTokens | null = null;
  /** True if the current tokens are stored. */
  let isDurable = true;
  /** Renewal in flight. */
  let renewal: Promise<FreshToken> | undefined;

  async function load(): Promise<StoredTokens> {
    const { data } = storedSchema.safeParse(await note.read());
    return data?.origin === origin ? data : { origin, refreshToken, access: null };
  }

  async function save(): Promise<void> {
    if (!isDurable) {
      await note.write(kept);
      isDurable = true;
    }
  }

  async function ask(token: string) {
    const request = { grant_type: 'refresh_token', refresh_token: token };
    const answer = await client.request({
      name: RENEW,
      method: 'POST',
      path: '/oauth/tokens',
      body: { ...request, client_id: clientId, client_secret: clientSecret },
      accepts: REFUSED,
      signal: closing.signal,
    });
    if (REFUSED.includes(answer.status)) {
      throw refusalOf(name, answer);
    }
    return readAnswer(grantSchema, answer.body, `Zendesk: ${RENEW}`);
  }

  /** Returns an access token: the stored one if it is valid, otherwise a new one. Throws AppError. */
  async function renew(isRefused: boolean): Promise<FreshToken> {
    kept ??= await load();
    // The last write failed. It must succeed before another renewal.
    await save();
    if (kept.access !== null && !isRefused && kept.access.until > clock.now()) {
      return kept.access;
    }
    const askedAt = clock.now();
    const grant = await ask(kept.refreshToken);
    const life = grant.expires_in == null ? null : grant.expires_in * 1000;
    const until = life === null ? NEVER : askedAt + life - Math.min(RENEWAL_MARGIN, life / 10);
    const access = { token: grant.access_token, until };
    kept = { origin, refreshToken: grant.refresh_token ?? kept.refreshToken, access };
    isDurable = false;
    await save();
    return access;
  }

  return {
    access: new RenewedToken(clock, (isRefused) => {
      renewal = renew(isRefused);
      return renewal;
    }),
    /** Waits for a renewal in flight and stores its tokens, because the refresh token that it used is no longer valid. */
    async close() {
      await endsWithin(clock, CLOSE_TIMEOUT, [renewal?.catch(() => undefined)]);
      closing.abort();
      await client.close();
    },
  };
}

/** Returns the error of a refused renewal. It contains Zendesk's error code only, and nothing else of the response. */
function refusalOf(source: string, { status, body }: ProviderAnswer): AuthError {
  const code = refusalSchema.safeParse(body).data?.error ?? `status ${status}`;
  const words =
    code === 'invalid_client'
      ? 'unknown client; set clientId and clientSecret as shown in Zendesk'
      : 'refresh token refused: it was used, revoked or expired, or the process ended during a renewal. ' +
        'Create a new one for the client and set it as refreshToken';
  return new AuthError(`Zendesk: ${RENEW} of ${JSON.stringify(source)} (${code}): ${words}`, 401);
}

const OF_ENDPOINT = 'zendesk-ratelimit-';

/**
 * Reads Zendesk's headers: the limit of the account (`X-Rate-Limit…`, `ratelimit-…`, per minute) and the limit of the
 * endpoint, if it has one (`zendesk-ratelimit-…: total=10; remaining=9; resets=41`). The limit with less remaining
 * applies. Source: docs/helpdesk-notes.md#zendesk
 */
export function readZendeskRate(headers: HeaderRecord): RateHeaders {
  const { retryAfter, date } = readRateHeaders(headers);
  let tightest = {
    limit: amount(headers['ratelimit-limit'] ?? headers['x-rate-limit']),
    remaining: amount(headers['ratelimit-remaining'] ?? headers['x-rate-limit-remaining']),
    reset: amount(headers['ratelimit-reset']),
  };
  for (const [name, value] of Object.entries(headers)) {
    const own = name.startsWith(OF_ENDPOINT) ? ofEndpoint(value) : null;
    if (own !== null && own.remaining !== null && own.remaining < (tightest.remaining ?? Number.POSITIVE_INFINITY)) {
      tightest = own;
    }
  }
  return { ...tightest, retryAfter, date };
}

function ofEndpoint(value: HeaderRecord[string]) {
  const fields = new Map(
    String(value ?? '')
      .split(';')
      .map((field) => field.trim().split('=') as [string, string]),
  );
  return {
    limit: amount(fields.get('total')),
    remaining: amount(fields.get('remaining')),
    reset: amount(fields.get('resets')),
  };
}

function amount(value: HeaderRecord[string]): number | null {
  return typeof value === 'string' && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : null;
}
