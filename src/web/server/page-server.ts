/** Server of the web page. It has a listener of its own: webhooks and metrics may be public, the page is not. */
import cookies from '@fastify/cookie';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import type { UiConfig } from '../../config/ui.ts';
import { ConfigError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../log.ts';
import type { Backend } from '../../views/backend.ts';
import { type Authenticator, authenticateNobody, firstOf, type Identity, viewerOf } from '../auth/authenticator.ts';
import type { Page, Viewer } from '../page.ts';
import { PageError } from '../page-error.ts';
import { pages } from '../pages/index.ts';
import { type Assets, loadAssets } from './assets.ts';
import { checkHost, SECURITY_HEADERS } from './request-checks.ts';
import { notFound, pageRequest, pathOf, renderPage, sendAnswer, sendError, wantsJson } from './respond.ts';

export interface PageServerOptions {
  readonly backend: Backend;
  readonly config: UiConfig;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Server of the web page. */
export interface PageServer {
  /** Application, for tests. */
  readonly app: FastifyInstance;
  /** Starts listening; returns the URL. Throws ConfigError if the address is in use. */
  listen(): Promise<string>;
  /** Ends event streams, completes requests in flight and stops. */
  close(): Promise<void>;
}

/** Milliseconds in which a request must be received. */
const SLOWEST = 10_000;
/** Largest form, in bytes. */
const LARGEST_BODY = 65_536;
/** Milliseconds that requests in flight may take after `close`. */
const CLOSING = 500;

/** Creates the server. Throws ConfigError if people would not have to sign in, and other machines can reach it. */
export async function createPageServer(options: PageServerOptions): Promise<PageServer> {
  const { config } = options;
  const app = createPageApp();
  const server = new Pages(options, await loadAssets());
  await app.register(cookies);
  server.addTo(app);
  return {
    app,
    listen: async () => {
      const { host, port } = config.listen ?? { host: '127.0.0.1', port: 0 };
      try {
        return await app.listen({ host, port });
      } catch (error) {
        const reason = messageOf(error);
        throw new ConfigError(`cannot listen on ${host}:${port}: ${reason}; set ui.listen to a free address`, {
          cause: error,
        });
      }
    },
    close: async () => {
      const late = setTimeout(() => app.server.closeAllConnections(), CLOSING);
      await app.close();
      clearTimeout(late);
    },
  };
}

function createPageApp(): FastifyInstance {
  const app = fastify({
    logger: false,
    forceCloseConnections: 'idle',
    bodyLimit: LARGEST_BODY,
    requestTimeout: SLOWEST,
    routerOptions: { maxParamLength: 2000 },
    http: { requestTimeout: SLOWEST, headersTimeout: SLOWEST, connectionsCheckingInterval: SLOWEST / 4 },
  });
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  return app;
}

/** Routes of the server. */
class Pages {
  readonly #options: PageServerOptions;
  readonly #assets: Assets;
  readonly #authenticate: Authenticator;

  constructor(options: PageServerOptions, assets: Assets) {
    this.#options = options;
    this.#assets = assets;
    this.#authenticate = firstOf([authenticateNobody]);
  }

  addTo(app: FastifyInstance): void {
    app.addHook('onRequest', async ({ headers }, reply) => {
      void reply.headers(SECURITY_HEADERS);
      checkHost(headers.host, this.#options.config);
    });
    app.setErrorHandler((error, request, reply) => this.#fail(error, request, reply));
    app.setNotFoundHandler((request, reply) => this.#fail(notFound(), request, reply));
    app.get('/assets/:name', (request, reply) => this.#sendAsset(request, reply));
    for (const page of pages) {
      app.get(page.path, (request, reply) => this.#sendPage(page, request, reply));
    }
  }

  async #sendPage(page: Page, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const viewer = await this.#viewer(request);
    const parts = { backend: this.#options.backend, assets: this.#assets };
    const asked = pageRequest(parts.backend, request, viewer);
    const form = { path: pathOf(request), isJson: wantsJson(request) };
    return sendAnswer(request, reply, await renderPage(page, parts, asked, form));
  }

  #sendAsset(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { name } = request.params as { name: string };
    const asset = this.#assets.get(name);
    if (asset === undefined) {
      throw notFound();
    }
    // Its address changes with its content.
    const { v } = request.query as { v?: string };
    const isVersioned = v === asset.version;
    return reply
      .header('cache-control', isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache')
      .type(asset.type)
      .send(asset.body);
  }

  async #identify(request: FastifyRequest): Promise<Identity | null> {
    return this.#authenticate({
      headers: request.headers,
      peer: request.socket.remoteAddress ?? '',
      cookies: request.cookies,
    });
  }

  async #viewer(request: FastifyRequest): Promise<Viewer> {
    const identity = await this.#identify(request);
    if (identity === null) {
      throw new PageError(401, 'Sign in to see this page.');
    }
    return viewerOf(identity, this.#options.config);
  }

  async #fail(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const viewer = await this.#viewer(request).catch(() => null);
    return sendError(request, reply, this.#toPageError(error, request), { assets: this.#assets, viewer });
  }

  /** Hides what is wrong inside of the daemon, and logs it. */
  #toPageError(error: unknown, request: FastifyRequest): PageError {
    if (error instanceof PageError) {
      return error;
    }
    const status = (error as { statusCode?: unknown } | null)?.statusCode;
    if (typeof status === 'number' && status < 500) {
      return new PageError(status, messageOf(error));
    }
    this.#options.log.error({ route: request.routeOptions.url, reason: messageOf(error) }, 'page failed');
    return new PageError(500, 'The page cannot be shown. The log of the daemon says why.');
  }
}
