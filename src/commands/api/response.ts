/** Sends requests of `octavo api` through the queue, and prints, filters or streams what they return. */
import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { JqResult } from 'jq-wasm';
import {
  AppError,
  CancelledError,
  ConfigError,
  NotThePlatformError,
  RateLimitedError,
  TransientError,
} from '../../core/errors.ts';
import { isObject, parseBounded, shownJson } from '../../core/json.ts';
import { append } from '../../core/lists.ts';
import type { Paint } from '../../plan/render/text-layout.ts';
import { durationWords, printable, printableLines } from '../../plan/render/words.ts';
import { ListProgress, notEvents, notJson, readEvents, responseError } from '../../platform/http/answers.ts';
import type { HttpAnswer, HttpRequest, HttpStream } from '../../platform/http/transport.ts';
import { limitedTo } from '../../platform/operations/table.ts';
import { type AttemptSignal, type Reply, readRateHeaders, toAbortSignal } from '../../queue/request.ts';
import { createRedactor, SECRET } from '../../redact.ts';
import { type CommandContext, paintFor, untilAborted } from '../cli/context.ts';
import type { PlatformSession } from '../cli/session.ts';
import type { PreparedRequest } from './request.ts';

/** A request, how its response is shown, and what is known about it while it is sent. */
interface ApiCall {
  readonly request: PreparedRequest;
  readonly flags: {
    readonly include?: boolean;
    readonly paginate?: boolean;
    readonly silent?: boolean;
    readonly slurp?: boolean;
  };
  readonly jqFilter: JqFilter | null;
  readonly context: CommandContext;
  readonly writer: ResponseWriter;
  readonly session: PlatformSession;
  /** The error response, whose error is thrown after it was printed. */
  refused: HttpAnswer | null;
  /** True from the start of an attempt to its answer: meanwhile, the request may have taken effect. */
  isInFlight: boolean;
}

/** The flags cannot be applied to the response. */
class UnfitAnswerError extends AppError {
  readonly code = 'unfit-answer';
  readonly disposition = 'stall';
}

/** Sends the request and prints the response; warns when a write may have taken effect. Throws AppError. */
export async function sendAndShow(input: Omit<ApiCall, 'refused' | 'isInFlight'>): Promise<void> {
  const call: ApiCall = { ...input, refused: null, isInFlight: false };
  const { request, context } = call;
  try {
    await showResponse(call);
  } catch (error) {
    const isLost = error instanceof TransientError ? error.maybeDone : call.isInFlight;
    if (request.repeat === 'never' && isLost) {
      context.terminal.err(`${request.name} may have taken effect; check before you send it again\n`);
    }
    throw error;
  }
}

async function showResponse(call: ApiCall): Promise<void> {
  const { request, flags } = call;
  if (flags.paginate === true) {
    return flags.slurp === true ? showAll(call) : showPages(call);
  }
  try {
    await (request.operation?.streamed === true ? showStream(call) : showAnswer(call));
  } catch (error) {
    if (call.refused !== null) {
      // A failure to print the response must not replace the error of the call.
      await showRefused(call.refused, call).catch(() => undefined);
    }
    throw error;
  }
}

async function showAnswer(call: ApiCall): Promise<void> {
  const { request, flags, writer, context } = call;
  const { answer, payload } = await send(request, call);
  if (flags.include === true) {
    await writer.head(answer);
  }
  if (flags.silent === true) {
    return;
  }
  if (payload.kind === 'empty') {
    context.terminal.err(`${doneText(request, answer.status)}\n`);
  } else {
    await showPayload(call, payload, String(answer.headers['content-type'] ?? ''));
  }
}

async function showPayload(
  call: ApiCall,
  payload: Exclude<Payload, { kind: 'empty' }>,
  contentType: string,
): Promise<void> {
  const { request, jqFilter, writer } = call;
  if (payload.kind === 'json') {
    return jqFilter === null
      ? writer.json(payload.json)
      : writer.filtered(await applyFilter(call, jqFilter, [payload.json]), true);
  }
  if (jqFilter !== null) {
    throw new UnfitAnswerError(`${request.name} does not return JSON; leave out --jq`);
  }
  if (!(await writer.bytes(payload.bytes, contentType))) {
    throw new UnfitAnswerError(`${request.name} returns binary data; redirect it to a file with > FILE`);
  }
}

/** Confirms a request without a response body; the status of a deletion shows whether there was anything to delete. */
function doneText({ name, method }: PreparedRequest, status: number): string {
  return method === 'DELETE' && status === 204 ? `${name}: nothing to delete (204)` : `${name}: done (${status})`;
}

/** Prints an error response if it is JSON, and never filters it. */
async function showRefused(answer: HttpAnswer, { flags, jqFilter, writer }: ApiCall): Promise<void> {
  if (flags.include === true) {
    await writer.head(answer);
  }
  if (jqFilter === null && flags.silent !== true && typeof answer.body === 'string') {
    await writer.json(JSON.parse(answer.body));
  }
}

async function showPages(call: ApiCall): Promise<void> {
  const { terminal } = call.context;
  let items = 0;
  let next: ResultPage['next'] = null;
  try {
    for await (const page of sendPages(call)) {
      await showItems(call, page.items);
      items += page.items.length;
      next = page.next;
    }
  } catch (error) {
    // When standard output was closed early, nobody will continue.
    if (next !== null && terminal.outputClosed?.aborted !== true) {
      terminal.err(`Stopped after ${items} items; continue with -f page=${next}\n`);
    }
    throw error;
  }
}

/** Prints the items of all pages as one list, after the last page. */
async function showAll(call: ApiCall): Promise<void> {
  const items: unknown[] = [];
  for await (const page of sendPages(call)) {
    append(items, page.items);
  }
  if (call.flags.silent !== true) {
    await showPayload(call, { kind: 'json', json: items }, 'application/json');
  }
}

/** Prints the events of a streamed response as they arrive; the end of their iteration closes it. Throws AppError. */
async function showStream(call: ApiCall): Promise<void> {
  const { request, flags, writer, session } = call;
  const { connection, signal } = session;
  const end = new AbortController();
  const cancel = () => end.abort(new CancelledError(`${request.name} was cancelled`));
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const stream = await throughQueue<HttpStream>(request, call, async (abort) => {
      const signals = AbortSignal.any([toAbortSignal(abort), end.signal]);
      const head = await connection.transport.open(messageOf(request), signals);
      return 'chunks' in head
        ? { head, result: { ok: true, value: head } }
        : { head, result: { ok: false, error: notStreamed(request, head, connection) } };
    });
    if (flags.include === true) {
      await writer.head(stream);
    }
    for await (const event of readEvents(request.name, stream.chunks)) {
      await showItems(call, [event]);
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    end.abort();
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

async function showItems(call: ApiCall, items: readonly unknown[]): Promise<void> {
  const { jqFilter, flags, writer } = call;
  if (flags.silent !== true) {
    await (jqFilter === null ? writer.lines(items) : writer.filtered(await applyFilter(call, jqFilter, items), false));
  }
}

async function applyFilter(
  { context }: ApiCall,
  jqFilter: JqFilter,
  values: readonly unknown[],
): Promise<readonly unknown[]> {
  if (values.length === 0) {
    return values;
  }
  const result = await jqFilter.select(values);
  if (result.messages !== '') {
    context.terminal.err(`${printableLines(result.messages)}\n`);
  }
  return result.values;
}

/** Body of a successful response. Only URLs outside the API, such as linked files, may return other data than JSON. */
type Payload =
  | { readonly kind: 'empty' }
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'bytes'; readonly bytes: Buffer };

/** A successful response. */
interface ApiResponse {
  readonly answer: HttpAnswer;
  readonly payload: Payload;
}

/** Sends a request with interactive priority, and retries it where that is safe. Throws AppError. */
async function send(request: PreparedRequest, call: ApiCall): Promise<ApiResponse> {
  const { connection } = call.session;
  return throughQueue(request, call, async (abort) => {
    const head = await connection.transport.send({ ...messageOf(request), isBinary: !isApiRequest(request) }, abort);
    return { head, result: readAnswer(request, head, connection) };
  });
}

function messageOf({ method, path, body, headers }: PreparedRequest): HttpRequest {
  return { method, path, body, headers };
}

function isApiRequest({ path }: PreparedRequest): boolean {
  return /^\/v\d+(\/|$)/.test(path);
}

interface Attempt<T> {
  readonly head: HttpAnswer | HttpStream;
  readonly result: Reply<T>['result'];
}

async function throughQueue<T>(
  request: PreparedRequest,
  call: ApiCall,
  attempt: (signal: AttemptSignal) => Promise<Attempt<T>>,
): Promise<T> {
  const { session, context } = call;
  let last: HttpAnswer | null = null;
  try {
    return await session.connection.queue.request({
      name: request.name,
      class: request.class,
      priority: 'person',
      repeat: request.repeat,
      signal: session.signal,
      attempt: async (abort) => {
        last = null;
        call.isInFlight = true;
        const { head, result } = await attempt(abort).catch((error: unknown) => {
          // After an abort it is unknown whether the request took effect.
          call.isInFlight = abort.aborted;
          throw error;
        });
        call.isInFlight = false;
        last = 'body' in head ? head : null;
        if (!result.ok && result.error instanceof RateLimitedError) {
          const { after } = result.error;
          const time = after === null ? '' : ` ${durationWords(after / 1000)}`;
          context.terminal.err(`Rate limit reached; waiting${time}\n`);
        }
        return { headers: readRateHeaders(head.headers), receivedAt: head.receivedAt, result };
      },
    });
  } catch (error) {
    call.refused = last;
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
    const only = isApiRequest(request) && request.operation !== null ? limitedTo(request.operation) : null;
    const subject = { baseUrl, tokenSource, limitedTo: only };
    return { ok: false, error: responseError(request.name, answer, origin, retryAfter, subject) };
  }
  if (typeof body !== 'string') {
    return { ok: false, error: body };
  }
  try {
    const payload = isApiRequest(request) ? jsonPayload(request.name, body) : anyPayload(request.name, body);
    return payload === null
      ? { ok: false, error: notJson(request.name, answer, origin) }
      : { ok: true, value: { answer, payload } };
  } catch (error) {
    if (error instanceof NotThePlatformError) {
      return { ok: false, error };
    }
    throw error;
  }
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
interface ResultPage {
  readonly items: readonly unknown[];
  /** Cursor of the next page; null on the last page. */
  readonly next: string | null;
}

/** Page size where the request sets none. */
const PAGE_SIZE = '1000';

/** Fetches a list page by page; each page only after the previous one is consumed. Throws AppError, also for a
 * list that does not end. */
async function* sendPages(call: ApiCall): AsyncGenerator<ResultPage> {
  const { request } = call;
  const [path = '', search = ''] = request.path.split('?');
  const query = new URLSearchParams(search);
  if (!query.has('limit')) {
    query.set('limit', PAGE_SIZE);
  }
  const list = new ListProgress(request.name);
  for (;;) {
    const { payload } = await send({ ...request, path: `${path}?${query}` }, call);
    const page = readPage(request, payload.kind === 'json' ? payload.json : undefined);
    yield page;
    if (page.next === null) {
      return;
    }
    list.add(page.items.length, page.next);
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

/** Prints responses without secrets and without terminal control sequences. */
export class ResponseWriter {
  readonly #context: CommandContext;
  readonly #paint: Paint;
  readonly #secrets: readonly string[];

  /** `secrets`: the token, and the values of secret headers. */
  constructor(context: CommandContext, secrets: readonly string[]) {
    const { terminal } = context;
    this.#context = context;
    this.#paint = paintFor(terminal.isOutTerminal, terminal.env);
    this.#secrets = secrets.filter((secret) => secret !== '').toSorted((a, b) => b.length - a.length);
  }

  /** Prints a value as indented JSON, with colors on a terminal. */
  json(value: unknown): Promise<void> {
    return this.#write(`${colorJson(shownJson(value), this.#paint)}\n`);
  }

  /** Prints one line per value (NDJSON). */
  lines(values: readonly unknown[]): Promise<void> {
    return this.#write(values.map((value) => `${colorJson(shownJson(value, 0), this.#paint)}\n`).join(''));
  }

  /**
   * Prints the values that jq returned. Strings are printed raw, and escaped on a terminal; other values are one JSON
   * line each, indented on a terminal if `isIndented`.
   */
  filtered(values: readonly unknown[], isIndented: boolean): Promise<void> {
    const { isOutTerminal } = this.#context.terminal;
    const indent = isIndented && isOutTerminal ? 2 : 0;
    const texts = values.map((value) => {
      if (typeof value !== 'string') {
        return colorJson(shownJson(value, indent), this.#paint);
      }
      return isOutTerminal ? value.split('\n').map(printable).join('\n') : value;
    });
    return this.#write(texts.map((text) => `${text}\n`).join(''));
  }

  /** Prints the status and the headers, for `-i`. */
  head({ status, headers }: Pick<HttpAnswer, 'status' | 'headers'>): Promise<void> {
    const clean = createRedactor(this.#secrets);
    const { strong, faint } = this.#paint;
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one) => `${faint(`${printable(name)}:`)} ${printable(clean(one))}`),
    );
    return this.#write(`${[strong(`HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trim()), ...lines].join('\n')}\n\n`);
  }

  /**
   * Prints a body that is not JSON: raw when redirected, escaped on a terminal. Returns false without printing when a
   * terminal would show binary data.
   */
  async bytes(bytes: Buffer, contentType: string): Promise<boolean> {
    const { isOutTerminal, outBytes } = this.#context.terminal;
    if (!isOutTerminal && outBytes !== undefined) {
      outBytes(Buffer.from(this.#clean(bytes.toString('latin1')), 'latin1'));
      await this.#drained();
      return true;
    }
    if (!/^text\/|xml|yaml|javascript/i.test(contentType) || !isUtf8(bytes)) {
      return false;
    }
    await this.#write(`${printableLines(bytes.toString('utf8')).trimEnd()}\n`);
    return true;
  }

  #write(text: string): Promise<void> {
    this.#context.terminal.out(this.#clean(text));
    return this.#drained();
  }

  #clean(text: string): string {
    return this.#secrets.reduce((clean, secret) => clean.replaceAll(secret, SECRET), text);
  }

  /** Waits until standard output has drained. Throws CancelledError when the signal aborts first. */
  async #drained(): Promise<void> {
    const { terminal, signal } = this.#context;
    if (terminal.drained !== undefined) {
      const isDrained = await Promise.race([
        terminal.drained().then(() => true),
        untilAborted(signal).then(() => false),
      ]);
      if (!isDrained) {
        throw new CancelledError('standard output was closed before the whole response was written');
      }
    }
  }
}

const TOKENS = /("(?:[^"\\]|\\.)*")(:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Colors the names, strings and other values of JSON text. */
export function colorJson(json: string, { strong, create, change }: Paint): string {
  return json.replaceAll(TOKENS, (token, text?: string, colon?: string) => {
    if (text === undefined) {
      return change(token);
    }
    return colon === undefined ? create(text) : `${strong(text)}:`;
  });
}

/** A compiled jq program. */
interface JqFilter {
  /** Runs the program on each value; `messages` is what it reports, as by `debug`. Throws JqError, and CancelledError when the signal aborts. */
  select(values: readonly unknown[]): Promise<{ readonly values: readonly unknown[]; readonly messages: string }>;
  close(): Promise<void>;
}

/** The program failed on the response. */
class JqError extends AppError {
  readonly code = 'selection';
  readonly disposition = 'stall';
}

/** Exit code of jq for a program that does not compile. */
const NOT_COMPILED = 3;

/**
 * Compiles a jq program before the request is sent, so that no write happens with a broken one. It runs in a thread, which
 * can be terminated even when the program never ends. Throws ConfigError.
 */
export async function openJqFilter(program: string, signal: AbortSignal): Promise<JqFilter> {
  const jq = createRequire(import.meta.url).resolve('jq-wasm');
  const worker = new Worker(THREAD, { eval: true, workerData: { jq, program } });
  worker.unref();
  const close = async () => {
    await worker.terminate();
  };
  const run = async (input: string) => {
    worker.ref();
    worker.postMessage(input);
    try {
      const [ran] = (await once(worker, 'message', { signal })) as [JqResult];
      return ran;
    } catch (error) {
      await close();
      throw signal.aborted ? new CancelledError('--jq was cancelled') : error;
    } finally {
      worker.unref();
    }
  };
  const tried = await run('');
  if (tried.exitCode === NOT_COMPILED) {
    await close();
    throw new ConfigError(`--jq: ${errorText(tried.stderr)}`);
  }
  return {
    close,
    async select(values) {
      const { stdout, stderr, exitCode } = await run(values.map((value) => JSON.stringify(value)).join('\n'));
      if (exitCode !== 0 || /^jq: error/m.test(stderr)) {
        throw new JqError(`--jq: ${errorText(stderr)}`);
      }
      const lines = stdout.split('\n').filter((line) => line !== '');
      return { values: lines.map((line) => JSON.parse(line) as unknown), messages: stderr };
    },
  };
}

/** Source of the worker: runs the program on each message and posts the result. */
const THREAD = `
const { parentPort, workerData } = require('node:worker_threads');
const ready = require(workerData.jq).loadJq();
parentPort.on('message', async (input) => {
  parentPort.postMessage((await ready).raw(input, workerData.program, ['-c']));
});`;

/** Extracts the message of jq, without the parts about its command line. */
function errorText(stderr: string): string {
  const line = stderr.split('\n').find((one) => one.includes('jq: error')) ?? stderr.split('\n')[0] ?? '';
  return line
    .replace(/^jq: error( \(at [^)]*\))?:\s*/, '')
    .replace(' at <top-level>,', ',')
    .replace(/:$/, '')
    .trim();
}
