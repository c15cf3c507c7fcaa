import { describe, expect, test } from 'vitest';
import { idRef } from '../../src/core/resource.ts';
import { actual, change, type PlanCase, planOf, short } from '../support/planning.ts';

const team = (id: string, title: string, members?: Record<string, string>) =>
  actual('team', id, { title, ...(members === undefined ? {} : { members }) }, { facts: { members: 3 } });
const spaceAt = (collection: string | null, rest: object = {}) =>
  actual('space', 's1', {
    title: 'Guides',
    emoji: '1f4d8',
    collection: collection && idRef(collection, 'collection'),
    ...rest,
  });

const WRITERS = 'teams: { writers: { title: Writers } }';
const WITH_SITE = `spaces: { one: { title: One } }
sites: { help: { title: Help, structure: [{ section: a, title: First, spaces: [{ key: x, space: one }] }] } }`;
const parts = [
  actual('space', 's1', { title: 'One' }),
  actual('site', 'w1', { title: 'Help', published: true }, { facts: { siteSpaces: 4 } }),
  actual(
    'section',
    'x1',
    { title: 'First', group: null, path: 'first' },
    { within: 'w1', place: { list: 'w1', index: 0 } },
  ),
  actual(
    'site-space',
    'e1',
    { space: idRef('s1', 'space'), section: idRef('x1', 'section'), path: 'en' },
    { within: 'w1', place: { list: 'x1', index: 0 } },
  ),
];

const rows: readonly (readonly [string, PlanCase, readonly string[]])[] = [
  ['makes no change for an unchanged resource', { manifests: WRITERS, actuals: [team('t1', 'Writers')] }, []],
  ['creates a declared resource that does not exist', { manifests: WRITERS }, ['create team/writers']],
  ['makes no change for an owned resource that no longer exists', { manifests: 'teams: {}', base: WRITERS }, []],
  [
    'lists a resource that was never declared as unmanaged',
    { manifests: 'teams: {}', base: WRITERS, actuals: [team('t2', 'Others')] },
    [],
  ],
  [
    'deletes a resource that was never declared with prune: all',
    { manifests: 'teams: {}', base: 'teams: {}', actuals: [team('t2', 'Others')], policy: { prune: 'all' } },
    ['delete #t2'],
  ],
  [
    'deletes no undeclared resource of a kind without prune: all',
    { manifests: 'teams: {}', base: 'teams: {}', actuals: [team('t2', 'Others')], policy: { prune: { space: 'all' } } },
    [],
  ],
  [
    'deletes nothing with prune: never',
    { manifests: 'teams: {}', base: WRITERS, actuals: [team('t1', 'Writers')], policy: { prune: 'never' } },
    [],
  ],
  [
    'deletes nothing of a kind with prune: never',
    { manifests: 'teams: {}', base: WRITERS, actuals: [team('t1', 'Writers')], policy: { prune: { team: 'never' } } },
    [],
  ],
  [
    'deletes nothing without a base, whatever prune is',
    { manifests: 'teams: {}', actuals: [team('t1', 'Writers')], policy: { prune: 'all' } },
    [],
  ],
  [
    'does not manage a field that is absent',
    { manifests: 'spaces: { g: { title: Guides } }', actuals: [spaceAt('c9')] },
    [],
  ],
  [
    'null clears',
    { manifests: 'spaces: { g: { title: Guides, emoji: null } }', actuals: [spaceAt(null)] },
    ['update space/g emoji'],
  ],
  [
    'treats null as an absent value',
    { manifests: 'spaces: { g: { title: Guides, emoji: null } }', actuals: [spaceAt(null, { emoji: null })] },
    [],
  ],
  [
    'does not change an ignored field',
    { manifests: 'spaces: { g: { title: Guides, emoji: "1f680", ignore: [emoji] } }', actuals: [spaceAt(null)] },
    [],
  ],
  [
    'shows a paused change',
    {
      manifests: 'spaces: { g: { title: Guides, emoji: null, paused: { reason: freeze, until: 2026-06-02 } } }',
      actuals: [spaceAt(null)],
    },
    ['update space/g emoji paused'],
  ],
  [
    'ends a pause when its day begins',
    {
      manifests: 'spaces: { g: { title: Guides, emoji: null, paused: { reason: freeze, until: 2026-06-01 } } }',
      actuals: [spaceAt(null)],
    },
    ['update space/g emoji'],
  ],
  [
    'keeps a pause without a day',
    {
      manifests: 'spaces: { g: { title: Guides, emoji: null, paused: { reason: freeze } } }',
      actuals: [spaceAt(null)],
    },
    ['update space/g emoji paused'],
  ],
  [
    'deletes the parts of a site with it',
    { manifests: 'spaces: { one: { title: One } }', base: WITH_SITE, actuals: parts },
    ['delete site/help'],
  ],
  [
    'deletes the spaces of a section with it',
    {
      manifests: `spaces: { one: { title: One } }\nsites: { help: { title: Help, structure: [] } }`,
      base: WITH_SITE,
      actuals: parts,
    },
    ['delete section/help/a'],
  ],
];

describe('a plan, row by row', () => {
  test.each(rows)('%s', async (_name, input, expected) => {
    expect(short(await planOf(input))).toEqual(expected);
  });
});

describe('membership', () => {
  const members = { 'ana@acme.example': 'owner', 'cy@acme.example': 'member' };
  const declared = (membership: string) =>
    `teams: { writers: { title: Writers, membership: ${membership}, members: { ana@acme.example: member, bo@acme.example: member } } }`;

  test('removes everyone else from an exact membership', async () => {
    const planned = await planOf({ manifests: declared('exact'), actuals: [team('t1', 'Writers', members)] });
    expect(change(planned, 'team/writers', 'members')).toEqual([
      members,
      { 'ana@acme.example': 'member', 'bo@acme.example': 'member' },
    ]);
    expect(planned.plan.access).toEqual([
      {
        person: 'ana@acme.example',
        from: 'team/writers',
        to: 'team/writers',
        role: 'owner → member',
        change: 'team/writers',
      },
      { person: 'bo@acme.example', from: null, to: 'team/writers', role: 'member', change: 'team/writers' },
      { person: 'cy@acme.example', from: 'team/writers', to: null, role: 'member', change: 'team/writers' },
    ]);
  });

  test('keeps everyone else in an additive membership', async () => {
    const planned = await planOf({ manifests: declared('additive'), actuals: [team('t1', 'Writers', members)] });
    expect(change(planned, 'team/writers', 'members')).toEqual([
      members,
      { 'ana@acme.example': 'member', 'bo@acme.example': 'member', 'cy@acme.example': 'member' },
    ]);
  });

  test('lists people who have not joined as pending, and creates the team with the others', async () => {
    const planned = await planOf({
      manifests:
        'teams: { writers: { title: Writers, members: { ana@acme.example: owner, dana@acme.example: member } } }',
    });
    expect(short(planned)).toEqual(['create team/writers']);
    expect(change(planned, 'team/writers', 'members')).toEqual([null, { 'ana@acme.example': 'owner' }]);
    expect(planned.plan.pending).toEqual([
      { address: 'member/dana@acme.example', reason: 'not a member of the organization yet' },
    ]);
  });

  test('lists who loses access when a team is deleted or a person is removed', async () => {
    const planned = await planOf({
      manifests: 'members: { ana@acme.example: { role: admin } }',
      base: `members: { ana@acme.example: { role: admin }, bo@acme.example: { role: edit } }\nteams: { writers: { title: Writers } }`,
      actuals: [
        team('t1', 'Writers', { 'cy@acme.example': 'owner' }),
        actual('member', 'usr_ana', { role: 'admin' }, { title: 'ana@acme.example' }),
        actual('member', 'usr_bo', { role: 'edit' }, { title: 'bo@acme.example' }),
      ],
    });
    expect(planned.plan.access.map(({ person, from, to, role }) => [person, from, to, role])).toEqual(
      expect.arrayContaining([
        ['cy@acme.example', 'team/writers', null, 'owner'],
        ['bo@acme.example', 'organization', null, 'edit'],
      ]),
    );
  });
});

describe('protection', () => {
  test('holds a deletion when the declaration was removed, and no approval helps', async () => {
    const input: PlanCase = {
      manifests: 'teams: {}',
      base: 'teams: { writers: { title: Writers, protect: true } }',
      actuals: [team('t1', 'Writers')],
    };
    const planned = await planOf(input);
    expect(short(planned)).toEqual(['delete team/writers held']);
    const approved = await planOf({ ...input, policy: { approved: [planned.plan.checksum] } });
    expect(short(approved)).toEqual(['delete team/writers held']);
  });

  test('holds the deletion of a whole with a protected part', async () => {
    const planned = await planOf({
      manifests: 'spaces: { one: { title: One } }',
      base: WITH_SITE,
      recordedProtection: ['section/help/a'],
      actuals: parts,
    });
    expect(short(planned)).toEqual(['delete site/help held']);
    expect(planned.plan.changes[0]?.held).toBe('section/help/a is part of it and protected');
  });

  test('holds back a replacement as a whole', async () => {
    const fr = (from: string, more = '') =>
      `spaces: { g: { title: Guides } }\ntranslations: { fr: { space: g, from: ${from}, to: fr${more} } }`;
    const planned = await planOf({
      manifests: fr('en', ', protect: true'),
      base: fr('de'),
      actuals: [spaceAt(null), actual('translation', 'r1', { space: idRef('s1', 'space'), from: 'de', to: 'fr' })],
    });
    expect(short(planned)).toEqual(['delete translation/fr replaces held', 'create translation/fr replaces held']);
  });
});
