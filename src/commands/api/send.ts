/** Sends requests of `octavo api` through the queue and reads their responses. */
import { type AppError, CancelledError, NotThePlatformError, RateLimitedError } from '../../core/errors.ts';
import { isObject, parseBounded } from '../../core/json.ts';
import { notEvents, notJson, responseError } from '../../platform/http/errors.ts';
import { readEvents } from '../../platform/http/event-stream.ts';
import type { HttpRequest, HttpStream } from '../../platform/http/transport.ts';
import type { HttpAnswer } from '../../platform/http/whole-response.ts';
import { ListProgress } from '../../platform/list-progress.ts';
import { type AttemptSignal, type Reply, readRateHeaders, toAbortSignal } from '../../queue/request.ts';
import type { PlatformSession } from '../cli/session.ts';
import type { PreparedRequest } from './prepare.ts';

/** Body of a successful response. Only URLs outside the API, such as linked files, may return other data than JSON. */
export type Payload =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** A successful response. */
export interface ApiResponse {
  readonly answer: HttpAnswer;
  readonly payload: Payload;
}

/** Listener for the progress of a request. */
export interface RequestListener {
  /** An attempt starts. Until it is answered, the request may have taken effect. */
  onSend(): void;
  /** A response has arrived, or the attempt has failed with an error that states whether it took effect. */
  onAnswer(): void;
  /** Called with an error response before the error is thrown. */
  onRefused(answer: HttpAnswer): void;
  /** The rate limit is exhausted; `after` is the wait in milliseconds, if known. */
  onLimited(after: number | null): void;
}

/** Sends a request with interactive priority, and retries it where that is safe. Throws AppError. */
export async function send(
  request: PreparedRequest,
  { connection, signal }: PlatformSession,
  listener: RequestListener,
): Promise<ApiResponse> {
  const isBinary = !isApiRequest(request);
  return throughQueue(request, { connection, signal }, listener, async (abort) => {
    const sent: HttpRequest = { ...messageOf(request), isBinary };
    const answer = await connection.transport.send(sent, abort);
    return { head: answer, answer, result: readAnswer(request, answer, connection) };
  });
}

function messageOf({ method, path, body, headers }: PreparedRequest): HttpRequest {
  return { method, path, body, headers };
}

function isApiRequest({ path }: PreparedRequest): boolean {
  return /^\/v\d+(\/|$)/.test(path);
}

interface Attempt<T> {
  readonly head: Omit<HttpAnswer, 'body'>;
  /** Null for a streamed response. */
  readonly answer: HttpAnswer | null;
  readonly result: Reply<T>['result'];
}

async function throughQueue<T>(
  request: PreparedRequest,
  { connection, signal }: Pick<PlatformSession, 'connection' | 'signal'>,
  listener: RequestListener,
  attempt: (signal: AttemptSignal) => Promise<Attempt<T>>,
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
        listener.onSend();
        const { head, answer, result } = await attempt(abort).catch((error: unknown) => {
          // After an abort it is unknown whether the request took effect.
          if (!abort.aborted) {
            listener.onAnswer();
          }
          throw error;
        });
        listener.onAnswer();
        last = answer;
        if (!result.ok && result.error instanceof RateLimitedError) {
          listener.onLimited(result.error.after);
        }
        return { headers: readRateHeaders(head.headers), receivedAt: head.receivedAt, result };
      },
    });
  } catch (error) {
    if (last !== null) {
      listener.onRefused(last);
    }
    throw error;
  }
}

function readAnswer(
  request: PreparedRequest,
  answer: HttpAnswer,
  { origin, baseUrl, tokenSource }: PlatformSession['connection'],
): Reply<ApiResponse>['result'] {
  const { status, body } = answer;
  if (status < 200 || status >= 300) {
    const { retryAfter } = readRateHeaders(answer.headers);
    return { ok: false, error: responseError(request.name, answer, origin, retryAfter, { baseUrl, tokenSource }) };
  }
  if (typeof body !== 'string') {
    return { ok: false, error: body };
  }
  let payload: Payload | null;
  try {
    payload = isApiRequest(request) ? jsonPayload(request.name, body) : anyPayload(request.name, body);
  } catch (error) {
    if (error instanceof NotThePlatformError) {
      return { ok: false, error };
    }
    throw error;
  }
  return payload === null
    ? { ok: false, error: notJson(request.name, answer, origin) }
    : { ok: true, value: { answer, payload } };
}

/** Returns null for text that is not JSON. Throws NotThePlatformError for JSON beyond the limits. */
function jsonPayload(name: string, text: string): Payload | null {
  if (text.trim() === '') {
    return { kind: 'empty' };
  }
  try {
    return { kind: 'json', json: parseBounded(text, `${name}: the answer`) };
  } catch (error) {
    if (error instanceof NotThePlatformError) {
      throw error;
    }
    return null;
  }
}

/** Reads a body of any type; each character of `body` is one byte. */
function anyPayload(name: string, body: string): Payload {
  const bytes = Buffer.from(body, 'latin1');
  return jsonPayload(name, bytes.toString('utf8')) ?? { kind: 'bytes', bytes };
}

/** One page of a list. */
export interface ResultPage {
  readonly items: readonly unknown[];
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null;
}

/** Page size where the request sets none. */
const PAGE_SIZE = '1000';

/** Fetches a list page by page; each page only after the previous one is consumed. Throws AppError, also for a
 * list that does not end. */
export async function* sendPages(
  request: PreparedRequest,
  session: PlatformSession,
  listener: RequestListener,
): AsyncGenerator<ResultPage> {
  const [path = '', search = ''] = request.path.split('?');
  const query = new URLSearchParams(search);
  if (!query.has('limit')) {
    query.set('limit', PAGE_SIZE);
  }
  const progress = new ListProgress(request.name);
  for (;;) {
    const { payload } = await send({ ...request, path: `${path}?${query}` }, session, listener);
    const page = readPage(request, payload.kind === 'json' ? payload.json : undefined);
    yield page;
    if (page.next === null) {
      return;
    }
    progress.add(page.items.length, page.next);
    query.set('page', page.next);
  }
}

function readPage({ name }: PreparedRequest, json: unknown): ResultPage {
  const items = isObject(json) ? json.items : undefined;
  if (!isObject(json) || !Array.isArray(items)) {
    throw new NotThePlatformError(`${name} does not return a list of items; leave out --paginate`);
  }
  const next = isObject(json.next) ? json.next.page : undefined;
  return { items, next: typeof next === 'string' && next !== '' ? next : null };
}

/** A streamed response. */
export interface StreamedResponse {
  readonly head: Pick<HttpAnswer, 'status' | 'headers'>;
  /** Events as they arrive. Ending the iteration closes the stream. Throws AppError. */
  readonly events: AsyncGenerator<unknown>;
}

/** Sends a request whose response is a stream of events. Throws AppError. */
export async function sendStreamed(
  request: PreparedRequest,
  session: PlatformSession,
  listener: RequestListener,
): Promise<StreamedResponse> {
  const { connection, signal } = session;
  const end = new AbortController();
  const cancel = () => end.abort(new CancelledError(`${request.name} was cancelled`));
  signal.addEventListener('abort', cancel, { once: true });
  const close = () => {
    signal.removeEventListener('abort', cancel);
    end.abort();
  };
  try {
    const stream = await throughQueue<HttpStream>(request, session, listener, async (abort) => {
      const answer = await connection.transport.open(
        messageOf(request),
        AbortSignal.any([toAbortSignal(abort), end.signal]),
      );
      return 'chunks' in answer
        ? { head: answer, answer: null, result: { ok: true, value: answer } }
        : { head: answer, answer, result: { ok: false, error: notStreamed(request, answer, connection) } };
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

function notStreamed(
  { name }: PreparedRequest,
  answer: HttpAnswer,
  { origin, tokenSource }: PlatformSession['connection'],
): AppError {
  const { status } = answer;
  return status >= 200 && status < 300
    ? notEvents(name, answer, origin)
    : responseError(name, answer, origin, readRateHeaders(answer.headers).retryAfter, { tokenSource });
}
