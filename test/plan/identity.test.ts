import { describe, expect, test } from 'vitest';
import { DesiredStateError } from '../../src/core/errors.ts';
import { idRef } from '../../src/core/resource.ts';
import { actual, type PlanCase, planOf, short } from '../support/planning.ts';

const team = (id: string, title: string) => actual('team', id, { title });
const WRITERS = 'teams: { writers: { title: Writers } }';

const cases: readonly (readonly [string, PlanCase, readonly string[]])[] = [
  [
    'binds by id before any title',
    { manifests: 'teams: { writers: { id: t2, title: Writers } }', actuals: [team('t1', 'Writers'), team('t2', 'X')] },
    ['update team/writers title'],
  ],
  [
    'binds by recorded id before the declared title',
    {
      manifests: WRITERS,
      base: WRITERS,
      ids: { 'team/writers': 't2' },
      actuals: [team('t1', 'Writers'), team('t2', 'Renamed by hand')],
    },
    ['update team/writers title'],
  ],
  [
    'binds by title when the recorded id no longer exists',
    { manifests: WRITERS, base: WRITERS, ids: { 'team/writers': 't9' }, actuals: [team('t1', 'Writers')] },
    [],
  ],
  [
    'binds by the title of the base when the title changes',
    { manifests: 'teams: { writers: { title: Authors } }', base: WRITERS, actuals: [team('t1', 'Writers')] },
    ['update team/writers title'],
  ],
  ['binds by the declared title', { manifests: WRITERS, actuals: [team('t1', 'Writers')] }, []],
  [
    'binds by renamedFrom without a base',
    {
      manifests: 'teams: { writers: { title: Authors, renamedFrom: Writers } }',
      actuals: [team('t1', 'Writers')],
    },
    ['update team/writers title'],
  ],
  [
    'binds by the declared title before renamedFrom',
    {
      manifests: 'teams: { writers: { title: Authors, renamedFrom: Writers } }',
      actuals: [team('t1', 'Writers'), team('t2', 'Authors')],
    },
    [],
  ],
  [
    'creates a resource that no rule binds',
    { manifests: WRITERS, actuals: [team('t1', 'Others')] },
    ['create team/writers'],
  ],
  [
    'binds a renamed key with the same title to the resource of the old key',
    {
      manifests: 'teams: { authors: { title: Writers } }',
      base: WRITERS,
      ids: { 'team/writers': 't1' },
      actuals: [team('t1', 'Writers')],
    },
    [],
  ],
  [
    'binds a renamed key over a base without ids',
    { manifests: 'teams: { authors: { title: Writers } }', base: WRITERS, actuals: [team('t1', 'Writers')] },
    [],
  ],
  [
    'binds the resource of a dropped key to one of two new keys that match it',
    {
      manifests: 'teams: { a: { title: Authors, renamedFrom: Writers }, b: { title: Writers } }',
      base: WRITERS,
      ids: { 'team/writers': 't1' },
      actuals: [team('t1', 'Writers')],
    },
    ['create team/a'],
  ],
  [
    'plans two renames for two swapped titles',
    {
      manifests: 'teams: { a: { title: B }, b: { title: A } }',
      base: 'teams: { a: { title: A }, b: { title: B } }',
      actuals: [team('t1', 'A'), team('t2', 'B')],
    },
    ['update team/a title', 'update team/b title'],
  ],
  [
    'renames one resource and deletes the one that had the title before',
    {
      manifests: 'teams: { a: { title: B } }',
      base: 'teams: { a: { title: A }, b: { title: B } }',
      actuals: [team('t1', 'A'), team('t2', 'B')],
    },
    ['delete team/b', 'update team/a title'],
  ],
  [
    'chooses by parent between collections with the same title',
    {
      manifests: 'collections: { top: { title: Top }, inner: { title: Notes, parent: top }, outer: { title: Notes } }',
      actuals: [
        actual('collection', 'c1', { title: 'Top', parent: null }),
        actual('collection', 'c2', { title: 'Notes', parent: null }),
        actual('collection', 'c3', { title: 'Notes', parent: idRef('c1', 'collection') }),
      ],
    },
    [],
  ],
  [
    'keeps a resource in its position among equal titles, in any order of keys',
    {
      manifests:
        'collections: { a: { title: Notes, parent: null }, b: { title: Notes, parent: top }, top: { title: Top } }',
      actuals: [
        actual('collection', 'c1', { title: 'Top', parent: null }),
        actual('collection', 'c3', { title: 'Notes', parent: idRef('c1', 'collection') }),
      ],
    },
    ['create collection/a'],
  ],
  [
    'plans a move for another collection',
    {
      manifests: 'collections: { top: { title: Top } }\nspaces: { guides: { title: Guides, collection: top } }',
      actuals: [
        actual('collection', 'c1', { title: 'Top', parent: null }),
        actual('space', 's1', { title: 'Guides', collection: null }),
      ],
    },
    ['move space/guides collection'],
  ],
  [
    'binds an OpenAPI specification by slug, and a member by the address in lower case',
    {
      manifests:
        'openapi: { petstore: { source: { url: "https://a.example/x" } } }\nmembers: { Ana@Acme.example: { role: read } }',
      actuals: [
        actual('openapi', 'o1', { sourceURL: 'https://a.example/x' }, { title: 'petstore' }),
        actual('member', 'usr_ana', { role: 'edit', sso: false }, { title: 'ana@acme.example' }),
        actual('member', 'usr_bo', { role: 'admin', sso: false }, { title: 'bo@acme.example' }),
      ],
    },
    ['update member/ana@acme.example role'],
  ],
];

describe('which resource a key means', () => {
  test.each(cases)('%s', async (_name, input, expected) => {
    expect(short(await planOf(input)).toSorted()).toEqual([...expected].sort());
  });

  test('keeps the ids of two keys that swap their names', async () => {
    const { plan } = await planOf({
      manifests: 'teams: { a: { title: B }, b: { title: A } }',
      base: 'teams: { a: { title: A }, b: { title: B } }',
      actuals: [team('t1', 'A'), team('t2', 'B')],
    });
    expect(plan.changes.map(({ address, id }) => [address, id])).toEqual(
      expect.arrayContaining([
        ['team/a', 't1'],
        ['team/b', 't2'],
      ]),
    );
  });

  test('adopts a resource that is not in the base, and lists it', async () => {
    const { plan } = await planOf({ manifests: WRITERS, actuals: [team('t1', 'Writers'), team('t2', 'Others')] });
    expect(plan.adopted).toEqual([{ address: 'team/writers', id: 't1' }]);
    expect(plan.unmanaged).toEqual([{ kind: 'team', id: 't2', title: 'Others' }]);
  });
});

const problems: readonly (readonly [string, PlanCase, RegExp])[] = [
  [
    'two matching resources',
    { manifests: WRITERS, actuals: [team('t1', 'Writers'), team('t2', 'Writers')] },
    /team\/writers: 2 resources of kind team have the title "Writers" \(t1, t2\); set id to choose one/,
  ],
  [
    'an id that no resource has',
    { manifests: 'teams: { writers: { id: t9 } }', actuals: [team('t1', 'Writers')] },
    /there is no team with the id "t9"/,
  ],
  [
    'two keys with the title of a single resource',
    { manifests: 'teams: { a: { title: Writers }, b: { title: Writers } }', actuals: [team('t1', 'Writers')] },
    /team\/b: matches the only team with this title, and so does team\/a; set id to disambiguate/,
  ],
];

test.each(problems)('reports an error for %s', async (_name, input, message) => {
  const error = await planOf(input).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(DesiredStateError);
  expect(String(error)).toMatch(message);
  expect((error as DesiredStateError).problems).toHaveLength(1);
});

test('does not bind by title a resource that an id has bound', async () => {
  const input: PlanCase = {
    manifests: 'teams: { a: { id: t1 }, b: { title: Writers } }',
    base: 'teams: { b: { title: Writers } }',
    ids: { 'team/b': 't1' },
    actuals: [team('t1', 'Writers')],
  };
  expect(short(await planOf(input))).toEqual(['create team/b']);
});

// Team t1 is called A, and team t2 is called B.
describe('a renamed key whose old title a new key takes', () => {
  const [A, TAKEN] = ['teams: { a: { title: A } }', 'teams: { a: { title: B }, b: { title: A } }'];
  const actuals = [team('t1', 'A'), team('t2', 'B')];

  test('is refused over a base without ids, which does not tell whether the rename was applied', async () => {
    await expect(planOf({ manifests: TAKEN, base: A, actuals })).rejects.toMatchObject({
      problems: [
        {
          address: 'team/a',
          message:
            'may be t1, whose title the base has, or t2, whose title is declared now, because team/b takes over the title; set id to choose one',
        },
      ],
    });
  });

  test.each<[string, PlanCase, readonly string[]]>([
    ['a recorded id', { manifests: TAKEN, base: A, ids: { 'team/a': 't1' } }, ['update team/a title', 'create team/b']],
    [
      'no resource with the new title',
      { manifests: 'teams: { a: { title: C }, b: { title: A } }', base: A },
      ['update team/a title', 'create team/b'],
    ],
    [
      'no resource with the old title',
      { manifests: 'teams: { a: { title: B }, b: { title: C } }', base: 'teams: { a: { title: C } }' },
      ['create team/b'],
    ],
    [
      'titles that are exchanged',
      { manifests: TAKEN, base: 'teams: { a: { title: A }, b: { title: B } }' },
      ['update team/b title', 'update team/a title'],
    ],
    [
      'a new title that the base knows from a dropped key',
      { manifests: TAKEN, base: 'teams: { a: { title: A }, c: { title: B } }' },
      ['delete team/c', 'update team/a title', 'create team/b'],
    ],
    ['no new key', { manifests: 'teams: { a: { title: B } }', base: A }, ['update team/a title']],
    ['no base', { manifests: TAKEN }, []],
  ])('is not refused with %s', async (_name, input, expected) => {
    expect(short(await planOf({ ...input, actuals }))).toEqual(expected);
  });
});
