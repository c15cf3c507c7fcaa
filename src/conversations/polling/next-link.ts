import { NotThePlatformError } from '../../core/errors.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';

/** One link of the header; its parameters are what is between it and the next one. */
const LINK = /<([^<>]*)>([^<]*)/g;
const IS_NEXT = /;\s*rel\s*=\s*(?:"[^"]*\bnext\b|next\b)/i;

/** Characters of the header that are read. */
const LONGEST = 16_384;

/** The address of the next page (`Link: <…>; rel="next"`); null: there is none. */
export function nextLink(link: string | readonly string[] | undefined): string | null {
  const links = [link ?? []].flat().join(', ').slice(0, LONGEST).matchAll(LINK);
  return [...links].find(([, , parameters = '']) => IS_NEXT.test(parameters))?.[1] ?? null;
}

/**
 * The path, below the base, of an address that a provider gave. Throws NotThePlatformError where it leads elsewhere: no
 * request goes there.
 */
export function pathBelow(baseUrl: string, address: string, label: string): string {
  const base = new URL(baseUrl);
  const prefix = withoutTrailingSlashes(base.pathname);
  const url = URL.parse(address, base.href);
  if (url === null || url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`)) {
    throw new NotThePlatformError(`${label}: a link in the response leads outside the configured address`);
  }
  return url.pathname.slice(prefix.length) + url.search;
}
