import { describe, expect, test } from 'vitest';
import { DesiredStateError } from '../../src/core/errors.ts';
import { idRef } from '../../src/core/resource.ts';
import { actual, type PlanCase, planOf, short } from '../support/planning.ts';

const team = (id: string, title: string) => actual('team', id, { title });
const WRITERS = 'teams: { writers: { title: Writers } }';

const cases: readonly (readonly [string, PlanCase, readonly string[]])[] = [
  [
    'its id wins over every title',
    { manifests: 'teams: { writers: { id: t2, title: Writers } }', actuals: [team('t1', 'Writers'), team('t2', 'X')] },
    ['update team/writers title'],
  ],
  [
    'the recorded id wins over the title declared',
    {
      manifests: WRITERS,
      base: WRITERS,
      ids: { 'team/writers': 't2' },
      actuals: [team('t1', 'Writers'), team('t2', 'Renamed by hand')],
    },
    ['update team/writers title'],
  ],
  [
    'a recorded id that is gone gives way to the title',
    { manifests: WRITERS, base: WRITERS, ids: { 'team/writers': 't9' }, actuals: [team('t1', 'Writers')] },
    [],
  ],
  [
    'the title of the base, where the title changes',
    { manifests: 'teams: { writers: { title: Authors } }', base: WRITERS, actuals: [team('t1', 'Writers')] },
    ['update team/writers title'],
  ],
  ['the title declared', { manifests: WRITERS, actuals: [team('t1', 'Writers')] }, []],
  [
    'renamedFrom, where there is no base',
    {
      manifests: 'teams: { writers: { title: Authors, renamedFrom: Writers } }',
      actuals: [team('t1', 'Writers')],
    },
    ['update team/writers title'],
  ],
  [
    'the title declared wins over renamedFrom',
    {
      manifests: 'teams: { writers: { title: Authors, renamedFrom: Writers } }',
      actuals: [team('t1', 'Writers'), team('t2', 'Authors')],
    },
    [],
  ],
  ['nothing: create', { manifests: WRITERS, actuals: [team('t1', 'Others')] }, ['create team/writers']],
  [
    'a key renamed with the same title takes over what the old key had',
    {
      manifests: 'teams: { authors: { title: Writers } }',
      base: WRITERS,
      ids: { 'team/writers': 't1' },
      actuals: [team('t1', 'Writers')],
    },
    [],
  ],
  [
    'a key renamed, over a base without ids',
    { manifests: 'teams: { authors: { title: Writers } }', base: WRITERS, actuals: [team('t1', 'Writers')] },
    [],
  ],
  [
    'two titles swapped are two renames',
    {
      manifests: 'teams: { a: { title: B }, b: { title: A } }',
      base: 'teams: { a: { title: A }, b: { title: B } }',
      actuals: [team('t1', 'A'), team('t2', 'B')],
    },
    ['update team/a title', 'update team/b title'],
  ],
  [
    'a title passed on: one is renamed, and the one that had it goes',
    {
      manifests: 'teams: { a: { title: B } }',
      base: 'teams: { a: { title: A }, b: { title: B } }',
      actuals: [team('t1', 'A'), team('t2', 'B')],
    },
    ['delete team/b', 'update team/a title'],
  ],
  [
    'the parent decides between collections of one title',
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
    'the order of keys decides nothing between equals: what is in its place stays',
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
    'another collection means a move',
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
    'an OpenAPI specification is its slug, a member the address in lower case',
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

  test('two renames of one another keep the ids apart', async () => {
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

  test('what no base knows is adopted, and said to be', async () => {
    const { plan } = await planOf({ manifests: WRITERS, actuals: [team('t1', 'Writers'), team('t2', 'Others')] });
    expect(plan.adopted).toEqual([{ address: 'team/writers', id: 't1' }]);
    expect(plan.unmanaged).toEqual([{ kind: 'team', id: 't2', title: 'Others' }]);
  });
});

const problems: readonly (readonly [string, PlanCase, RegExp])[] = [
  [
    'two candidates',
    { manifests: WRITERS, actuals: [team('t1', 'Writers'), team('t2', 'Writers')] },
    /team\/writers: 2 resources of kind team have the title "Writers" \(t1, t2\); set id to choose one/,
  ],
  [
    'an id of nothing',
    { manifests: 'teams: { writers: { id: t9 } }', actuals: [team('t1', 'Writers')] },
    /there is no team with the id "t9"/,
  ],
  [
    'two keys with the title of one resource',
    { manifests: 'teams: { a: { title: Writers }, b: { title: Writers } }', actuals: [team('t1', 'Writers')] },
    /team\/b: matches the only team with this title, and so does team\/a; set id to disambiguate/,
  ],
];

test.each(problems)('%s: an error, and never a guess', async (_name, input, message) => {
  const error = await planOf(input).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(DesiredStateError);
  expect(String(error)).toMatch(message);
  expect((error as DesiredStateError).problems).toHaveLength(1);
});

test('what an id has taken is not there for a title any more', async () => {
  const input: PlanCase = {
    manifests: 'teams: { a: { id: t1 }, b: { title: Writers } }',
    base: 'teams: { b: { title: Writers } }',
    ids: { 'team/b': 't1' },
    actuals: [team('t1', 'Writers')],
  };
  expect(short(await planOf(input))).toEqual(['create team/b']);
});
