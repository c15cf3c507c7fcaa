// Fields of a ticket that can hold private values, with the names under which they are reported.

import type { Ticket } from '../model/ticket.ts';
import type { PrivateValue } from './model/found.ts';

/** A text of a ticket. In a URL (`url`), only some parts are scanned, and placeholders are encoded. */
export interface TicketField {
  readonly place: string;
  readonly kind: 'text' | 'url';
  readonly text: string;
}

/** Returns the texts of a ticket, in the order in which placeholders are numbered. */
export function fieldsOf({ subject, parts, attributes, url }: Ticket): readonly TicketField[] {
  return [
    { place: 'subject', kind: 'text', text: subject.trim() },
    ...parts.map(({ body }, index) => ({ place: `parts[${index}]`, kind: 'text' as const, text: body })),
    ...Object.entries(attributes).map(([name, value]) => ({
      place: `attributes.${name}`,
      kind: 'text' as const,
      text: String(value),
    })),
    ...Object.keys(attributes).map((name, index) => ({ place: nameAt(index), kind: 'text' as const, text: name })),
    ...(url === null ? [] : [{ place: 'url', kind: 'url' as const, text: url }]),
  ];
}

/** Returns the position of an attribute's name. The sender chooses the name, so it is redacted too. */
export function nameAt(index: number): string {
  return `attribute names[${index}]`;
}

/** Longest subject, in characters. Source: docs/platform-notes.md#limits */
const MAX_SUBJECT_LENGTH = 512;

/**
 * Shortens a redacted subject, between graphemes. A cut can create text that looks like a private value (the first 16
 * digits of 20), which is redacted too.
 */
export function cutSubject(subject: string, redact: (text: string) => string): string {
  const short = cut(subject);
  return short === subject ? subject : cut(redact(short));
}

function cut(text: string): string {
  if (text.length <= MAX_SUBJECT_LENGTH) {
    return text;
  }
  let kept = '';
  let points = 0;
  for (const { segment } of new Intl.Segmenter('und').segment(text)) {
    points += [...segment].length;
    if (points > MAX_SUBJECT_LENGTH) {
      // Drop a partial placeholder.
      return kept.replace(/\[[A-Z][A-Z0-9_]{0,48}$/, '').trimEnd();
    }
    kept += segment;
  }
  return kept;
}

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
