/** HTTP server for health checks, metrics and webhooks. */
import type { FastifyInstance } from 'fastify';
import { messageOf } from '../core/errors.ts';
import { closeListener, createListener, listenOn } from './listener.ts';

/** Content and settings of the server. */
export interface ServerOptions {
  /** Registry that `/metrics` serves. */
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
  /** Returns what the process still waits for; empty if it is ready. */
  readonly ready: () => readonly string[];
  /** Timeout for receiving a whole request, in milliseconds. Default: 10 s. */
  readonly slowest?: number;
}

/** HTTP server of the daemon. */
export type Server = ReturnType<typeof createServer>;

/** Serves GET /healthz, /readyz and /metrics; everything else is 404. See docs/daemon.md#health. */
export function createServer({ registry, ready, slowest }: ServerOptions) {
  const app = createApp(explainToClient, slowest);
  // Whatever goes wrong, restarting the process would not help; one that hangs does not answer.
  app.get('/healthz', async () => ({ healthy: true, reasons: [] }));
  app.get('/readyz', async (_request, reply) => {
    const reasons = ready();
    return reply.code(reasons.length === 0 ? 200 : 503).send({ ready: reasons.length === 0, reasons });
  });
  const scrape = shared(() => registry.metrics());
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await scrape()));
  return {
    /** Application, for more routes and for tests. */
    app,
    /** Starts listening; returns the URL with the selected port. Throws ConfigError if the address is in use. */
    listen: (address: Parameters<typeof listenOn>[1]) => listenOn(app, address, 'server.listen'),
    /** Completes requests in flight and stops. */
    close: () => closeListener(app),
  };
}

/** Times its own duration for which a scrape is repeated: requests without a pause take a tenth of the time. */
const REPEATED = 9;

/** Shares the result of work among all who ask while it is being done, and for a moment afterwards. */
function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | null = null;
  return () => {
    if (last === null) {
      const from = performance.now();
      last = work().finally(() => {
        setTimeout(
          () => {
            last = null;
          },
          REPEATED * (performance.now() - from),
        ).unref();
      });
    }
    return last;
  };
}

/** Response to a failed request. */
export interface FailureAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
}

/**
 * Creates an application that reveals nothing about its implementation. `explain` converts errors to responses. A
 * request that has not been received completely after `slowest` milliseconds is aborted.
 */
export function createApp(explain: (error: unknown) => FailureAnswer, slowest?: number): FastifyInstance {
  const app = createListener({}, slowest);
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
