import type { Address } from '../../core/address.ts';
import { append } from '../../core/lists.ts';
import type { Actual, BaseEntry, Declared } from '../../core/resource.ts';
import type { NaturalKey } from '../model/rules.ts';
import type { BindingState } from './binding-state.ts';
import type { Availability } from './candidates.ts';
import { describeMatches, findSharedKeys, getSlot } from './natural-key.ts';
import { refuseTakenKeys } from './taken-keys.ts';

type BindingRule = (state: BindingState) => void;

/**
 * The rules that bind keys, in order: a key is bound by the first rule that finds its resource; a resource that no rule
 * binds is created. See docs/concepts.md#resource-identity.
 */
export const BINDING_RULES: readonly BindingRule[] = [
  reserveReplaced,
  bindByOwnId,
  bindByRecordedId,
  bindDropped,
  refuseTakenKeys,
  bindByBaseKey,
  resolveReplacements,
  bindByDeclaredKey,
  refuseSharedKeys,
];

/** Reserves the old resource of an unfinished replacement: no key can bind it any more, but it is still owned. */
export function reserveReplaced(state: BindingState): void {
  for (const { address, id } of [...state.declared, ...state.dropped]) {
    const old = state.baseEntry(address)?.metadata.old;
    const actual = typeof old === 'string' && old !== id ? state.withId(old) : undefined;
    if (actual !== undefined && state.isFree(actual)) {
      state.tables.replaced.set(address, actual);
      state.claim(actual, address);
    }
  }
}

/** Rule 1: binds by the `id` that the manifest sets. */
export function bindByOwnId(state: BindingState): void {
  for (const resource of state.waiting) {
    const actual = resource.id === null ? undefined : state.withId(resource.id);
    if (actual !== undefined) {
      state.waiting.delete(resource);
      state.bind(resource, actual, { adopts: true });
    } else if (resource.id !== null) {
      state.problem(resource, `there is no ${state.kind.name} with the id ${JSON.stringify(resource.id)}`);
    }
  }
}

/** Rule 2: binds by the id that was recorded when the key was last applied. */
export function bindByRecordedId(state: BindingState): void {
  for (const resource of state.waiting) {
    const actual = state.recorded(resource.address);
    if (actual !== undefined) {
      state.waiting.delete(resource);
      state.bind(resource, actual, { adopts: false });
    }
  }
}

/** Finds the owned resources that are no longer declared, so that keys of the base do not bind them. */
export function bindDropped(state: BindingState): void {
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
export function bindByBaseKey(state: BindingState): void {
  const keysOf = ({ address }: Declared) => {
    const entry = state.baseEntry(address);
    return entry === undefined ? [] : state.baseKeys(entry);
  };
  bindByKeys(state, keysOf, 'free', false);
}

/**
 * Without a record: if both the old and the new resource of a replacement exist, the old one is reserved for deletion.
 */
export function resolveReplacements(state: BindingState): void {
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
export function bindByDeclaredKey(state: BindingState): void {
  bindByKeys(state, (resource) => state.declaredKeys(resource), 'takeable', true);
}

/** Refuses to create two resources that the next plan without a record could not tell apart. */
export function refuseSharedKeys(state: BindingState): void {
  append(state.tables.problems, findSharedKeys(state.kind, state.waiting));
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
      const taken = rank === 0 && inPlace ? new Map<string, Address>() : null;
      for (const resource of state.waiting) {
        const key = keys.get(resource)?.[rank];
        if (key !== undefined && (inPlace || key.parent !== undefined)) {
          bindByKey(state, resource, key, { availability, inPlace, adopts, taken });
        }
      }
    }
  }
}

interface KeySearch {
  readonly availability: Availability;
  readonly inPlace: boolean;
  readonly adopts: boolean;
  /** Addresses by the key that bound them; null if two resources with the same key are not a problem. */
  readonly taken: Map<string, Address> | null;
}

function bindByKey(state: BindingState, resource: Declared, key: NaturalKey, search: KeySearch): void {
  const { availability, inPlace, adopts, taken } = search;
  const all = state.find(resource.within, key, inPlace, availability);
  const found = adopts || all.length < 2 ? all : withoutReplacement(state, resource, all);
  const [actual] = found;
  const slot = getSlot(resource.within, key);
  const other = taken?.get(slot);
  if (actual === undefined && other === undefined) {
    return;
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

function withoutReplacement(state: BindingState, resource: Declared, found: readonly Actual[]): readonly Actual[] {
  const made = state.isReplacement(resource) ? state.findDeclaredInPlace(resource) : [];
  // With more resources than that, the match stays ambiguous.
  const rest = found.length > made.length + 1 ? found : found.filter((actual) => !made.includes(actual));
  return rest.length === 1 ? rest : found;
}
