/** Times and untrusted text in pages: invisible characters are written out, and long text is cut. The `html` tag escapes it. */
import { html } from 'hono/html';
import { maskUrls } from '../../core/text/safe-url.ts';
import { printable, shortened, spanWords } from '../../plan/render/words.ts';
import type { Actor } from '../../store/history.ts';
import { organizationPath } from '../model/paths.ts';
import type { Freshness } from '../model/status.ts';
import { ageWords, shortChecksum, shortCommit } from '../model/words.ts';
import type { Html } from '../page.ts';
import { link } from './link.ts';

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
