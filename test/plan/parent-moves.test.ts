import { expect, test } from 'vitest';
import type { Declared } from '../../src/core/resource.ts';
import { ParentMoves } from '../../src/plan/order.ts';

/** Collections, each inside the next: a in b, b in c, c in d. */
const PARENTS: Readonly<Record<string, string | null>> = { a: 'b', b: 'c', c: 'd', d: null };

function movesOf(...moved: readonly string[]) {
  const asked: string[] = [];
  const moves = new ParentMoves((id) => moved.some((key) => id === `move collection/${key}`), {
    declaredOf: (address) => {
      const key = address.slice('collection/'.length);
      asked.push(key);
      const parent = PARENTS[key];
      return { fields: { parent: parent == null ? null : `collection/${parent}` } } as unknown as Declared;
    },
  });
  return { asked, nearest: (key: string) => moves.nearest('collection', 'parent', `collection/${key}`) };
}

test('a move is seen through several parents, and the nearest one counts', () => {
  expect(movesOf('d').nearest('a')).toBe('move collection/d');
  expect(movesOf('b', 'd').nearest('a')).toBe('move collection/b');
  expect(movesOf('a', 'd').nearest('a')).toBe('move collection/a');
  expect(movesOf().nearest('a')).toBe(null);
});

test('what is known of a parent is not searched again, whether it moves or not', () => {
  for (const moved of [['d'], []]) {
    const { asked, nearest } = movesOf(...moved);
    const found = nearest('a');
    const before = asked.length;
    expect(nearest('a')).toBe(found);
    expect(nearest('b')).toBe(found);
    expect(asked.length).toBe(before);
  }
});

test('a known parent is also found from a new one', () => {
  const { nearest } = movesOf('d');
  expect(nearest('c')).toBe('move collection/d');
  expect(nearest('a')).toBe('move collection/d');
});
