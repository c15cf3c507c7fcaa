import type { Address } from '../../core/address.ts';
import type { Change, FieldChange } from '../../core/change.ts';
import type { Actual, Declared } from '../../core/resource.ts';
import type { Identity } from '../identity/identity.ts';
import { type Repositioning, repositionings } from '../identity/siblings.ts';
import { changeOf } from '../model/new-change.ts';
import type { KindRules } from '../model/rules.ts';

/**
 * Orders siblings as declared, with the fewest moves: assigns positions to created and moved resources, and moves those
 * that are in the wrong place. See docs/concepts.md#how-changes-are-applied.
 */
export function arrangeSiblings(
  kinds: readonly KindRules[],
  changes: readonly Change[],
  declared: ReadonlyMap<Address, Declared>,
  identity: Identity,
  needed: ReadonlyMap<Address, Address>,
): readonly Change[] {
  const lists = Map.groupBy(
    [...declared.values()].filter((resource) => resource.place !== null),
    (resource) => resource.place?.list ?? '',
  );
  const standing = standingOrders(holdersOf(kinds), identity);
  const arrivals = new Map(
    changes.filter((change) => arrives(change)).map((change) => [change.address, change] as const),
  );
  const last = new Set(needed.keys());
  const positions = new Map<Address, Repositioning>();
  for (const [list, siblings] of lists) {
    const wanted = siblings
      .toSorted((a, b) => (a.place?.index ?? 0) - (b.place?.index ?? 0))
      .map((resource) => resource.address)
      .filter((address) => identity.bound.has(address) || arrivals.has(address));
    const now = (standing.get(list) ?? []).filter((address) => !arrivals.has(address));
    const inTurn = wanted.filter((address) => arrivals.has(address));
    const seed = seedOf(kinds, arrivals.get(list), arrivals);
    const arriving = seed === undefined ? inTurn : [seed, ...inTurn.filter((address) => address !== seed)];
    for (const position of repositionings(wanted, [...now, ...arriving], last)) {
      positions.set(position.address, position);
    }
  }
  return positions.size === 0 ? changes : withPositions(changes, positions, declared, identity);
}

/** Returns the kinds that can have a list of siblings: parents and their parts. */
function holdersOf(kinds: readonly KindRules[]): readonly string[] {
  const parts = kinds.filter((kind) => kind.partOf !== undefined);
  return [...new Set(parts.flatMap((kind) => [kind.partOf ?? kind.name, kind.name]))];
}

/** Returns the part that is created together with its parent, and so is first in its list. */
function seedOf(
  kinds: readonly KindRules[],
  holder: Change | undefined,
  arrivals: ReadonlyMap<Address, Change>,
): Address | undefined {
  if (holder?.action !== 'create') {
    return undefined;
  }
  const creation = (address: Address) => {
    const change = arrivals.get(address);
    return change?.action === 'create' ? change : undefined;
  };
  const seed = kinds.find((kind) => kind.name === holder.kind)?.seed?.(holder, creation)?.address;
  return seed !== undefined && creation(seed) !== undefined ? seed : undefined;
}

/** Returns true if a change adds a resource to the end of a list of siblings. */
function arrives(change: Change): boolean {
  return change.place !== null && (change.action === 'create' || change.action === 'move');
}

/** Returns the current order of each list, by the address of its parent. */
function standingOrders(holders: readonly string[], identity: Identity): ReadonlyMap<Address, readonly Address[]> {
  const lists = new Map<Address, { address: Address; index: number }[]>();
  for (const [address, actual] of identity.bound) {
    const list = listOf(actual, holders, identity);
    if (list !== null && actual.place !== null) {
      const items = lists.get(list) ?? [];
      items.push({ address, index: actual.place.index });
      lists.set(list, items);
    }
  }
  return new Map(
    [...lists].map(([list, items]) => [list, items.toSorted((a, b) => a.index - b.index).map((item) => item.address)]),
  );
}

/** Returns the address of the parent whose list contains a resource. */
function listOf(actual: Actual, holders: readonly string[], identity: Identity): Address | null {
  return actual.place === null ? null : identity.addressOf(holders, actual.place.list);
}

function withPositions(
  changes: readonly Change[],
  positions: Map<Address, Repositioning>,
  declared: ReadonlyMap<Address, Declared>,
  identity: Identity,
): readonly Change[] {
  const placed = changes.map((change) => {
    const position = arrives(change) ? positions.get(change.address) : undefined;
    if (position === undefined) {
      return change;
    }
    positions.delete(change.address);
    return { ...change, anchor: anchorOf(position), fields: [...change.fields, positionField(position)] };
  });
  const moves: Change[] = [];
  for (const [address, position] of positions) {
    const resource = declared.get(address);
    const actual = identity.bound.get(address);
    if (resource !== undefined && actual !== undefined) {
      moves.push(
        changeOf(resource, {
          action: 'move',
          id: actual.id,
          fields: [positionField(position)],
          declared: resource.fields,
          actual: identity.fieldsOf(actual),
          anchor: anchorOf(position),
        }),
      );
    }
  }
  return [...placed, ...moves];
}

function anchorOf(position: Repositioning): NonNullable<Change['anchor']> {
  return { side: position.side, address: position.anchor };
}

function positionField(position: Repositioning): FieldChange {
  return { path: 'position', to: `${position.side} ${position.anchor}` };
}
