import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseKeys, slugOf, type UnkeyedResource } from '../../src/import/keys.ts';

test.each([
  ['Docs & guides', 'docs-guides'],
  ['  API   reference (v2) ', 'api-reference-v2'],
  ["Bob's", 'bobs'],
  ['Übergrößen', 'ubergrossen'],
  ['Crème brûlée', 'creme-brulee'],
  ['Łódź', 'lodz'],
  ['Привет мир', 'privet-mir'],
  ['Ελλάδα', 'ellada'],
  ['🚀 Launch', 'launch'],
  ['English עברית', 'english'],
  ['２０２６', '2026'],
  ['指南 2', null],
  ['שלום', null],
  ['🚀', null],
  ['', null],
  ['a '.repeat(60), 'a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a-a'],
])('%j becomes %j', (title, slug) => {
  expect(slugOf(title)).toBe(slug);
});

const named = (id: string, names: readonly string[]): UnkeyedResource<string> => ({
  item: id,
  kind: 'space',
  names,
  order: id,
});

describe('keys', () => {
  test('are readable', () => {
    const chosen = chooseKeys(
      [
        named('1', ['Guides']),
        named('2', ['Guides', 'handbook Guides']),
        named('3', ['Guides!', 'internal Guides!']),
        named('4', ['API']),
        named('5', ['api']),
        named('6', ['API 2']),
        named('7', ['📚']),
        named('8', ['Taken']),
      ],
      ['TAKEN'],
    );
    expect([...chosen].sort().map(([id, { key }]) => `${id} ${key}`)).toEqual([
      '1 guides',
      '2 handbook-guides',
      '3 internal-guides',
      '4 api',
      '5 api-3',
      '6 api-2',
      expect.stringMatching(/^7 space-[0-9a-f]{6}$/),
      '8 taken-2',
    ]);
  });

  test('are plain text in YAML, and own names come before derived ones', () => {
    const chosen = chooseKeys(
      [
        named('1', ['🚀', 'Guides 🚀']),
        named('2', ['Guides']),
        named('3', ['2024']),
        named('4', ['No']),
        named('5', ['1e3']),
        named('6', ['2024 plans']),
      ],
      [],
    );
    expect([...chosen].sort().map(([id, { key }]) => `${id} ${key}`)).toEqual([
      '1 guides-2',
      '2 guides',
      '3 space-2024',
      '4 space-no',
      '5 space-1e3',
      '6 2024-plans',
    ]);
  });

  test('are valid and unique, whatever the names and their order', () => {
    const name = fc.oneof(fc.constantFrom('Guides', 'guides', 'Guides 2', '📚', 'API', '', 'con'), fc.string());
    const names = fc.array(fc.array(name, { minLength: 1, maxLength: 2 }), { maxLength: 20 });
    fc.assert(
      fc.property(names, fc.array(fc.constantFrom('guides', 'GUIDES-2', 'api')), (drawn, taken) => {
        const items = drawn.map((each, index) => named(String(index).padStart(3, '0'), each));
        const chosen = chooseKeys(items, taken);
        const keys = items.map(({ item }) => chosen.get(item)?.key ?? '');
        expect(keys.filter((key) => !/^[a-z0-9][a-z0-9.-]{0,99}$/.test(key))).toEqual([]);
        expect(new Set([...keys, ...taken.map((key) => key.toLowerCase())]).size).toBe(
          keys.length + new Set(taken.map((key) => key.toLowerCase())).size,
        );
        const backwards = chooseKeys(items.toReversed(), taken);
        expect(items.map(({ item }) => backwards.get(item)?.key)).toEqual(keys);
      }),
      { seed: 11, numRuns: 300 },
    );
  });
});
