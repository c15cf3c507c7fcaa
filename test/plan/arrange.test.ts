import { describe, expect, test } from 'vitest';
import { idRef } from '../../src/core/resource.ts';
import { actual, planOf, short } from '../support/planning.ts';

const SPACES = 'spaces: { one: { title: One } }\n';
const spaces = (key: string) => `[{ key: ${key}, space: one, path: ${key} }]`;
const section = (key: string, rest = '') =>
  `{ section: ${key}, title: ${key.toUpperCase()}${key.toUpperCase()}, path: ${key}${rest}, spaces: ${spaces(key)} }`;
const siteOf = (...items: readonly string[]) =>
  `${SPACES}sites: { help: { title: Help, structure: [${items.join(', ')}] } }`;

/** Sections, each with one space: `a` in the group g if it begins with `g/`. */
function platform(...keys: readonly string[]) {
  const lists = new Map<string, number>();
  const place = (list: string) => {
    const index = lists.get(list) ?? 0;
    lists.set(list, index + 1);
    return { list, index };
  };
  return [
    actual('space', 's1', { title: 'One' }),
    actual('site', 'w1', { title: 'Help', published: false }),
    actual('section-group', 'g1', { title: 'Group', parent: null }, { within: 'w1', place: place('w1') }),
    ...keys.flatMap((given) => {
      const key = given.replace('g/', '');
      const group = given === key ? null : idRef('g1', 'section-group');
      const title = `${key.toUpperCase()}${key.toUpperCase()}`;
      return [
        actual(
          'section',
          `sec_${key}`,
          { title, path: key, group, condition: null },
          { within: 'w1', place: place(group === null ? 'w1' : 'g1') },
        ),
        actual(
          'site-space',
          `sp_${key}`,
          { space: idRef('s1', 'space'), section: idRef(`sec_${key}`, 'section'), path: key },
          { within: 'w1', place: { list: `sec_${key}`, index: 0 } },
        ),
      ];
    }),
  ];
}

const group = (...items: readonly string[]) => `{ group: g, title: Group, items: [${items.join(', ')}] }`;

describe('siblings', () => {
  test('a section that moves to the end of another list needs no position', async () => {
    const manifests = siteOf(group(section('x')), section('y'), section('a'));
    expect(short(await planOf({ manifests, actuals: platform('g/x', 'g/a', 'y') }))).toEqual([
      'move section/help/a group',
    ]);
  });

  test('a section that moves before others of another list is placed there', async () => {
    const manifests = siteOf(group(section('x')), section('a'), section('y'), section('z'));
    expect(short(await planOf({ manifests, actuals: platform('g/x', 'g/a', 'y', 'z') }))).toEqual([
      'move section/help/a group position',
    ]);
  });

  test('a section that only changes keeps its place', async () => {
    const manifests = siteOf(group(), section('a', ', condition: visitor.x'), section('y'));
    expect(short(await planOf({ manifests, actuals: platform('a', 'y') }))).toEqual([
      'update section/help/a condition',
    ]);
  });
});
