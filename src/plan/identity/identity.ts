import type { Address } from '../../core/address.ts';
import type { Problem } from '../../core/errors.ts';
import type { Actual, Base, Declared, Fields, Observation } from '../../core/resource.ts';
import type { KindRules } from '../model/rules.ts';
import { BINDING_RULES } from './binding-rules.ts';
import { BindingState, type BindingTables } from './binding-state.ts';
import { addressOfId, lookUp } from './lookup.ts';

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

/** Binds every key to its resource by {@link BINDING_RULES}, each kind after those it refers to. */
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
    const of = {
      kind,
      base,
      actuals: observation.kinds.get(kind.name) ?? [],
      declared: declaredByKind.get(kind.name) ?? [],
      dropped: droppedByKind.get(kind.name) ?? [],
    };
    const state = new BindingState(of, tables);
    for (const rule of BINDING_RULES) {
      rule(state);
    }
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
