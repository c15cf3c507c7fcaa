/** Routes for signing in and out. */
import type { CookieSerializeOptions } from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import type { UiConfig } from '../../config/ui.ts';
import type { Clock } from '../../core/clock.ts';
import type { OidcProvider, SignInAttempt } from '../auth/oidc.ts';
import type { PageSessions, SignedIn } from '../auth/page-sessions.ts';
import type { TokenCheck } from '../auth/token-check.ts';
import { isLocalPath, link, queryOf } from '../html/elements.ts';
import { type Html, PageError } from '../model/page.ts';
import { type Assets, layout } from './layout.ts';
import { checkOrigin, formOf } from './respond.ts';

export interface SignInOptions {
  readonly config: UiConfig;
  readonly clock: Pick<Clock, 'now'>;
  readonly assets: Assets;
  readonly sessions: PageSessions;
  readonly tokens: TokenCheck;
  readonly provider: OidcProvider | null;
}

/** Seconds that a person may take at the provider. */
const ATTEMPT = 600;

/** Returns the name of the session cookie. Browsers accept `__Host-` only over https, and from this host alone. */
export function sessionCookie({ publicUrl }: UiConfig): string {
  return publicUrl?.startsWith('https:') === true ? '__Host-octavo' : 'octavo';
}

export class SignIn {
  readonly #options: SignInOptions;
  readonly #cookie: string;
  readonly #attempt: string;

  constructor(options: SignInOptions) {
    this.#options = options;
    this.#cookie = sessionCookie(options.config);
    this.#attempt = `${this.#cookie}-sign-in`;
  }

  addTo(app: FastifyInstance): void {
    app.get('/sign-in', (request, reply) => this.#show(request, reply));
    app.post('/sign-in', (request, reply) => this.#withToken(request, reply));
    app.post('/sign-out', (request, reply) => this.#signOut(request, reply));
    app.get('/oidc/start', (request, reply) => this.#begin(request, reply));
    app.get('/oidc/callback', (request, reply) => this.#complete(request, reply));
  }

  /** Opens an address again, from a page of this host. */
  reopen(reply: FastifyReply, url: string): Promise<FastifyReply> {
    const back = backOf({ back: url });
    return this.#page(reply, html`<div class="card sign-in"><p>${link(back, 'Continue')}</p></div>`, back);
  }

  async #show(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { config } = this.#options;
    const back = backOf(request.query);
    if (config.tokens.length === 0 && config.oidc === undefined && config.proxy === undefined) {
      return reply.redirect(back, 303);
    }
    return this.#page(reply, this.#form(back, ''));
  }

  #form(back: string, problem: string): Html {
    const { config } = this.#options;
    const invalid = problem === '' ? '' : html` aria-invalid="true"`;
    const token = html`<form method="post" action="/sign-in">
<input type="hidden" name="back" value="${back}">
<p class="field"><label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" aria-describedby="which" required${invalid}></p>
<p id="which" class="small faint">The person who runs Octavo gives you your token: one of <code>ui.tokens</code> in its configuration. A token of the platform does not work here.</p>
<p><button class="primary">Sign in</button></p>
</form>`;
    return html`<div class="card sign-in"><h1>Sign in to Octavo</h1>
${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
${config.oidc === undefined ? '' : html`<p>${link(`/oidc/start${queryOf({ back })}`, 'Sign in with your account', { class: 'button' })}</p>`}
${config.tokens.length === 0 ? '' : token}
${config.proxy === undefined ? '' : html`<p>The sign-in page of the proxy in front of this server did not send a user.</p>`}</div>`;
  }

  async #withToken(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { config, clock, tokens } = this.#options;
    checkOrigin(request.headers, true, config.publicUrl);
    const { token = '', back: asked } = formOf(request);
    const back = backOf({ back: asked });
    const found = tokens.find(request.socket.remoteAddress ?? '', token.trim());
    if (found === null) {
      return this.#page(reply.code(401), this.#form(back, 'This token is not known.'));
    }
    const { name, sha256: credential } = found;
    const person = { name, credential, subject: '', groups: [], refreshToken: null, checkedAt: clock.now() };
    await this.#start(request, reply, { ...person, method: 'token' });
    return reply.redirect(back, 303);
  }

  async #signOut(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    checkOrigin(request.headers, true, this.#options.config.publicUrl);
    const secret = request.cookies[this.#cookie];
    if (secret !== undefined) {
      await this.#options.sessions.end(secret);
    }
    return reply.clearCookie(this.#cookie, this.#cookieOptions('strict')).redirect('/sign-in', 303);
  }

  async #begin(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { url, attempt } = await this.#requireProvider().begin(backOf(request.query));
    const text = Buffer.from(JSON.stringify(attempt)).toString('base64url');
    // The redirect from the provider comes from another site, so it would not send a strict cookie.
    return reply.setCookie(this.#attempt, text, { ...this.#cookieOptions('lax'), maxAge: ATTEMPT }).redirect(url, 303);
  }

  async #complete(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { clock } = this.#options;
    const provider = this.#requireProvider();
    const attempt = readAttempt(request.cookies[this.#attempt]);
    void reply.clearCookie(this.#attempt, this.#cookieOptions('lax'));
    if (attempt === null) {
      throw new PageError(403, 'This browser has not begun a sign-in, or it took too long. Sign in again.');
    }
    const at = request.url.indexOf('?');
    const person = await provider.complete(at === -1 ? '' : request.url.slice(at), attempt);
    const known = { ...person, credential: provider.id, checkedAt: clock.now() };
    await this.#start(request, reply, { ...known, method: 'oidc' });
    // A redirect would still count as coming from the provider, and the browser would not send the strict cookie.
    return this.#page(
      reply,
      html`<div class="card sign-in"><h1>Signed in</h1>
<p>${link(backOf(attempt), 'Continue')}</p></div>`,
      backOf(attempt),
    );
  }

  #requireProvider(): OidcProvider {
    if (this.#options.provider === null) {
      throw new PageError(404, 'Sign-in with a provider is not configured.');
    }
    return this.#options.provider;
  }

  /** Starts a session, and ends the one that the browser had. */
  async #start(request: FastifyRequest, reply: FastifyReply, person: SignedIn): Promise<void> {
    const { sessions, config } = this.#options;
    const previous = request.cookies[this.#cookie];
    if (previous !== undefined) {
      await sessions.end(previous);
    }
    const maxAge = Math.floor(config.session / 1000);
    const secret = await sessions.start(person);
    void reply.setCookie(this.#cookie, secret, { ...this.#cookieOptions('strict'), maxAge });
  }

  #cookieOptions(sameSite: 'strict' | 'lax'): CookieSerializeOptions {
    return { path: '/', httpOnly: true, sameSite, secure: this.#cookie.startsWith('__Host-') };
  }

  async #page(reply: FastifyReply, main: Html, refresh?: string): Promise<FastifyReply> {
    const { assets } = this.#options;
    const frame = { title: 'Sign in', path: '/sign-in', organization: null, viewer: null, live: null };
    const body = await layout({ ...frame, main, assets, refresh });
    return reply.type('text/html; charset=utf-8').send(body);
  }
}

/** Returns the path to open after the sign-in; `/` unless it is a path on this host. It never says that something was done. */
function backOf(fields: unknown): string {
  const { back } = (fields ?? {}) as { readonly back?: unknown };
  if (typeof back !== 'string' || !isLocalPath(back)) {
    return '/';
  }
  const url = new URL(back, 'http://host');
  if (!url.searchParams.has('done')) {
    return back;
  }
  url.searchParams.delete('done');
  return `${url.pathname}${url.search}`;
}

function readAttempt(cookie: string | undefined): SignInAttempt | null {
  try {
    const attempt = JSON.parse(
      Buffer.from(cookie ?? '', 'base64url').toString('utf8'),
    ) as Partial<SignInAttempt> | null;
    const { state, nonce, verifier, back } = attempt ?? {};
    const isComplete = [state, nonce, verifier, back].every((value) => typeof value === 'string' && value !== '');
    return isComplete ? (attempt as SignInAttempt) : null;
  } catch {
    return null;
  }
}
