/** Order of resources on the page of an organization. */
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

test('resources follow what they are part of, and those below themselves are shown once', () => {
  const found = tree(
    ['a', null],
    ['x', 'z'],
    ['y', 'x'],
    ['z', 'y'],
    ['y/1', 'y'],
    ['self', 'self'],
    ['lost', 'nowhere'],
  );
  const shown = found.resources.map((each) => `${each.address} in ${found.parentOf(each)?.address ?? 'nothing'}`);
  const [roots, cycle] = [
    ['a in nothing', 'lost in nothing'],
    ['x in nothing', 'y in x', 'y/1 in y', 'z in y'],
  ];
  expect(shown).toEqual([...roots, ...cycle, 'self in nothing']);
  expect(found.kinds).toEqual([{ kind: 'page', count: 7 }]);
});
