import type { Redactor } from './conversation.ts';
import type { Person } from './ticket.ts';

/** Ids that whoever wrote the file or the form made up; a helpdesk's own are numbers. */
const MADE_UP = /^((?:webhook|file)\/[^/]*\/)(.+)$/s;

/**
 * A ticket's key as it may be written, told and sent: an id that is itself private, such as a customer's address, phone
 * number or name, becomes a keyed hash. Looks at the ticket's people and at nothing else of it, so that a key is the same
 * whatever was found.
 */
export function writableKey(
  key: string,
  redactor: Pick<Redactor, 'text' | 'hide'>,
  people: readonly Person[] = [],
): string {
  const [, head, id] = MADE_UP.exec(key) ?? [];
  if (head === undefined || id === undefined || redactor.text(id, people) === id) {
    return key;
  }
  return `${head}${redactor.hide(id)}`;
}
