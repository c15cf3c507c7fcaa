/** Server of the web page. It has a listener of its own: webhooks and metrics may be public, the page is not. */

import cookies from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { UiConfig } from '../../config/ui.ts';
import { ConfigError, messageOf, StoreError } from '../../core/errors.ts';
import { isLoopbackHost } from '../../core/url.ts';
import type { Logger } from '../../log.ts';
import { closeListener, createListener, listenOn } from '../../server/listener.ts';
import type { RequestHandlers } from '../../server/requests.ts';
import { statusOf } from '../../server/server.ts';
import type { Sessions } from '../../store/sessions.ts';
import {
  authenticateByProxy,
  authenticateBySession,
  authenticateNobody,
  firstOf,
  type KnownPerson,
  viewerOf,
} from '../auth/authenticator.ts';
import { OidcProvider } from '../auth/oidc.ts';
import { PageSessions } from '../auth/page-sessions.ts';
import { authenticateByToken, TokenCheck } from '../auth/token-check.ts';
import { queryOf } from '../html/elements.ts';
import { type Backend, type PageDefinition, PageError } from '../model/page.ts';
import { pages } from '../pages/index.ts';
import { EventStreams } from './event-streams.ts';
import { addForms, senderOf } from './forms.ts';
import { type Assets, loadAssets } from './layout.ts';
import {
  checkHost,
  checkTarget,
  notFound,
  pageRequest,
  pathOf,
  renderPage,
  SECURITY_HEADERS,
  sendAnswer,
  sendError,
  wantsJson,
} from './respond.ts';
import { SignIn, sessionCookie } from './sign-in.ts';

interface PageServerOptions {
  readonly backend: Backend;
  /** Handlers of what the forms ask for. */
  readonly handlers: RequestHandlers;
  readonly config: UiConfig;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly sessions: Sessions;
  /** Called when too many wrong tokens were sent from an address; null: from all addresses. */
  readonly onGuesses: (peer: string | null, attempts: number) => void;
  readonly randomBytes: (size: number) => Buffer;
}

/** Server of the web page. */
export type PageServer = Awaited<ReturnType<typeof createPageServer>>;

/** Number of pages whose duration counts. */
const RECENT_PAGES = 20;
/** Route of styles and scripts, which are the same for everybody. */
const ASSETS = '/assets/:name';

/** Creates the server. Throws ConfigError if other machines can reach it, and nobody has to sign in. */
export async function createPageServer(options: PageServerOptions) {
  const { backend, handlers, config, log, onGuesses, randomBytes } = options;
  const { clock } = backend;
  requireSignIn(config);
  const assets = await loadAssets();

  // 1. The people who send requests.
  const { tokens: entries, proxy, oidc } = config;
  const tokens = new TokenCheck({ tokens: entries, clock, log, onGuesses });
  const sessions = new PageSessions({ sessions: options.sessions, clock, randomBytes, lifetime: config.session });
  const provider = oidc === undefined ? null : new OidcProvider(oidc, config, log);
  const authenticate =
    entries.length === 0 && proxy === undefined && oidc === undefined
      ? authenticateNobody
      : firstOf([
          authenticateByToken(tokens),
          ...(proxy === undefined ? [] : [authenticateByProxy(proxy, log)]),
          authenticateBySession({ sessions, config, clock, provider, cookie: sessionCookie(config) }),
        ]);
  const identifyAgain = async ({ headers, socket, cookies }: FastifyRequest) =>
    authenticate({ headers, peer: socket.remoteAddress ?? '', cookies });
  const people = new WeakMap<FastifyRequest, Promise<KnownPerson | null>>();
  /** Finds out who sends a request, once: a wrong token counts once, also if its answer is an error page. */
  const identify = (request: FastifyRequest) => {
    const person = people.get(request) ?? identifyAgain(request);
    people.set(request, person);
    return person;
  };

  // 2. The application, with its checks and its errors.
  const fail = async (error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const identity = await identify(request).catch(() => null);
    const viewer = identity === null ? null : viewerOf(identity, config);
    return sendError(request, reply, toPageError(error, request, log), { assets, viewer });
  };
  const app = createPageApp(fail);
  await app.register(cookies);
  app.addHook('onRequest', async ({ headers, raw, routeOptions }, reply) => {
    void reply.headers(SECURITY_HEADERS);
    checkTarget(raw);
    // The page that refuses a host name has styles, too.
    if (routeOptions.url !== ASSETS) {
      checkHost(headers.host, config);
    }
  });
  app.setErrorHandler(fail);
  app.setNotFoundHandler((request, reply) => fail(notFound(), request, reply));

  // 3. Routes.
  /** Average duration of making a page, in milliseconds; recent ones count most. */
  let duration = 0;
  const signIn = new SignIn({ config, clock, assets, sessions, tokens, provider });
  signIn.addTo(app);
  addForms(app, backend, handlers, config, log, identify);
  const events = new EventStreams({ backend, config, pageDuration: () => duration, identify: identifyAgain });
  events.addTo(app);
  sessions.onEnd(() => void events.recheck());
  app.get(ASSETS, (request, reply) => sendAsset(assets, request, reply));
  addMoved(app);
  const answer = async (page: PageDefinition, identity: KnownPerson, request: FastifyRequest, reply: FastifyReply) => {
    const asked = pageRequest(backend, handlers, request, viewerOf(identity, config));
    // A link elsewhere must not make a page say that something was done.
    const site = request.headers['sec-fetch-site'] ?? 'same-origin';
    const done = site === 'same-origin' ? (asked.query.done ?? '') : '';
    const form = { path: pathOf(request), isJson: wantsJson(request) || asked.query.format === 'json', done };
    const from = clock.monotonic();
    const rendered = await renderPage(page, { backend, assets }, asked, form);
    duration += (clock.monotonic() - from - duration) / RECENT_PAGES;
    return sendAnswer(request, reply, rendered);
  };
  for (const page of pages) {
    app.get(page.path, async (request, reply) => {
      const identity = await identify(request);
      return identity === null ? askToSignIn(signIn, request, reply) : answer(page, identity, request, reply);
    });
    if (page.longestForm !== undefined) {
      app.post(page.path, { bodyLimit: page.longestForm }, async (request, reply) =>
        answer(page, await senderOf(request, identify, config), request, reply),
      );
    }
  }
  return {
    /** Application, for tests. */
    app,
    /** Starts listening; returns the URL. Throws ConfigError if the address is in use. */
    listen: () => listenOn(app, config.listen ?? { host: '127.0.0.1', port: 0 }, 'ui.listen'),
    /** Ends event streams, completes requests in flight and stops. */
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

type Fail = (error: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Creates the application. `fail`: answers a request that has an address that cannot be decoded. */
function createPageApp(fail: Fail): FastifyInstance {
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

function sendAsset(assets: Assets, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asset = assets.get((request.params as { name: string }).name);
  if (asset === undefined) {
    throw notFound();
  }
  // Its address changes with its content.
  const isVersioned = (request.query as { v?: string }).v === asset.version;
  return reply
    .header('cache-control', isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache')
    .type(asset.type)
    .send(asset.body);
}

/** Opens the sign-in page. A program gets 401. */
async function askToSignIn(signIn: SignIn, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { headers, url } = request;
  if (wantsJson(request)) {
    throw new PageError(401, 'Sign in, or send a token.', { 'www-authenticate': 'Bearer' });
  }
  // A link on another site does not send the cookie. A page that opens the same address does.
  return headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-dest'] === 'document'
    ? signIn.reopen(reply, url)
    : reply.redirect(`/sign-in${queryOf({ back: url })}`, 303);
}

/** Hides what is wrong inside of the daemon, and logs it. */
function toPageError(error: unknown, request: FastifyRequest, log: PageServerOptions['log']): PageError {
  if (error instanceof PageError) {
    return error;
  }
  const status = statusOf(error);
  if (status < 500) {
    return new PageError(status, messageOf(error));
  }
  log.error({ route: request.routeOptions.url, reason: messageOf(error) }, 'page failed');
  return error instanceof StoreError
    ? new PageError(503, 'The store cannot be read now. The log of the daemon says why.')
    : new PageError(500, 'The page cannot be shown. The log of the daemon says why.');
}

/** Routes by the part of the address that has another name now. */
const MOVED: Readonly<Record<string, readonly [before: string, now: string]>> = {
  '/budget': ['/budget', '/limits'],
  '/conditions': ['/conditions', '/alerts'],
  '/o/:organization/passes': ['/passes', '/history'],
  '/o/:organization/passes/:number': ['/passes/', '/history/'],
  '/o/:organization/clusters': ['/clusters', '/questions'],
  '/o/:organization/dead-letters': ['/dead-letters', '/refused'],
  '/o/:organization/dead-letters/:key': ['/dead-letters/', '/refused/'],
};

/** Redirects the old addresses. An answer says nothing about what exists, so nobody has to be known. */
function addMoved(app: FastifyInstance): void {
  for (const [route, [before, now]] of Object.entries(MOVED)) {
    app.get(route, ({ url }, reply) => {
      // An id may have the same name as the part.
      const from = route.startsWith('/o/') ? url.indexOf('/', '/o/'.length) : 0;
      return reply.redirect(`${url.slice(0, from)}${url.slice(from).replace(before, now)}`, 308);
    });
  }
}
