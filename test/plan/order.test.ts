import { describe, expect, test } from 'vitest';
import { changeId } from '../../src/core/change.ts';
import { idRef } from '../../src/core/resource.ts';
import { heldChecksum, planChecksum } from '../../src/plan/guard.ts';
import type { PlannedChanges } from '../../src/plan/plan.ts';
import { planToJson } from '../../src/plan/render/document.ts';
import { actual, type PlanCase, planOf, short } from '../support/planning.ts';

const ALL = `teams: { t: { title: T } }
saml: { p: { label: P, defaultTeam: t } }
collections: { outer: { title: Outer }, inner: { title: Inner, parent: outer } }
spaces: { s: { title: S, collection: inner }, copy: { title: Copy, duplicateOf: s } }
translations: { fr: { space: s, from: en, to: fr } }
organization: { defaultContent: { site: w } }
sites:
  w:
    title: Site
    published: true
    default: a
    structure:
      - group: g
        title: G
        items:
          - { section: a, title: Section a, default: y, spaces: [{ key: x, space: s, path: x }, { key: y, space: copy }] }
`;
const INSIDE_OUT = 'collections: { a: { title: A, parent: b }, b: { title: B, parent: null } }';

/** Reports whether one change starts only after the other has ended. */
function comesAfter(planned: PlannedChanges, later: string, earlier: string): boolean {
  const ids = planned.ordering.sequence.map(changeId);
  expect(ids).toContain(later);
  expect(ids).toContain(earlier);
  const { hard, soft, late } = planned.ordering;
  const before = (id: string): readonly string[] => [...(hard.get(id) ?? []), ...(soft.get(id) ?? [])];
  const secondHalf = late.get(later);
  const seen = new Set<string>();
  const reaches = (id: string): boolean =>
    id === earlier || (!seen.has(id) && seen.add(id) !== undefined && before(id).some(reaches));
  return [...before(later), ...(secondHalf?.hard ?? []), ...(secondHalf?.soft ?? [])].some(reaches);
}

const created: readonly (readonly [string, string])[] = [
  ['create saml/p', 'create team/t'],
  ['create collection/inner', 'create collection/outer'],
  ['create space/s', 'create collection/inner'],
  ['create space/copy', 'create space/s'],
  ['create translation/fr', 'create space/s'],
  ['create section-group/w/g', 'create site/w'],
  ['create section/w/a', 'create section-group/w/g'],
  // Its first space is created with it.
  ['create section/w/a', 'create space/copy'],
  ['create site-space/w/a/x', 'create section/w/a'],
  ['create site-space/w/a/x', 'create space/s'],
  // Its default and publication come last.
  ['create site/w', 'create section/w/a'],
  ['create site/w', 'create site-space/w/a/x'],
  ['update organization', 'create site/w'],
];

const groups = (structure: string) =>
  `spaces: { s: { title: S } }\nsites: { w: { title: Site, structure: ${structure} } }`;
const sectionOf = (key: string) => `{ section: ${key}, title: Section ${key}, spaces: [{ key: e, space: s }] }`;
const grouped: PlanCase = {
  base: groups(`[{ group: a, title: A, items: [${sectionOf('x')}] }, { group: b, title: B, items: [] }]`),
  manifests: groups(`[{ group: b, title: B, items: [{ group: a, title: A, items: [${sectionOf('x')}] }] }]`),
  actuals: [
    actual('space', 's1', { title: 'S' }),
    actual('site', 'w1', { title: 'Site' }),
    actual('section-group', 'g1', { title: 'A', parent: null }, { within: 'w1', place: { list: 'w1', index: 0 } }),
    actual('section-group', 'g2', { title: 'B', parent: null }, { within: 'w1', place: { list: 'w1', index: 1 } }),
    actual(
      'section',
      'x1',
      { title: 'Section x', path: 'x', group: idRef('g1', 'section-group') },
      { within: 'w1', place: { list: 'g1', index: 0 } },
    ),
    actual(
      'site-space',
      'e1',
      { space: idRef('s1', 'space'), path: 'en', section: idRef('x1', 'section') },
      { within: 'w1', place: { list: 'x1', index: 0 } },
    ),
  ],
};

describe('the order of changes', () => {
  test.each(created)('orders %s after %s', async (later, earlier) => {
    expect(comesAfter(await planOf({ manifests: ALL }), later, earlier)).toBe(true);
  });

  test('orders deletions the other way round', async () => {
    const planned = await planOf({
      manifests: 'members: {}',
      base: `teams: { t: { title: T } }
saml: { p: { label: P, defaultTeam: t } }
collections: { outer: { title: Outer }, inner: { title: Inner, parent: outer } }
spaces: { s: { title: S } }
translations: { fr: { space: s, from: en, to: fr } }`,
      actuals: [
        actual('team', 't1', { title: 'T' }),
        actual('saml', 'p1', { label: 'P', defaultTeam: idRef('t1', 'team') }),
        actual('collection', 'c1', { title: 'Outer', parent: null }),
        actual('collection', 'c2', { title: 'Inner', parent: idRef('c1', 'collection') }),
        actual('space', 's1', { title: 'S', collection: null }),
        actual('translation', 'r1', { space: idRef('s1', 'space'), from: 'en', to: 'fr' }),
      ],
    });
    for (const [later, earlier] of [
      ['delete team/t', 'delete saml/p'],
      ['delete collection/outer', 'delete collection/inner'],
      ['delete space/s', 'delete translation/fr'],
    ] as const) {
      expect(comesAfter(planned, later, earlier)).toBe(true);
    }
  });

  test('turns collections inside out from the outermost', async () => {
    const planned = await planOf({
      manifests: INSIDE_OUT,
      actuals: [
        actual('collection', 'c1', { title: 'A', parent: null }),
        actual('collection', 'c2', { title: 'B', parent: idRef('c1', 'collection') }),
      ],
    });
    expect(comesAfter(planned, 'move collection/a', 'move collection/b')).toBe(true);
  });

  test('moves a resource into another one after the nearest of its ancestors has moved', async () => {
    const inside = (parent: string | null) => ({ parent: parent && idRef(parent, 'collection') });
    const planned = await planOf({
      manifests:
        'collections: { x: { title: X, parent: a }, y: { title: Y, parent: a }, a: { title: A, parent: b }, b: { title: B, parent: c }, c: { title: C, parent: null } }',
      actuals: [
        actual('collection', 'c1', { title: 'X', ...inside(null) }),
        actual('collection', 'c2', { title: 'Y', ...inside(null) }),
        actual('collection', 'c3', { title: 'A', ...inside('c4') }),
        actual('collection', 'c4', { title: 'B', ...inside('c5') }),
        actual('collection', 'c5', { title: 'C', ...inside('c1') }),
      ],
    });
    expect(comesAfter(planned, 'move collection/x', 'move collection/c')).toBe(true);
    expect(comesAfter(planned, 'move collection/y', 'move collection/c')).toBe(true);
  });

  test('frees a title before another resource takes it', async () => {
    const planned = await planOf({
      manifests: 'teams: { a: { title: New }, b: { title: A } }',
      base: 'teams: { a: { title: A } }',
      actuals: [actual('team', 't1', { title: 'A' })],
    });
    expect(comesAfter(planned, 'create team/b', 'update team/a')).toBe(true);
  });

  test('creates a replacement first, then moves references to it, and deletes the old resource last', async () => {
    const planned = await planOf(grouped);
    expect(short(planned)).toEqual(
      expect.arrayContaining([
        'create section-group/w/a replaces',
        'delete section-group/w/a replaces',
        'move section/w/x group',
      ]),
    );
    const move = planned.plan.changes.find((change) => change.action === 'move' && change.address === 'section/w/x');
    expect(move?.fields[0]).toEqual({ path: 'group', from: '#g1', to: 'section-group/w/a' });
    expect(comesAfter(planned, 'move section/w/x', 'create section-group/w/a')).toBe(true);
    expect(comesAfter(planned, 'delete section-group/w/a', 'move section/w/x')).toBe(true);
  });

  test('deletes a replaced translation before it creates the new one, without references meanwhile', async () => {
    const manifests = (to: string) => `spaces: { s: { title: S } }
translations: { fr: { space: s, from: en, to: ${to} } }
sites: { w: { title: Site, structure: [{ key: x, space: s }, { key: e, space: fr }] } }`;
    const planned = await planOf({
      base: manifests('fr'),
      manifests: manifests('it'),
      actuals: [
        actual('space', 's1', { title: 'S' }),
        actual('translation', 'r1', { space: idRef('s1', 'space'), from: 'en', to: 'fr' }, { aliases: ['s2'] }),
        actual('site', 'w1', { title: 'Site' }),
        actual(
          'site-space',
          'x1',
          { space: idRef('s1', 'space', 'translation'), path: 'a', section: null },
          { within: 'w1', place: { list: 'w1', index: 0 } },
        ),
        actual(
          'site-space',
          'e1',
          { space: idRef('s2', 'space', 'translation'), path: 'b', section: null },
          { within: 'w1', place: { list: 'w1', index: 1 } },
        ),
      ],
    });
    expect(short(planned)).toEqual(['delete translation/fr replaces', 'create translation/fr replaces']);
    expect(comesAfter(planned, 'create translation/fr', 'delete translation/fr')).toBe(true);
    expect(planned.plan.pending.map(({ address }) => address)).toEqual(['site-space/w/e']);
  });

  test('lists the required changes in JSON', async () => {
    const { plan } = await planOf({ manifests: ALL });
    const { changes } = planToJson(plan) as { changes: { address: string; dependsOn: string[] }[] };
    const dependsOn = (address: string) => changes.find((each) => each.address === address)?.dependsOn;
    expect(dependsOn('section/w/a')).toEqual(['section-group/w/g', 'site/w', 'space/copy']);
    expect(dependsOn('saml/p')).toEqual(['team/t']);
    expect(dependsOn('team/t')).toEqual([]);
  });
});

describe('the checksum', () => {
  const one = { 'a.yaml': 'teams: { a: { title: A }, b: { title: B } }', 'b.yaml': 'spaces: { s: { title: S } }' };
  const other = {
    'z.yaml': 'teams: { b: { title: B } }',
    'y.yaml': 'spaces: { s: { title: S } }\nteams: { a: { title: A } }',
  };

  test('does not depend on the order of files and keys, or on the commit', async () => {
    const plans = await Promise.all([
      planOf({ manifests: one }),
      planOf({ manifests: other }),
      planOf({ manifests: one, commit: '3f2a9c1' }),
    ]);
    expect(new Set(plans.map(({ plan }) => plan.checksum)).size).toBe(1);
    expect(plans[0]?.plan.checksum).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('differs for another organization and scope, and between a plan and its held part', async () => {
    const { changes } = (await planOf({ manifests: one })).plan;
    const checksums = ['org_1', 'org_2'].flatMap((organization) =>
      ['.', 'docs'].flatMap((scope) => [
        planChecksum(organization, scope, changes),
        heldChecksum(organization, scope, changes),
      ]),
    );
    expect(new Set(checksums).size).toBe(8);
  });

  test('differs for another value and another resource', async () => {
    const with1 = await planOf({ manifests: 'teams: { a: { title: A } }' });
    const with2 = await planOf({ manifests: 'teams: { a: { title: B } }' });
    const bound = await planOf({
      manifests: 'teams: { a: { id: t1, title: A } }',
      actuals: [actual('team', 't1', { title: 'X' })],
    });
    const bound2 = await planOf({
      manifests: 'teams: { a: { id: t2, title: A } }',
      actuals: [actual('team', 't2', { title: 'X' })],
    });
    expect(new Set([with1, with2, bound, bound2].map(({ plan }) => plan.checksum)).size).toBe(4);
  });
});
