/** Order of siblings as declared, with the fewest moves. */
import type { Address } from '../core/address.ts';
import type { Change, FieldChange } from '../core/change.ts';
import type { Declared } from '../core/resource.ts';
import { changeOf } from './changes.ts';
import type { Identity } from './identity.ts';
import type { KindRules } from './rules.ts';

/**
 * Orders siblings as declared, with the fewest moves: assigns positions to created and moved resources, and moves those
 * that are in the wrong place. See docs/concepts.md#how-changes-are-applied.
 */
export function arrangeSiblings(
  kinds: readonly KindRules[],
  changes: readonly Change[],
  declared: ReadonlyMap<Address, Declared>,
  identity: Identity,
): readonly Change[] {
  const lists = Map.groupBy(
    [...declared.values()].filter((resource) => resource.place !== null),
    (resource) => resource.place?.list ?? '',
  );
  const standing = standingOrders(holdersOf(kinds), identity);
  const arrivals = new Map(changes.filter(arrives).map((change) => [change.address, change]));
  const positions = new Map<Address, Repositioning>();
  /** Places of siblings in the order of their creation, where it is not that of the list. */
  const turns = new Map<Address, number>();
  for (const [list, siblings] of lists) {
    const wanted = siblings
      .toSorted((a, b) => (a.place?.index ?? 0) - (b.place?.index ?? 0))
      .map((resource) => resource.address)
      .filter((address) => identity.bound.has(address) || arrivals.has(address));
    const now = (standing.get(list) ?? []).filter((address) => !arrivals.has(address));
    const inTurn = wanted.filter((address) => arrivals.has(address));
    const seed = seedOf(kinds, arrivals.get(list), arrivals);
    const arriving = seed === undefined ? inTurn : [seed, ...inTurn.filter((address) => address !== seed)];
    const late = inTurn.length === wanted.length ? lateOnes(kinds, inTurn, arrivals) : new Set<Address>();
    const moves = late.size > 0 ? insertions(wanted, late) : repositionings(wanted, [...now, ...arriving]);
    for (const address of late) {
      turns.set(address, wanted.length + wanted.indexOf(address));
    }
    for (const position of moves) {
      positions.set(position.address, position);
    }
  }
  const arranged = changes.map((change) => {
    const index = turns.get(change.address);
    return change.place === null || index === undefined ? change : { ...change, place: { ...change.place, index } };
  });
  return positions.size === 0 ? arranged : withPositions(arranged, positions, declared, identity);
}

/** Finds the new siblings of a new list that can only be created after others of it, such as a link after a section. */
function lateOnes(
  kinds: readonly KindRules[],
  arriving: readonly Address[],
  arrivals: ReadonlyMap<Address, Change>,
): ReadonlySet<Address> {
  const created = arriving
    .flatMap((address) => arrivals.get(address) ?? [])
    .filter(({ action }) => action === 'create');
  const present = new Set(created.map(({ kind }) => kind));
  const waits = new Set(
    kinds.filter(({ applyAfter = [] }) => applyAfter.some((each) => present.has(each))).map(({ name }) => name),
  );
  const isNew = created.length === arriving.length;
  return new Set(isNew ? created.filter(({ kind }) => waits.has(kind)).map(({ address }) => address) : []);
}

/** Returns the moves of siblings that are created after the others. Those at the end are in their places already. */
function insertions(declared: readonly Address[], late: ReadonlySet<Address>): readonly Repositioning[] {
  const end = declared.findLastIndex((address) => !late.has(address));
  const first = declared.find((address) => !late.has(address)) ?? '';
  return declared.slice(0, end).flatMap((address, index): readonly Repositioning[] => {
    const before = declared[index - 1];
    const anchor = before === undefined ? { side: 'before', address: first } : { side: 'after', address: before };
    return late.has(address) ? [{ address, anchor: anchor as Repositioning['anchor'] }] : [];
  });
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
  const placed = [...identity.bound].flatMap(([address, { place }]) =>
    place === null ? [] : [{ address, index: place.index, list: identity.addressOf(holders, place.list) }],
  );
  const lists = Map.groupBy(placed, ({ list }) => list);
  return new Map(
    [...lists].map(([list, items]) => [list, items.toSorted((a, b) => a.index - b.index).map((item) => item.address)]),
  );
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
    return { ...change, anchor: position.anchor, fields: [...change.fields, positionField(position)] };
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
          anchor: position.anchor,
        }),
      );
    }
  }
  return [...placed, ...moves];
}

function positionField({ anchor: { side, address } }: Repositioning): FieldChange {
  return { path: 'position', to: `${side} ${address}` };
}

/** Move of a sibling to right after, or right before, another one that is already in its final place. */
export interface Repositioning {
  readonly address: Address;
  readonly anchor: NonNullable<Change['anchor']>;
}

/**
 * Returns the fewest moves that bring siblings into the declared order: of all but a longest run already in order.
 *
 * @param declared the siblings in the order wanted
 * @param now the same siblings in the order before any is repositioned: existing ones in their order, then
 * those that arrive, in the order of their arrival
 * @returns the moves, to be made one after the other
 */
export function repositionings(declared: readonly Address[], now: readonly Address[]): readonly Repositioning[] {
  const wanted = new Map(declared.map((address, index) => [address, index]));
  const standing = now.filter((address) => wanted.has(address));
  const stays = new Set(longestOrderedRun(standing, (address) => wanted.get(address) ?? 0));
  const firstStaying = declared.find((address) => stays.has(address));
  const moves: Repositioning[] = [];
  declared.forEach((address, index) => {
    const anchor = declared[index - 1] ?? firstStaying;
    if (anchor !== undefined && !stays.has(address)) {
      moves.push({ address, anchor: { side: index === 0 ? 'before' : 'after', address: anchor } });
    }
  });
  return moves;
}

/** A longest subsequence whose ranks increase (patience sorting, n log n). */
function longestOrderedRun<T>(items: readonly T[], rank: (item: T) => number): readonly T[] {
  const entries: { item: T; rank: number; previous: number }[] = [];
  /** Index of the entry with the lowest rank that ends a run of each length. */
  const piles: number[] = [];
  for (const item of items) {
    const value = rank(item);
    let low = 0;
    let high = piles.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const top = entries[piles[middle] ?? 0];
      if (top !== undefined && top.rank < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    entries.push({ item, rank: value, previous: piles[low - 1] ?? -1 });
    piles[low] = entries.length - 1;
  }
  const run: T[] = [];
  for (let entry = entries[piles.at(-1) ?? -1]; entry !== undefined; entry = entries[entry.previous]) {
    run.push(entry.item);
  }
  return run.reverse();
}
