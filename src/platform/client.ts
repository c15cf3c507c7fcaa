/** Client that reads and writes one organization through the queue. */
import type { ZodError } from 'zod';
import { CancelledError, NotThePlatformError, RejectedError } from '../core/errors.ts';
import { isObject, parseBounded } from '../core/json.ts';
import {
  type AttemptSignal,
  type Priority,
  type RateHeaders,
  type Reply,
  readRateHeaders,
  toAbortSignal,
} from '../queue/request.ts';
import type { Connection } from './connection.ts';
import { ListProgress, notEvents, notJson, type RequestSubject, readEvents, responseError } from './http/answers.ts';
import { type HttpAnswer, type HttpRequest, type HttpStream, readOnly, type Transport } from './http/transport.ts';
import type {
  Answer,
  AnyInput,
  Input,
  Item,
  Operation,
  PaginatedOperation,
  ReadOperation,
  StreamOperation,
  WriteOperation,
} from './operations/model/operation.ts';
import { locateIssues, type RequestSchema } from './operations/model/request-schema.ts';
import type { Page } from './operations/model/shapes.ts';
import { limitedTo } from './operations/table.ts';

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Called right before each attempt is sent; never, if the call was cancelled while it waited. */
  readonly onAttempt?: () => void;
  /** Called once for each request that the call needs, even if the call shares a request that is already in flight. */
  readonly onNeed?: (operation: Operation) => void;
}

/** The input is optional if nothing in it is required. */
export type CallArguments<O extends Operation> =
  Record<never, never> extends Input<O>
    ? [input?: Input<O>, options?: CallOptions]
    : [input: Input<O>, options?: CallOptions];

/** Reads one organization. It cannot write: its transport refuses every method except GET. */
export interface Reader {
  /** Id of the organization, which is filled into paths. */
  readonly organization: string;
  /** Makes one request. A paginated operation returns the requested page. Throws AppError. */
  get<O extends ReadOperation>(operation: O, ...call: CallArguments<O>): Promise<Answer<O>>;
  /** Returns all items, in pages of 1000. Throws AppError, also for a list that does not end. */
  pages<O extends PaginatedOperation>(operation: O, ...call: CallArguments<O>): AsyncIterable<Item<O>>;
}

/** Reads and writes one organization. */
export interface Writer extends Reader {
  /**
   * Makes one write. Throws RejectedError without sending anything if the body is not as documented, and TransientError
   * with `maybeDone` if the write may have taken effect.
   */
  send<O extends WriteOperation>(operation: O, ...call: CallArguments<O>): Promise<Answer<O>>;
  /**
   * Returns the events of one response as they arrive. The request is sent when the first event is read, and retried
   * only until a response begins. Throws AppError, and TransientError if the stream ends early. Leaving the loop ends
   * the stream. A stream counts as in flight until it begins.
   */
  stream<O extends StreamOperation>(operation: O, ...call: CallArguments<O>): AsyncIterable<Item<O>>;
}

/** Organization, priority and callbacks of a reader or writer. */
export interface ClientOptions {
  /** Id of the organization. */
  readonly organization: string;
  readonly priority: Priority;
  /** Aborts every call of this reader or writer. */
  readonly signal?: AbortSignal;
  /** Called for every request that is sent, including retries. */
  readonly onRequest?: (operation: Operation) => void;
  /** Called with the headers of every response; times are monotonic milliseconds. */
  readonly onAnswer?: (headers: RateHeaders, sentAt: number, receivedAt: number) => void;
}

const PAGE_SIZE = 1000;

/** Creates a client that cannot write, by its type and at run time. */
export function openReader(connection: Connection, options: ClientOptions): Reader {
  return readerOf(new Caller(connection, readOnly(connection.transport), options), options);
}

/** Creates a client that can write. */
export function openWriter(connection: Connection, options: ClientOptions): Writer {
  const caller = new Caller(connection, connection.transport, options);
  return {
    ...readerOf(caller, options),
    send: (operation, ...[input, call]) => caller.call(operation, input as AnyInput, call) as Promise<never>,
    stream: (operation, ...[input, call]) => caller.stream(operation, input as AnyInput, call),
  };
}

function readerOf(caller: Caller, { organization }: ClientOptions): Reader {
  return {
    organization,
    get: (operation, ...[input, call]) => caller.call(operation, input as AnyInput, call) as Promise<never>,
    pages: (operation, ...[input, call]) => caller.pages(operation, input as AnyInput, call),
  };
}

/** Makes calls: checks the input, sends it through the queue, and reads the response. */
class Caller {
  readonly #connection: Connection;
  readonly #transport: Transport;
  readonly #options: ClientOptions;

  constructor(connection: Connection, transport: Transport, options: ClientOptions) {
    this.#connection = connection;
    this.#transport = transport;
    this.#options = options;
  }

  call(operation: Operation, input?: AnyInput, call?: CallOptions): Promise<unknown> {
    return this.#request(operation, input, call, async (request, signal) => {
      const { onAnswer } = this.#options;
      const sentAt = onAnswer === undefined ? 0 : this.#connection.clock.monotonic();
      const answer = await this.#transport.send(request, signal);
      onAnswer?.(readRateHeaders(answer.headers), sentAt, answer.receivedAt);
      return this.#reply(operation, answer, (body) => readAnswer(operation, answer, body, this.#connection.origin));
    });
  }

  #request<T>(
    operation: Operation,
    input: AnyInput = {},
    call: CallOptions = {},
    attempt: (request: HttpRequest, signal: AttemptSignal) => Promise<Reply<T>>,
  ): Promise<T> {
    call.onNeed?.(operation);
    let path: string;
    let body: string | null;
    try {
      path = requestPath(operation, input, this.#options.organization);
      body = operation.body && JSON.stringify(checkInput(operation, 'body', operation.body, input.body));
    } catch (error) {
      return Promise.reject(error);
    }
    const { queue, terms } = this.#connection;
    const headers = terms?.userAgent === undefined ? {} : { headers: { 'user-agent': terms.userAgent } };
    const refusal = operation.repeat === 'safe' ? undefined : terms?.writeRefusal;
    const request: HttpRequest = { method: operation.method, path, body, refusal, ...headers };
    return queue.request({
      name: operation.name,
      class: operation.class,
      priority: this.#options.priority,
      repeat: operation.repeat,
      key: operation.method === 'GET' ? path : null,
      signal: eitherSignal(this.#options.signal, call.signal),
      refusal: operation.repeat === 'safe' ? terms?.readRefusal : refusal,
      attempt: (signal) => {
        this.#options.onRequest?.(operation);
        call.onAttempt?.();
        return attempt(request, signal);
      },
    });
  }

  async *pages<O extends PaginatedOperation>(operation: O, input?: AnyInput, call?: CallOptions) {
    const progress = new ListProgress(operation.name);
    let page: string | null | undefined;
    do {
      const paging = page ? { page, limit: PAGE_SIZE } : { limit: PAGE_SIZE };
      const query = { ...(input?.query as object | undefined), ...paging };
      const answer = (await this.call(operation, { ...input, query }, call)) as Page<Item<O>>;
      yield* answer.items;
      page = answer.next?.page;
      progress.add(answer.items.length, page);
    } while (page);
  }

  async *stream<O extends StreamOperation>(operation: O, input?: AnyInput, call?: CallOptions) {
    const end = new AbortController();
    const given = eitherSignal(this.#options.signal, call?.signal);
    const cancel = () => end.abort(new CancelledError(`${operation.name} was given up: it was cancelled`));
    given?.addEventListener('abort', cancel, { once: true, signal: end.signal });
    try {
      const { chunks } = await this.#request(operation, input, call, (request, signal) =>
        this.#open(operation, request, AbortSignal.any([toAbortSignal(signal), end.signal])),
      );
      for await (const event of readEvents(operation.name, chunks)) {
        const checked = operation.item.safeParse(event);
        if (!checked.success) {
          throw notDocumented(operation, checked.error);
        }
        yield checked.data as Item<O>;
      }
    } finally {
      end.abort();
    }
  }

  async #open(operation: Operation, request: HttpRequest, signal: AbortSignal): Promise<Reply<HttpStream>> {
    const answer = await this.#transport.open(request, signal);
    if (!('chunks' in answer)) {
      const { origin } = this.#connection;
      return this.#reply(operation, answer, () => ({ ok: false, error: notEvents(operation.name, answer, origin) }));
    }
    const { headers, receivedAt } = answer;
    return { headers: readRateHeaders(headers), receivedAt, result: { ok: true, value: answer } };
  }

  /** Returns the subject for error messages; it has the organization only if the path has no other id. */
  #askedOf(operation: Operation): RequestSubject {
    const { baseUrl, tokenSource } = this.#connection;
    const isOfOrganization = operation.path.match(/\{\w+\}/g)?.join() === '{organizationId}';
    return {
      baseUrl,
      tokenSource,
      limitedTo: limitedTo(operation),
      ...(isOfOrganization ? { organization: this.#options.organization } : {}),
    };
  }

  /** Converts an answer to a reply; `read` converts the body of a successful one. */
  #reply<T>(operation: Operation, answer: HttpAnswer, read: (body: string) => Reply<T>['result']): Reply<T> {
    const { receivedAt, body } = answer;
    const headers = readRateHeaders(answer.headers);
    const { origin } = this.#connection;
    if (!isSuccess(operation, answer.status)) {
      const error = responseError(operation.name, answer, origin, headers.retryAfter, this.#askedOf(operation));
      return { headers, receivedAt, result: { ok: false, error } };
    }
    return { headers, receivedAt, result: typeof body === 'string' ? read(body) : { ok: false, error: body } };
  }
}

/** Returns true for success: any 2xx for a write, a documented status for a read. */
function isSuccess(operation: Operation, status: number): boolean {
  return operation.success.includes(status) || (operation.method !== 'GET' && status >= 200 && status < 300);
}

function readAnswer(operation: Operation, answer: HttpAnswer, body: string, origin: string): Reply<unknown>['result'] {
  // An empty body is valid here; an HTML page of a proxy is not, whatever its status.
  const isEmpty = body.trim() === '';
  if (operation.answer === null && isEmpty) {
    return { ok: true, value: undefined };
  }
  let json: unknown;
  try {
    // Some gateways return no body for writes.
    // Source: docs/platform-notes.md#answers-without-a-body
    json = isEmpty && answer.status === 204 ? undefined : parseBounded(body, `${operation.name}: the answer`);
  } catch (error) {
    const isTooMuch = error instanceof NotThePlatformError;
    return { ok: false, error: isTooMuch ? error : notJson(operation.name, answer, origin) };
  }
  if (operation.answer === null) {
    return { ok: true, value: undefined };
  }
  const checked = operation.answer.safeParse(json);
  return checked.success
    ? { ok: true, value: checked.data }
    : { ok: false, error: notDocumented(operation, checked.error) };
}

function notDocumented(operation: Operation, error: ZodError): NotThePlatformError {
  const problems = problemsOf(error);
  return new NotThePlatformError(`${operation.name}: the answer is not what the platform documents: ${problems}`);
}

/** Returns a checked part of the input. Throws RejectedError before anything is sent. */
function checkInput(operation: Operation, part: 'body' | 'query', schema: RequestSchema, value: unknown): unknown {
  const checked = schema.safeParse(value);
  if (!checked.success) {
    throw new RejectedError(`${operation.name} was not sent: ${part}: ${problemsOf(checked.error)}`, 400);
  }
  return checked.data;
}

function eitherSignal(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a !== undefined && b !== undefined ? AbortSignal.any([a, b]) : (a ?? b);
}

/** Returns the path of a call from `/v1`, with parameters and query encoded. Throws RejectedError for invalid input. */
function requestPath(operation: Operation, input: AnyInput, organization: string): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = input.path?.[name] ?? (name === 'organizationId' ? organization : '');
    // Dots cannot be encoded: servers would resolve them as the parent directory.
    if (value === '' || value === '.' || value === '..') {
      throw new RejectedError(`${operation.name} was not sent: ${name} is not an id`, 400);
    }
    return encodeURIComponent(value);
  });
  const query = queryText(operation, input.query);
  return query === '' ? path : `${path}?${query}`;
}

function queryText(operation: Operation, query: unknown): string {
  if (operation.query === null || query === undefined) {
    return '';
  }
  const checked = checkInput(operation, 'query', operation.query, query);
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(isObject(checked) ? checked : {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) {
        text.append(name, String(item));
      }
    }
  }
  return text.toString();
}

/** Maximum problems in one message. */
const MOST = 3;

/** Formats validation errors without the values: `items.0.id: expected string`. */
function problemsOf(error: ZodError): string {
  const issues = locateIssues(error);
  const named = issues.slice(0, MOST).map(({ path, issue }) => {
    const place = path.map(String).join('.');
    return place === '' ? issue.message : `${place}: ${issue.message}`;
  });
  const more = issues.length - named.length;
  return more > 0 ? `${named.join('; ')}; and ${more} more` : named.join('; ');
}
