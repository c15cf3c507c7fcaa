/** Replaces ids of tickets that are private. */
import { createHmac } from 'node:crypto';
import { isObject } from '../core/json.ts';
import type { Note } from '../store/record.ts';
import type { Store } from '../store/store.ts';
import type { Person, Redactor } from './model/ticket.ts';
import { chosenId, hasPrivateId } from './redact/chosen-id.ts';

/**
 * Returns the key of a ticket in a form that may be written, logged and sent: an id that is itself private, such as a
 * customer's email address, phone number or name, becomes a keyed hash, and so does one that no database stores as it
 * is. The result depends only on the key and the people, so that it is the same for every kind of record. `isPrivate`:
 * another thread has found this out.
 */
export function writableKey(
  key: string,
  redactor: Pick<Redactor, 'text' | 'pseudonymize'>,
  people: readonly Person[] = [],
  isPrivate = hasPrivateId(key, redactor, people),
): string {
  const id = isPrivate ? chosenId(key) : '';
  return id === '' ? key : `${key.slice(0, -id.length)}${redactor.pseudonymize(id)}`;
}

/**
 * Returns the pseudonym of a private id. It is always the same, and guesses of the id cannot be tested without the key.
 */
export type PseudonymizeId = (id: string) => string;

const KEY_BYTES = 32;
const DIGITS = 24;

/** Creates a pseudonymizer. `key` must be random and secret, because it allows tests of guessed ids. */
export function createIdPseudonymizer(key: Uint8Array): PseudonymizeId {
  return (id) => `hidden-${createHmac('sha256', key).update(id).digest('hex').slice(0, DIGITS)}`;
}

/**
 * Loads the pseudonymizer of an organization. Its key is generated once and stored in the state file. `makeKey` returns
 * random bytes. Throws StoreError.
 */
export async function loadIdPseudonymizer(
  store: Pick<Store, 'note'>,
  organization: string,
  makeKey: (bytes: number) => Uint8Array,
): Promise<PseudonymizeId> {
  const note = store.note(`conversation-ids/${organization}`);
  let key = await keptKey(note);
  if (key === null) {
    key = makeKey(KEY_BYTES);
    await note.write({ key: Buffer.from(key).toString('base64') });
  }
  return createIdPseudonymizer(key);
}

/** Returns the pseudonymizer of an organization; null if no key was generated yet. Throws StoreError. */
export async function findIdPseudonymizer(
  store: Pick<Store, 'note'>,
  organization: string,
): Promise<PseudonymizeId | null> {
  const key = await keptKey(store.note(`conversation-ids/${organization}`));
  return key === null ? null : createIdPseudonymizer(key);
}

async function keptKey(note: Note): Promise<Uint8Array | null> {
  const kept = await note.read();
  const key = isObject(kept) && typeof kept.key === 'string' ? Buffer.from(kept.key, 'base64') : null;
  return key?.length === KEY_BYTES ? key : null;
}
