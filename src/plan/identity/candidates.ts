/**
 * Index of actual resources by natural key. The cost of a lookup is proportional to its result, and results are cached.
 */
import { canonicalJson, type Json } from '../../core/json.ts';
import { type Actual, isIdRef } from '../../core/resource.ts';
import type { NaturalKey } from '../model/rules.ts';
import { getIndexKey } from './natural-key.ts';

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

export class Candidates {
  readonly #groups = new Map<string, Group>();
  readonly #groupsOf = new Map<Actual, Group[]>();

  /** @param parent the parent as the platform gives it: a reference by id; undefined if parents do not matter */
  add(actual: Actual, key: NaturalKey, parent: Json | undefined): void {
    const slot = getIndexKey(actual.within, key);
    this.#join(actual, slot);
    if (parent !== undefined) {
      this.#join(actual, heldIn(slot, isIdRef(parent) ? idToken(parent.$id) : canonicalJson(parent)));
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
    const slot = getIndexKey(holder, key);
    const parent = key.parent ?? null;
    const unbound = typeof parent === 'string' && parent.startsWith('#') ? [parent] : [];
    const written = canonicalJson(parent);
    const names = new Set([...[...ids].map(idToken), ...unbound, written].map((token) => heldIn(slot, token)));
    const found = [...names]
      .filter((name) => this.#groups.has(name))
      .map((name) => this.#members(name, availability, { asked: written, may: isHeld }));
    return found.length > 1 ? found.flat() : (found[0] ?? NONE);
  }

  #members(name: string, availability: Availability, filter: Filter = EVERY): readonly Actual[] {
    const group = this.#groups.get(name);
    if (group === undefined) {
      return NONE;
    }
    const lookup = `${availability} ${filter.asked}`;
    const known = group.found.get(lookup);
    if (known !== undefined) {
      return known;
    }
    const members = availability === 'all' ? group.all : group.free;
    const more = availability === 'takeable' ? group.dropped : NONE;
    const found = [...members, ...more].filter(filter.may);
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

interface Filter {
  /** Name of the lookup in the cache. */
  readonly asked: string;
  readonly may: (actual: Actual) => boolean;
}

const EVERY: Filter = { asked: '', may: () => true };
const NONE: readonly Actual[] = [];

function heldIn(slot: string, token: string): string {
  return `${slot}\nin ${token}`;
}

function idToken(id: string): string {
  return `#${id}`;
}
