import { type Dispatcher, errors } from 'undici';
import type { Clock, Random } from '../../core/clock.ts';
import { AuthError, NotThePlatformError, RateLimitedError, RejectedError, TransientError } from '../../core/errors.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';
import { openDispatcher } from '../../platform/http/dispatcher.ts';
import { networkError } from '../../platform/http/network-error.ts';
import type { RateHeaders } from '../../queue/model/rate-headers.ts';
import type { Priority, Reply, RequestClass } from '../../queue/model/request.ts';
import { createRequestQueue } from '../../queue/schedule/dispatcher.ts';

type HeaderRecord = Readonly<Record<string, string | string[] | undefined>>;

/** What a provider answered: a success, or one of the statuses the caller said it can use. */
export interface ProviderAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: HeaderRecord;
  /** Parsed JSON; null where there is none. */
  readonly body: unknown;
}

/** One request to a provider. All of them only read, whatever their method, so that each may be repeated. */
export interface ProviderRequest {
  /** For messages and events: `list tickets`. Never an address of a person, never a token. */
  readonly name: string;
  readonly method?: 'GET' | 'POST';
  /** From the slash on, encoded, with its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Besides those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `search`: what the provider counts apart from other reads. */
  readonly class?: Extract<RequestClass, 'read' | 'search'>;
  /** Statuses that are answers and no errors: 404 for what may be gone, 304. */
  readonly accepts?: readonly number[];
  readonly signal: AbortSignal;
}

/** The way to one provider's account: its own queue, which learns from its own headers. */
export interface ProviderClient {
  /** Throws AuthError (401, 403), RejectedError, RateLimitedError, TransientError or NotThePlatformError. */
  request(request: ProviderRequest): Promise<ProviderAnswer>;
  close(): Promise<void>;
}

export interface ProviderClientOptions {
  /** The provider's name, for messages: `Zendesk`. */
  readonly label: string;
  readonly baseUrl: string;
  readonly userAgent: string;
  /** What every request carries, above all its authorization; asked before each, as tokens expire. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** Reads the provider's own headers; `now` is milliseconds since the epoch. */
  readonly rate: (headers: HeaderRecord, now: number) => RateHeaders;
  /** Whether an answer other than 429 refuses for the rate (GitHub: a 403 with nothing left). */
  readonly isRefusal?: (status: number, headers: HeaderRecord) => boolean;
  /** Requests in flight at most. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: Random;
}

const PRIORITY: Priority = 'ingestion';
const TIMEOUT = 30_000;
const CLOSING = 2000;
/** The largest answer that is read, in bytes. */
const LARGEST = 64 * 1024 * 1024;

/** Opens the way; nothing is connected until the first request. */
export function openProviderClient(options: ProviderClientOptions): ProviderClient {
  const { clock, random, concurrency } = options;
  const base = new URL(options.baseUrl);
  const dispatcher = openDispatcher(base.origin, {
    connections: concurrency,
    connectTimeout: TIMEOUT,
    headersTimeout: TIMEOUT,
    bodyTimeout: TIMEOUT,
    maxResponseSize: LARGEST,
  });
  const queue = createRequestQueue({ clock, random, concurrency });
  const prefix = withoutTrailingSlashes(base.pathname);
  return {
    request: (request) =>
      queue.request({
        name: `${options.label}: ${request.name}`,
        class: request.class ?? 'read',
        priority: PRIORITY,
        repeat: 'safe',
        signal: request.signal,
        attempt: (signal) => attempt(options, dispatcher, prefix, request, signal),
      }),
    async close() {
      await queue.drain(CLOSING);
      await dispatcher.destroy();
    },
  };
}

async function attempt(
  options: ProviderClientOptions,
  dispatcher: Dispatcher,
  prefix: string,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<Reply<ProviderAnswer>> {
  const { clock, label } = options;
  const origin = new URL(options.baseUrl).origin;
  const own = await options.headers();
  let answer: Dispatcher.ResponseData;
  try {
    answer = await dispatcher.request({
      origin,
      method: request.method ?? 'GET',
      path: prefix + request.path,
      headers: {
        accept: 'application/json',
        'user-agent': options.userAgent,
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
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
  const headers = options.rate(answer.headers, clock.now());
  const { statusCode: status } = answer;
  const text = await bodyText(answer, label, origin, signal);
  const fail = (error: Extract<Reply<ProviderAnswer>['result'], { ok: false }>['error']) => ({
    headers,
    receivedAt,
    result: { ok: false as const, error },
  });
  const isFine = status < 300 || request.accepts?.includes(status) === true;
  if (status === 429 || options.isRefusal?.(status, answer.headers) === true) {
    return fail(new RateLimitedError(`${label}: ${request.name}: rate limit exceeded`, headers.retryAfter));
  }
  if (!isFine) {
    return fail(errorOf(label, request.name, status));
  }
  if (typeof text !== 'string') {
    return fail(text);
  }
  const body = text === '' ? null : parse(text);
  return body === undefined
    ? fail(new TransientError(`${label}: ${request.name}: the response is not JSON`, false))
    : { headers, receivedAt, result: { ok: true, value: { status, headers: answer.headers, body } } };
}

function errorOf(label: string, name: string, status: number) {
  const words = `${label}: ${name}: status ${status}`;
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
      ? new NotThePlatformError(`${label} sent a response larger than ${LARGEST / 2 ** 20} MiB`, { cause: error })
      : networkError(error, origin, true);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
