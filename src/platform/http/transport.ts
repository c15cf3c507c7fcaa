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
  /** Additional headers, by names in lower case. They replace those that the connection sends with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Reads the body of the answer as bytes: each one is a character of the text (Latin-1). */
  readonly isBinary?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** When the headers came in, on the clock's monotonic scale. */
  readonly receivedAt: number;
  /** The text, or what cut it off. */
  readonly body: string | TransientError | NotThePlatformError;
}

/** An answer that goes on after its headers, as a stream of events. */
export interface HttpStream extends Omit<HttpAnswer, 'body'> {
  /**
   * Its text as it comes, of 64 MiB at most. Throws TransientError where it breaks off, NotThePlatformError where it
   * cannot be read, and the signal's reason when that aborts.
   */
  readonly chunks: AsyncIterable<string>;
}

/** Makes single requests to one origin. */
export interface Transport {
  /**
   * Rejects with TransientError where no answer came, NotThePlatformError where it is not HTTP, and with the signal's
   * reason when that aborts.
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /**
   * The same for what is answered with a stream of events; any other answer is read to its end. The signal ends the
   * stream too: abort it once no more of the stream is wanted.
   */
  open(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer | HttpStream>;
}

/** How long to wait for what, in milliseconds. */
export interface Timeouts {
  readonly connect: number;
  readonly headers: number;
  /** Between two pieces of a body. */
  readonly body: number;
}

export interface TransportOptions {
  readonly base: URL;
  readonly token: string;
  readonly userAgent: string;
  /** Connections that are kept open at most. */
  readonly connections: number;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
}

const EVENT_STREAM = 'text/event-stream';

/**
 * Opens connections to the base URL's origin as they are needed. The token is sent to that origin and nowhere else:
 * redirects are answers like any other here.
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
  // What is packed comes in fewer and later pieces.
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

/** The same transport without a way to write: anything but GET is refused before it is sent. */
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
