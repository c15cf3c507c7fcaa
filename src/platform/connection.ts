/** Connection to the platform with one token. */
import type { Clock, Random } from '../core/clock.ts';
import { type AppError, ConfigError } from '../core/errors.ts';
import { withoutTrailingSlashes } from '../core/url.ts';
import { type QueueOptions, RequestQueue } from '../queue/dispatcher.ts';
import { openTransport, type Timeouts, type Transport } from './http/transport.ts';

/** Conditions under which requests are sent, and how they are marked. */
export interface SendingTerms {
  /** Returns why a request that changes nothing must not be sent now; null if it may be sent. */
  readonly readRefusal: () => AppError | null;
  /** Returns why any other request must not be sent now; null if it may be sent. */
  readonly writeRefusal: () => AppError | null;
  /** Replaces the user agent of the connection. */
  readonly userAgent?: string;
}

/** Connection to the platform with one token. */
export interface Connection {
  /** Base URL without a trailing slash. */
  readonly baseUrl: string;
  /** Origin of the base URL, for messages. */
  readonly origin: string;
  /** Source of the token for messages, such as `OCTAVO_TOKEN`; undefined: it is written in the configuration. */
  readonly tokenSource?: string | undefined;
  readonly queue: RequestQueue;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Undefined: every request may be sent. */
  readonly terms?: SendingTerms;
  /**
   * Cancels waiting requests, waits up to this many milliseconds (default: 5 s) for those in flight, and closes the
   * sockets.
   */
  close(milliseconds?: number): Promise<void>;
}

export interface ConnectionOptions {
  /** Base URL; its path precedes those of operations. */
  readonly baseUrl: string;
  readonly token: string;
  /** Source of the token for messages. */
  readonly tokenSource?: string | undefined;
  /** `octavo/<version>`. */
  readonly userAgent: string;
  /** Maximum requests in flight. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Defaults to 10 s to connect, and 30 s for headers and between chunks of a body. */
  readonly timeouts?: Partial<Timeouts>;
  /** Further options of its queue. */
  readonly queue?: Omit<QueueOptions, 'clock' | 'random' | 'concurrency'>;
}

const CLOSING = 5000;

/**
 * Opens a connection, without network access until the first request. Throws ConfigError if the base URL is invalid.
 */
export function openConnection(options: ConnectionOptions): Connection {
  const base = parseBase(options.baseUrl);
  const { clock, random, concurrency } = options;
  const transport = openTransport({
    base,
    token: options.token,
    userAgent: options.userAgent,
    // Overdue responses keep their sockets, while the queue sends other requests.
    connections: 2 * concurrency,
    timeouts: { connect: 10_000, headers: 30_000, body: 30_000, ...options.timeouts },
    clock,
  });
  const queue = new RequestQueue({ ...options.queue, clock, random, concurrency });
  return {
    baseUrl: withoutTrailingSlashes(base.href),
    origin: base.origin,
    tokenSource: options.tokenSource,
    queue,
    transport,
    clock,
    async close(milliseconds = CLOSING) {
      await queue.drain(milliseconds);
      await transport.close();
    },
  };
}

function parseBase(baseUrl: string): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (base === null || !['http:', 'https:'].includes(base.protocol)) {
    throw new ConfigError('the base URL must be an http or https URL, such as https://api.example.com');
  }
  if (base.username !== '' || base.password !== '' || base.search !== '' || base.hash !== '') {
    throw new ConfigError('the base URL must have no user, query or fragment in it');
  }
  return base;
}
