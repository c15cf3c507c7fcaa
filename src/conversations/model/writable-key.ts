import type { Redactor } from './conversation.ts';
import type { Person } from './ticket.ts';

/** Keys with an id that the author of a file or a form chose; ids of helpdesks are numbers. */
const CHOSEN_ID = /^((?:webhook|file)\/[^/]*\/)(.+)$/s;

/**
 * Returns the key of a ticket in a form that may be written, logged and sent: an id that is itself private, such as a
 * customer's email address, phone number or name, becomes a keyed hash, and so does one that no database stores as it
 * is. The result depends only on the key and the people, so that it is the same for every kind of record.
 */
export function writableKey(
  key: string,
  redactor: Pick<Redactor, 'text' | 'pseudonymize'>,
  people: readonly Person[] = [],
): string {
  const [, head, id] = CHOSEN_ID.exec(key) ?? [];
  if (head === undefined || id === undefined || (isText(id) && redactor.text(id, people) === id)) {
    return key;
  }
  return `${head}${redactor.pseudonymize(id)}`;
}

/** Reports whether PostgreSQL stores a text unchanged. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
