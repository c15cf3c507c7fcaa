// Makes single HTTP requests to one origin.
import type { Clock } from '../../core/clock.ts';
import { type AppError, RejectedError } from '../../core/errors.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';
import type { CancelSignal } from '../../queue/request.ts';
import type { WriteMethod } from '../operations/model/operation.ts';
import { MAX_BODY_SIZE, readBody, readChunks } from './body.ts';
import { openDispatcher } from './dispatcher.ts';
import { networkError } from './network-error.ts';
import { type HttpAnswer, WholeResponse, withoutToken } from './whole-response.ts';

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

export interface TransportOptions {
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
    send({ method, path, body, headers, isBinary, refusal }, signal) {
      const encoding = isBinary === true ? 'latin1' : 'utf8';
      const response = new WholeResponse({ origin, signal, encoding, token, now, refusal });
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
