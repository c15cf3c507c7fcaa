/** HTTP server for health checks, metrics and webhooks. */
import { type FastifyInstance, fastify } from 'fastify';
import { ConfigError, messageOf } from '../core/errors.ts';
import { type Forwarded, type ForwardedAnswer, type Listener, openListener } from './listener.ts';
import { BUSY_METRIC } from './metrics.ts';

/** Content and settings of the server. */
export interface ServerOptions {
  /** Registry that `/metrics` serves. */
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
  /** Returns reasons to restart the process; empty if it is healthy. */
  readonly health: () => readonly string[];
  /** Returns what the process still waits for; empty if it is ready. */
  readonly ready: () => readonly string[];
  /** Timeout for receiving a whole request, in milliseconds. Default: 10 s. */
  readonly slowest?: number;
}

/** HTTP server of the daemon. */
export interface Server {
  /** Starts listening; returns the URL with the selected port. Throws ConfigError if the address is in use. */
  listen(address: { readonly host: string; readonly port: number }): Promise<string>;
  /** Completes requests in flight and stops. */
  close(): Promise<void>;
  /** Application, for more routes and for tests. */
  readonly app: FastifyInstance;
}

/** Serves GET /healthz, /readyz and /metrics; everything else is 404. See docs/daemon.md#health. */
export function createServer({ registry, health, ready, slowest }: ServerOptions): Server {
  const app = createApp(explainToClient, slowest);
  app.get('/healthz', async (_request, reply) => {
    const reasons = health();
    return reply.code(reasons.length === 0 ? 200 : 503).send({ healthy: reasons.length === 0, reasons });
  });
  app.get('/readyz', async (_request, reply) => {
    const reasons = ready();
    return reply.code(reasons.length === 0 ? 200 : 503).send({ ready: reasons.length === 0, reasons });
  });
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()));
  let listener: Listener | null = null;
  return {
    app,
    listen: async ({ host, port }) => {
      try {
        await app.ready();
        const options = { ...LISTENER, host, port, slowest: slowest ?? SLOWEST };
        listener = await openListener(options, (request) => answer(app, request));
        return listener.address;
      } catch (error) {
        throw new ConfigError(
          `cannot listen on ${host}:${port}: ${messageOf(error)}; set server.listen to a free address`,
          {
            cause: error,
          },
        );
      }
    },
    close: async () => {
      await listener?.close();
      await app.close();
    },
  };
}

/** Listener settings that keep health checks and scrapes responsive while the main thread is busy. */
const LISTENER = {
  /** Largest body that any route accepts, in bytes; each route has its own limit. */
  largestBody: 5 * 1024 * 1024,
  repeatedPaths: ['/healthz', '/readyz', '/metrics'],
  livenessPath: '/healthz',
  /** The largest manifest takes seconds, and the main thread responds between two manifests. */
  longestSilence: 60_000,
  busyMetric: BUSY_METRIC,
} as const;
/** Hop-by-hop headers, which apply to one connection only. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'date'];

/** Handles a request from the listener thread. */
async function answer(app: FastifyInstance, { method, url, headers, body }: Forwarded): Promise<ForwardedAnswer> {
  try {
    const response = await app.inject({
      method: method as 'GET',
      url,
      headers: withoutHopByHop(headers) as Record<string, string>,
      ...(body === null || body.length === 0 ? {} : { payload: Buffer.from(body) }),
    });
    return { status: response.statusCode, headers: withoutHopByHop(response.headers), body: response.rawPayload };
  } catch {
    // The method or the address is not valid.
    return {
      status: 400,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"error":"bad request"}'),
    };
  }
}

function withoutHopByHop<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.includes(name)));
}

/** Default timeout for receiving a whole request, in milliseconds. */
const SLOWEST = 10_000;

/** Response to a failed request. */
export interface FailureAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
}

/**
 * Creates an application that reveals nothing about its implementation. `explain` converts errors to responses. A
 * request that has not been received completely after `slowest` milliseconds is aborted.
 */
export function createApp(explain: (error: unknown) => FailureAnswer, slowest = SLOWEST): FastifyInstance {
  const app = fastify({
    logger: false,
    forceCloseConnections: 'idle',
    bodyLimit: 65_536,
    requestTimeout: slowest,
    // Node checks neither timeout if the one for headers is longer than the one for the whole request.
    http: { requestTimeout: slowest, headersTimeout: slowest, connectionsCheckingInterval: slowest / 4 },
  });
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send({ error: 'not found' }));
  app.setErrorHandler(async (error, _request, reply) => {
    const { status, body } = explain(error);
    return reply.code(status).send(body);
  });
  return app;
}

/** Returns the status of an error of fastify, such as a body that is not JSON; 500 for other errors. */
export function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}

/** Returns the message of client errors (4xx). Hides internal errors from clients. */
function explainToClient(error: unknown): FailureAnswer {
  const status = statusOf(error);
  return { status, body: { error: status < 500 ? messageOf(error) : 'internal error' } };
}
