/** Sends requests to a forge: bounded in time, size, pages and origin, with errors named by what happens next, and retries. */
import type { Clock } from '../core/clock.ts';
import { AuthError, NotThePlatformError, RateLimitedError, RejectedError, TransientError } from '../core/errors.ts';
import { findExceededLimit } from '../core/json.ts';
import { append } from '../core/lists.ts';

/** Timeout of a request to a forge, in milliseconds. */
export const FORGE_TIMEOUT = 30_000;

/** Maximum size of a response, in bytes after decompression. */
const MAX_RESPONSE = 64 * 1024 * 1024;

/** Maximum number of redirects that are followed, such as those of a renamed repository. */
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];

/** A response of a forge cannot be used, and a retry would not help. */
class UnusableResponseError extends NotThePlatformError {}

/**
 * Returns a `fetch` that stops when `signal` aborts. It sends requests only to the origin of `apiUrl`, because they contain
 * secrets, and a response can link to anything, such as the next page of a list. It follows redirects only if the request
 * stays the same.
 */
export function boundedFetch(apiUrl: string, signal: AbortSignal): typeof fetch {
  const { origin } = new URL(apiUrl);
  return async (input, init) => {
    const signals = [signal, AbortSignal.timeout(FORGE_TIMEOUT), ...(init?.signal ? [init.signal] : [])];
    const request = new Request(input, { ...init, redirect: 'manual', signal: AbortSignal.any(signals) });
    const target = new URL(request.url);
    if (target.origin !== origin) {
      throw new UnusableResponseError(`a link of the response leads to ${target.origin}, which is not followed`);
    }
    return await readWhole(await follow(request, MAX_REDIRECTS));
  };
}

async function follow(request: Request, left: number): Promise<Response> {
  const again = request.clone();
  const response = await fetch(request);
  const { status, headers } = response;
  if (!REDIRECTS.includes(status)) {
    return response;
  }
  await response.body?.cancel();
  const target = URL.parse(headers.get('location') ?? '', request.url);
  // With other redirects, a POST becomes a GET.
  const isSameRequest = status === 307 || status === 308 || request.method === 'GET';
  if (left === 0 || target === null || !isSameRequest || target.origin !== new URL(request.url).origin) {
    const to = target === null ? '' : ` to ${target.origin}`;
    throw new UnusableResponseError(`the response is a redirect${to} (${status}), which is not followed`);
  }
  return follow(new Request(target, again), left - 1);
}

/** Reads a response to its end: one of the clients ignores errors of its body, but none ignores those of `fetch`. */
async function readWhole(response: Response): Promise<Response> {
  if (response.body === null) {
    return response;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_RESPONSE) {
      throw new UnusableResponseError(`the response is larger than ${MAX_RESPONSE / 2 ** 20} MiB`);
    }
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  // The clients parse any response that looks like JSON. Its syntax is ASCII.
  const reason = findExceededLimit(bytes.toString('latin1'));
  if (reason !== null) {
    throw new UnusableResponseError(`the response ${reason}, and is not read`);
  }
  const { status, statusText, headers, url } = response;
  return Object.defineProperty(new Response(bytes, { status, statusText, headers }), 'url', {
    value: url,
  });
}

/** Maximum number of pages: a server that ignores the number of the page returns the same one without an end. */
const MAX_PAGES = 500;
/** Maximum number of items: a page has at most 100. */
const MAX_ITEMS = 50_000;

/**
 * Returns the items of all pages, counted from 1. Throws UnusableResponseError if a page is not a list, or if none of them
 * is the last one.
 */
export async function readPages<T>(
  read: (page: number) => Promise<{ readonly items: readonly T[]; readonly isLast: boolean }>,
): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { items, isLast } = await read(page);
    // The types of the clients are not checked.
    if (!Array.isArray(items)) {
      throw new UnusableResponseError('the response is not a list');
    }
    append(all, items);
    if (isLast) {
      return all;
    }
    if (all.length > MAX_ITEMS) {
      throw new UnusableResponseError(`the list has more than ${MAX_ITEMS} items`);
    }
  }
  throw new UnusableResponseError(`the list has more than ${MAX_PAGES} pages`);
}

/** Error response of a forge. */
export interface Refusal {
  readonly status: number;
  /** Reads a header of the response; null if it is absent. */
  readonly header: (name: string) => string | null;
  /** True if a rate limit was exceeded that the headers do not show. */
  readonly isLimit?: boolean;
}

/** Returns an error response that a client has thrown as it is. */
export function refusalOfResponse(error: unknown): Refusal | null {
  return error instanceof Response ? { status: error.status, header: (name) => error.headers.get(name) } : null;
}

/**
 * Runs a request and classifies its errors by what happens next. The forge's message is omitted: it may quote what was
 * sent, and the status is enough.
 *
 * @param action the request in words: `update the comment`
 */
export async function ask<T>(
  { label, refusalOf }: { readonly label: string; refusalOf(error: unknown): Refusal | null },
  action: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null) {
      throw noAnswerError(label, action, error);
    }
    const cause = error instanceof Response ? undefined : error;
    throw refusalError(`${label} answers with ${refusal.status} when asked to ${action}`, refusal, cause);
  }
}

function refusalError(message: string, { status, header, isLimit }: Refusal, cause: unknown): Error {
  const after = retryDelay(header);
  // GitHub also answers 403 when a rate limit is exceeded.
  const isUsedUp = after !== null || header('x-ratelimit-remaining') === '0';
  if (isLimit === true || status === 429 || (status === 403 && isUsedUp)) {
    return new RateLimitedError(message, after, { cause });
  }
  if (status === 401 || status === 403) {
    return new AuthError(message, status, { cause });
  }
  if (status === 408 || status >= 500) {
    return new TransientError(message, true, { cause });
  }
  return new RejectedError(message, status, { cause });
}

/** Shortest and longest time that a forge can ask to wait, in milliseconds. Limits are per hour at most. */
const MIN_WAIT = 1000;
const MAX_WAIT = 3_600_000;

/**
 * Milliseconds until the request may be repeated, from the answer or from the reset of the exceeded limit, by the
 * forge's own clock (GitHub REST API, rate limits). Null if the answer has neither.
 */
function retryDelay(header: Refusal['header']): number | null {
  const seconds = (name: string) => Number((header(name) ?? '').trim() || Number.NaN);
  const now = Date.parse(header('date') ?? '');
  const reset = seconds('x-ratelimit-remaining') === 0 ? seconds('x-ratelimit-reset') * 1000 - now : Number.NaN;
  const until = Date.parse(header('retry-after') ?? '') - now;
  const wait = [seconds('retry-after') * 1000, until, reset].find((each) => !Number.isNaN(each));
  return wait === undefined ? null : Math.min(Math.max(wait, MIN_WAIT), MAX_WAIT);
}

/** Creates the error for a request without a complete response: it may have taken effect. */
function noAnswerError(label: string, action: string, cause: unknown): Error {
  const unusable = [cause, cause instanceof Error ? cause.cause : null].find(
    (each) => each instanceof UnusableResponseError,
  );
  if (unusable instanceof UnusableResponseError) {
    const why = `${unusable.message}; check the address of the forge`;
    return new NotThePlatformError(`${label} was asked to ${action}: ${why}`, { cause });
  }
  return cause instanceof NotThePlatformError
    ? cause
    : new TransientError(`${label} does not answer when asked to ${action}`, true, { cause });
}

/** Ignores 404 errors; throws others. */
export function ignoreNotFound(error: unknown): void {
  if (!(error instanceof RejectedError && error.status === 404)) {
    throw error;
  }
}

/** Pauses before a failed request is retried, in milliseconds. */
const RETRY_DELAYS = [1000, 4000, 15_000] as const;
/** Longest wait that a forge may ask for, in milliseconds. */
const MAX_RETRY_DELAY = 60_000;

/** Returns whether a rate limit refused the request. It was not executed, so it may be repeated. */
export function isLimit(error: unknown): error is RateLimitedError {
  return error instanceof RateLimitedError;
}

function isPassing(error: unknown): boolean {
  return error instanceof TransientError || isLimit(error);
}

/** Repeats work after temporary errors. `isTriedAgain` selects these errors; by default, the work must be safe to repeat. */
export async function withRetries<T>(
  clock: Clock,
  work: () => Promise<T>,
  isTriedAgain: (error: unknown) => boolean = isPassing,
): Promise<T> {
  for (const pause of RETRY_DELAYS) {
    try {
      return await work();
    } catch (error) {
      // Without other information, limits are per minute.
      const wait = isLimit(error) ? (error.after ?? MAX_RETRY_DELAY) : pause;
      if (!isTriedAgain(error) || wait > MAX_RETRY_DELAY) {
        throw error;
      }
      await clock.sleep(wait);
    }
  }
  return work();
}
