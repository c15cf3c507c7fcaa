// Redaction of the URL of a ticket.

import type { PrivateValue } from './model/found.ts';

const HEAD = /^([a-z][a-z0-9+.-]{0,30}:\/\/)([^/?#]*)([^?#]*)/i;
/** Types that are redacted in the path of a ticket's URL; numbers there belong to the ticket. */
const IN_PATH: ReadonlySet<string> = new Set(['secret', 'email', 'person', 'pattern']);

/**
 * Returns the values to redact in the URL of a ticket: everything in the user info, query and fragment, and values
 * other than numbers in the path. The host is kept, so that the URL still works.
 */
export function spansOfUrl(url: string, found: readonly PrivateValue[]): readonly PrivateValue[] {
  const match = HEAD.exec(url);
  if (match === null) {
    return found;
  }
  const [, scheme = '', authority = '', path = ''] = match;
  const host = scheme.length + authority.lastIndexOf('@') + 1;
  const pathStart = scheme.length + authority.length;
  const queryStart = pathStart + path.length;
  return found.filter(({ type, start, end }) => {
    if (start >= queryStart || end <= host) {
      return true;
    }
    return start >= pathStart && IN_PATH.has(type);
  });
}

/** Encodes a placeholder for a URL. */
export function inUrl(placeholder: string): string {
  return placeholder.replace('[', '%5B').replace(']', '%5D');
}
