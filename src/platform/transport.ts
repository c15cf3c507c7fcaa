import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type Dispatcher, errors, Pool } from 'undici';
import type { Clock } from '../core/clock.ts';
import { NotThePlatformError, RejectedError, type TransientError } from '../core/errors.ts';
import { networkError } from './network-error.ts';
import type { WriteMethod } from './operations/operation.ts';

export interface HttpRequest {
  readonly method: 'GET' | WriteMethod;
  /** From `/v1`, encoded, with the query. */
  readonly path: string;
  /** JSON text, or null. */
  readonly body: string | null;
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

/** Makes single requests to one origin. */
export interface Transport {
  /** Rejects with TransientError where no answer came, and with the signal's reason when that aborts. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
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

/** The largest body that is read, in bytes. */
const LARGEST_BODY = 64 * 1024 * 1024;

/**
 * Opens connections to the base URL's origin as they are needed. The token is sent to that origin and nowhere else:
 * redirects are answers like any other here.
 */
export function openTransport(options: TransportOptions): Transport & { close(): Promise<void> } {
  const { base, timeouts, clock } = options;
  const prefix = base.pathname.replace(/\/+$/, '');
  const pool = new Pool(base.origin, {
    connections: options.connections,
    connect: { timeout: timeouts.connect },
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
    maxResponseSize: LARGEST_BODY,
  });
  const headers = {
    authorization: `Bearer ${options.token}`,
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': options.userAgent,
  };
  const withBody = { ...headers, 'content-type': 'application/json' };
  return {
    async send(request, signal) {
      let answer: Dispatcher.ResponseData;
      try {
        answer = await pool.request({
          method: request.method,
          path: prefix + request.path,
          headers: request.body === null ? headers : withBody,
          body: request.body,
          signal,
        });
      } catch (error) {
        throw signal.aborted ? signal.reason : networkError(error, base.origin);
      }
      const receivedAt = clock.monotonic();
      const body = await readBody(answer, base.origin, signal);
      return { status: answer.statusCode, headers: answer.headers, receivedAt, body };
    },
    close: () => pool.destroy(),
  };
}

async function readBody(
  answer: Dispatcher.ResponseData,
  origin: string,
  signal: AbortSignal,
): Promise<HttpAnswer['body']> {
  if (answer.statusCode === 204 || answer.statusCode === 205) {
    // No body by definition; some servers do not say where it ends, and waiting for that would end in a timeout.
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
    const tooLarge = error instanceof errors.ResponseExceededMaxSizeError;
    return tooLarge
      ? new NotThePlatformError(`${origin} answered with more than ${LARGEST_BODY / 2 ** 20} MiB`, { cause: error })
      : networkError(error, origin, true);
  }
  try {
    return decode(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      String(answer.headers['content-encoding'] ?? '').toLowerCase(),
    );
  } catch (error) {
    return new NotThePlatformError(`${origin} answered with a body that cannot be unpacked`, { cause: error });
  }
}

function decode(bytes: Buffer, encoding: string): string {
  const limits = { maxOutputLength: LARGEST_BODY };
  if (bytes.length === 0) {
    return '';
  }
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return gunzipSync(bytes, limits).toString('utf8');
    case 'deflate':
      return inflateSync(bytes, limits).toString('utf8');
    case 'br':
      return brotliDecompressSync(bytes, limits).toString('utf8');
    default:
      return bytes.toString('utf8');
  }
}

/** The same transport without a way to write: anything but GET is refused before it is sent. */
export function readOnly(transport: Transport): Transport {
  return {
    send(request, signal) {
      if (request.method !== 'GET') {
        return Promise.reject(new RejectedError(`${request.method} was not sent: this connection only reads`, 405));
      }
      return transport.send(request, signal);
    },
  };
}
