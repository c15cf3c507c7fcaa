import { plainText, textOf } from './leaves.ts';
import type { RichNode } from './node.ts';

/** Allowed schemes of links. Others run code, contain data, or are unknown to most readers. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:', 'tel:']);

/** An email address that Markdown reads as one in angle brackets, which is how it is written. */
const EMAIL =
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*(?:\?|$)/i;

/** Longest URL of a link, in characters. Source: docs/platform-notes.md#limits */
const MAX_LENGTH = 2048;

/**
 * Creates a link with this content. An address that is relative or has another scheme, such as `javascript:`, does not
 * become a link: the content is kept, followed by the address in brackets. Empty content is replaced by the address.
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
  const isShown = inside
    .map(textOf)
    .join('')
    .includes(shown.replace(/^mailto:/i, ''));
  return isShown ? [...inside] : [...inside, plainText(` (${shown})`)];
}

/** Returns the address, with invalid characters encoded; null if it cannot be a link. */
function linkable(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || !SCHEMES.has(parsed.protocol)) {
    return null;
  }
  if (parsed.protocol === 'mailto:' && !EMAIL.test(parsed.href.slice('mailto:'.length))) {
    return null;
  }
  const address = /^[!-~]+$/.test(url) ? url : parsed.href;
  return address.length > MAX_LENGTH ? null : address;
}
