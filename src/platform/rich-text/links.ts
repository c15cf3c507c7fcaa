import { plainText, textOf } from './leaves.ts';
import type { RichNode } from './node.ts';

/** What a link may open: pages, mail and calls. Others run code, carry data, or mean nothing to most readers. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);

/** Longest URL of a link, in characters. Source: docs/platform-notes.md#limits */
const LONGEST = 2048;

/**
 * A link to an address around this content. What is no absolute address that may be opened is no link: a relative one
 * has nothing to be relative to, and `javascript:` runs code. The content stays then, with the address after it in
 * brackets, so that nothing is lost. Content of none is the address.
 */
export function linkTo(url: string, inside: readonly RichNode[]): RichNode[] {
  const shown = url.trim();
  const address = linkable(shown);
  if (address !== null) {
    const nodes = inside.length === 0 ? [plainText(shown)] : inside;
    return [{ object: 'inline', type: 'link', data: { ref: { kind: 'url', url: address } }, nodes }];
  }
  if (inside.length === 0) {
    return shown === '' ? [] : [plainText(shown)];
  }
  const said = shown === '' || inside.map(textOf).join('').includes(shown);
  return said ? [...inside] : [...inside, plainText(` (${shown})`)];
}

/** The address as it is written, or encoded where it holds what an address may not; null where it cannot be a link. */
function linkable(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || !SCHEMES.has(parsed.protocol)) {
    return null;
  }
  const address = /^[!-~]+$/.test(url) ? url : parsed.href;
  return address.length > LONGEST ? null : address;
}
