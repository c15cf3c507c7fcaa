/** Frame of every page: where it is, navigation, the content, and the places for notices. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { html } from 'hono/html';
import { age, shown, sprite } from '../html/elements.ts';
import {
  type ConfigurationView,
  configurationDetail,
  configurationHead,
  PARTIAL_EFFECT,
} from '../model/configuration.ts';
import type { Html, Viewer } from '../model/page.ts';
import { organizationPath } from '../model/words.ts';

interface FrameOptions {
  readonly title: string;
  readonly main: Html;
  /** Path of the request, for the navigation. */
  readonly path: string;
  /** Null for a page that belongs to no organization. */
  readonly organization: { readonly id: string; readonly title: string } | null;
  /** Null before a person has signed in. */
  readonly viewer: Viewer | null;
  readonly assets: Assets;
  /** Version of the content, and topics that reload it; null for a page that does not change. */
  readonly live: { readonly etag: string; readonly topics: readonly string[] } | null;
  /** Notice about what the person just did. */
  readonly notice?: string;
  /** The fleet that serves the page; absent: there is none. */
  readonly fleet?: { readonly warning: string | null };
  /** Configurations that cannot be used. */
  readonly configuration?: readonly ConfigurationView[];
  /** Milliseconds since the epoch, for the ages of these. */
  readonly now?: number;
  /** Address to open at once. */
  readonly refresh?: string | undefined;
}

const GLOBAL = [
  ['/', 'Organizations'],
  ['/alerts', 'Alerts'],
  ['/limits', 'API limits'],
  ['/audit', 'Audit'],
  ['/log', 'Log'],
] as const;

/** Tabs of an organization: the path, the text, and the paths of other pages that belong to it. */
const OF_ORGANIZATION = [
  ['', 'Overview'],
  ['/history', 'History'],
  ['/conversations', 'Conversations', '/refused'],
  ['/questions', 'Questions'],
  ['/audit', 'Audit'],
] as const;

/** Seconds between reloads of a page without JavaScript. A page with a form is not reloaded, as it would be emptied. */
const RELOAD = 30;

/** Renders a document. */
export async function layout(options: FrameOptions): Promise<string> {
  const { title, viewer, assets, live, refresh } = options;
  const main = await options.main;
  const isReloaded = live !== null && !String(main).includes(' method="post"');
  const tabs = tabsOf(options);
  const document = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}${options.organization === null ? '' : ` · ${shown(options.organization.title, 80)}`} · Octavo</title>
<link rel="icon" href="${assets.href('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.href('tokens.css')}">
<link rel="stylesheet" href="${assets.href('style.css')}">
${
  live === null
    ? ''
    : html`<script src="${assets.href('idiomorph.js')}" defer></script>
<script src="${assets.href('page.js')}" type="module"></script>`
}
${refresh === undefined ? '' : html`<meta http-equiv="refresh" content="0; url=${refresh}">`}
${isReloaded ? html`<noscript><meta http-equiv="refresh" content="${RELOAD}"></noscript>` : ''}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="frame">
<div class="bar">${viewer === null ? html`<p class="crumbs">Octavo</p>` : html`${breadcrumb(options, tabs)}${person(viewer)}`}</div>
${viewer === null ? '' : tabNav(options, tabs)}
</header>
<p id="connection" class="notice" role="status"></p>
${options.fleet?.warning == null ? '' : html`<p class="notice" role="alert">${options.fleet.warning}</p>`}
${configurationNotices(options)}
${options.notice === undefined || options.notice === '' ? '' : html`<p class="notice done" role="status">${options.notice}</p>`}
<main id="main" tabindex="-1"${live === null ? '' : html` data-etag="${live.etag}" data-topics="${JSON.stringify(live.topics)}"`}>
${main}
${sprite(String(main))}
</main>
</body>
</html>
`;
  return String(document);
}

/** Characters of a problem of the configuration that are shown. */
const LONGEST_PROBLEM = 400;

function configurationNotices({ configuration = [], now = 0 }: FrameOptions): Html {
  const notices = configuration.map((each) => {
    const detail = configurationDetail(each);
    const shownDetail = detail === '' ? '' : html`: <code>${shown(detail, LONGEST_PROBLEM)}</code>`;
    const effect = each.isPartial
      ? html`; ${PARTIAL_EFFECT}`
      : html`. Still running with the configuration of ${age(each.usedSince, now)}`;
    return html`<p class="notice" role="alert">${shown(configurationHead(each))} (since ${age(each.since, now)})${shownDetail}${effect}.</p>
`;
  });
  return html`${notices}`;
}

interface Way {
  readonly href: string;
  readonly text: string;
  /** Path of pages that belong to it and are not below it. */
  readonly also?: string;
}

/** Returns the tabs of an organization, or those of all. The first one has no pages below it. */
function tabsOf({ organization, fleet }: FrameOptions): readonly Way[] {
  if (organization !== null) {
    const base = organizationPath(organization.id);
    return OF_ORGANIZATION.map(([below, text, also]) => {
      return { href: `${base}${below}`, text, ...(also === undefined ? {} : { also: `${base}${also}` }) };
    });
  }
  const pages = fleet === undefined ? GLOBAL : [...GLOBAL, ['/replicas', 'Replicas'] as const];
  return pages.map(([href, text]) => ({ href, text }));
}

/** Returns the way to a page, such as `Octavo / Acme / History / Run #10`. */
function wayTo({ organization, title, path }: FrameOptions, tabs: readonly Way[]): readonly Way[] {
  const home = organization === null ? [] : [{ href: organizationPath(organization.id), text: organization.title }];
  const tab = tabs.slice(1).find((each) => isAt(path, each));
  const isTab = tabs.some(({ href }) => href === path);
  return [
    { href: '/', text: 'Octavo' },
    ...home,
    ...(tab === undefined ? [] : [tab]),
    ...(isTab ? [] : [{ href: path, text: title }]),
  ];
}

function isAt(path: string, { href, also = href }: Way): boolean {
  return [href, also].some((each) => path === each || path.startsWith(`${each}/`));
}

function breadcrumb(options: FrameOptions, tabs: readonly Way[]): Html {
  const items = wayTo(options, tabs).map(({ href, text }) =>
    href === options.path
      ? html`<li aria-current="page">${shown(text, 80)}</li>`
      : html`<li><a href="${href}">${shown(text, 80)}</a></li>`,
  );
  return html`<nav aria-label="Breadcrumb"><ol class="crumbs">${items}</ol></nav>`;
}

function tabNav({ organization, path }: FrameOptions, tabs: readonly Way[]): Html {
  const items = tabs.map((each, index) => {
    const { href, text } = each;
    const isCurrent = index === 0 ? path === href : isAt(path, each);
    return html`<li><a href="${href}"${isCurrent ? html` aria-current="${path === href ? 'page' : 'true'}"` : ''}>${text}</a></li>`;
  });
  return html`<nav class="tabs" aria-label="${shown(organization?.title ?? 'Octavo', 80)}"><ul>${items}</ul></nav>`;
}

/** Name of the person, and the button that ends a session. */
function person({ actor }: Viewer): Html {
  if (actor.method === 'none') {
    return html`<p class="person">Read-only</p>`;
  }
  const signOut = ['token', 'oidc'].includes(actor.method)
    ? html`<form method="post" action="/sign-out"><button>Sign out</button></form>`
    : '';
  return html`<div class="person"><span>${shown(actor.name)}</span>${signOut}</div>`;
}

interface Asset {
  readonly type: string;
  readonly body: Buffer;
  /** Part of its address, so that browsers can keep it for ever. */
  readonly version: string;
}

export interface Assets {
  /** Returns the address of a file. */
  href(name: string): string;
  get(name: string): Asset | undefined;
}

const STYLE = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
/** Folder of the files, in a checkout and in an installed package. */
const FOLDER = import.meta.url.endsWith('.ts') ? '../assets/' : './assets/';

/** Reads all files. */
export async function loadAssets(): Promise<Assets> {
  const own = (name: string) => new URL(`${FOLDER}${name}`, import.meta.url);
  const morph = createRequire(import.meta.url).resolve('idiomorph/dist/idiomorph.min.js');
  const files = new Map<string, Asset>([
    ['tokens.css', await readStyle(own('tokens.css'))],
    ['style.css', await readStyle(own('style.css'))],
    ['icon.svg', await read(own('icon.svg'), 'image/svg+xml')],
    ['page.js', await read(own('page.js'), SCRIPT)],
    ['idiomorph.js', await read(morph, SCRIPT)],
  ]);
  return {
    href: (name) => `/assets/${name}?v=${files.get(name)?.version ?? ''}`,
    get: (name) => files.get(name),
  };
}

/** Reads a stylesheet without its comments and indentation, which are a third of the first page. */
async function readStyle(path: URL): Promise<Asset> {
  const css = await readFile(path, 'utf8');
  return asset(Buffer.from(css.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s*\n\s*/g, '\n')), STYLE);
}

async function read(path: string | URL, type: string): Promise<Asset> {
  return asset(await readFile(path), type);
}

function asset(body: Buffer, type: string): Asset {
  return { type, body, version: createHash('sha256').update(body).digest('hex').slice(0, 12) };
}
