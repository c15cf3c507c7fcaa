import { type Address, kindOf } from '../core/address.ts';
import type { Actual, Declared } from '../core/resource.ts';
import type { PeopleAddresses } from './model/people.ts';
import type { KindRules, RulesContext } from './model/rules.ts';

interface PendingOptions {
  readonly kinds: ReadonlyMap<string, KindRules>;
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly bound: ReadonlyMap<Address, Actual>;
  readonly people: PeopleAddresses;
  /** Parts that other kinds need, as `findExistingParts` returns them. */
  readonly existingParts: ReadonlySet<string>;
  /** Returns true if the plan replaces the resource of an address. */
  readonly isReplaced: (address: Address) => boolean;
}

/** Finds the resources that cannot be created or referred to before something else exists. */
export class PendingResources {
  /** Reasons by address, as the plan lists them. */
  readonly reasons = new Map<Address, string>();
  readonly context: RulesContext;
  readonly #options: PendingOptions;
  /** Reasons why a declared resource cannot be created yet; null if it can be, or exists. */
  readonly #known = new Map<Address, string | null>();
  /** Declared resources by kind and whole, for kinds with `needsPart`. */
  #parts: ReadonlyMap<string, readonly Declared[]> | undefined;

  constructor(options: PendingOptions) {
    this.#options = options;
    this.context = {
      declaredOf: (address) => options.declared.get(address),
      unusable: (address) => this.#unusableReason(address),
    };
  }

  /** Lists a resource as pending if it cannot be created yet. Returns true then. */
  addIfNotCreatable({ address }: Declared): boolean {
    const reason = this.#creationReason(address);
    if (reason !== null) {
      this.reasons.set(address, reason);
    }
    return reason !== null;
  }

  /** Lists a resource as pending if one of its fields refers to something that cannot be referred to yet. */
  addIfIncomplete(kind: KindRules, resource: Declared): void {
    const reason = this.#referenceReason(kind, resource);
    if (reason !== null) {
      this.reasons.set(resource.address, reason);
    }
  }

  addPeople(emails: readonly string[]): void {
    const { people } = this.#options;
    for (const email of emails) {
      this.reasons.set(people.addressOf(email), people.notJoined);
    }
  }

  /**
   * Returns why a resource cannot be created yet. Does not depend on the order of kinds: a site refers to its sections.
   */
  #creationReason(address: Address): string | null {
    const resource = this.#options.declared.get(address);
    const kind = this.#options.kinds.get(resource?.kind ?? '');
    if (resource === undefined || kind === undefined || this.#options.bound.has(address)) {
      return null;
    }
    const known = this.#known.get(address);
    if (known !== undefined) {
      return known;
    }
    // Breaks a cycle of references.
    this.#known.set(address, null);
    const reason = this.#findReason(kind, resource);
    this.#known.set(address, reason);
    return reason;
  }

  #findReason(kind: KindRules, resource: Declared): string | null {
    if (!kind.creatable) {
      return this.#options.people.notJoined;
    }
    if (resource.within !== null && this.#creationReason(resource.within) !== null) {
      return `waits for ${resource.within}`;
    }
    return (
      kind.pendingReason?.(resource, this.context) ??
      this.#neededPartReason(kind, resource) ??
      this.#referenceReason(kind, resource)
    );
  }

  #neededPartReason({ needsPart }: KindRules, { within }: Declared): string | null {
    const { declared, existingParts } = this.#options;
    if (needsPart === undefined || existingParts.has(`${needsPart} ${within}`)) {
      return null;
    }
    this.#parts ??= Map.groupBy(declared.values(), (part) => `${part.kind} ${part.within}`);
    const parts = this.#parts.get(`${needsPart} ${within}`) ?? [];
    if (parts.some(({ address }) => this.#creationReason(address) === null)) {
      return null;
    }
    return parts[0] === undefined ? `${within} has no ${needsPart}; declare one` : `waits for ${parts[0].address}`;
  }

  #referenceReason(kind: KindRules, resource: Declared): string | null {
    for (const name of Object.keys(kind.fields)) {
      const value = resource.fields[name];
      const rules = kind.fields[name];
      if (value === undefined || value === null || rules?.references === undefined) {
        continue;
      }
      if (rules.afterChildren === true || rules.optionalRef === true) {
        continue;
      }
      for (const address of rules.references(value)) {
        const reason = this.#options.people.isPerson(address) ? null : this.#unusableReason(address);
        if (reason !== null) {
          return reason;
        }
      }
    }
    return null;
  }

  #unusableReason(address: Address): string | null {
    if (this.#creationReason(address) !== null) {
      return `waits for ${address}`;
    }
    const { kinds, bound, isReplaced } = this.#options;
    // A replacement has no result yet.
    const actual = isReplaced(address) ? undefined : bound.get(address);
    return kinds.get(kindOf(address))?.unusableReason?.(actual) ?? null;
  }
}
