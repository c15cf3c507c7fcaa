/** HTTP client of a provider's account: requests, tokens that expire, links and the reading of responses. */
import { type Dispatcher, errors } from 'undici';
import type * as z from 'zod';
import type { ConversationsConfig } from '../../config/conversations.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { AuthError, NotThePlatformError, RateLimitedError, RejectedError, TransientError } from '../../core/errors.ts';
import { parseBounded } from '../../core/json.ts';
import { append } from '../../core/lists.ts';
import { withoutTrailingSlashes } from '../../core/url.ts';
import { networkError, openDispatcher } from '../../platform/http/dispatcher.ts';
import { RequestQueue } from '../../queue/dispatcher.ts';
import { type Priority, type RateHeaders, type Reply, type RequestClass, toAbortSignal } from '../../queue/request.ts';
import type { Batch, PollingSource, PollOptions } from '../model/source.ts';
import type { SourceRecord } from '../model/ticket.ts';

export type HeaderRecord = Readonly<Record<string, string | string[] | undefined>>;

/** Dependencies of every source of a provider, in addition to its settings. */
export interface ProviderContext {
  /** Name of the source. */
  readonly name: string;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum number of requests in flight; default 4. */
  readonly concurrency?: number;
}

/** Settings of a source of a provider, and its dependencies. */
export type ProviderOptions<K extends 'zendesk' | 'intercom' | 'freshdesk' | 'github'> = NonNullable<
  ConversationsConfig['sources'][number][K]
> &
  ProviderContext;

/** Response of a provider: a success, or one of the statuses that the caller accepts. */
export interface ProviderAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: HeaderRecord;
  /** Parsed JSON; null for an empty body. */
  readonly body: unknown;
  /** Time of the response by the provider's clock, otherwise by this one, in milliseconds since the epoch. */
  readonly at: number;
}

/** One request to a provider. All requests only read, whatever their method, and may be retried. */
export interface ProviderRequest {
  /** Name in messages and events: `list tickets`. Never contains personal data or a token. */
  readonly name: string;
  readonly method?: 'GET' | 'POST';
  /** Encoded path with its query, starting with a slash. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `search`: counted by the provider separately from other reads. */
  readonly class?: Extract<RequestClass, 'read' | 'search'>;
  /** Statuses that are not errors for the caller: 304, or 404 for a ticket that may be deleted. */
  readonly accepts?: readonly number[];
  readonly signal: AbortSignal;
}

/** HTTP client of one provider's account, with its own rate limiter that reads the provider's headers. */
export interface ProviderClient {
  /** Throws AuthError (401, 403), RejectedError, RateLimitedError, TransientError or NotThePlatformError. */
  request(request: ProviderRequest): Promise<ProviderAnswer>;
  close(): Promise<void>;
}

interface ProviderAccount {
  /** Name of the provider in messages: `Zendesk`. */
  readonly label: string;
  readonly baseUrl: string;
  /** Tokens that expire, sent with every request; closed with the client. */
  readonly tokens?: ProviderTokens | null;
  /** Returns more headers, such as an authorization without `tokens`; called before each request. */
  readonly headers?: () => Promise<Readonly<Record<string, string>>>;
  /** Reads the provider's own headers; `now` is milliseconds since the epoch. */
  readonly rate: (headers: HeaderRecord, now: number) => RateHeaders;
  /** Reports whether a response other than 429 is due to the rate limit (GitHub: 403 with no requests left). */
  readonly isRefusal?: (status: number, headers: HeaderRecord) => boolean;
}

const PRIORITY: Priority = 'ingestion';
const TIMEOUT = 30_000;
const CLOSE_TIMEOUT = 2000;
/** Largest response that is read, in bytes. */
const MAX_SIZE = 64 * 1024 * 1024;

/** Creates a client; it connects with the first request. */
export function openProviderClient(context: Omit<ProviderContext, 'name'>, account: ProviderAccount): ProviderClient {
  const { clock, random, userAgent, concurrency = 4 } = context;
  const { label, tokens = null } = account;
  const { origin, pathname } = new URL(account.baseUrl);
  const dispatcher = openDispatcher(origin, {
    connections: concurrency,
    connectTimeout: TIMEOUT,
    headersTimeout: TIMEOUT,
    bodyTimeout: TIMEOUT,
    maxResponseSize: MAX_SIZE,
  });
  const queue = new RequestQueue({ clock, random, concurrency });
  const attempt = async (request: ProviderRequest, signal: AbortSignal): Promise<Reply<ProviderAnswer>> => {
    const what = `${label}: ${request.name}`;
    const bearer = tokens === null ? {} : { authorization: `Bearer ${await tokens.access.token()}` };
    const own = await account.headers?.();
    let answer: Dispatcher.ResponseData;
    try {
      answer = await dispatcher.request({
        origin,
        method: request.method ?? 'GET',
        path: withoutTrailingSlashes(pathname) + request.path,
        headers: {
          accept: 'application/json',
          'user-agent': userAgent,
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...bearer,
          ...own,
          ...request.headers,
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal,
      });
    } catch (error) {
      throw signal.aborted ? signal.reason : networkError(error, origin);
    }
    const receivedAt = clock.monotonic();
    const headers = account.rate(answer.headers, clock.now());
    const { statusCode: status } = answer;
    const text = await bodyText(answer, label, origin, signal);
    const fail = (error: Extract<Reply<ProviderAnswer>['result'], { ok: false }>['error']) => ({
      headers,
      receivedAt,
      result: { ok: false as const, error },
    });
    if (status === 429 || account.isRefusal?.(status, answer.headers) === true) {
      return fail(new RateLimitedError(`${what}: rate limit exceeded`, headers.retryAfter));
    }
    if (status >= 300 && request.accepts?.includes(status) !== true) {
      return fail(errorOf(what, status));
    }
    if (typeof text !== 'string') {
      return fail(text);
    }
    try {
      const body = text === '' ? null : parseBounded(text.replace(/^\uFEFF/, ''), `${what}: the response`);
      const value = { status, headers: answer.headers, body, at: headers.date ?? clock.now() };
      return { headers, receivedAt, result: { ok: true, value } };
    } catch (error) {
      const isTooMuch = error instanceof NotThePlatformError;
      return fail(isTooMuch ? error : new TransientError(`${what}: the response is not JSON`, false));
    }
  };
  const send = (request: ProviderRequest) =>
    queue.request({
      name: `${label}: ${request.name}`,
      class: request.class ?? 'read',
      priority: PRIORITY,
      repeat: 'safe',
      signal: request.signal,
      attempt: (signal) => attempt(request, toAbortSignal(signal)),
    });
  return {
    request: (request) => (tokens === null ? send(request) : tokens.access.authorized(() => send(request))),
    async close() {
      const drained = queue.drain(CLOSE_TIMEOUT).then(() => dispatcher.destroy());
      await Promise.all([drained, tokens?.close()]);
    },
  };
}

/** A polled account of a provider. */
export abstract class ProviderSource<Options extends ProviderContext> implements PollingSource {
  readonly name: string;
  protected readonly options: Options;
  protected readonly client: ProviderClient;

  constructor(options: Options, client: ProviderClient) {
    this.name = options.name;
    this.options = options;
    this.client = client;
  }

  abstract poll(options: PollOptions): AsyncIterable<Batch>;
  abstract fetch(id: string, signal: AbortSignal): Promise<SourceRecord>;

  close(): Promise<void> {
    return this.client.close();
  }

  /** Requests something that may no longer exist: null for one of the statuses `gone`. Throws like `request`. */
  protected async find(request: ProviderRequest, gone: readonly number[] = [404]): Promise<ProviderAnswer | null> {
    const answer = await this.client.request({ ...request, accepts: gone });
    return gone.includes(answer.status) ? null : answer;
  }
}

function errorOf(what: string, status: number) {
  const words = `${what}: status ${status}`;
  if (status === 401 || status === 403) {
    return new AuthError(`${words}: the credentials are invalid or lack a permission`, status);
  }
  if (status >= 500 || status === 408 || status === 409) {
    return new TransientError(words, false);
  }
  return new RejectedError(words, status);
}

async function bodyText(answer: Dispatcher.ResponseData, label: string, origin: string, signal: AbortSignal) {
  try {
    return await answer.body.text();
  } catch (error) {
    if (signal.aborted) {
      throw signal.reason;
    }
    return error instanceof errors.ResponseExceededMaxSizeError
      ? new NotThePlatformError(`${label} sent a response larger than ${MAX_SIZE / 2 ** 20} MiB`, { cause: error })
      : networkError(error, origin, true);
  }
}

export interface FreshToken {
  readonly token: string;
  /** Time at which the token is due for renewal, in milliseconds since the epoch. */
  readonly until: number;
}

/** Access tokens of a provider. */
export interface ProviderTokens {
  readonly access: RenewedToken;
  close(): Promise<void>;
}

/** Token that expires. One request renews it for all requests that wait for it. */
export class RenewedToken {
  readonly #clock: Clock;
  readonly #renew: (isRefused: boolean) => Promise<FreshToken>;
  #current: FreshToken | null = null;
  #isRefused = false;
  #renewing: Promise<FreshToken> | null = null;

  /** `renew` gets a new token, and throws AppError; `isRefused`: the last token was refused. */
  constructor(clock: Clock, renew: (isRefused: boolean) => Promise<FreshToken>) {
    this.#clock = clock;
    this.#renew = renew;
  }

  /** Returns a valid token. Throws AppError. */
  async token(): Promise<string> {
    return (await this.#good()).token;
  }

  /**
   * Makes a request, and retries it once with a new token after status 401: the token may have been revoked early, or
   * renewed in the meantime. Throws AppError.
   */
  async authorized<T>(request: () => Promise<T>): Promise<T> {
    const used = await this.#good();
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof AuthError) || error.status !== 401) {
        throw error;
      }
      if (this.#current === used) {
        this.#current = null;
        this.#isRefused = true;
      }
      await this.#good();
      return request();
    }
  }

  async #good(): Promise<FreshToken> {
    if (this.#current !== null && this.#current.until > this.#clock.now()) {
      return this.#current;
    }
    this.#renewing ??= this.#renewed().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  async #renewed(): Promise<FreshToken> {
    try {
      this.#current = await this.#renew(this.#isRefused);
    } catch (error) {
      // Without a token no request is possible, so this must not be classified as the rejection of a single ticket.
      throw error instanceof RejectedError ? new AuthError(error.message, 401, { cause: error }) : error;
    }
    this.#isRefused = false;
    return this.#current;
  }
}

/** One link of the header, with its parameters up to the next link. */
const LINK = /<([^<>]*)>([^<]*)/g;
const IS_NEXT = /;\s*rel\s*=\s*(?:"[^"]*\bnext\b|next\b)/i;

/** Maximum length of the header that is read, in characters. */
const MAX_LENGTH = 16_384;

/** Returns the URL of the next page (`Link: <…>; rel="next"`), or null. */
export function nextLink(link: string | readonly string[] | undefined): string | null {
  const links = [link ?? []].flat().join(', ').slice(0, MAX_LENGTH).matchAll(LINK);
  return [...links].find(([, , parameters = '']) => IS_NEXT.test(parameters))?.[1] ?? null;
}

/** Returns the path of the next page below the base URL, or null. Throws NotThePlatformError like `pathBelow`. */
export function nextPath(link: string | readonly string[] | undefined, baseUrl: string, label: string): string | null {
  const next = nextLink(link);
  return next === null ? null : pathBelow(baseUrl, next, label);
}

/**
 * Returns the path of a link in a response below the base URL. Throws NotThePlatformError if the link leads elsewhere,
 * so that no request is sent there.
 */
export function pathBelow(baseUrl: string, address: string, label: string): string {
  const base = new URL(baseUrl);
  const prefix = withoutTrailingSlashes(base.pathname);
  const url = URL.parse(address, base.href);
  if (url === null || url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`)) {
    throw new NotThePlatformError(`${label}: a link in the response leads outside the configured address`);
  }
  return url.pathname.slice(prefix.length) + url.search;
}

/**
 * Parses a response that later steps depend on, such as a page of tickets. Throws NotThePlatformError with the names of
 * the members that differ from the documentation, and without values.
 */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, body: unknown, what: string): z.output<Schema> {
  const read = schema.safeParse(body);
  if (!read.success) {
    throw new NotThePlatformError(`${what}: ${membersOf(read.error)}`);
  }
  return read.data;
}

/** Error of a single ticket that cannot be read; others are not affected. */
class UnreadableRecord extends Error {}

/** Parses one record. Throws UnreadableRecord. */
export function readRecord<Schema extends z.ZodType>(schema: Schema, record: unknown): z.output<Schema> {
  const read = schema.safeParse(record);
  if (!read.success) {
    throw new UnreadableRecord(membersOf(read.error));
  }
  return read.data;
}

/** Returns the valid items of a list whose items are useful individually, such as people. */
export function validItems<Schema extends z.ZodType>(
  schema: Schema,
  list: readonly unknown[] | null | undefined,
): z.output<Schema>[] {
  return (list ?? []).flatMap((item) => {
    const read = schema.safeParse(item);
    return read.success ? [read.data] : [];
  });
}

/**
 * Reads one ticket. A permanent failure of this ticket alone becomes a rejection, so that the other tickets continue.
 * Any other failure is thrown. Source: docs/helpdesk-notes.md#delivery-rules
 */
export async function orRejected(place: string, read: () => Promise<SourceRecord>): Promise<SourceRecord> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof UnreadableRecord || error instanceof RejectedError) {
      return { kind: 'rejected', place, reason: error.message };
    }
    throw error;
  }
}

/**
 * Reads all items concurrently, within the limits of the queue, and keeps their order. The first failure aborts the others
 * and is thrown when all have ended, so that an incomplete batch never counts as complete.
 */
export async function readAll<T, R>(
  items: readonly T[],
  signal: AbortSignal,
  read: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failure = new AbortController();
  const both = AbortSignal.any([signal, failure.signal]);
  let first: { readonly error: unknown } | null = null;
  const outcomes = await Promise.allSettled(
    items.map(async (item) => {
      try {
        return await read(item, both);
      } catch (error) {
        first ??= { error };
        failure.abort();
        throw error;
      }
    }),
  );
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') {
      throw first?.error ?? outcome.reason;
    }
    return outcome.value;
  });
}

/** Maximum number of pages of one list. */
const MAX_PAGES = 1000;

/**
 * Reads all pages of a list that belongs to one ticket; null if that no longer exists. `read` returns the items of a
 * page, and where the next one is; null: it is the last.
 */
export async function readPages<T, At>(
  label: string,
  first: At,
  read: (at: At) => Promise<{ readonly items: readonly T[]; readonly next: At | null } | null>,
): Promise<T[] | null> {
  const all: T[] = [];
  let at: At | null = first;
  for (let pages = 0; at !== null; pages += 1) {
    if (pages >= MAX_PAGES) {
      throw new TransientError(`${label}: the list does not end`, false);
    }
    const page = await read(at);
    if (page === null) {
      return null;
    }
    append(all, page.items);
    at = page.next;
  }
  return all;
}

function membersOf(error: z.ZodError): string {
  const members = [...new Set(error.issues.map(({ path }) => path.join('.') || 'all of it'))];
  return `not as documented: ${members.slice(0, 3).join(', ')}`;
}
