/** Links: the only way to put an address into a page. */
import { html } from 'hono/html';
import type { Html } from '../page.ts';

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
