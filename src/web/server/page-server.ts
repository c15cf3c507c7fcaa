/** Server of the web page. It has a listener of its own: webhooks and metrics may be public, the page is not. */
import cookies from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { UiConfig } from '../../config/ui.ts';
import { ConfigError, messageOf, StoreError } from '../../core/errors.ts';
import { isLoopbackHost } from '../../core/url.ts';
import type { Logger } from '../../log.ts';
import { closeListener, createListener, listenOn } from '../../server/listener.ts';
import type { Sessions } from '../../store/sessions.ts';
import { type Authenticator, authenticateNobody, firstOf, type KnownPerson, viewerOf } from '../auth/authenticator.ts';
import { authenticateBySession } from '../auth/by-session.ts';
import { OidcProvider } from '../auth/oidc.ts';
import { PageSessions } from '../auth/page-sessions.ts';
import { authenticateByProxy } from '../auth/proxy.ts';
import { authenticateByToken, TokenCheck } from '../auth/token-check.ts';
import { queryOf } from '../html/link.ts';
import type { Backend } from '../model/backend.ts';
import type { PageDefinition } from '../page.ts';
import { PageError } from '../page-error.ts';
import { pages } from '../pages/index.ts';
import { addActions } from './actions.ts';
import { type Assets, loadAssets } from './assets.ts';
import { EventStreams } from './event-streams.ts';
import { checkHost, checkTarget, SECURITY_HEADERS } from './request-checks.ts';
import { notFound, pageRequest, pathOf, renderPage, sendAnswer, sendError, wantsJson } from './respond.ts';
import { SignIn, sessionCookie } from './sign-in.ts';

export interface PageServerOptions {
  readonly backend: Backend;
  readonly config: UiConfig;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly sessions: Sessions;
  /** Called when too many wrong tokens were sent from an address; null: from all addresses. */
  readonly onGuesses: (peer: string | null, attempts: number) => void;
  readonly randomBytes: (size: number) => Buffer;
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

/** Number of pages whose duration counts. */
const RECENT_PAGES = 20;
/** Route of styles and scripts, which are the same for everybody. */
const ASSETS = '/assets/:name';

/** Creates the server. Throws ConfigError if other machines can reach it, and nobody has to sign in. */
export async function createPageServer(options: PageServerOptions): Promise<PageServer> {
  const { config } = options;
  requireSignIn(config);
  const server = new Pages(options, await loadAssets());
  const app = createPageApp((error, request, reply) => server.fail(error, request, reply));
  await app.register(cookies);
  server.addTo(app);
  return {
    app,
    listen: () => listenOn(app, config.listen ?? { host: '127.0.0.1', port: 0 }, 'ui.listen'),
    close: () => closeListener(app),
  };
}

/** The configuration file is checked too. This check holds for every other way to create a configuration. */
function requireSignIn({ listen, tokens, proxy, oidc }: UiConfig): void {
  if (listen !== undefined && !isLoopbackHost(listen.host) && tokens.length === 0 && !proxy && !oidc) {
    throw new ConfigError(
      `ui.listen ${listen.host}:${listen.port} can be reached by other machines, and nobody has to sign in; set ui.tokens, ui.proxy or ui.oidc`,
    );
  }
}

/** Creates the application. `fail`: answers a request that has an address that cannot be decoded. */
function createPageApp(fail: Pages['fail']): FastifyInstance {
  const app = createListener({
    routerOptions: { maxParamLength: 2000 },
    frameworkErrors: (_error, request: unknown, reply: unknown) =>
      void fail(
        new PageError(400, 'The address is not valid.'),
        request as FastifyRequest,
        (reply as FastifyReply).headers(SECURITY_HEADERS),
      ),
  });
  app.removeContentTypeParser('text/plain');
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
  readonly #known = new WeakMap<FastifyRequest, Promise<KnownPerson | null>>();
  readonly #signIn: SignIn;
  readonly #events: EventStreams;
  /** Average duration of making a page, in milliseconds; recent ones count most. */
  #duration = 0;

  constructor(options: PageServerOptions, assets: Assets) {
    const { config, backend, sessions: stored, randomBytes, log, onGuesses } = options;
    const { clock } = backend;
    const tokens = new TokenCheck({ tokens: config.tokens, clock, log, onGuesses });
    const sessions = new PageSessions({ sessions: stored, clock, randomBytes, lifetime: config.session });
    const { oidc } = config;
    const provider = oidc === undefined ? null : new OidcProvider(oidc, config, log);
    const cookie = sessionCookie(config);
    const isOpen = config.tokens.length === 0 && config.proxy === undefined && oidc === undefined;
    this.#options = options;
    this.#assets = assets;
    this.#signIn = new SignIn({ config, clock, assets, sessions, tokens, provider });
    this.#events = new EventStreams({
      backend,
      config,
      pageDuration: () => this.#duration,
      identify: (request) => this.#identifyAgain(request),
    });
    sessions.onEnd(() => void this.#events.recheck());
    this.#authenticate = isOpen
      ? authenticateNobody
      : firstOf([
          authenticateByToken(tokens),
          ...(config.proxy === undefined ? [] : [authenticateByProxy(config.proxy, log)]),
          authenticateBySession({ sessions, config, clock, provider, cookie }),
        ]);
  }

  addTo(app: FastifyInstance): void {
    app.addHook('onRequest', async ({ headers, raw, routeOptions }, reply) => {
      void reply.headers(SECURITY_HEADERS);
      checkTarget(raw);
      // The page that refuses a host name has styles, too.
      if (routeOptions.url !== ASSETS) {
        checkHost(headers.host, this.#options.config);
      }
    });
    app.setErrorHandler((error, request, reply) => this.fail(error, request, reply));
    app.setNotFoundHandler((request, reply) => this.fail(notFound(), request, reply));
    this.#signIn.addTo(app);
    addActions(app, { ...this.#options, identify: (request) => this.#identify(request) });
    this.#events.addTo(app);
    app.get(ASSETS, (request, reply) => this.#sendAsset(request, reply));
    for (const page of pages) {
      app.get(page.path, (request, reply) => this.#sendPage(page, request, reply));
    }
  }

  async #sendPage(page: PageDefinition, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const identity = await this.#identify(request);
    if (identity === null) {
      return this.#askToSignIn(request, reply);
    }
    const viewer = viewerOf(identity, this.#options.config);
    const parts = { backend: this.#options.backend, assets: this.#assets };
    const asked = pageRequest(parts.backend, request, viewer);
    // A link elsewhere must not make a page say that something was done.
    const site = request.headers['sec-fetch-site'] ?? 'same-origin';
    const done = site === 'same-origin' ? (asked.query.done ?? '') : '';
    const form = { path: pathOf(request), isJson: wantsJson(request) || asked.query.format === 'json', done };
    const from = parts.backend.clock.monotonic();
    const answer = await renderPage(page, parts, asked, form);
    this.#duration += (parts.backend.clock.monotonic() - from - this.#duration) / RECENT_PAGES;
    return sendAnswer(request, reply, answer);
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

  /** Finds out who sends a request, once: a wrong token counts once, also if its answer is an error page. */
  #identify(request: FastifyRequest): Promise<KnownPerson | null> {
    const known = this.#known.get(request) ?? this.#identifyAgain(request);
    this.#known.set(request, known);
    return known;
  }

  async #identifyAgain(request: FastifyRequest): Promise<KnownPerson | null> {
    return this.#authenticate({
      headers: request.headers,
      peer: request.socket.remoteAddress ?? '',
      cookies: request.cookies,
    });
  }

  /** Opens the sign-in page. A program gets 401. */
  async #askToSignIn(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { headers, url } = request;
    if (wantsJson(request)) {
      throw new PageError(401, 'Sign in, or send a token.', { 'www-authenticate': 'Bearer' });
    }
    // A link on another site does not send the cookie. A page that opens the same address does.
    return headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-dest'] === 'document'
      ? this.#signIn.reopen(reply, url)
      : reply.redirect(`/sign-in${queryOf({ back: url })}`, 303);
  }

  /** Answers a request that failed. */
  async fail(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const identity = await this.#identify(request).catch(() => null);
    const viewer = identity === null ? null : viewerOf(identity, this.#options.config);
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
    if (error instanceof StoreError) {
      return new PageError(503, 'The store cannot be read now. The log of the daemon says why.');
    }
    return new PageError(500, 'The page cannot be shown. The log of the daemon says why.');
  }
}
