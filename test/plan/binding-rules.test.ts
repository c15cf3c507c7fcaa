import { describe, expect, test } from 'vitest';
import type { BaseEntry } from '../../src/core/resource.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { BindingState } from '../../src/plan/binding-state.ts';
import {
  BINDING_RULES,
  bindByBaseKey,
  bindByDeclaredKey,
  bindByOwnId,
  bindByRecordedId,
  bindDropped,
  refuseSharedKeys,
  refuseTakenKeys,
  reserveReplaced,
  resolveReplacements,
} from '../../src/plan/identity.ts';
import type { KindRules } from '../../src/plan/rules.ts';
import { baseOfManifests } from '../../src/reconcile/record.ts';
import { actual } from '../support/planning.ts';
import { declare } from '../support/world.ts';

const kind = kinds.find(({ name }) => name === 'team') as KindRules;

interface Situation {
  readonly manifests: string;
  readonly base?: string;
  /** Fields that the record adds to the entry of `team/a`. */
  readonly recorded?: Partial<BaseEntry>;
}

/** The state before the first rule: team t1 is called A, and team t2 is called B. */
async function stateOf({ manifests, base: text, recorded = {} }: Situation): Promise<BindingState> {
  const declared = await declare(manifests);
  const base = text === undefined ? null : new Map(baseOfManifests(kinds, await declare(text)));
  const entry = base?.get('team/a');
  if (base !== null && entry !== undefined) {
    base.set('team/a', { ...entry, ...recorded });
  }
  return new BindingState(
    {
      kind,
      base,
      actuals: [actual('team', 't1', { title: 'A' }), actual('team', 't2', { title: 'B' })],
      declared: [...declared.values()],
      dropped: [...(base?.values() ?? [])].filter(({ address }) => !declared.has(address)),
    },
    {
      addresses: new Map(),
      ids: new Map(),
      bound: new Map(),
      owned: new Map(),
      claims: new Map(),
      renamed: new Map(),
      replaced: new Map(),
      adopted: [],
      problems: [],
      notes: [],
    },
  );
}

function idsIn(table: ReadonlyMap<string, { readonly id: string }>): Record<string, string> {
  return Object.fromEntries([...table].map(([address, { id }]) => [address, id]));
}

test('the rules run in the documented order', () => {
  expect(BINDING_RULES).toEqual([
    reserveReplaced,
    bindByOwnId,
    bindByRecordedId,
    bindDropped,
    refuseTakenKeys,
    bindByBaseKey,
    resolveReplacements,
    bindByDeclaredKey,
    refuseSharedKeys,
  ]);
});

const A = 'teams: { a: { title: A } }';

describe('each rule on its own', () => {
  test.each<[string, (state: BindingState) => void, Situation, Record<string, string>]>([
    ['binds by own id', bindByOwnId, { manifests: 'teams: { a: { id: t2, title: A } }' }, { 'team/a': 't2' }],
    ['binds nothing by own id without one', bindByOwnId, { manifests: A }, {}],
    ['binds by recorded id', bindByRecordedId, { manifests: A, base: A, recorded: { id: 't2' } }, { 'team/a': 't2' }],
    ['binds nothing by recorded id without a base', bindByRecordedId, { manifests: A }, {}],
    ['binds by base key', bindByBaseKey, { manifests: 'teams: { a: { title: C } }', base: A }, { 'team/a': 't1' }],
    ['binds nothing by base key without a base', bindByBaseKey, { manifests: A }, {}],
    ['binds by declared key', bindByDeclaredKey, { manifests: A }, { 'team/a': 't1' }],
    ['binds nothing by a key that no resource has', bindByDeclaredKey, { manifests: 'teams: { a: { title: C } }' }, {}],
  ])('%s', async (_name, rule, situation, bound) => {
    const state = await stateOf(situation);
    rule(state);
    expect(idsIn(state.tables.bound)).toEqual(bound);
    expect(state.waiting.size).toBe(1 - Object.keys(bound).length);
    expect(state.tables.problems).toEqual([]);
  });

  test('reports an own id that no resource has', async () => {
    const state = await stateOf({ manifests: 'teams: { a: { id: t9, title: A } }' });
    bindByOwnId(state);
    expect(state.tables.problems).toMatchObject([{ message: 'there is no team with the id "t9"' }]);
  });

  test('finds an owned resource that is no longer declared', async () => {
    const state = await stateOf({ manifests: 'teams: {}', base: A });
    bindDropped(state);
    expect(idsIn(state.tables.owned)).toEqual({ 'team/a': 't1' });
    expect(idsIn(state.tables.bound)).toEqual({});
  });

  test('reserves the old resource of an unfinished replacement', async () => {
    const state = await stateOf({ manifests: A, base: A, recorded: { id: 't2', metadata: { old: 't1' } } });
    reserveReplaced(state);
    expect(idsIn(state.tables.replaced)).toEqual({ 'team/a': 't1' });
    bindByDeclaredKey(state);
    expect(idsIn(state.tables.bound)).toEqual({});
  });

  test('keeps bindings as they are when nothing is replaced', async () => {
    const state = await stateOf({ manifests: A, base: A });
    bindByBaseKey(state);
    resolveReplacements(state);
    expect(idsIn(state.tables.bound)).toEqual({ 'team/a': 't1' });
    expect(idsIn(state.tables.replaced)).toEqual({});
  });
});

// Team t1 is called A, and team t2 is called B.
describe('a renamed key whose old title a new key takes', () => {
  const TAKEN = 'teams: { a: { title: B }, b: { title: A } }';

  test('is refused over a base without ids, which does not tell whether the rename was applied', async () => {
    const state = await stateOf({ manifests: TAKEN, base: A });
    refuseTakenKeys(state);
    expect(state.tables.problems).toMatchObject([
      {
        address: 'team/a',
        message:
          'may be t1, whose title the base has, or t2, whose title is declared now, because team/b takes over the title; set id to choose one',
      },
    ]);
    expect([...state.waiting].map(({ address }) => address)).toEqual(['team/b']);
  });

  test.each<[string, Situation]>([
    ['a recorded id', { manifests: TAKEN, base: A, recorded: { id: 't1' } }],
    ['no resource with the new title', { manifests: 'teams: { a: { title: C }, b: { title: A } }', base: A }],
    [
      'no resource with the old title',
      { manifests: 'teams: { a: { title: B }, b: { title: C } }', base: 'teams: { a: { title: C } }' },
    ],
    ['titles that are exchanged', { manifests: TAKEN, base: 'teams: { a: { title: A }, b: { title: B } }' }],
    [
      'a new title that the base knows from a dropped key',
      { manifests: TAKEN, base: 'teams: { a: { title: A }, c: { title: B } }' },
    ],
    ['no new key', { manifests: 'teams: { a: { title: B } }', base: A }],
    ['no base', { manifests: TAKEN }],
  ])('is not refused with %s', async (_, situation) => {
    const state = await stateOf(situation);
    const waiting = state.waiting.size;
    refuseTakenKeys(state);
    expect(state.tables.problems).toEqual([]);
    expect(state.waiting.size).toBe(waiting);
  });
});
