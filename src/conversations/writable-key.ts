import { createHash } from 'node:crypto';
import type { Redactor } from './conversation.ts';

/** Ids that whoever wrote the file or the form made up; a helpdesk's own are numbers. */
const MADE_UP = /^((?:webhook|file)\/[^/]*\/)(.+)$/s;
const DIGITS = 24;

/**
 * A ticket's key as it may be written, told and sent: an id that is itself private, such as a customer's address or
 * phone number, becomes its hash. Looks at nothing else of the ticket, so that a key is the same whatever was found.
 */
export function writableKey(key: string, redactor: Pick<Redactor, 'text'>): string {
  const [, head, id] = MADE_UP.exec(key) ?? [];
  if (head === undefined || id === undefined || redactor.text(id) === id) {
    return key;
  }
  return `${head}sha256-${createHash('sha256').update(id).digest('hex').slice(0, DIGITS)}`;
}
