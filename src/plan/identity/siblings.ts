import type { Address } from '../../core/address.ts';

/** Move of a sibling to right after, or right before, another one that is already in its final place. */
export interface Repositioning {
  readonly address: Address;
  readonly side: 'before' | 'after';
  readonly anchor: Address;
}

/**
 * Returns the fewest moves that bring siblings into the declared order: of all but a longest run already in order.
 *
 * @param declared the siblings in the order wanted
 * @param now the same siblings in the order before any is repositioned: existing ones in their order, then
 * those that arrive, in the order of their arrival
 * @param last the siblings that are added only after the moves of the others, so no other is moved next to them
 * @returns the moves, to be made one after the other
 */
export function repositionings(
  declared: readonly Address[],
  now: readonly Address[],
  last: ReadonlySet<Address> = new Set(),
): readonly Repositioning[] {
  const others = declared.filter((address) => !last.has(address));
  const moves = [...fewestMoves(others, now)];
  const end = declared.lastIndexOf(others.at(-1) ?? '');
  for (const [index, address] of declared.slice(0, end + 1).entries()) {
    const anchor = declared[index - 1] ?? others[0];
    if (last.has(address) && anchor !== undefined) {
      moves.push({ address, side: index === 0 ? 'before' : 'after', anchor });
    }
  }
  return moves;
}

function fewestMoves(declared: readonly Address[], now: readonly Address[]): readonly Repositioning[] {
  const wanted = new Map(declared.map((address, index) => [address, index]));
  const standing = now.filter((address) => wanted.has(address));
  const stays = new Set(longestOrderedRun(standing, (address) => wanted.get(address) ?? 0));
  const firstStaying = declared.find((address) => stays.has(address));
  const moves: Repositioning[] = [];
  declared.forEach((address, index) => {
    if (stays.has(address)) {
      return;
    }
    const before = declared[index - 1];
    if (before !== undefined) {
      moves.push({ address, side: 'after', anchor: before });
    } else if (firstStaying !== undefined) {
      moves.push({ address, side: 'before', anchor: firstStaying });
    }
  });
  return moves;
}

/** A longest subsequence whose ranks increase (patience sorting, n log n). */
function longestOrderedRun<T>(items: readonly T[], rank: (item: T) => number): readonly T[] {
  const tails: { item: T; rank: number; previous: number }[] = [];
  const piles: number[] = [];
  for (const item of items) {
    const value = rank(item);
    let low = 0;
    let high = piles.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const top = tails[piles[middle] ?? 0];
      if (top !== undefined && top.rank < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    tails.push({ item, rank: value, previous: low === 0 ? -1 : (piles[low - 1] ?? -1) });
    piles[low] = tails.length - 1;
  }
  const run: T[] = [];
  for (let at = piles.at(-1) ?? -1; at >= 0; ) {
    const entry = tails[at];
    if (entry === undefined) {
      break;
    }
    run.push(entry.item);
    at = entry.previous;
  }
  return run.reverse();
}
