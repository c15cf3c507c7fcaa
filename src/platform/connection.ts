import type { Clock, Random } from '../core/clock.ts';
import { ConfigError } from '../core/errors.ts';
import { withoutTrailingSlashes } from '../core/trim.ts';
import { createRequestQueue } from '../queue/schedule/dispatcher.ts';
import type { RequestQueue } from '../queue/schedule/request-queue.ts';
import { openTransport, type Timeouts, type Transport } from './http/transport.ts';

/** A token's way to the platform. */
export interface Connection {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** The base URL's origin, for messages. */
  readonly origin: string;
  readonly queue: RequestQueue;
  readonly transport: Transport;
  readonly clock: Clock;
  /** Gives up what waits, lets what is in flight end within so many milliseconds (5 s), and closes the sockets. */
  close(milliseconds?: number): Promise<void>;
}

export interface ConnectionOptions {
  /** May have a path, which goes before every operation's. */
  readonly baseUrl: string;
  readonly token: string;
  /** `octavo/<version>`. */
  readonly userAgent: string;
  /** Requests in flight at most. */
  readonly concurrency: number;
  readonly clock: Clock;
  readonly random: Random;
  /** 10 s to connect, 30 s for headers and between pieces of a body, where absent. */
  readonly timeouts?: Partial<Timeouts>;
  /** A queue that is there already for this token; otherwise the connection makes one. */
  readonly queue?: RequestQueue;
}

const CLOSING = 5000;

/** Nothing is connected until the first request. Throws ConfigError where the base URL is none. */
export function openConnection(options: ConnectionOptions): Connection {
  const base = parseBase(options.baseUrl);
  const { clock, random, concurrency } = options;
  const transport = openTransport({
    base,
    token: options.token,
    userAgent: options.userAgent,
    // Answers that are overdue hold their sockets, and the queue sends others meanwhile.
    connections: 2 * concurrency,
    timeouts: { connect: 10_000, headers: 30_000, body: 30_000, ...options.timeouts },
    clock,
  });
  const queue = options.queue ?? createRequestQueue({ clock, random, concurrency });
  return {
    baseUrl: withoutTrailingSlashes(base.href),
    origin: base.origin,
    queue,
    transport,
    clock,
    async close(milliseconds = CLOSING) {
      if (options.queue === undefined) {
        await queue.drain(milliseconds);
      }
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
