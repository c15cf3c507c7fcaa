import { type AppError, CancelledError, NotThePlatformError, RateLimitedError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { errorOf, notEvents, notJson } from '../../platform/errors.ts';
import { readEvents } from '../../platform/event-stream.ts';
import type { HttpAnswer, HttpRequest, HttpStream } from '../../platform/transport.ts';
import { readRateHeaders } from '../../queue/rate-headers.ts';
import type { Reply } from '../../queue/request.ts';
import type { Way } from '../setup.ts';
import type { Prepared } from './prepare.ts';

/** A success as JSON; undefined where it has no body. */
export interface Answered {
  readonly answer: HttpAnswer;
  readonly json: unknown;
}

/** Who is told how a request goes. */
export interface Watch {
  /** An answer that is an error, before the error is thrown. */
  readonly onRefused: (answer: HttpAnswer) => void;
  /** The rate limit is used up: it waits, so many milliseconds where that is known. */
  readonly onLimited: (after: number | null) => void;
}

/**
 * Sends a request through the queue as a person's, with the retries that it bears. Throws AppError; `watch` is
 * told how it goes.
 */
export async function send(request: Prepared, { connection, signal }: Way, watch: Watch): Promise<Answered> {
  const { method, path, body } = request;
  return throughQueue(request, { connection, signal }, watch, async (abort) => {
    const answer = await connection.transport.send({ method, path, body } satisfies HttpRequest, abort);
    return { head: answer, answer, result: readAnswer(request, answer, connection) };
  });
}

interface Attempt<T> {
  readonly head: Omit<HttpAnswer, 'body'>;
  /** Null where the answer goes on as a stream. */
  readonly answer: HttpAnswer | null;
  readonly result: Reply<T>['result'];
}

async function throughQueue<T>(
  request: Prepared,
  { connection, signal }: Pick<Way, 'connection' | 'signal'>,
  watch: Watch,
  attempt: (signal: AbortSignal) => Promise<Attempt<T>>,
): Promise<T> {
  let last: HttpAnswer | null = null;
  try {
    return await connection.queue.request({
      name: request.name,
      class: request.class,
      priority: 'person',
      repeat: request.repeat,
      signal,
      attempt: async (abort) => {
        last = null;
        const { head, answer, result } = await attempt(abort);
        last = answer;
        if (!result.ok && result.error instanceof RateLimitedError) {
          watch.onLimited(result.error.after);
        }
        return { headers: readRateHeaders(head.headers), receivedAt: head.receivedAt, result };
      },
    });
  } catch (error) {
    if (last !== null) {
      watch.onRefused(last);
    }
    throw error;
  }
}

function readAnswer(
  { name }: Prepared,
  answer: HttpAnswer,
  { origin, baseUrl }: Way['connection'],
): Reply<Answered>['result'] {
  const { status, body } = answer;
  if (status < 200 || status >= 300) {
    const { retryAfter } = readRateHeaders(answer.headers);
    return { ok: false, error: errorOf(name, answer, origin, retryAfter, { baseUrl }) };
  }
  if (typeof body !== 'string') {
    return { ok: false, error: body };
  }
  if (body.trim() === '') {
    return { ok: true, value: { answer, json: undefined } };
  }
  try {
    return { ok: true, value: { answer, json: JSON.parse(body) } };
  } catch {
    return { ok: false, error: notJson(name, answer, origin) };
  }
}

/** One page of a list. */
export interface ListPage {
  readonly items: readonly unknown[];
  /** What the next page is asked for with; null at the end. */
  readonly next: string | null;
}

/** Items of a page at most, where the request does not say. */
const PAGE_SIZE = '1000';

/**
 * The pages of a list, each asked for once the one before is dealt with. Throws AppError; a cursor that repeats is an
 * error.
 */
export async function* sendPages(request: Prepared, way: Way, watch: Watch): AsyncGenerator<ListPage> {
  const [path = '', search = ''] = request.path.split('?');
  const query = new URLSearchParams(search);
  if (!query.has('limit')) {
    query.set('limit', PAGE_SIZE);
  }
  const seen = new Set<string>();
  for (;;) {
    const { json } = await send({ ...request, path: `${path}?${query}` }, way, watch);
    const page = readPage(request, json);
    yield page;
    if (page.next === null) {
      return;
    }
    if (seen.has(page.next)) {
      throw new NotThePlatformError(`${request.name}: the platform names the same next page twice`);
    }
    seen.add(page.next);
    query.set('page', page.next);
  }
}

function readPage({ name }: Prepared, json: unknown): ListPage {
  const items = isObject(json) ? json.items : undefined;
  if (!isObject(json) || !Array.isArray(items)) {
    throw new NotThePlatformError(`${name} does not answer with a list of items: leave out --paginate`);
  }
  const next = isObject(json.next) ? json.next.page : undefined;
  return { items, next: typeof next === 'string' && next !== '' ? next : null };
}

/** The events of an answer that is streamed, as they come. Throws AppError. */
export async function* sendStreamed(request: Prepared, way: Way, watch: Watch): AsyncGenerator<unknown> {
  const { method, path, body, name } = request;
  const { connection, signal } = way;
  const end = new AbortController();
  const cancel = () => end.abort(new CancelledError(`${name} was given up: it was cancelled`));
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const stream = await throughQueue<HttpStream>(request, way, watch, async (abort) => {
      const answer = await connection.transport.open({ method, path, body }, AbortSignal.any([abort, end.signal]));
      return 'chunks' in answer
        ? { head: answer, answer: null, result: { ok: true, value: answer } }
        : { head: answer, answer, result: { ok: false, error: notStreamed(request, answer, connection.origin) } };
    });
    yield* readEvents(name, stream.chunks);
  } finally {
    signal.removeEventListener('abort', cancel);
    end.abort();
  }
}

function notStreamed({ name }: Prepared, answer: HttpAnswer, origin: string): AppError {
  const { status } = answer;
  return status >= 200 && status < 300
    ? notEvents(name, answer, origin)
    : errorOf(name, answer, origin, readRateHeaders(answer.headers).retryAfter);
}
