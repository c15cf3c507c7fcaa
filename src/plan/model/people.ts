import { type Address, keyOf, kindOf } from '../../core/address.ts';
import type { KindRules, PeopleRules } from './rules.ts';

type PeopleKind = KindRules & { readonly people: PeopleRules };

/** Converts between people and their addresses. The kind of people is the one with `people` in its rules. */
export class PeopleAddresses {
  readonly #kind: PeopleKind | undefined;

  constructor(kinds: readonly KindRules[]) {
    this.#kind = kinds.find((kind): kind is PeopleKind => kind.people !== undefined);
  }

  /** Returns the rules of a kind if its resources are people. */
  rules(kind: string): PeopleRules | null {
    return this.#kind?.name === kind ? this.#kind.people : null;
  }

  /** Returns the reason why someone who has not joined is pending. */
  get notJoined(): string {
    return this.#kind?.people.notJoined ?? '';
  }

  /** Returns the name of the kind, for reading it. */
  get kinds(): readonly string[] {
    return this.#kind === undefined ? [] : [this.#kind.name];
  }

  isPerson(address: Address): boolean {
    return kindOf(address) === this.#kind?.name;
  }

  addressOf(email: string): Address {
    return `${this.#kind?.name ?? ''}/${email}`;
  }

  /** Returns the email address of a person. */
  emailOf(address: Address): string {
    return keyOf(address);
  }
}
