import { type FastifyInstance, fastify } from 'fastify';
import { ConfigError, messageOf } from '../core/errors.ts';
import { type Forwarded, type ForwardedAnswer, type Listener, openListener } from './listener.ts';
import { BUSY_METRIC } from './metrics.ts';

/** What the server shows. */
export interface ServerOptions {
  /** What `/metrics` answers. */
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
  /** Why the process is no longer of use and should be restarted; empty: it is alive. */
  readonly health: () => readonly string[];
  /** What it still waits for before it is ready; empty: nothing. */
  readonly ready: () => readonly string[];
  /** Milliseconds in which a request must have come in as a whole; 10 s where absent. */
  readonly slowest?: number;
}

/** The daemon's server. */
export interface Server {
  /** Starts answering; gives the address with the port that was chosen. Throws ConfigError when it is taken. */
  listen(address: { readonly host: string; readonly port: number }): Promise<string>;
  /** Finishes what is under way and stops. */
  close(): Promise<void>;
  /** For more routes, and for tests. */
  readonly app: FastifyInstance;
}

/** Serves GET /healthz, /readyz and /metrics; everything else is 404. See docs/daemon.md#health. */
export function createServer({ registry, health, ready, slowest }: ServerOptions): Server {
  const app = createApp(explainToStrangers, slowest);
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

/** Probes and scrapes are answered in time even while the main thread is busy. */
const LISTENER = {
  /** Bytes of the largest body that any route takes; each route has a limit of its own. */
  largestBody: 5 * 1024 * 1024,
  repeated: ['/healthz', '/readyz', '/metrics'],
  aliveness: '/healthz',
  /** The largest manifest takes seconds, and the main thread answers between two manifests. */
  longestSilence: 60_000,
  busyMetric: BUSY_METRIC,
} as const;
/** Headers that concern one connection only. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'date'];

/** Answers a request that was received on the listener's thread. */
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

/** Milliseconds in which a request must have come in whole. */
const SLOWEST = 10_000;

/** What a failed request is answered with. */
export interface FailureAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
}

/**
 * A fastify that says nothing about itself; `explain` says what an error shows. A request that is not there as a whole
 * after `slowest` milliseconds is given up.
 */
export function createApp(explain: (error: unknown) => FailureAnswer, slowest = SLOWEST): FastifyInstance {
  const app = fastify({
    logger: false,
    forceCloseConnections: 'idle',
    bodyLimit: 65_536,
    requestTimeout: slowest,
    // Node looks at neither bound where the headers may take longer than the whole.
    http: { requestTimeout: slowest, headersTimeout: slowest, connectionsCheckingInterval: slowest / 4 },
  });
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send({ error: 'not found' }));
  app.setErrorHandler(async (error, _request, reply) => {
    const { status, body } = explain(error);
    return reply.code(status).send(body);
  });
  return app;
}

/** The status that fastify gave an error of its own, such as a body that is no JSON; 500 for every other. */
export function statusOf(error: unknown): number {
  const status = (error as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}

/** Fastify's own 4xx say what is wrong with the request; what broke inside is for the log alone. */
function explainToStrangers(error: unknown): FailureAnswer {
  const status = statusOf(error);
  return { status, body: { error: status < 500 ? messageOf(error) : 'internal error' } };
}
