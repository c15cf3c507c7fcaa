// Makes single HTTP requests to one origin.
import type { Dispatcher } from 'undici';
import type { Clock } from '../../core/clock.ts';
import { type NotThePlatformError, RejectedError, type TransientError } from '../../core/errors.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';
import type { WriteMethod } from '../operations/model/operation.ts';
import { LARGEST_BODY, readBody, readChunks } from './body.ts';
import { openDispatcher } from './dispatcher.ts';
import { networkError } from './network-error.ts';

export interface HttpRequest {
  readonly method: 'GET' | WriteMethod;
  /** From `/v1`, encoded, with the query. */
  readonly path: string;
  /** JSON text, or null. */
  readonly body: string | null;
  /** Additional headers, with names in lower case. They replace headers that the connection always sends. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Reads the response body as bytes: each byte is one character of the text (Latin-1). */
  readonly isBinary?: boolean;
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
   * Makes a request. Rejects with TransientError if there is no response, NotThePlatformError if it is not HTTP, and
   * with the reason of the signal if it aborts.
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
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

/**
 * Opens a transport to the origin of the base URL; connections are opened when needed. The token is sent only to that
 * origin: redirects are not followed.
 */
export function openTransport(options: TransportOptions): Transport & { close(): Promise<void> } {
  const { base, timeouts, clock } = options;
  const prefix = withoutTrailingSlashes(base.pathname);
  const dispatcher = openDispatcher(base.origin, {
    connections: options.connections,
    connectTimeout: timeouts.connect,
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
    maxResponseSize: LARGEST_BODY,
  });
  const common = { authorization: `Bearer ${options.token}`, 'user-agent': options.userAgent };
  const whole = { ...common, accept: 'application/json', 'accept-encoding': 'gzip' };
  // Compressed bodies arrive in fewer and later chunks.
  const pieces = { ...common, accept: EVENT_STREAM, 'accept-encoding': 'identity' };
  const request = async (given: HttpRequest, accepts: typeof whole, signal: AbortSignal) => {
    const { method, path, body } = given;
    const headers = { ...accepts, ...(body === null ? {} : { 'content-type': 'application/json' }), ...given.headers };
    try {
      const data = await dispatcher.request({
        origin: base.origin,
        method,
        path: prefix + path,
        headers,
        body,
        signal,
      });
      return { data, receivedAt: clock.monotonic() };
    } catch (error) {
      throw signal.aborted ? signal.reason : networkError(error, base.origin);
    }
  };
  const readAll = async (
    data: Dispatcher.ResponseData,
    receivedAt: number,
    signal: AbortSignal,
    encoding: 'utf8' | 'latin1' = 'utf8',
  ) => {
    const body = await readBody(data, base.origin, signal, encoding);
    return { status: data.statusCode, headers: data.headers, receivedAt, body };
  };
  return {
    async send(given, signal) {
      const { data, receivedAt } = await request(given, whole, signal);
      return readAll(data, receivedAt, signal, given.isBinary === true ? 'latin1' : 'utf8');
    },
    async open(given, signal) {
      const { data, receivedAt } = await request(given, pieces, signal);
      if (data.statusCode !== 200 || !String(data.headers['content-type'] ?? '').startsWith(EVENT_STREAM)) {
        return readAll(data, receivedAt, signal);
      }
      const chunks = readChunks(data, base.origin, signal);
      return { status: data.statusCode, headers: data.headers, receivedAt, chunks };
    },
    close: () => dispatcher.destroy(),
  };
}

/** Returns the transport restricted to reads: methods other than GET are refused before they are sent. */
export function readOnly(transport: Transport): Transport {
  const guarded =
    <T>(pass: (request: HttpRequest, signal: AbortSignal) => Promise<T>) =>
    (request: HttpRequest, signal: AbortSignal): Promise<T> =>
      request.method === 'GET'
        ? pass(request, signal)
        : Promise.reject(new RejectedError(`${request.method} was not sent: this connection only reads`, 405));
  return {
    send: guarded((request, signal) => transport.send(request, signal)),
    open: guarded((request, signal) => transport.open(request, signal)),
  };
}
