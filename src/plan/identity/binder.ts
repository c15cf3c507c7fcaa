import type { Address } from '../../core/address.ts';
import type { Problem } from '../../core/errors.ts';
import { canonicalJson, type Json } from '../../core/json.ts';
import type { Actual, Base, BaseEntry, Declared, Fields } from '../../core/resource.ts';
import { parentsFirst } from '../model/parents-first.ts';
import type { KindRules, NaturalKey } from '../model/rules.ts';
import { type Availability, Candidates } from './candidates.ts';
import { lookUp } from './lookup.ts';
import { describe } from './natural-key.ts';

/** What has been bound so far, over all kinds. */
export interface Tables {
  readonly addresses: Map<string, Address>;
  /** The inverse of `addresses`, without kinds. */
  readonly ids: Map<Address, Set<string>>;
  readonly bound: Map<Address, Actual>;
  readonly owned: Map<Address, Actual>;
  readonly claims: Map<Actual, Address>;
  /** Addresses of the base whose resource has another key now, with that. */
  readonly renamed: Map<Address, Address>;
  /** What a replacement that was not finished has left of the old one. */
  readonly replaced: Map<Address, Actual>;
  readonly adopted: { address: Address; id: string }[];
  readonly problems: Problem[];
  readonly notes: { address: Address; text: string }[];
}

/** How resources are looked for by one of their natural keys. */
interface KeyStep {
  readonly availability: Availability;
  readonly inPlace: boolean;
  readonly adopts: boolean;
  /** Who has taken which key in this step, where that is to be told. */
  readonly taken: Map<string, Address> | null;
}

/** Binds the keys of one kind. */
export class KindBinder {
  readonly #kind: KindRules;
  readonly #tables: Tables;
  readonly #base: Base;
  readonly #byId: ReadonlyMap<string, Actual>;
  readonly #candidates = new Candidates();

  constructor(kind: KindRules, tables: Tables, base: Base, actuals: readonly Actual[]) {
    this.#kind = kind;
    this.#tables = tables;
    this.#base = base;
    this.#byId = new Map(actuals.map((actual) => [actual.id, actual]));
    for (const actual of actuals) {
      if (kind.implicitAddress !== undefined) {
        this.#remember(actual, kind.implicitAddress(actual));
      }
      const asGiven = kind.actualKeys(actual, actual.fields);
      for (const [index, key] of kind.actualKeys(actual, this.#fieldsOf(actual)).entries()) {
        this.#candidates.add(actual, key, asGiven[index]?.parent);
      }
    }
  }

  bind(declared: readonly Declared[], dropped: readonly BaseEntry[]): void {
    const waiting = new Set(parentsFirst(declared));
    for (const resource of [...declared, ...dropped]) {
      this.#keepReplaced(resource);
    }
    this.#each(waiting, (resource) => this.#byOwnId(resource), true);
    this.#each(waiting, (resource) => this.#byRecordedId(resource.address), false);
    this.#bindDropped(dropped);
    this.#byKeys(waiting, (resource) => this.#baseKeys(resource), 'free', false);
    for (const resource of declared) {
      this.#findReplacement(resource);
    }
    // A resource whose key has gone may be taken over: that is how a key is renamed.
    this.#byKeys(waiting, (resource) => this.#declaredKeys(resource), 'takeable', true);
  }

  #each(waiting: Set<Declared>, step: (resource: Declared) => Actual | undefined, adopts: boolean): void {
    for (const resource of waiting) {
      const actual = step(resource);
      if (actual !== undefined) {
        waiting.delete(resource);
        this.#claim(actual, resource, adopts);
      }
    }
  }

  /**
   * Binds by natural keys: all by their best key before any by the next, and all in their place before any that would
   * have to move, so that the order of keys decides nothing.
   */
  #byKeys(
    waiting: Set<Declared>,
    keysOf: (resource: Declared) => readonly NaturalKey[],
    availability: Availability,
    adopts: boolean,
  ): void {
    const keys = new Map([...waiting].map((resource) => [resource, keysOf(resource)]));
    const most = [...keys.values()].reduce((max, { length }) => Math.max(max, length), 0);
    for (let rank = 0; rank < most; rank += 1) {
      for (const inPlace of [true, false]) {
        const taken = new Map<string, Address>();
        for (const resource of waiting) {
          const key = keys.get(resource)?.[rank];
          if (key !== undefined && (inPlace || key.parent !== undefined)) {
            this.#byOneKey(waiting, resource, key, {
              availability,
              inPlace,
              adopts,
              taken: rank === 0 && inPlace ? taken : null,
            });
          }
        }
      }
    }
  }

  #byOneKey(
    waiting: Set<Declared>,
    resource: Declared,
    key: NaturalKey,
    { availability, inPlace, adopts, taken }: KeyStep,
  ): void {
    const all = this.#find(resource.within, key, inPlace, availability);
    const found = adopts || all.length < 2 ? all : this.#withoutReplacement(resource, all);
    const [actual] = found;
    const claim = `${resource.within ?? ''}\n${key.by}\n${key.value}\n${canonicalJson(key.parent ?? null)}`;
    const other = taken?.get(claim);
    if (actual === undefined && other === undefined) {
      return;
    }
    waiting.delete(resource);
    if (other !== undefined) {
      this.#problem(
        resource,
        `has the same ${key.by} as ${other}, and only one is there; set id to say which is meant`,
      );
    } else if (found.length > 1) {
      this.#problem(resource, `${describe(this.#kind, key, found)}; set id to the one that is meant`);
    } else if (actual !== undefined) {
      taken?.set(claim, resource.address);
      this.#claim(actual, resource, adopts);
    }
  }

  /** The old one of a replacement that was begun means nothing any more, and is still owned. */
  #keepReplaced({ address, id }: Pick<Declared, 'address' | 'id'>): void {
    const old = this.#base?.get(address)?.marks.old;
    const actual = typeof old === 'string' && old !== id ? this.#byId.get(old) : undefined;
    if (actual !== undefined && this.#isFree(actual)) {
      this.#tables.replaced.set(address, actual);
      this.#setClaim(actual, address);
    }
  }

  /** Without a record: where the new one is there already, and the old one too, the old one is what is left to go. */
  #findReplacement(resource: Declared): void {
    const { bound, replaced, addresses, ids } = this.#tables;
    const old = bound.get(resource.address);
    if (old === undefined || old.id === resource.id || !this.#isReplaced(resource)) {
      return;
    }
    const found = this.#declaredInPlace(resource, 'free');
    if (found[0] !== undefined && found.length === 1) {
      replaced.set(resource.address, old);
      addresses.delete(`${this.#kind.name} ${old.id}`);
      ids.get(resource.address)?.delete(old.id);
      bound.set(resource.address, found[0]);
      this.#setClaim(found[0], resource.address);
      this.#remember(found[0], resource.address);
    }
  }

  #withoutReplacement(resource: Declared, found: readonly Actual[]): readonly Actual[] {
    const made = this.#isReplaced(resource) ? this.#declaredInPlace(resource, 'free') : [];
    // Otherwise more than one is left in any case.
    const rest = found.length > made.length + 1 ? found : found.filter((actual) => !made.includes(actual));
    return rest.length === 1 ? rest : found;
  }

  /** Whether it has to be made anew over a base that knows nothing of half-made replacements, and so cannot tell the old one from the new. */
  #isReplaced({ address, fields }: Declared): boolean {
    const entry = this.#base?.get(address);
    return (
      entry !== undefined &&
      (entry.id === null || entry.isComplete === true) &&
      entry.marks.begun !== true &&
      Object.entries(this.#kind.fields).some(
        ([name, rules]) =>
          rules.fixed === 'replace' &&
          fields[name] !== undefined &&
          (fields[name] ?? null) !== (this.#inNewWords(entry.fields[name]) ?? null),
      )
    );
  }

  #declaredInPlace(resource: Declared, availability: Availability): readonly Actual[] {
    const { within } = resource;
    const key = this.#declaredKeys(resource).find((each) => this.#find(within, each, true, 'all').length > 0);
    return key === undefined ? [] : this.#find(within, key, true, availability);
  }

  #byOwnId(resource: Declared): Actual | undefined {
    if (resource.id === null) {
      return undefined;
    }
    const actual = this.#byId.get(resource.id);
    if (actual === undefined) {
      this.#problem(resource, `there is no ${this.#kind.name} with the id ${JSON.stringify(resource.id)}`);
    }
    return actual;
  }

  #byRecordedId(address: Address): Actual | undefined {
    const id = this.#base?.get(address)?.id;
    const actual = id === undefined || id === null ? undefined : this.#byId.get(id);
    return actual !== undefined && this.#tables.claims.has(actual) ? undefined : actual;
  }

  #baseKeys(resource: Declared): readonly NaturalKey[] {
    const entry = this.#base?.get(resource.address);
    return entry === undefined ? [] : this.#keysOfEntry(entry);
  }

  /** The natural keys of the base, told in the addresses of now. */
  #keysOfEntry(entry: BaseEntry): readonly NaturalKey[] {
    const { renamed } = this.#tables;
    const fields = Object.entries(entry.fields).map(([name, value]) => [name, this.#inNewWords(value)]);
    return this.#kind.naturalKeys(renamed.size === 0 ? entry.fields : Object.fromEntries(fields), entry.address);
  }

  #inNewWords(value: Json | undefined): Json | undefined {
    return typeof value === 'string' ? (this.#tables.renamed.get(value) ?? value) : value;
  }

  #declaredKeys(resource: Declared): readonly NaturalKey[] {
    const keys = this.#kind.naturalKeys(resource.fields, resource.address);
    return resource.renamedFrom === null || this.#kind.renamedKey === undefined
      ? keys
      : [...keys, this.#kind.renamedKey(resource.renamedFrom, resource.fields)];
  }

  #bindDropped(entries: readonly BaseEntry[]): void {
    for (const entry of entries) {
      const old = this.#tables.replaced.get(entry.address);
      const actual = this.#byRecordedId(entry.address) ?? this.#droppedByKey(entry) ?? old;
      if (actual !== undefined) {
        this.#tables.owned.set(entry.address, actual);
        this.#setClaim(actual, entry.address);
        this.#remember(actual, entry.address);
      }
    }
  }

  #droppedByKey(entry: BaseEntry): Actual | undefined {
    if (entry.id !== null) {
      return undefined;
    }
    for (const key of this.#keysOfEntry(entry)) {
      const held = this.#find(entry.within, key, true, 'free');
      const found = held.length === 0 ? this.#find(entry.within, key, false, 'free') : held;
      if (found.length > 1) {
        const text = `no longer declared, but ${describe(this.#kind, key, found)}; none of them is deleted`;
        this.#tables.notes.push({ address: entry.address, text });
        return undefined;
      }
      if (found[0] !== undefined) {
        return found[0];
      }
    }
    return undefined;
  }

  /** Those that carry a natural key; in place: those that the same parent holds, where the parent decides. */
  #find(within: Address | null, key: NaturalKey, inPlace: boolean, availability: Availability): readonly Actual[] {
    const holder = within === null ? null : this.#idOf(within);
    if (holder === undefined) {
      return [];
    }
    if (!inPlace || key.parent === undefined) {
      return this.#candidates.find(holder, key, availability);
    }
    const ids = typeof key.parent === 'string' ? (this.#tables.ids.get(key.parent) ?? []) : [];
    return this.#candidates.findHeld(holder, key, ids, availability, (actual) => this.#isHeldBy(actual, key));
  }

  #isHeldBy(actual: Actual, key: NaturalKey): boolean {
    return this.#kind
      .actualKeys(actual, this.#fieldsOf(actual))
      .some((other) => other.by === key.by && other.value === key.value && other.parent === key.parent);
  }

  #idOf(address: Address): string | undefined {
    const { bound, owned, renamed } = this.#tables;
    return (bound.get(renamed.get(address) ?? address) ?? owned.get(address))?.id;
  }

  #isFree(actual: Actual): boolean {
    return !this.#tables.claims.has(actual);
  }

  #setClaim(actual: Actual, address: Address): void {
    this.#tables.claims.set(actual, address);
    this.#candidates.claimed(actual, this.#tables.owned.has(address));
  }

  #claim(actual: Actual, resource: Declared, adopts: boolean): void {
    const { claims, bound, owned, adopted, problems, renamed } = this.#tables;
    const other = claims.get(actual);
    if (other !== undefined && !owned.has(other)) {
      const message = `is the same ${this.#kind.name} as ${other} (id ${actual.id}); one resource can have one key`;
      problems.push({ ...resource.source, address: resource.address, message });
      return;
    }
    if (other !== undefined) {
      owned.delete(other);
      renamed.set(other, resource.address);
    }
    this.#setClaim(actual, resource.address);
    bound.set(resource.address, actual);
    this.#remember(actual, resource.address);
    if (adopts && this.#base?.has(resource.address) !== true) {
      adopted.push({ address: resource.address, id: actual.id });
    }
  }

  #remember(actual: Actual, address: Address): void {
    const { addresses, ids } = this.#tables;
    for (const id of [actual.id, ...(actual.aliases ?? [])]) {
      const name = `${this.#kind.name} ${id}`;
      ids.get(addresses.get(name) ?? '')?.delete(id);
      addresses.set(name, address);
      ids.set(address, (ids.get(address) ?? new Set()).add(id));
    }
  }

  #fieldsOf(actual: Actual): Fields {
    return lookUp(actual.fields, this.#tables.addresses) as Fields;
  }

  #problem(resource: Declared, message: string): void {
    this.#tables.problems.push({ ...resource.source, address: resource.address, message });
  }
}
