/** State of the binding of one kind, with an index of actual resources by natural key. */
import { type Address, unboundAddress } from '../core/address.ts';
import type { Problem } from '../core/errors.ts';
import { canonicalJson, type Json } from '../core/json.ts';
import { type Actual, type Base, type BaseEntry, type Declared, type Fields, isIdRef } from '../core/resource.ts';
import { getIndexKey, parentsFirst } from './declared.ts';
import type { KindRules, NaturalKey } from './rules.ts';

/** Bindings of all kinds so far. */
export interface BindingTables {
  readonly addresses: Map<string, Address>;
  /** The inverse of `addresses`, without kinds. */
  readonly ids: Map<Address, Set<string>>;
  readonly bound: Map<Address, Actual>;
  readonly owned: Map<Address, Actual>;
  readonly claims: Map<Actual, Address>;
  /** New address by former address, for resources of the base that were renamed. */
  readonly renamed: Map<Address, Address>;
  /** Old resources of unfinished replacements. */
  readonly replaced: Map<Address, Actual>;
  readonly adopted: { address: Address; id: string }[];
  readonly problems: Problem[];
  readonly notes: { address: Address; text: string }[];
}

/** State of the binding of one kind, which the rules change one after the other. */
export class BindingState {
  readonly kind: KindRules;
  readonly base: Base;
  readonly declared: readonly Declared[];
  readonly dropped: readonly BaseEntry[];
  /** False if the platform has no resource of the kind. */
  readonly hasActuals: boolean;
  /** Declared resources that no rule has bound yet, parents first. */
  readonly waiting: Set<Declared>;
  readonly tables: BindingTables;
  /** Resources of the kind by id. */
  readonly byId: ReadonlyMap<string, Actual>;
  readonly #candidates = new Candidates();

  /** @param dropped entries of the base that are no longer declared */
  constructor(
    kind: KindRules,
    base: Base,
    actuals: readonly Actual[],
    declared: readonly Declared[],
    dropped: readonly BaseEntry[],
    tables: BindingTables,
  ) {
    this.kind = kind;
    this.base = base;
    this.declared = declared;
    this.dropped = dropped;
    this.hasActuals = actuals.length > 0;
    this.waiting = new Set(parentsFirst(declared));
    this.tables = tables;
    this.byId = new Map(actuals.map((actual) => [actual.id, actual]));
    for (const actual of actuals) {
      if (kind.implicitAddress !== undefined) {
        this.setAddress(actual, kind.implicitAddress(actual));
      }
      const asGiven = kind.actualKeys(actual, actual.fields);
      for (const [index, key] of kind.actualKeys(actual, this.#fieldsOf(actual)).entries()) {
        this.#candidates.add(actual, key, asGiven[index]?.parent);
      }
    }
  }

  isFree(actual: Actual): boolean {
    return !this.tables.claims.has(actual);
  }

  /** Returns the resource whose id was recorded for an address, unless it is claimed. */
  recorded(address: Address): Actual | undefined {
    const actual = this.byId.get(this.base?.get(address)?.id ?? '');
    return actual !== undefined && this.isFree(actual) ? actual : undefined;
  }

  /** Returns the natural keys of an entry of the base, with current addresses. */
  baseKeys(entry: BaseEntry): readonly NaturalKey[] {
    const fields = Object.entries(entry.fields).map(([name, value]) => [name, this.currentAddress(value)]);
    return this.kind.naturalKeys(
      this.tables.renamed.size === 0 ? entry.fields : Object.fromEntries(fields),
      entry.address,
    );
  }

  /** Replaces the address of a renamed resource with its current one. */
  currentAddress(value: Json | undefined): Json | undefined {
    return typeof value === 'string' ? (this.tables.renamed.get(value) ?? value) : value;
  }

  /** Returns the natural keys that the manifest declares, including the one before a rename. */
  declaredKeys(resource: Declared): readonly NaturalKey[] {
    const keys = this.kind.naturalKeys(resource.fields, resource.address);
    return resource.renamedFrom === null || this.kind.renamedKey === undefined
      ? keys
      : [...keys, this.kind.renamedKey(resource.renamedFrom, resource.fields)];
  }

  /**
   * Finds the resources with a natural key. `inPlace`: only those with the same parent, if parents matter for the key.
   */
  find(within: Address | null, key: NaturalKey, inPlace: boolean, availability: Availability): readonly Actual[] {
    const holder = within === null ? null : this.#idOf(within);
    if (holder === undefined) {
      return [];
    }
    if (!inPlace || key.parent === undefined) {
      return this.#candidates.find(holder, key, availability);
    }
    const ids = typeof key.parent === 'string' ? (this.tables.ids.get(key.parent) ?? []) : [];
    return this.#candidates.findHeld(holder, key, ids, availability, (actual) => this.#isHeldBy(actual, key));
  }

  /** Finds the free resources with the best declared key that any resource in place has. */
  findDeclaredInPlace(resource: Declared): readonly Actual[] {
    const { within } = resource;
    const key = this.declaredKeys(resource).find((each) => this.find(within, each, true, 'all').length > 0);
    return key === undefined ? [] : this.find(within, key, true, 'free');
  }

  /**
   * Returns true if a resource has to be replaced over a base that does not record unfinished replacements, and so does
   * not distinguish the old resource from the new one.
   */
  isReplacement({ address, fields }: Declared): boolean {
    const entry = this.base?.get(address);
    return (
      entry !== undefined &&
      (entry.id === null || entry.isComplete === true) &&
      entry.metadata.begun !== true &&
      Object.entries(this.kind.fields).some(
        ([name, rules]) =>
          rules.fixed === 'replace' &&
          fields[name] !== undefined &&
          (fields[name] ?? null) !== (this.currentAddress(entry.fields[name]) ?? null),
      )
    );
  }

  /** Binds a declared resource, unless another key already binds it. */
  bind(resource: Declared, actual: Actual, { adopts }: { readonly adopts: boolean }): void {
    const { claims, bound, owned, adopted, renamed } = this.tables;
    const other = claims.get(actual);
    if (other !== undefined && !owned.has(other)) {
      this.problem(
        resource,
        `is the same ${this.kind.name} as ${other} (id ${actual.id}); one resource can have one key`,
      );
      return;
    }
    if (other !== undefined) {
      owned.delete(other);
      renamed.set(other, resource.address);
    }
    this.claim(actual, resource.address);
    bound.set(resource.address, actual);
    this.setAddress(actual, resource.address);
    if (adopts && this.base?.get(resource.address) === undefined) {
      adopted.push({ address: resource.address, id: actual.id });
    }
  }

  /** Reserves a resource for an address, so that no other key finds it. */
  claim(actual: Actual, address: Address): void {
    this.tables.claims.set(actual, address);
    this.#candidates.claimed(actual, this.tables.owned.has(address));
  }

  /** Makes references to a resource resolve to an address. */
  setAddress(actual: Actual, address: Address): void {
    const { addresses, ids } = this.tables;
    for (const id of [actual.id, ...(actual.aliases ?? [])]) {
      const name = `${this.kind.name} ${id}`;
      ids.get(addresses.get(name) ?? '')?.delete(id);
      addresses.set(name, address);
      ids.set(address, (ids.get(address) ?? new Set()).add(id));
    }
  }

  /** Removes the address of the old resource of an unfinished replacement. */
  clearAddress(actual: Actual, address: Address): void {
    this.tables.addresses.delete(`${this.kind.name} ${actual.id}`);
    this.tables.ids.get(address)?.delete(actual.id);
  }

  problem(resource: Declared, message: string): void {
    this.tables.problems.push({ ...resource.source, address: resource.address, message });
  }

  #isHeldBy(actual: Actual, key: NaturalKey): boolean {
    return this.kind
      .actualKeys(actual, this.#fieldsOf(actual))
      .some((other) => other.by === key.by && other.value === key.value && other.parent === key.parent);
  }

  #idOf(address: Address): string | undefined {
    const { bound, owned, renamed } = this.tables;
    return (bound.get(renamed.get(address) ?? address) ?? owned.get(address))?.id;
  }

  #fieldsOf(actual: Actual): Fields {
    return lookUp(actual.fields, this.tables.addresses) as Fields;
  }
}

/** Which resources may be found: all, those that nothing has claimed, or also those whose key is no longer declared. */
export type Availability = 'all' | 'free' | 'takeable';

/** Resources with the same natural key, or with the same key and parent. */
interface Group {
  readonly all: Set<Actual>;
  readonly free: Set<Actual>;
  /** Claimed by a key that is no longer declared. */
  readonly dropped: Set<Actual>;
  /** Lookups that are still valid. */
  readonly found: Map<string, readonly Actual[]>;
}

/**
 * Index of actual resources by natural key. The cost of a lookup is proportional to its result, and results are cached.
 */
class Candidates {
  readonly #groups = new Map<string, Group>();
  readonly #groupsOf = new Map<Actual, Group[]>();

  /** @param parent the parent as the platform gives it: a reference by id; undefined if parents do not matter */
  add(actual: Actual, key: NaturalKey, parent: Json | undefined): void {
    const name = getIndexKey(actual.within, key);
    this.#join(actual, name);
    if (parent !== undefined) {
      this.#join(actual, heldIn(name, isIdRef(parent) ? unboundAddress(parent.$id) : canonicalJson(parent)));
    }
  }

  /** Marks a resource as claimed; `isDropped`: by a key that is no longer declared. */
  claimed(actual: Actual, isDropped: boolean): void {
    for (const group of this.#groupsOf.get(actual) ?? []) {
      group.free.delete(actual);
      group.dropped.delete(actual);
      if (isDropped) {
        group.dropped.add(actual);
      }
      group.found.clear();
    }
  }

  /** Finds resources with a natural key and a parent. Returns the same array until one of them is claimed. */
  find(parent: string | null, key: NaturalKey, availability: Availability): readonly Actual[] {
    return this.#members(getIndexKey(parent, key), availability);
  }

  /**
   * Finds resources that may have this parent, given the ids of the parent and the form of a reference to it. `isHeld`
   * decides.
   */
  findHeld(
    holder: string | null,
    key: NaturalKey,
    ids: Iterable<string>,
    availability: Availability,
    isHeld: (actual: Actual) => boolean,
  ): readonly Actual[] {
    const parent = key.parent ?? null;
    const unbound = typeof parent === 'string' && parent.startsWith('#') ? [parent] : [];
    const written = canonicalJson(parent);
    const tokens = new Set([...[...ids].map(unboundAddress), ...unbound, written]);
    const found = [...tokens]
      .map((token) => heldIn(getIndexKey(holder, key), token))
      .filter((name) => this.#groups.has(name))
      .map((name) => this.#members(name, availability, written, isHeld));
    return found.length > 1 ? found.flat() : (found[0] ?? NONE);
  }

  /** @param asked name of the filter in the cache */
  #members(name: string, availability: Availability, asked = '', filter = (_: Actual) => true): readonly Actual[] {
    const group = this.#groups.get(name);
    if (group === undefined) {
      return NONE;
    }
    const lookup = `${availability} ${asked}`;
    const known = group.found.get(lookup);
    if (known !== undefined) {
      return known;
    }
    const members = availability === 'all' ? group.all : group.free;
    const more = availability === 'takeable' ? group.dropped : NONE;
    const found = [...members, ...more].filter(filter);
    group.found.set(lookup, found);
    return found;
  }

  #join(actual: Actual, name: string): void {
    const group = this.#groups.get(name) ?? { all: new Set(), free: new Set(), dropped: new Set(), found: new Map() };
    this.#groups.set(name, group);
    group.all.add(actual);
    group.free.add(actual);
    const groups = this.#groupsOf.get(actual) ?? [];
    this.#groupsOf.set(actual, groups);
    groups.push(group);
  }
}

const NONE: readonly Actual[] = [];

function heldIn(name: string, token: string): string {
  return `${name}\nin ${token}`;
}

/** Returns the address that an id of one of these kinds is bound to, or `#id` if there is none. */
export function addressOfId(kinds: readonly string[], id: string, addresses: ReadonlyMap<string, Address>): Address {
  for (const kind of kinds) {
    const address = addresses.get(`${kind} ${id}`);
    if (address !== undefined) {
      return address;
    }
  }
  return unboundAddress(id);
}

/** Replaces every reference by id with the address that the id is bound to. */
export function lookUp(value: Json | undefined, addresses: ReadonlyMap<string, Address>): Json | undefined {
  if (value === null || typeof value !== 'object') {
    return value;
  }
  if (isIdRef(value)) {
    return addressOfId(value.kinds, value.$id, addresses);
  }
  if (Array.isArray(value)) {
    return value.map((item) => lookUp(item, addresses) ?? null);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, lookUp(member as Json, addresses)]));
}
