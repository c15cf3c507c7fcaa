import type { Person } from './ticket.ts';

/** Collects the participants of a conversation, whose names and addresses are redacted. */
export class PeopleCollector {
  readonly #seen = new Map<string, Person>();

  /** Adds a person. Skips values that are empty or not text, and a person without any value. */
  add(names: readonly unknown[], emails: readonly unknown[]): void {
    const person: Person = { names: texts(names), emails: texts(emails) };
    if (person.names.length > 0 || person.emails.length > 0) {
      this.#seen.set(JSON.stringify([person.names, person.emails]), person);
    }
  }

  /** Returns each person once, in the order of first appearance. */
  all(): Person[] {
    return [...this.#seen.values()];
  }
}

function texts(values: readonly unknown[]): string[] {
  const trimmed = values.flatMap((value) => (typeof value === 'string' && value.trim() !== '' ? [value.trim()] : []));
  return [...new Set(trimmed)];
}
