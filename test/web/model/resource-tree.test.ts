import { expect, test } from 'vitest';
import type { Declared } from '../../../src/core/resource.ts';
import { resourceTree } from '../../../src/web/model/resources.ts';

function tree(...given: readonly (readonly [address: string, within: string | null])[]) {
  const all = given.map(([address, within]) => ({
    address,
    kind: 'page',
    fields: { title: address },
    within,
    place: null,
  }));
  return resourceTree(new Map(all.map((each) => [each.address, each as unknown as Declared])));
}

const order = ({ resources }: ReturnType<typeof tree>) => resources.map(({ address }) => address);

test('resources follow what they are part of, sorted by address', () => {
  const found = tree(['b', null], ['a/2', 'a'], ['a', null], ['a/1/x', 'a/1'], ['a/1', 'a'], ['lost', 'nowhere']);
  expect(order(found)).toEqual(['a', 'a/1', 'a/1/x', 'a/2', 'b', 'lost']);
  expect(found.resources.map((each) => found.parentOf(each)?.address ?? null)).toEqual([
    null,
    'a',
    'a/1',
    'a',
    null,
    null,
  ]);
  expect(found.kinds).toEqual([{ kind: 'page', count: 6 }]);
});

test('resources below themselves are shown once, the first of them at the top', () => {
  const found = tree(['a', null], ['x', 'z'], ['y', 'x'], ['z', 'y'], ['y/1', 'y'], ['self', 'self']);
  expect(order(found)).toEqual(['a', 'x', 'y', 'y/1', 'z', 'self']);
  expect(found.resources.map((each) => found.parentOf(each)?.address ?? null)).toEqual([
    null,
    null,
    'x',
    'y',
    'y',
    null,
  ]);
});

test('the tree is made once for the same manifests', () => {
  const declared = new Map<string, Declared>();
  expect(resourceTree(declared)).toBe(resourceTree(declared));
});
