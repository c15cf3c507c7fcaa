/** Single HTTP requests to one origin, and their responses read completely or as a stream. */

import { pipeline, type Transform } from 'node:stream';
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
} from 'node:zlib';
import { type Dispatcher, errors } from 'undici';
import type { Clock } from '../../core/clock.ts';
import { type AppError, NotThePlatformError, RejectedError, type TransientError } from '../../core/errors.ts';
import { withoutTrailingSlashes } from '../../core/url.ts';
import type { CancelSignal } from '../../queue/request.ts';
import type { WriteMethod } from '../operations/model/operation.ts';
import { networkError, openDispatcher } from './dispatcher.ts';

export interface HttpRequest {
  readonly method: 'GET' | WriteMethod;
  /** From `/v1`, encoded, with the query. */
  readonly path: string;
  /** JSON text, or null. */
  readonly body: string | null;
  /** Additional headers, with names in lower case. They replace headers that the connection always sends. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Returns the error of a request that must not be sent any more; null if it may be sent. Called by `send` when the
   * connection is open, which may take as long as its timeout.
   */
  readonly refusal?: (() => AppError | null) | undefined;
  /** Reads the response body as bytes: each byte is one character of the text (Latin-1). */
  readonly isBinary?: boolean;
}

/** Response whose body is read as a stream of events. */
export interface HttpStream extends Omit<HttpAnswer, 'body'> {
  /**
   * Text as it arrives, at most 64 MiB. Throws TransientError if it breaks off, NotThePlatformError if it cannot be
   * read, and the reason of the signal if it aborts.
   */
  readonly chunks: AsyncIterable<string>;
}

/** Makes single requests to one origin. */
export interface Transport {
  /**
   * Makes a request. Rejects with TransientError if there is no response, NotThePlatformError if it is not HTTP, with its
   * refusal, and with the reason of the signal if it aborts.
   */
  send(request: HttpRequest, signal: CancelSignal): Promise<HttpAnswer>;
  /**
   * Makes a request for a stream of events; any other response is read completely. The signal also ends the stream:
   * abort it to stop reading.
   */
  open(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer | HttpStream>;
}

/** Timeouts in milliseconds. */
export interface Timeouts {
  readonly connect: number;
  readonly headers: number;
  /** Timeout between two chunks of a body. */
  readonly body: number;
}

interface TransportOptions {
  readonly base: URL;
  readonly token: string;
  readonly userAgent: string;
  /** Maximum open connections. */
  readonly connections: number;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
}

const EVENT_STREAM = 'text/event-stream';
const JSON_BODY = { 'content-type': 'application/json' };

/**
 * Opens a transport to the origin of the base URL; connections are opened when needed. The token is sent only to that
 * origin: redirects are not followed.
 */
export function openTransport(options: TransportOptions): Transport & { close(): Promise<void> } {
  const { base, token, timeouts, clock } = options;
  const prefix = withoutTrailingSlashes(base.pathname);
  const dispatcher = openDispatcher(base.origin, {
    connections: options.connections,
    connectTimeout: timeouts.connect,
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
    maxResponseSize: MAX_BODY_SIZE,
  });
  const common = { authorization: `Bearer ${token}`, 'user-agent': options.userAgent };
  const whole = { ...common, accept: 'application/json', 'accept-encoding': 'gzip' };
  const wholeWithBody = { ...whole, ...JSON_BODY };
  // Compressed bodies arrive in fewer and later chunks.
  const pieces = { ...common, accept: EVENT_STREAM, 'accept-encoding': 'identity' };
  const { origin } = base;
  const now = () => clock.monotonic();
  const request = async ({ method, path, body, headers }: HttpRequest, signal: AbortSignal) => {
    const all = { ...pieces, ...(body === null ? {} : JSON_BODY), ...headers };
    try {
      return await dispatcher.request({ origin, method, path: prefix + path, headers: all, body, signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : networkError(error, origin);
    }
  };
  return {
    send(request, signal) {
      const { method, path, body, headers } = request;
      const response = new WholeResponse(request, signal, { origin, token, now });
      const usual = body === null ? whole : wholeWithBody;
      const all = headers === undefined ? usual : { ...usual, ...headers };
      dispatcher.dispatch({ origin, method, path: prefix + path, headers: all, body }, response);
      return response.promise;
    },
    async open(given, signal) {
      const data = await request(given, signal);
      const receivedAt = now();
      if (data.statusCode !== 200 || !String(data.headers['content-type'] ?? '').startsWith(EVENT_STREAM)) {
        const body = await readBody(data, origin, signal);
        return withoutToken({ status: data.statusCode, headers: data.headers, receivedAt, body }, token);
      }
      const chunks = readChunks(data, origin, signal);
      return { status: data.statusCode, headers: data.headers, receivedAt, chunks };
    },
    close: () => dispatcher.destroy(),
  };
}

/** Returns the transport restricted to reads: methods other than GET are refused before they are sent. */
export function readOnly(transport: Transport): Transport {
  const guarded =
    <T, Signal extends CancelSignal>(pass: (request: HttpRequest, signal: Signal) => Promise<T>) =>
    (request: HttpRequest, signal: Signal): Promise<T> =>
      request.method === 'GET'
        ? pass(request, signal)
        : Promise.reject(new RejectedError(`${request.method} was not sent: this connection only reads`, 405));
  return {
    send: guarded((request, signal: CancelSignal) => transport.send(request, signal)),
    open: guarded((request, signal: AbortSignal) => transport.open(request, signal)),
  };
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Time at which the headers arrived, in monotonic milliseconds. */
  readonly receivedAt: number;
  /** Text, or the error that ended it. */
  readonly body: string | TransientError | NotThePlatformError;
}

interface RequestTarget {
  readonly origin: string;
  readonly token: string;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
}

/** Bytes after which a response that must not have a body is cut off. */
const MAX_IGNORED = 128 * 1024;

/**
 * Receives one response from undici and settles one promise with it. Responses are small and many: reading them without
 * a stream takes a fraction of the time and memory. Rejects as `Transport.send` does.
 */
class WholeResponse implements Dispatcher.DispatchHandler {
  readonly #settled = Promise.withResolvers<HttpAnswer>();
  readonly #request: HttpRequest;
  readonly #signal: CancelSignal;
  readonly #target: RequestTarget;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | null = null;
  #head: Omit<HttpAnswer, 'body'> | null = null;
  #ignored = 0;
  #isSettled = false;

  constructor(request: HttpRequest, signal: CancelSignal, target: RequestTarget) {
    this.#request = request;
    this.#signal = signal;
    this.#target = target;
    signal.addEventListener('abort', this);
  }

  get promise(): Promise<HttpAnswer> {
    return this.#settled.promise;
  }

  /** Receives the event of the signal. */
  handleEvent(): void {
    this.#controller?.abort(this.#signal.reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#signal.aborted) {
      controller.abort(this.#signal.reason);
      return;
    }
    const refused = this.#request.refusal?.() ?? null;
    if (refused !== null) {
      this.#settle(() => this.#settled.reject(refused));
      controller.abort(refused);
    }
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: HttpAnswer['headers']): void {
    // A 1xx response precedes the real one.
    if (status < 200) {
      return;
    }
    this.#head = { status, headers, receivedAt: this.#target.now() };
    if (status === 204 || status === 205) {
      // No body by definition. Some servers do not mark its end, and waiting for it would time out.
      this.#finish('');
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isSettled) {
      this.#chunks.push(chunk);
      return;
    }
    this.#ignored += chunk.length;
    if (this.#ignored > MAX_IGNORED) {
      controller.abort(new Error('a response without a body has one'));
    }
  }

  onResponseEnd(): void {
    const [first, ...rest] = this.#chunks;
    const bytes = first !== undefined && rest.length === 0 ? first : Buffer.concat(this.#chunks);
    const coding = String(this.#head?.headers['content-encoding'] ?? '').toLowerCase();
    const encoding = this.#request.isBinary === true ? 'latin1' : 'utf8';
    this.#finish(decodeBody(bytes, coding, this.#target.origin, encoding));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const { aborted, reason } = this.#signal;
    if (this.#head !== null && !aborted) {
      this.#finish(readError(error, this.#target.origin));
    } else {
      this.#settle(() => this.#settled.reject(aborted ? reason : networkError(error, this.#target.origin)));
    }
  }

  #finish(body: HttpAnswer['body']): void {
    const head = this.#head;
    this.#settle(() => head !== null && this.#settled.resolve(withoutToken({ ...head, body }, this.#target.token)));
  }

  #settle(settle: () => void): void {
    if (!this.#isSettled) {
      this.#isSettled = true;
      this.#signal.removeEventListener('abort', this);
      settle();
    }
  }
}

/** Removes the token from the body of an error, which is repeated in messages and on pages. */
function withoutToken(answer: HttpAnswer, token: string): HttpAnswer {
  return answer.status < 400 || typeof answer.body !== 'string' || token === ''
    ? answer
    : { ...answer, body: answer.body.replaceAll(token, '[secret]') };
}

/** Maximum size of a body in bytes: compressed, decompressed, or of a whole stream. */
const MAX_BODY_SIZE = 64 * 1024 * 1024;

/** Reads a whole body as text, or returns the error that ended it. Throws the reason of the signal if it aborts. */
async function readBody(
  answer: Dispatcher.ResponseData,
  origin: string,
  signal: AbortSignal,
): Promise<string | TransientError | NotThePlatformError> {
  if (answer.statusCode === 204 || answer.statusCode === 205) {
    // No body by definition. Some servers do not mark its end, and waiting for it would time out.
    answer.body.dump().catch(() => {});
    return '';
  }
  let bytes: Uint8Array;
  try {
    bytes = await answer.body.bytes();
  } catch (error) {
    if (signal.aborted) {
      throw signal.reason;
    }
    return readError(error, origin);
  }
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return decodeBody(body, String(answer.headers['content-encoding'] ?? '').toLowerCase(), origin, 'utf8');
}

/** Decompresses and decodes a whole body; `coding` is its content coding. Returns the error if it is damaged. */
function decodeBody(
  bytes: Buffer,
  coding: string,
  origin: string,
  encoding: 'utf8' | 'latin1',
): string | NotThePlatformError {
  const [whole] = CODINGS.get(coding) ?? [];
  const isPlain = bytes.length === 0 || whole === undefined;
  try {
    return (isPlain ? bytes : whole(bytes, { maxOutputLength: MAX_BODY_SIZE })).toString(encoding);
  } catch (error) {
    return cannotUnpack(error, origin);
  }
}

/** Decompression of each content coding, of a whole body and of a stream. */
const CODINGS: ReadonlyMap<
  string,
  readonly [whole: (bytes: Buffer, limits: { maxOutputLength: number }) => Buffer, stream: () => Transform]
> = new Map([
  ['gzip', [gunzipSync, createGunzip]],
  ['x-gzip', [gunzipSync, createGunzip]],
  ['deflate', [inflateSync, createInflate]],
  ['br', [brotliDecompressSync, createBrotliDecompress]],
]);

/** Returns the error for a body that could not be read completely. */
function readError(error: unknown, origin: string): TransientError | NotThePlatformError {
  const tooLarge = error instanceof errors.ResponseExceededMaxSizeError;
  return tooLarge ? tooMuch(origin, error) : networkError(error, origin, true);
}

function tooMuch(origin: string, cause?: unknown): NotThePlatformError {
  return new NotThePlatformError(`${origin} answered with more than ${MAX_BODY_SIZE / 2 ** 20} MiB`, { cause });
}

function cannotUnpack(cause: unknown, origin: string): NotThePlatformError {
  return new NotThePlatformError(`${origin} answered with a body that cannot be decompressed`, { cause });
}

/** Reads a body as text, in chunks; see {@link HttpStream}. */
async function* readChunks(
  answer: Dispatcher.ResponseData,
  origin: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let length = 0;
  try {
    for await (const bytes of unpacked(answer)) {
      length += bytes.length;
      if (length > MAX_BODY_SIZE) {
        throw tooMuch(origin);
      }
      yield decoder.decode(bytes, { stream: true });
    }
    yield decoder.decode();
  } catch (error) {
    if (signal.aborted) {
      throw signal.reason;
    }
    if (error instanceof NotThePlatformError) {
      throw error;
    }
    throw isUnpacking(error) ? cannotUnpack(error, origin) : readError(error, origin);
  }
}

function unpacked(answer: Dispatcher.ResponseData): AsyncIterable<Buffer> {
  const [, stream] = CODINGS.get(String(answer.headers['content-encoding'] ?? '').toLowerCase()) ?? [];
  // Errors are thrown when the last of the two is read.
  return stream === undefined ? answer.body : pipeline(answer.body, stream(), () => {});
}

function isUnpacking(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR');
}
