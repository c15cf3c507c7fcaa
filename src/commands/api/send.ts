import { type AppError, CancelledError, NotThePlatformError, RateLimitedError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { errorOf, notEvents, notJson } from '../../platform/http/errors.ts';
import { readEvents } from '../../platform/http/event-stream.ts';
import type { HttpAnswer, HttpRequest, HttpStream } from '../../platform/http/transport.ts';
import { readRateHeaders } from '../../queue/model/rate-headers.ts';
import type { Reply } from '../../queue/model/request.ts';
import type { PlatformSession } from '../cli/setup.ts';
import type { Prepared } from './prepare.ts';

/** The body of a success. Other than JSON is only taken from outside of the API, such as a file that it links to. */
export type Payload =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** A success. */
export interface Answered {
  readonly answer: HttpAnswer;
  readonly payload: Payload;
}

/** Listener for the progress of a request. */
export interface Watch {
  /** An attempt starts: until there is an answer, the request may have been carried out. */
  onSend(): void;
  /** An answer has arrived, or the attempt has failed with an error that says whether it was carried out. */
  onAnswer(): void;
  /** An answer that is an error, before the error is thrown. */
  onRefused(answer: HttpAnswer): void;
  /** The rate limit is used up; `after` is the wait in milliseconds, where that is known. */
  onLimited(after: number | null): void;
}

/**
 * Sends a request through the queue as a person's, with the retries that it bears. Throws AppError; `watch` is
 * told how it goes.
 */
export async function send(
  request: Prepared,
  { connection, signal }: PlatformSession,
  watch: Watch,
): Promise<Answered> {
  const isBinary = !isOfApi(request);
  return throughQueue(request, { connection, signal }, watch, async (abort) => {
    const sent: HttpRequest = { ...messageOf(request), isBinary };
    const answer = await connection.transport.send(sent, abort);
    return { head: answer, answer, result: readAnswer(request, answer, connection) };
  });
}

function messageOf({ method, path, body, headers }: Prepared): HttpRequest {
  return { method, path, body, headers };
}

function isOfApi({ path }: Prepared): boolean {
  return /^\/v\d+(\/|$)/.test(path);
}

interface Attempt<T> {
  readonly head: Omit<HttpAnswer, 'body'>;
  /** Null where the answer goes on as a stream. */
  readonly answer: HttpAnswer | null;
  readonly result: Reply<T>['result'];
}

async function throughQueue<T>(
  request: Prepared,
  { connection, signal }: Pick<PlatformSession, 'connection' | 'signal'>,
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
        watch.onSend();
        const { head, answer, result } = await attempt(abort).catch((error: unknown) => {
          // Cut off by the signal: nobody knows how far it got.
          if (!abort.aborted) {
            watch.onAnswer();
          }
          throw error;
        });
        watch.onAnswer();
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
  request: Prepared,
  answer: HttpAnswer,
  { origin, baseUrl }: PlatformSession['connection'],
): Reply<Answered>['result'] {
  const { status, body } = answer;
  if (status < 200 || status >= 300) {
    const { retryAfter } = readRateHeaders(answer.headers);
    return { ok: false, error: errorOf(request.name, answer, origin, retryAfter, { baseUrl }) };
  }
  if (typeof body !== 'string') {
    return { ok: false, error: body };
  }
  const payload = isOfApi(request) ? jsonPayload(body) : anyPayload(body);
  return payload === null
    ? { ok: false, error: notJson(request.name, answer, origin) }
    : { ok: true, value: { answer, payload } };
}

/** Null for what is not JSON. */
function jsonPayload(text: string): Payload | null {
  if (text.trim() === '') {
    return { kind: 'empty' };
  }
  try {
    return { kind: 'json', json: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** `body`: each character is a byte. */
function anyPayload(body: string): Payload {
  const bytes = Buffer.from(body, 'latin1');
  return jsonPayload(bytes.toString('utf8')) ?? { kind: 'bytes', bytes };
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
export async function* sendPages(request: Prepared, session: PlatformSession, watch: Watch): AsyncGenerator<ListPage> {
  const [path = '', search = ''] = request.path.split('?');
  const query = new URLSearchParams(search);
  if (!query.has('limit')) {
    query.set('limit', PAGE_SIZE);
  }
  const seen = new Set<string>();
  for (;;) {
    const { payload } = await send({ ...request, path: `${path}?${query}` }, session, watch);
    const page = readPage(request, payload.kind === 'json' ? payload.json : undefined);
    yield page;
    if (page.next === null) {
      return;
    }
    if (seen.has(page.next)) {
      throw new NotThePlatformError(`${request.name}: the platform returned the same next page twice`);
    }
    seen.add(page.next);
    query.set('page', page.next);
  }
}

function readPage({ name }: Prepared, json: unknown): ListPage {
  const items = isObject(json) ? json.items : undefined;
  if (!isObject(json) || !Array.isArray(items)) {
    throw new NotThePlatformError(`${name} does not return a list of items; leave out --paginate`);
  }
  const next = isObject(json.next) ? json.next.page : undefined;
  return { items, next: typeof next === 'string' && next !== '' ? next : null };
}

/** An answer that is streamed. */
export interface Streamed {
  readonly head: Pick<HttpAnswer, 'status' | 'headers'>;
  /** As they come; reading them to their end, or no further, closes the stream. Throws AppError. */
  readonly events: AsyncGenerator<unknown>;
}

/** Sends a request whose answer is a stream of events. Throws AppError. */
export async function sendStreamed(request: Prepared, session: PlatformSession, watch: Watch): Promise<Streamed> {
  const { connection, signal } = session;
  const end = new AbortController();
  const cancel = () => end.abort(new CancelledError(`${request.name} was cancelled`));
  signal.addEventListener('abort', cancel, { once: true });
  const close = () => {
    signal.removeEventListener('abort', cancel);
    end.abort();
  };
  try {
    const stream = await throughQueue<HttpStream>(request, session, watch, async (abort) => {
      const answer = await connection.transport.open(messageOf(request), AbortSignal.any([abort, end.signal]));
      return 'chunks' in answer
        ? { head: answer, answer: null, result: { ok: true, value: answer } }
        : { head: answer, answer, result: { ok: false, error: notStreamed(request, answer, connection.origin) } };
    });
    return { head: stream, events: closing(readEvents(request.name, stream.chunks), close) };
  } catch (error) {
    close();
    throw error;
  }
}

async function* closing<T>(events: AsyncIterable<T>, close: () => void): AsyncGenerator<T> {
  try {
    yield* events;
  } finally {
    close();
  }
}

function notStreamed({ name }: Prepared, answer: HttpAnswer, origin: string): AppError {
  const { status } = answer;
  return status >= 200 && status < 300
    ? notEvents(name, answer, origin)
    : errorOf(name, answer, origin, readRateHeaders(answer.headers).retryAfter);
}
