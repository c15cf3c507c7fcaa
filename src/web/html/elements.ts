/** Elements of pages: text and times, links, states, icons and tables. Links are the only way to put an address into a page. */

import { html, raw } from 'hono/html';
import { maskUrls } from '../../core/text/safe-url.ts';
import { printable, shortened, spanWords } from '../../plan/render/words.ts';
import type { Actor, PassRecord } from '../../store/history.ts';
import type { Html } from '../model/page.ts';
import type { ResourceState } from '../model/resources.ts';
import type { Freshness, OrganizationStatus } from '../model/status.ts';
import { ageWords, organizationPath, shortChecksum, shortCommit } from '../model/words.ts';
import paths from './icons.json' with { type: 'json' };

/** Returns `2 minutes ago`, or `in 5 minutes` for a time to come. `at` is ISO 8601; null: `never`. */
export function age(at: string | null, now: number): Html {
  const time = at === null ? Number.NaN : Date.parse(at);
  if (at === null || Number.isNaN(time)) {
    return html`<span class="faint">never</span>`;
  }
  return html`<time datetime="${at}" title="${at}">${ageWords(time, now)}</time>`;
}

/** Returns when something was observed, and says so if that is too long ago. `never`: text if it never was. */
export function observed({ asOf, ageSeconds, isStale }: Freshness, now: number, never: string): Html {
  if (asOf === null || ageSeconds === null) {
    return html`<span class="faint">${never}</span>`;
  }
  return isStale
    ? html`<time class="state old" datetime="${asOf}" title="${asOf}">not for ${spanWords(ageSeconds * 1000)}</time>`
    : age(asOf, now);
}

/** Longest name that is shown, in characters. */
const LONGEST = 200;
/** Longest text of several lines. */
const LONGEST_TEXT = 4000;

/** Returns a text on one line. */
export function shown(text: string, longest = LONGEST): string {
  return printable(maskUrls(shortened(text, longest)));
}

/** Returns a text of several lines, such as an error. */
export function shownLines(text: string): Html {
  const lines = shortened(text, LONGEST_TEXT).split(/\r?\n/);
  return html`<pre class="text">${lines.map((line) => printable(maskUrls(line))).join('\n')}</pre>`;
}

/** Returns the short id of a commit, with a link to its page at the forge if there is one. */
export function commitText(commit: string | null, url: string | null): Html {
  if (commit === null) {
    return html`<span class="faint">no commit</span>`;
  }
  const code = html`<code>${shown(shortCommit(commit))}</code>`;
  return url === null ? code : link(url, code, { label: `Commit ${shown(shortCommit(commit))} at the forge` });
}

/** Returns the short form of a checksum. */
export function checksumText(checksum: string): Html {
  return html`<code>${shown(shortChecksum(checksum))}</code>`;
}

/** Returns a link to the page of an organization: its title, and its id, which tells those with the same title apart. */
export function organizationLink(id: string, title: string): Html {
  return link(organizationPath(id), organizationName(id, title));
}

/** Returns the title of an organization with its id, or only the id if the title is not known. */
export function organizationName(id: string, title: string): Html {
  return title === id
    ? html`${shown(id, 80)}`
    : html`${shown(title, 80)} <span class="address">${shown(id, 80)}</span>`;
}

/** Returns the name of a person, and how Octavo knows who it is. */
export function personText(name: string, method: Actor['method']): Html {
  return html`<b>${name === '' ? 'unknown' : shown(name)}</b> <span class="faint">(${method})</span>`;
}
/**
 * Returns an address that a page may link to: a path on this host, or an http(s) URL without a password. Null for
 * everything else, such as `javascript:` and `//host`.
 */
export function safeHref(href: string): string | null {
  if (isLocalPath(href) || /^[?#][^\\\s]*$/.test(href)) {
    return href;
  }
  const url = /^https?:\/\//i.test(href) ? URL.parse(href) : null;
  return url === null || url.username !== '' || url.password !== '' ? null : url.href;
}

/** Returns true for a path on this host. Browsers treat `//host` and `/\host` as another host, also after `/..`. */
export function isLocalPath(path: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers remove control characters from addresses
  const url = /^\/(?!\/)[^\\\s\x00-\x1f\x7f]*$/.test(path) ? URL.parse(path, 'http://host') : null;
  return url?.host === 'host' && !url.pathname.startsWith('//');
}

/** Returns a link, or only its text if the address is not safe. `label`: name for screen readers, if the text is short. */
export function link(href: string, text: Html | string, options: { label?: string; class?: string } = {}): Html {
  const safe = safeHref(href);
  if (safe === null) {
    return html`${text}`;
  }
  const label = options.label === undefined ? '' : html` aria-label="${options.label}"`;
  const classes = options.class === undefined ? '' : html` class="${options.class}"`;
  return html`<a href="${safe}"${label}${classes}>${text}</a>`;
}

/** Returns a query, such as `?q=docs&after=5`; values that are null or empty are left out. */
export function queryOf(values: Readonly<Record<string, string | number | null | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '') {
      query.set(name, String(value));
    }
  }
  return query.size === 0 ? '' : `?${query}`;
}
/** Color of a state: `bad` needs a person, `wait` is on hold, `old` is not known any more. */
export type Tone = 'ok' | 'busy' | 'wait' | 'bad' | 'old' | 'none';

export interface StateLabel {
  readonly tone: Tone;
  readonly word: string;
}

export const STATUS_LABELS: Readonly<Record<OrganizationStatus, StateLabel>> = {
  unowned: { tone: 'bad', word: 'no replica' },
  failed: { tone: 'bad', word: 'failed' },
  stale: { tone: 'old', word: 'not checked' },
  held: { tone: 'wait', word: 'needs approval' },
  paused: { tone: 'wait', word: 'paused' },
  applying: { tone: 'busy', word: 'applying' },
  waiting: { tone: 'busy', word: 'waiting' },
  unknown: { tone: 'none', word: 'not checked yet' },
  'in-sync': { tone: 'ok', word: 'in sync' },
  unmanaged: { tone: 'none', word: 'no manifests' },
};

export const RESOURCE_LABELS: Readonly<Record<ResourceState, StateLabel>> = {
  failed: { tone: 'bad', word: 'failed' },
  held: { tone: 'wait', word: 'needs approval' },
  paused: { tone: 'wait', word: 'paused' },
  planned: { tone: 'busy', word: 'planned' },
  pending: { tone: 'busy', word: 'pending' },
  stale: { tone: 'old', word: 'not checked lately' },
  unknown: { tone: 'none', word: 'not checked yet' },
  'in-sync': { tone: 'ok', word: 'in sync' },
};

export const OUTCOME_LABELS: Readonly<Record<PassRecord['outcome'], StateLabel>> = {
  failed: { tone: 'bad', word: 'failed' },
  held: { tone: 'wait', word: 'held' },
  done: { tone: 'ok', word: 'done' },
};

/** Labels of the results of changes; see `NewResourceChange.status`. */
export const RESULT_LABELS: ReadonlyMap<string, StateLabel> = new Map([
  ['applied', { tone: 'ok', word: 'applied' }],
  ['failed', { tone: 'bad', word: 'failed' }],
  ['held', { tone: 'wait', word: 'held' }],
  ['paused', { tone: 'wait', word: 'paused' }],
  ['skipped', { tone: 'busy', word: 'skipped' }],
  ['planned', { tone: 'busy', word: 'planned' }],
]);

/** Returns only the dot of a state; screen readers say its word. */
export function stateDot({ tone, word }: StateLabel): Html {
  return html`<span class="state ${tone}"><span class="hidden">${word}</span></span>`;
}

/** Returns the dot and the word of a state. */
export function stateBadge({ tone, word }: StateLabel): Html {
  return html`<span class="state ${tone}">${word}</span>`;
}
export type IconName = Exclude<keyof typeof paths, ''>;

/** Icons of kinds; of a new kind, that of a book. */
const KINDS: Readonly<Record<string, IconName>> = {
  organization: 'organization',
  team: 'people',
  member: 'person',
  saml: 'shield-lock',
  collection: 'file-directory-fill',
  space: 'book',
  site: 'globe',
  'section-group': 'stack',
  section: 'list-unordered',
  'site-space': 'browser',
  openapi: 'code-square',
  translation: 'typography',
};

/** Returns the icon of a kind. */
export function kindIcon(kind: string): Html {
  return icon(KINDS[kind] ?? 'book');
}

/** Returns an icon, which {@link sprite} has to be on the same page for. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" aria-hidden="true"><use href="#i-${name}"></use></svg>`;
}

/** Returns the shapes of the icons that a page refers to. Its texts are escaped, so that they cannot refer to any. */
export function sprite(page: string): Html {
  const used = new Set([...page.matchAll(/<use href="#i-([\w-]+)">/g)].map(([, name]) => name as IconName));
  if (used.size === 0) {
    return html``;
  }
  const shapes = [...used].map(
    (name) => `<symbol id="i-${name}" viewBox="0 0 16 16"><path d="${paths[name]}"/></symbol>`,
  );
  return html`<svg class="hidden" aria-hidden="true">${raw(shapes.join(''))}</svg>`;
}
interface TableOptions {
  /** For screen readers: a heading says the same to others. */
  readonly caption: string;
  readonly head: readonly string[];
  /** The first cell names its row. */
  readonly rows: readonly (readonly (Html | string | number)[])[];
  /** Shown instead of a table without rows. */
  readonly empty: string;
}

export function table({ caption, head, rows, empty }: TableOptions): Html {
  if (rows.length === 0) {
    return html`<p class="empty">${empty}</p>`;
  }
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table role="table">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${head.map((text) => html`<th scope="col" role="columnheader">${text}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((cells) => row(cells, head))}</tbody>
</table></div>`;
}

/** Roles are repeated, because narrow windows show a row as a block, and some browsers drop the roles of blocks. */
function row([name = '', ...cells]: TableOptions['rows'][number], [, ...labels]: readonly string[]): Html {
  return html`<tr role="row"><th scope="row" role="rowheader">${name}</th>${cells.map(
    (cell, index) => html`<td role="cell" data-label="${labels[index] ?? ''}">${cell}</td>`,
  )}</tr>
`;
}

/** Returns links to the first and the next page. Null: this is the first, or the last one. */
export function paging(first: string | null, next: string | null, what: string): Html {
  if (first === null && next === null) {
    return html``;
  }
  return html`<nav class="paging" aria-label="Pages of ${what}">
${first === null ? '' : link(first, 'First page')}
${next === null ? '' : link(next, 'Next page')}
</nav>`;
}
