import type { Redactor } from './conversation.ts';

/** Ids that whoever wrote the file or the form made up; a helpdesk's own are numbers. */
const MADE_UP = /^((?:webhook|file)\/[^/]*\/)(.+)$/s;

/**
 * A ticket's key as it may be written, told and sent: an id that is itself private, such as a customer's address or
 * phone number, becomes a keyed hash. Looks at nothing else of the ticket, so that a key is the same whatever was found.
 */
export function writableKey(key: string, redactor: Pick<Redactor, 'text' | 'hide'>): string {
  const [, head, id] = MADE_UP.exec(key) ?? [];
  if (head === undefined || id === undefined || redactor.text(id) === id) {
    return key;
  }
  return `${head}${redactor.hide(id)}`;
}
