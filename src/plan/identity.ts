/** Binding of declared keys to resources of the platform, and scopes. See docs/concepts.md#resource-identity. */
import type { Address } from '../core/address.ts';
import type { Problem } from '../core/errors.ts';
import { append } from '../core/lists.ts';
import type { Actual, Base, BaseEntry, Declared, Fields, Observation } from '../core/resource.ts';
import { type Availability, addressOfId, BindingState, type BindingTables, lookUp } from './binding-state.ts';
import { describeMatches, findSharedKeys, getIndexKey, getSlot } from './declared.ts';
import type { KindRules, NaturalKey } from './rules.ts';

/** Result of resolving each key to a resource. See docs/concepts.md#resource-identity. */
export interface Identity {
  /** Resource of each declared address; absent if it is to be created. */
  readonly bound: ReadonlyMap<Address, Actual>;
  /** The resource of each address of the base that is no longer declared, if it still exists. */
  readonly owned: ReadonlyMap<Address, Actual>;
  /** The old resource of each unfinished replacement, by the address of the new one. */
  readonly replaced: ReadonlyMap<Address, Actual>;
  readonly adopted: readonly { readonly address: Address; readonly id: string }[];
  /** Actual resources that neither a key declares nor the base knows. */
  readonly unmanaged: readonly Actual[];
  readonly problems: readonly Problem[];
  readonly notes: readonly { readonly address: Address; readonly text: string }[];
  /** Returns the fields of an actual resource, with every id replaced by the address that it is bound to. */
  fieldsOf(actual: Actual): Fields;
  /** Returns the address of a resource, or `#id` if it has none. */
  addressOf(kinds: readonly string[], id: string): Address;
}

/** Binds every key to its resource by the rules below, each kind after those it refers to. */
export function identify(
  kinds: readonly KindRules[],
  declared: ReadonlyMap<Address, Declared>,
  base: Base,
  observation: Observation,
): Identity {
  const tables: BindingTables = {
    addresses: new Map(),
    ids: new Map(),
    bound: new Map(),
    owned: new Map(),
    claims: new Map(),
    renamed: new Map(),
    replaced: new Map(),
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
    const actuals = observation.kinds.get(kind.name) ?? [];
    const [own, dropped] = [declaredByKind.get(kind.name) ?? [], droppedByKind.get(kind.name) ?? []];
    const state = new BindingState(kind, base, actuals, own, dropped, tables);
    // A key is bound by the first rule that finds its resource; a resource that no rule binds is created.
    reserveReplaced(state);
    bindByOwnId(state);
    bindByRecordedId(state);
    bindDropped(state);
    refuseTakenKeys(state);
    bindByBaseKey(state);
    resolveReplacements(state);
    bindByDeclaredKey(state);
    append(tables.problems, findSharedKeys(kind, state.waiting));
  }
  // The result of a translation is managed through the translation.
  const made = new Set([...tables.claims.keys()].flatMap((actual) => actual.aliases ?? []));
  const given = new Set(kinds.filter((kind) => !kind.deletable).map((kind) => kind.name));
  const unmanaged = [...observation.kinds]
    .filter(([name]) => !given.has(name))
    .flatMap(([, resources]) => resources.filter((actual) => !tables.claims.has(actual) && !made.has(actual.id)));
  return {
    ...tables,
    unmanaged,
    fieldsOf: (actual) => lookUp(actual.fields, tables.addresses) as Fields,
    addressOf: (names, id) => addressOfId(names, id, tables.addresses),
  };
}

/** Returns the fields of the resource that a declared or owned address has now; null if there is none. */
export function fieldsAt({ bound, owned, fieldsOf }: Identity, address: Address): Fields | null {
  const actual = bound.get(address) ?? owned.get(address);
  return actual === undefined ? null : fieldsOf(actual);
}

/** A resource that another scope of the organization declares, or has last applied. */
export interface Claim {
  readonly address: Address;
  readonly kind: string;
  readonly scope: string;
  /** The id that was recorded when it was last applied; null if none was. */
  readonly id: string | null;
  /** Position of the declaration in the other scope, as `file:line`; null if it no longer declares it. */
  readonly place: string | null;
}

/** Declared and applied resources of the other scopes of the organization, as far as they are known. */
export class OtherScopes {
  readonly #byAddress = new Map<Address, Claim>();
  readonly #byId = new Map<string, Claim>();

  constructor(claims: Iterable<Claim>) {
    for (const claim of claims) {
      // A declaration wins over a record of a former one.
      const known = this.#byAddress.get(claim.address);
      if (known === undefined || known.place === null) {
        this.#byAddress.set(claim.address, claim);
      }
      const id = `${claim.kind} ${claim.id}`;
      if (claim.id !== null && (this.#byId.get(id)?.place ?? null) === null) {
        this.#byId.set(id, claim);
      }
    }
  }

  /** Returns the claim on an actual resource, declared or only recorded. */
  ofActual({ kind, id }: Actual): Claim | undefined {
    return this.#byId.get(`${kind} ${id}`);
  }

  /** Returns the declaration of the same resource in another scope, found by its address or by the bound resource. */
  declarationOf(address: Address, actual: Actual | undefined): (Claim & { readonly place: string }) | undefined {
    const claims = [this.#byAddress.get(address), actual === undefined ? undefined : this.ofActual(actual)];
    return claims.find((claim): claim is Claim & { readonly place: string } => (claim?.place ?? null) !== null);
  }
}

/** Returns a problem for each resource that is declared both here and in another scope. */
export function overlapProblems(
  declared: ReadonlyMap<Address, Declared>,
  { bound }: Pick<Identity, 'bound'>,
  otherScopes: OtherScopes,
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const resource of declared.values()) {
    const claim = otherScopes.declarationOf(resource.address, bound.get(resource.address));
    if (claim !== undefined) {
      const name = claim.address === resource.address ? 'it' : `the same resource (as ${claim.address})`;
      const message = `scope ${JSON.stringify(claim.scope)} also declares ${name}, at ${claim.place}; a resource belongs to one scope: remove one of the two declarations`;
      problems.push({ ...resource.source, address: resource.address, message });
    }
  }
  return problems;
}

/**
 * Removes resources of other scopes from the identity. A resource whose declaration has moved to another directory is
 * no longer owned here, so it is not deleted. Resources that other scopes have applied are never unmanaged.
 */
export function withoutOtherScopes(identity: Identity, otherScopes: OtherScopes): Identity {
  const notes = [...identity.notes];
  const owned = new Map<Address, Actual>();
  for (const [address, actual] of identity.owned) {
    const claim = otherScopes.declarationOf(address, actual);
    if (claim === undefined) {
      owned.set(address, actual);
    } else {
      notes.push({
        address,
        text: `left to scope ${JSON.stringify(claim.scope)}, which declares it at ${claim.place}`,
      });
    }
  }
  const unmanaged = identity.unmanaged.filter((actual) => otherScopes.ofActual(actual) === undefined);
  return { ...identity, owned, unmanaged, notes };
}

/** Reserves the old resource of an unfinished replacement: no key can bind it any more, but it is still owned. */
function reserveReplaced(state: BindingState): void {
  for (const { address, id } of [...state.declared, ...state.dropped]) {
    const old = state.base?.get(address)?.metadata.old;
    const actual = typeof old === 'string' && old !== id ? state.byId.get(old) : undefined;
    if (actual !== undefined && state.isFree(actual)) {
      state.tables.replaced.set(address, actual);
      state.claim(actual, address);
    }
  }
}

/** Rule 1: binds by the `id` that the manifest sets. */
function bindByOwnId(state: BindingState): void {
  for (const resource of state.waiting) {
    const actual = resource.id === null ? undefined : state.byId.get(resource.id);
    if (actual !== undefined) {
      state.waiting.delete(resource);
      state.bind(resource, actual, { adopts: true });
    } else if (resource.id !== null) {
      state.problem(resource, `there is no ${state.kind.name} with the id ${JSON.stringify(resource.id)}`);
    }
  }
}

/** Rule 2: binds by the id that was recorded when the key was last applied. */
function bindByRecordedId(state: BindingState): void {
  for (const resource of state.waiting) {
    const actual = state.recorded(resource.address);
    if (actual !== undefined) {
      state.waiting.delete(resource);
      state.bind(resource, actual, { adopts: false });
    }
  }
}

/** Finds the owned resources that are no longer declared, so that keys of the base do not bind them. */
function bindDropped(state: BindingState): void {
  const { replaced, owned } = state.tables;
  for (const entry of state.dropped) {
    const actual = state.recorded(entry.address) ?? findDropped(state, entry) ?? replaced.get(entry.address);
    if (actual !== undefined) {
      owned.set(entry.address, actual);
      state.claim(actual, entry.address);
      state.setAddress(actual, entry.address);
    }
  }
}

function findDropped(state: BindingState, entry: BaseEntry): Actual | undefined {
  if (entry.id !== null) {
    return undefined;
  }
  for (const key of state.baseKeys(entry)) {
    const held = state.find(entry.within, key, true, 'free');
    const found = held.length === 0 ? state.find(entry.within, key, false, 'free') : held;
    if (found.length > 1) {
      const text = `no longer declared, but ${describeMatches(state.kind, key, found)}; none of them is deleted`;
      state.tables.notes.push({ address: entry.address, text });
      return undefined;
    }
    if (found[0] !== undefined) {
      return found[0];
    }
  }
  return undefined;
}

/** Rule 3: binds by the natural key that the base declares. */
function bindByBaseKey(state: BindingState): void {
  const keysOf = ({ address }: Declared) => {
    const entry = state.base?.get(address);
    return entry === undefined ? [] : state.baseKeys(entry);
  };
  bindByKeys(state, keysOf, 'free', false);
}

/**
 * Without a record: if both the old and the new resource of a replacement exist, the old one is reserved for deletion.
 */
function resolveReplacements(state: BindingState): void {
  const { bound, replaced } = state.tables;
  for (const resource of state.declared) {
    const { address } = resource;
    const old = bound.get(address);
    if (old === undefined || old.id === resource.id || !state.isReplacement(resource)) {
      continue;
    }
    const [made, ...others] = state.findDeclaredInPlace(resource);
    if (made !== undefined && others.length === 0) {
      replaced.set(address, old);
      state.clearAddress(old, address);
      bound.set(address, made);
      state.claim(made, address);
      state.setAddress(made, address);
    }
  }
}

/**
 * Rule 4: binds by the natural key declared now. May take over a resource whose key is no longer declared, because the
 * key was renamed.
 */
function bindByDeclaredKey(state: BindingState): void {
  bindByKeys(state, (resource) => state.declaredKeys(resource), 'takeable', true);
}

/**
 * Binds by natural keys. Every resource is tried by its best key before any by its next one, and resources in their
 * place before those that would have to move, so that the order of keys does not matter.
 */
function bindByKeys(
  state: BindingState,
  keysOf: (resource: Declared) => readonly NaturalKey[],
  availability: Availability,
  adopts: boolean,
): void {
  if (!state.hasActuals) {
    return;
  }
  const keys = new Map([...state.waiting].map((resource) => [resource, keysOf(resource)]));
  const most = [...keys.values()].reduce((max, { length }) => Math.max(max, length), 0);
  for (let rank = 0; rank < most; rank += 1) {
    for (const inPlace of [true, false]) {
      // Addresses by the best key that bound them: two resources with the same one are a problem.
      const taken = rank === 0 && inPlace ? new Map<string, Address>() : null;
      for (const resource of state.waiting) {
        const key = keys.get(resource)?.[rank];
        if (key === undefined || (!inPlace && key.parent === undefined)) {
          continue;
        }
        const all = state.find(resource.within, key, inPlace, availability);
        const found = adopts || all.length < 2 ? all : withoutReplacement(state, resource, all);
        const [actual] = found;
        const slot = getSlot(resource.within, key);
        const other = taken?.get(slot);
        if (actual === undefined && other === undefined) {
          continue;
        }
        state.waiting.delete(resource);
        if (other !== undefined) {
          const only = `the only ${state.kind.name} with this ${key.by}`;
          state.problem(resource, `matches ${only}, and so does ${other}; set id to disambiguate`);
        } else if (found.length > 1) {
          state.problem(resource, `${describeMatches(state.kind, key, found)}; set id to choose one`);
        } else if (actual !== undefined) {
          taken?.set(slot, resource.address);
          state.bind(resource, actual, { adopts });
        }
      }
    }
  }
}

function withoutReplacement(state: BindingState, resource: Declared, found: readonly Actual[]): readonly Actual[] {
  const made = state.isReplacement(resource) ? state.findDeclaredInPlace(resource) : [];
  // With more resources than that, the match stays ambiguous.
  const rest = found.length > made.length + 1 ? found : found.filter((actual) => !made.includes(actual));
  return rest.length === 1 ? rest : found;
}

/**
 * Reports renamed resources whose old key is now declared by a new one, if the platform has resources with both keys and
 * the base knows only the old key. Before the rename, the first of them is the renamed resource; afterwards it is the new
 * one. The wrong choice would overwrite one resource with the other.
 */
function refuseTakenKeys(state: BindingState): void {
  const renamed = [...state.waiting].flatMap((resource) => {
    const entry = state.base?.get(resource.address);
    const [before] = entry === undefined || entry.id !== null ? [] : state.baseKeys(entry);
    const [now] = before === undefined ? [] : state.declaredKeys(resource);
    const isRenamed = before !== undefined && now !== undefined && before.by === now.by && before.value !== now.value;
    return isRenamed ? [{ resource, before, now }] : [];
  });
  if (renamed.length === 0) {
    return;
  }
  const entries = [...state.declared.flatMap(({ address }) => state.base?.get(address) ?? []), ...state.dropped];
  const known = new Set(entries.flatMap((entry) => state.baseKeys(entry).map((key) => getIndexKey(entry.within, key))));
  const takers = new Map<string, Address>();
  for (const resource of state.waiting) {
    if (state.base?.get(resource.address) === undefined) {
      for (const key of state.declaredKeys(resource)) {
        takers.set(getIndexKey(resource.within, key), resource.address);
      }
    }
  }
  for (const { resource, before, now } of renamed) {
    const taker = takers.get(getIndexKey(resource.within, before));
    const [old] = state.find(resource.within, before, true, 'free');
    const [next] = state.find(resource.within, now, true, 'free');
    if (
      taker !== undefined &&
      old !== undefined &&
      next !== undefined &&
      !known.has(getIndexKey(resource.within, now))
    ) {
      state.waiting.delete(resource);
      const choices = `${old.id}, whose ${before.by} the base has, or ${next.id}, whose ${now.by} is declared now`;
      state.problem(resource, `may be ${choices}, because ${taker} takes over the ${before.by}; set id to choose one`);
    }
  }
}
