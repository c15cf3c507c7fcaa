import { type Dispatcher, errors } from 'undici';
import type { Clock, Random } from '../../core/clock.ts';
import { AuthError, NotThePlatformError, RateLimitedError, RejectedError, TransientError } from '../../core/errors.ts';
import { parseBounded } from '../../core/json.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';
import { openDispatcher } from '../../platform/http/dispatcher.ts';
import { networkError } from '../../platform/http/network-error.ts';
import { createRequestQueue } from '../../queue/dispatcher.ts';
import { type Priority, type RateHeaders, type Reply, type RequestClass, toAbortSignal } from '../../queue/request.ts';

type HeaderRecord = Readonly<Record<string, string | string[] | undefined>>;

/** Response of a provider: a success, or one of the statuses that the caller accepts. */
export interface ProviderAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: HeaderRecord;
  /** Parsed JSON; null for an empty body. */
  readonly body: unknown;
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

export interface ProviderClientOptions {
  /** Name of the provider in messages: `Zendesk`. */
  readonly label: string;
  readonly baseUrl: string;
  readonly userAgent: string;
  /** Returns the headers of every request, such as the authorization; called before each, because tokens expire. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  /** Reads the provider's own headers; `now` is milliseconds since the epoch. */
  readonly rate: (headers: HeaderRecord, now: number) => RateHeaders;
  /** Reports whether a response other than 429 is due to the rate limit (GitHub: 403 with no requests left). */
  readonly isRefusal?: (status: number, headers: HeaderRecord) => boolean;
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: Random;
}

const PRIORITY: Priority = 'ingestion';
const TIMEOUT = 30_000;
const CLOSE_TIMEOUT = 2000;
/** Largest response that is read, in bytes. */
const MAX_SIZE = 64 * 1024 * 1024;

/** Creates a client; it connects with the first request. */
export function openProviderClient(options: ProviderClientOptions): ProviderClient {
  const { clock, random, concurrency } = options;
  const base = new URL(options.baseUrl);
  const dispatcher = openDispatcher(base.origin, {
    connections: concurrency,
    connectTimeout: TIMEOUT,
    headersTimeout: TIMEOUT,
    bodyTimeout: TIMEOUT,
    maxResponseSize: MAX_SIZE,
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
        attempt: (signal) => attempt(options, dispatcher, prefix, request, toAbortSignal(signal)),
      }),
    async close() {
      await queue.drain(CLOSE_TIMEOUT);
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
  try {
    const what = `${label}: ${request.name}: the response`;
    const body = text === '' ? null : parseBounded(text.replace(/^\uFEFF/, ''), what);
    return { headers, receivedAt, result: { ok: true, value: { status, headers: answer.headers, body } } };
  } catch (error) {
    const isTooMuch = error instanceof NotThePlatformError;
    return fail(isTooMuch ? error : new TransientError(`${label}: ${request.name}: the response is not JSON`, false));
  }
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
      ? new NotThePlatformError(`${label} sent a response larger than ${MAX_SIZE / 2 ** 20} MiB`, { cause: error })
      : networkError(error, origin, true);
  }
}
