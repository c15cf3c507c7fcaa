/** Answers to requests for pages: HTML or JSON, with a version, and errors in the same form. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { html } from 'hono/html';
import type { UiConfig } from '../../config/ui.ts';
import { isLoopback } from '../../core/url.ts';
import { link } from '../html/elements.ts';
import { configurationViews } from '../model/configuration.ts';
import {
  type Backend,
  canSeeOrganization,
  type PageDefinition,
  PageError,
  type PageRequest,
  type Viewer,
  visibilityOf,
} from '../model/page.ts';
import { titleOf, titlesOf } from '../model/status.ts';
import { databaseWarning } from '../pages/replicas.ts';
import { type Assets, layout } from './layout.ts';

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Returns true if the answer must be JSON. */
export function wantsJson({ headers }: FastifyRequest): boolean {
  const accept = headers.accept ?? '';
  return accept.includes('application/json') && !accept.includes('text/html');
}

/** Returns the fields of a form, or of a JSON object. Values that are not text are left out. */
export function formOf({ body }: FastifyRequest): Readonly<Record<string, string>> {
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : [];
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

/** A rendered answer. */
interface Answer {
  readonly type: string;
  readonly etag: string;
  readonly body: string;
  /** Name of the file for a download; null for what is shown. */
  readonly fileName: string | null;
}

/** Returns the path of a request, without its query. */
export function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? '/';
}

/** Returns the request as pages see it. Throws PageError (404) for an organization that the person may not see. */
export function pageRequest(
  backend: Backend,
  handlers: PageRequest['handlers'],
  request: FastifyRequest,
  viewer: Viewer,
): PageRequest {
  const params = request.params as Readonly<Record<string, string>>;
  if (!canSeeOrganization(backend, viewer, params.organization)) {
    throw notFound();
  }
  const query = Object.entries(request.query as Readonly<Record<string, string | string[]>>);
  return {
    params,
    query: Object.fromEntries(query.map(([name, value]) => [name, [value].flat().at(-1) ?? ''])),
    fields: formOf(request),
    viewer,
    handlers,
    titleOf: titlesOf(backend),
    now: backend.clock.now(),
  };
}

/** Renders a page. `done`: action that the person just took. Throws PageError (404) if there is no such thing. */
export async function renderPage(
  page: PageDefinition,
  { backend, assets }: { readonly backend: Backend; readonly assets: Assets },
  request: PageRequest,
  { path, isJson, done }: { readonly path: string; readonly isJson: boolean; readonly done: string },
): Promise<Answer> {
  await backend.refresh();
  const view = await page.load(backend, request);
  if (view === null) {
    throw notFound();
  }
  if (isJson || page.render === null) {
    const body = JSON.stringify(view);
    return { type: JSON_TYPE, body, etag: etagOf(body), fileName: page.fileName?.(request) ?? null };
  }
  const main = await page.render(view, request);
  const title = page.title(view);
  const { viewer, params } = request;
  const state = backend.fleet();
  const fleet = state === null ? {} : { fleet: { warning: databaseWarning(state) } };
  const configuration = configurationViews(backend.configurationProblems(), () => visibilityOf(backend, viewer));
  const etag = etagOf(`${title}\n${fleet.fleet?.warning ?? ''}\n${JSON.stringify(configuration)}\n${main}`);
  const topics = page.topics(view);
  const live = topics.length === 0 ? null : { etag, topics: [...topics, 'configuration'] };
  const organization = organizationOf(backend, params.organization);
  const body = await layout({
    title,
    main,
    path,
    organization,
    viewer,
    assets,
    live,
    configuration,
    now: request.now,
    notice: DONE.get(done) ?? '',
    ...fleet,
  });
  return { type: HTML, etag, body, fileName: null };
}

/** Returns the name of an organization; null for a page of none. */
function organizationOf(backend: Backend, id: string | undefined) {
  const state = backend.organizations().find((each) => each.id === id);
  return id === undefined ? null : { id, title: state === undefined ? id : titleOf(state) };
}

/** Sends an answer, or 304 if the client has it. */
export function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  const { type, etag, body, fileName } = answer;
  void reply.header('vary', 'accept, cookie, authorization').header('etag', etag);
  if (fileName !== null) {
    const safe = fileName.replaceAll(/[^\w.-]/g, '-');
    void reply.header('content-disposition', `attachment; filename="${safe}"`);
  }
  if (request.headers['if-none-match'] === etag) {
    return reply.code(304).send();
  }
  return reply.type(type).send(body);
}

/** Sends an error, as a page or as JSON. */
export async function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, message, headers, detail }: PageError,
  frame: { readonly assets: Assets; readonly viewer: Viewer | null },
): Promise<FastifyReply> {
  void reply.code(status).headers(headers);
  if (wantsJson(request)) {
    return reply.type(JSON_TYPE).send(JSON.stringify({ error: message, ...detail?.json }));
  }
  const title = TITLES[status] ?? 'The request failed';
  const main = html`<h1>${title}</h1>
<p>${message}</p>
${detail?.html ?? ''}
<p>${link('/', 'All organizations')}</p>`;
  const body = await layout({ title, main, path: pathOf(request), organization: null, live: null, ...frame });
  return reply.type(HTML).send(body);
}

/** Notice on the page that follows an action. */
const DONE: ReadonlyMap<string, string> = new Map([
  ['approve', 'Approved.'],
  ['reject', 'Rejected.'],
  ['pause', 'Paused.'],
  ['resume', 'Resumed.'],
  ['reconcile', 'A check has been requested.'],
  ['dead-retry', 'The refused conversations are sent again.'],
  ['dead-drop', 'The refused conversations were discarded.'],
  ['cluster-open', 'A change request was asked for; its state is in the list below.'],
  ['cluster-mute', 'The question was changed; the list says whether it is muted.'],
  ['delivery-retry', 'Messages that were given up are sent again.'],
]);

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Sign in',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Not possible now',
  413: 'Too large',
  421: 'Unknown host name',
  429: 'Too many attempts',
  500: 'Internal error',
  502: 'No answer from another server',
  503: 'Not available now',
};

export function notFound(): PageError {
  return new PageError(404, 'There is no such page, or you may not see it.');
}

function etagOf(content: string): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}

/** Headers of every answer. Pages load nothing from other hosts, and run no script of their own text. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    ...["script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"],
    ...["form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"],
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/**
 * Throws PageError unless the Host header is a name of this server. A site whose name is made to point to this machine
 * (DNS rebinding) could otherwise read the pages.
 */
export function checkHost(host: string | undefined, { listen, publicUrl, hosts }: UiConfig): void {
  const url = host === undefined || /[/?#@\\\s]/.test(host) ? null : URL.parse(`http://${host}`);
  const isKnown =
    url !== null &&
    ((publicUrl !== undefined && new URL(publicUrl).hostname === url.hostname) ||
      hosts.some((name) => name.toLowerCase() === url.hostname) ||
      listen?.host === url.hostname ||
      isLoopback(url));
  if (!isKnown) {
    throw new PageError(421, 'This server does not answer to this host name. Add the name to ui.hosts.');
  }
}

/**
 * Throws PageError for requests that proxies and servers understand differently: several Host headers, and a whole URL
 * in place of the path.
 */
export function checkTarget({ url = '', rawHeaders }: Pick<IncomingMessage, 'url' | 'rawHeaders'>): void {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (hosts.length > 1 || !url.startsWith('/')) {
    throw new PageError(400, 'The request must have one Host header, and a path as its address.');
  }
}

/**
 * Throws PageError if a request that changes something may come from a page of another site. `isAmbient`: the browser
 * proves who sends it without being asked. Otherwise, another site cannot make it do so.
 */
export function checkOrigin(headers: IncomingHttpHeaders, isAmbient: boolean, publicUrl: string | undefined): void {
  const { host, origin } = headers;
  const site = headers['sec-fetch-site'];
  const isSame =
    site !== undefined
      ? site === 'same-origin'
      : origin !== undefined &&
        (URL.parse(origin)?.host === host || (publicUrl !== undefined && origin === new URL(publicUrl).origin));
  if (!isSame && isAmbient) {
    throw new PageError(403, 'This request does not come from a page of this server. Open the page and try again.');
  }
}
