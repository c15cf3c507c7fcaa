import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Repositioning, repositionings } from '../../src/plan/arrange.ts';

/** Applies the moves as the platform would: one after another. */
function simulate(now: readonly string[], moves: readonly Repositioning[]): readonly string[] {
  const list = [...now];
  for (const {
    address,
    anchor: { side, address: next },
  } of moves) {
    list.splice(list.indexOf(address), 1);
    list.splice(list.indexOf(next) + (side === 'after' ? 1 : 0), 0, address);
  }
  return list;
}

/** Length of a longest increasing run, by exhaustive search. */
function longestRun(items: readonly number[]): number {
  const best: number[] = [];
  for (const [index, item] of items.entries()) {
    const before = items.slice(0, index).map((other, at) => (other < item ? (best[at] ?? 0) : 0));
    best.push(1 + Math.max(0, ...before));
  }
  return Math.max(0, ...best);
}

const orders = fc.integer({ min: 0, max: 12 }).chain((length) =>
  fc.shuffledSubarray(
    Array.from({ length }, (_, index) => index),
    { minLength: length },
  ),
);

describe('bringing siblings into order', () => {
  test('moves only the siblings outside a longest ordered run, and reaches the declared order', () => {
    fc.assert(
      fc.property(orders, (now) => {
        const name = (index: number) => `section/help/${index}`;
        const declared = now.map((_, index) => name(index));
        const moves = repositionings(declared, now.map(name));
        expect(moves).toHaveLength(now.length - longestRun(now));
        expect(simulate(now.map(name), moves)).toEqual(declared);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test('leaves undeclared siblings where they are', () => {
    const moves = repositionings(['a', 'b', 'c'], ['c', 'foreign', 'a', 'b']);
    expect(moves).toEqual([{ address: 'c', anchor: { side: 'after', address: 'b' } }]);
    expect(simulate(['c', 'foreign', 'a', 'b'], moves)).toEqual(['foreign', 'a', 'b', 'c']);
  });
});
