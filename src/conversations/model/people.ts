import type { Person } from './ticket.ts';

/** Gathers whoever is seen in a conversation, so that redaction can take them out. */
export class People {
  readonly #seen = new Map<string, Person>();

  /** What is empty or no text is left out, and so is somebody of whom nothing is known. */
  add(names: readonly unknown[], emails: readonly unknown[]): void {
    const person: Person = { names: texts(names), emails: texts(emails) };
    if (person.names.length > 0 || person.emails.length > 0) {
      this.#seen.set(JSON.stringify([person.names, person.emails]), person);
    }
  }

  /** Everybody once, in the order they were first seen. */
  all(): Person[] {
    return [...this.#seen.values()];
  }
}

function texts(values: readonly unknown[]): string[] {
  const trimmed = values.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value.trim()] : []));
  return [...new Set(trimmed)];
}
