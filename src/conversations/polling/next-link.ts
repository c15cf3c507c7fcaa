import { NotThePlatformError } from '../../core/errors.ts';
import { withoutTrailingSlashes } from '../../core/trim.ts';

/** One link of the header, with its parameters up to the next link. */
const LINK = /<([^<>]*)>([^<]*)/g;
const IS_NEXT = /;\s*rel\s*=\s*(?:"[^"]*\bnext\b|next\b)/i;

/** Maximum length of the header that is read, in characters. */
const MAX_LENGTH = 16_384;

/** Returns the URL of the next page (`Link: <…>; rel="next"`), or null. */
export function nextLink(link: string | readonly string[] | undefined): string | null {
  const links = [link ?? []].flat().join(', ').slice(0, MAX_LENGTH).matchAll(LINK);
  return [...links].find(([, , parameters = '']) => IS_NEXT.test(parameters))?.[1] ?? null;
}

/**
 * Returns the path of a link in a response below the base URL. Throws NotThePlatformError if the link leads elsewhere,
 * so that no request is sent there.
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
