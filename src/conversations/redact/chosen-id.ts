/** Finds out whether the id of a ticket is private: many are chosen by people. */
import type { Person, Redactor } from '../model/ticket.ts';

/** Keys with an id that the author of a file or a form chose; ids of helpdesks are numbers. */
const CHOSEN_ID = /^(?:webhook|file)\/[^/]*\/(.+)$/s;

/** Returns the id at the end of a key if somebody chose it, otherwise an empty text. */
export function chosenId(key: string): string {
  return CHOSEN_ID.exec(key)?.[1] ?? '';
}

/** Reports whether the id of a ticket may not be written as it is. */
export function hasPrivateId(key: string, redactor: Pick<Redactor, 'text'>, people: readonly Person[]): boolean {
  const id = chosenId(key);
  return id !== '' && !(isText(id) && redactor.text(id, people) === id);
}

/** Reports whether PostgreSQL stores a text unchanged. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
