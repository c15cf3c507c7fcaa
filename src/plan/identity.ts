import { type Address, unboundAddress } from '../core/address.ts';
import type { Problem } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import {
  type Actual,
  type Base,
  type BaseEntry,
  type Declared,
  type Fields,
  isIdRef,
  type Observation,
} from '../core/resource.ts';
import type { KindRules, NaturalKey } from './rules.ts';

/** Which resource is meant by each key (design: How a plan is made). */
export interface Identity {
  /** What each declared address is bound to; absent where it is to be created. */
  readonly bound: ReadonlyMap<Address, Actual>;
  /** What each address of the base that is no longer declared was bound to, where that still exists. */
  readonly owned: ReadonlyMap<Address, Actual>;
  readonly adopted: readonly { readonly address: Address; readonly id: string }[];
  /** Actual resources that neither a key declares nor the base knows. */
  readonly unmanaged: readonly Actual[];
  readonly problems: readonly Problem[];
  readonly notes: readonly { readonly address: Address; readonly text: string }[];
  /** An actual resource's fields with every id replaced by the address it is bound to. */
  fieldsOf(actual: Actual): Fields;
  /** The address of a resource, or `#id` where it has none. */
  addressOf(kinds: readonly string[], id: string): Address;
}

interface Tables {
  readonly addresses: Map<string, Address>;
  readonly bound: Map<Address, Actual>;
  readonly owned: Map<Address, Actual>;
  readonly claims: Map<Actual, Address>;
  readonly adopted: { address: Address; id: string }[];
  readonly problems: Problem[];
  readonly notes: { address: Address; text: string }[];
}

/**
 * Binds every key to the resource it means: by its `id`, by the id recorded for it, by the natural key of the base, by
 * the natural key declared now or the one before a rename; in this order, each kind after those it refers to.
 */
export function identify(
  kinds: readonly KindRules[],
  declared: ReadonlyMap<Address, Declared>,
  base: Base,
  observation: Observation,
): Identity {
  const tables: Tables = {
    addresses: new Map(),
    bound: new Map(),
    owned: new Map(),
    claims: new Map(),
    adopted: [],
    problems: [],
    notes: [],
  };
  const declaredByKind = Map.groupBy(declared.values(), (resource) => resource.kind);
  const droppedByKind = Map.groupBy(
    [...(base?.values() ?? [])].filter((entry) => !declared.has(entry.address)),
    (entry) => entry.kind,
  );
  for (const kind of kinds) {
    const binder = new KindBinder(kind, tables, base, observation.kinds.get(kind.name) ?? []);
    binder.bind(declaredByKind.get(kind.name) ?? [], droppedByKind.get(kind.name) ?? []);
  }
  const unmanaged: Actual[] = [];
  // What a translation makes is managed through the translation.
  const made = new Set([...tables.claims.keys()].flatMap((actual) => actual.aliases ?? []));
  for (const [name, resources] of observation.kinds) {
    const given = kinds.find((kind) => kind.name === name)?.deletable === false;
    unmanaged.push(...(given ? [] : resources.filter((actual) => !tables.claims.has(actual) && !made.has(actual.id))));
  }
  return {
    ...tables,
    unmanaged,
    fieldsOf: (actual) => lookUp(actual.fields, tables.addresses) as Fields,
    addressOf: (names, id) => addressOfId(names, id, tables.addresses),
  };
}

function addressOfId(kinds: readonly string[], id: string, addresses: ReadonlyMap<string, Address>): Address {
  for (const kind of kinds) {
    const address = addresses.get(`${kind} ${id}`);
    if (address !== undefined) {
      return address;
    }
  }
  return unboundAddress(id);
}

function lookUp(value: Json | undefined, addresses: ReadonlyMap<string, Address>): Json | undefined {
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

/** Binds the keys of one kind. */
class KindBinder {
  readonly #kind: KindRules;
  readonly #tables: Tables;
  readonly #base: Base;
  readonly #byId: ReadonlyMap<string, Actual>;
  readonly #byKey = new Map<string, Actual[]>();

  constructor(kind: KindRules, tables: Tables, base: Base, actuals: readonly Actual[]) {
    this.#kind = kind;
    this.#tables = tables;
    this.#base = base;
    this.#byId = new Map(actuals.map((actual) => [actual.id, actual]));
    for (const actual of actuals) {
      if (kind.givenAddress !== undefined) {
        this.#remember(actual, kind.givenAddress(actual));
      }
      for (const key of kind.actualKeys(actual, this.#fieldsOf(actual))) {
        const slot = slotOf(actual.within, key);
        const sharers = this.#byKey.get(slot);
        if (sharers === undefined) {
          this.#byKey.set(slot, [actual]);
        } else {
          sharers.push(actual);
        }
      }
    }
  }

  bind(declared: readonly Declared[], dropped: readonly BaseEntry[]): void {
    const waiting = new Set(parentsFirst(declared));
    const each = (step: (resource: Declared) => Actual | undefined, adopts: boolean) => {
      for (const resource of waiting) {
        const actual = step(resource);
        if (actual !== undefined) {
          waiting.delete(resource);
          this.#claim(actual, resource, adopts);
        }
      }
    };
    each((resource) => this.#byOwnId(resource), true);
    each((resource) => this.#byRecordedId(resource.address), false);
    this.#bindDropped(dropped);
    each((resource) => this.#byBaseKey(resource), false);
    each((resource) => this.#byDeclaredKey(resource), true);
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

  #byBaseKey(resource: Declared): Actual | undefined {
    const entry = this.#base?.get(resource.address);
    if (entry === undefined) {
      return undefined;
    }
    return this.#one(resource, this.#kind.naturalKeys(entry.fields, entry.address), (actual) => this.#isFree(actual));
  }

  #byDeclaredKey(resource: Declared): Actual | undefined {
    const keys = [...this.#kind.naturalKeys(resource.fields, resource.address)];
    if (resource.renamedFrom !== null && this.#kind.renamedKey !== undefined) {
      keys.push(this.#kind.renamedKey(resource.renamedFrom, resource.fields));
    }
    // A resource whose key has gone may be taken over: that is how a key is renamed.
    return this.#one(resource, keys, (actual) => this.#isFree(actual) || this.#isDropped(actual));
  }

  #bindDropped(entries: readonly BaseEntry[]): void {
    for (const entry of entries) {
      const actual = this.#byRecordedId(entry.address) ?? this.#droppedByKey(entry);
      if (actual !== undefined) {
        this.#tables.owned.set(entry.address, actual);
        this.#tables.claims.set(actual, entry.address);
        this.#remember(actual, entry.address);
      }
    }
  }

  #droppedByKey(entry: BaseEntry): Actual | undefined {
    if (entry.id !== null) {
      return undefined;
    }
    for (const key of this.#kind.naturalKeys(entry.fields, entry.address)) {
      const found = this.#candidates(entry.within, key, (actual) => this.#isFree(actual));
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

  #one(resource: Declared, keys: readonly NaturalKey[], may: (actual: Actual) => boolean): Actual | undefined {
    for (const key of keys) {
      const found = this.#candidates(resource.within, key, may);
      if (found.length > 1) {
        this.#problem(resource, `${describe(this.#kind, key, found)}; set id to the one that is meant`);
        return undefined;
      }
      if (found[0] !== undefined) {
        return found[0];
      }
    }
    return undefined;
  }

  #candidates(within: Address | null, key: NaturalKey, may: (actual: Actual) => boolean): readonly Actual[] {
    const holder = within === null ? null : this.#idOf(within);
    if (holder === undefined) {
      return [];
    }
    const found = (this.#byKey.get(slotOf(holder, key)) ?? []).filter(may);
    if (found.length < 2 || key.parent === undefined) {
      return found;
    }
    const inPlace = found.filter((actual) =>
      this.#kind
        .actualKeys(actual, this.#fieldsOf(actual))
        .some((other) => other.by === key.by && other.value === key.value && other.parent === key.parent),
    );
    return inPlace.length === 0 ? found : inPlace;
  }

  #idOf(address: Address): string | undefined {
    return (this.#tables.bound.get(address) ?? this.#tables.owned.get(address))?.id;
  }

  #isFree(actual: Actual): boolean {
    return !this.#tables.claims.has(actual);
  }

  #isDropped(actual: Actual): boolean {
    const address = this.#tables.claims.get(actual);
    return address !== undefined && this.#tables.owned.has(address);
  }

  #claim(actual: Actual, resource: Declared, adopts: boolean): void {
    const { claims, bound, owned, adopted, problems } = this.#tables;
    const other = claims.get(actual);
    if (other !== undefined && !owned.has(other)) {
      const message = `is the same ${this.#kind.name} as ${other} (id ${actual.id}); one resource can have one key`;
      problems.push({ ...resource.source, address: resource.address, message });
      return;
    }
    if (other !== undefined) {
      owned.delete(other);
    }
    claims.set(actual, resource.address);
    bound.set(resource.address, actual);
    this.#remember(actual, resource.address);
    if (adopts && this.#base?.has(resource.address) !== true) {
      adopted.push({ address: resource.address, id: actual.id });
    }
  }

  #remember(actual: Actual, address: Address): void {
    for (const id of [actual.id, ...(actual.aliases ?? [])]) {
      this.#tables.addresses.set(`${this.#kind.name} ${id}`, address);
    }
  }

  #fieldsOf(actual: Actual): Fields {
    return lookUp(actual.fields, this.#tables.addresses) as Fields;
  }

  #problem(resource: Declared, message: string): void {
    this.#tables.problems.push({ ...resource.source, address: resource.address, message });
  }
}

function slotOf(within: string | null, key: NaturalKey): string {
  return `${within ?? ''}\n${key.by}\n${key.value}`;
}

function describe(kind: KindRules, key: NaturalKey, found: readonly Actual[]): string {
  const ids = found.map((actual) => actual.id).sort();
  return `${found.length} resources of kind ${kind.name} have the ${key.by} ${JSON.stringify(key.value)} (${ids.join(', ')})`;
}

/** Resources of one kind with those they live in before them, so that a parent can decide between equals. */
export function parentsFirst(declared: readonly Declared[]): readonly Declared[] {
  const byAddress = new Map(declared.map((resource) => [resource.address, resource]));
  const ordered = new Set<Declared>();
  const visit = (resource: Declared): void => {
    const parent = resource.fields.parent;
    const holder = typeof parent === 'string' ? byAddress.get(parent) : undefined;
    if (holder !== undefined && !ordered.has(holder)) {
      visit(holder);
    }
    ordered.add(resource);
  };
  for (const resource of declared) {
    visit(resource);
  }
  return [...ordered];
}
