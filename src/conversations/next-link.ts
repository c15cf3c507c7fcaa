import { NotThePlatformError } from '../core/errors.ts';

const NEXT = /<([^>]*)>[^,<]*;\s*rel\s*=\s*"?(?:[^",;]*\s)?next\b/i;

/** The address of the next page (`Link: <…>; rel="next"`); null: there is none. */
export function nextLink(link: string | readonly string[] | undefined): string | null {
  return NEXT.exec([link ?? []].flat().join(', '))?.[1] ?? null;
}

/**
 * The path, below the base, of an address that a provider gave. Throws NotThePlatformError where it leads elsewhere: no
 * request goes there.
 */
export function pathBelow(baseUrl: string, address: string, label: string): string {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/+$/, '');
  const url = URL.parse(address, base.href);
  if (url === null || url.origin !== base.origin || !url.pathname.startsWith(`${prefix}/`)) {
    throw new NotThePlatformError(`${label}: an address that leads elsewhere`);
  }
  return url.pathname.slice(prefix.length) + url.search;
}
