import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Change, changeId } from '../../src/core/change.ts';
import { type Actual, type Declared, idRef } from '../../src/core/resource.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { DEFAULT_POLICY } from '../../src/plan/guard.ts';
import { computePlan, type PlannedChanges } from '../../src/plan/plan.ts';
import type { KindRules } from '../../src/plan/rules.ts';
import { baseOfManifests } from '../../src/reconcile/record.ts';
import { actual } from '../support/planning.ts';
import { declare, UNLIMITED } from '../support/world.ts';

/* A kind that needs a section of its site. No kind of the registry does, so manifests write its resources as groups. */

const link: KindRules = {
  name: 'link',
  dependsOn: ['site', 'section-group'],
  partOf: 'site',
  needsPart: 'section',
  creatable: true,
  deletable: true,
  fields: {
    title: {},
    parent: { placement: true, fixed: 'replace', references: (value) => [String(value)] },
  },
  naturalKeys: ({ title }) => [{ by: 'title', value: String(title) }],
  actualKeys: ({ title }) => [{ by: 'title', value: title }],
};

interface Item {
  readonly kind: 'section' | 'section-group' | 'link';
  readonly key: string;
  readonly items: Item[];
  /** Index in the list of the platform; null if it does not exist there. */
  readonly at: number | null;
  readonly paused?: boolean;
}

const addressOf = ({ kind, key }: Item) => `${kind}/w/${key}`;
const inside = (items: readonly Item[]): readonly Item[] => items.flatMap((item) => [item, ...inside(item.items)]);

/** An item that does not exist yet, unless `at` says where. */
const itemOf = (kind: Item['kind'], key: string, more: Partial<Item> = {}): Item => ({
  ...{ kind, key, items: [], at: null },
  ...more,
});

function entryOf({ kind, key, items, paused }: Item): object {
  const pause = paused === true ? { paused: { reason: 'frozen' } } : {};
  return kind === 'section'
    ? { section: key, title: `Title ${key}`, spaces: [{ key: 'e', space: 's' }], ...pause }
    : { group: key, title: `Title ${key}`, items: items.map(entryOf) };
}

async function declaredOf(items: readonly Item[]): Promise<ReadonlyMap<string, Declared>> {
  const site = { title: 'Site', structure: items.map(entryOf) };
  const declared = await declare(JSON.stringify({ spaces: { s: { title: 'S' } }, sites: { w: site } }));
  const links = new Set(inside(items).flatMap(({ kind, key }) => (kind === 'link' ? [`section-group/w/${key}`] : [])));
  return new Map(
    [...declared].map(([written, resource]) => {
      const address = written.replace('section-group', 'link');
      return links.has(written) ? [address, { ...resource, kind: 'link', address }] : [written, resource];
    }),
  );
}

/** The items that exist, in a site that exists. */
function actualsOf(items: readonly Item[], group: string | null = null): readonly Actual[] {
  return items.flatMap(({ kind, key, items: held, at }) => {
    if (at === null) {
      return [];
    }
    const place = { within: 'w1', place: { list: group ?? 'w1', index: at } };
    const holder = { [kind === 'section' ? 'group' : 'parent']: group && idRef(group, 'section-group') };
    const fields = { title: `Title ${key}`, ...(kind === 'section' ? { path: key } : {}), ...holder };
    return [actual(kind, key, fields, place), ...actualsOf(held, key), ...(kind === 'section' ? [spaceOf(key)] : [])];
  });
}

function spaceOf(section: string): Actual {
  const fields = { space: idRef('s1', 'space', 'translation'), path: 's', section: idRef(section, 'section') };
  return actual('site-space', `${section}e`, fields, { within: 'w1', place: { list: section, index: 0 } });
}

interface Others {
  /** Other resources that exist. */
  readonly actuals?: readonly Actual[];
  /** Items of the manifests last applied. */
  readonly base?: readonly Item[];
}

async function planOf(items: readonly Item[], { actuals = [], base }: Others = {}): Promise<PlannedChanges> {
  const parts = [...actualsOf(items), ...actuals];
  const all =
    parts.length === 0 ? [] : [actual('space', 's1', { title: 'S' }), actual('site', 'w1', { title: 'Site' })];
  const found = Map.groupBy([...all, ...parts], ({ kind }) => kind);
  // A kind comes after those it refers to. Where nothing else decides, links are created before sections.
  const rules = kinds.flatMap<KindRules>((kind) => (kind.name === 'section' ? [link, kind] : [kind]));
  return computePlan({
    organization: 'org_1',
    commit: null,
    baseCommit: null,
    kinds: rules,
    declared: await declaredOf(items),
    base: base === undefined ? null : baseOfManifests(kinds, await declaredOf(base)),
    observation: { kinds: found, people: new Map() },
    policy: { ...DEFAULT_POLICY, ...UNLIMITED, now: 0 },
    cost: () => ({ requests: { reads: 0, writes: 0 }, seconds: 0 }),
  });
}

/** Changes of the structure in short: `create link-a before section-b`. */
function short({ ordering }: PlannedChanges): string[] {
  const name = (address: string) => address.replace('section-group', 'group').replace('/w/', '-');
  return ordering.sequence
    .filter(({ kind }) => ['section', 'section-group', 'link'].includes(kind))
    .map(({ action, address, anchor }) =>
      [action, name(address), ...(anchor === null ? [] : [anchor.side, name(anchor.address)])].join(' '),
    );
}

describe('a kind with needsPart', () => {
  test('requires a section that is not paused', async () => {
    const { plan } = await planOf([
      itemOf('link', 'a'),
      itemOf('section-group', 'g', { items: [itemOf('section', 'b', { paused: true })] }),
      itemOf('section', 'c'),
    ]);
    const creation = plan.changes.find(({ address }) => address === 'link/w/a');
    expect(creation?.dependsOn).toEqual(['section-group/w/g', 'section/w/c', 'site/w']);
  });

  test('does not count a section that is deleted', async () => {
    const base = [itemOf('section', 'x', { at: 0 })];
    const planned = await planOf([itemOf('link', 'a'), itemOf('section', 'b')], { base, actuals: actualsOf(base) });
    expect(short(planned)).toEqual(['create section-b', 'create link-a before section-b', 'delete section-x']);
  });

  test('is pending with a reason if no section is declared and none exists', async () => {
    const { plan } = await planOf([itemOf('link', 'a'), itemOf('section-group', 'b')]);
    expect(plan.pending).toEqual([{ address: 'link/w/a', reason: 'site/w has no section; declare one' }]);
    expect(plan.changes.map(({ address }) => address)).not.toContain('link/w/a');
  });

  test('is created if only a section exists that is not declared', async () => {
    const foreign = actual('section', 'x', { title: 'X', path: 'x', group: null }, { within: 'w1', place: null });
    const planned = await planOf([itemOf('link', 'a')], { actuals: [foreign] });
    expect(planned.plan.pending).toEqual([]);
    expect(short(planned)).toEqual(['create link-a']);
  });

  test('is created after a section, in the declared order, whatever is declared and exists', async () => {
    await fc.assert(
      fc.asyncProperty(structures, async (items) => {
        const { ordering, plan } = await planOf(items);
        const state = new Simulation(items);
        for (const change of ordering.sequence) {
          state.apply(change, ordering.hard.get(changeId(change)) ?? []);
        }
        const pending = plan.pending.map(({ address }) => address);
        expect(pending.length > 0).toBe(
          inside(items).every(({ kind }) => kind !== 'section') &&
            inside(items).some(({ kind, at }) => kind === 'link' && at === null),
        );
        expect(state.listed()).toEqual(
          inside(items)
            .map(addressOf)
            .filter((address) => !pending.includes(address)),
        );
      }),
      { seed: 20_260_601, numRuns: 300 },
    );
  });
});

/** Up to eight items, each at the root or in an earlier group; those that exist are in any order. */
const structures: fc.Arbitrary<Item[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom('section', 'section-group', 'link', 'link'),
      holder: fc.nat(3),
      exists: fc.boolean(),
      at: fc.nat(20),
    }),
    { maxLength: 8 },
  )
  .map((drawn) => {
    const root: Item[] = [];
    const lists = [{ items: root, exists: true }];
    for (const [index, { kind, holder, exists, at }] of drawn.entries()) {
      const list = lists[holder] ?? { items: root, exists: true };
      const isThere = exists && list.exists;
      const next = itemOf(kind as Item['kind'], `k${index}`, { items: [], at: isThere ? 10 * at + index : null });
      list.items.push(next);
      if (next.kind === 'section-group') {
        lists.push({ items: next.items, exists: isThere });
      }
    }
    return root;
  });

/** Makes changes one after the other, as the platform does. */
class Simulation {
  readonly #lists = new Map<string, string[]>();
  readonly #done = new Set<string>();

  constructor(items: readonly Item[]) {
    this.#add('site/w', items);
  }

  apply(change: Change, required: readonly string[]): void {
    const { action, address, kind, place, anchor } = change;
    expect([...this.#done]).toEqual(expect.arrayContaining([...required]));
    this.#done.add(changeId(change));
    if (!['section', 'section-group', 'link'].includes(kind) || place === null) {
      return;
    }
    if (action === 'create' && kind === 'link') {
      expect(this.listed().some((each) => each.startsWith('section/'))).toBe(true);
    }
    const list = (this.#lists.get(place.list) ?? []).filter((each) => each !== address);
    const at = anchor === null ? list.length : list.indexOf(anchor.address) + (anchor.side === 'after' ? 1 : 0);
    expect(anchor === null || list.includes(anchor.address)).toBe(true);
    this.#lists.set(place.list, list.toSpliced(at, 0, address));
  }

  /** All addresses, in the order of a structure. */
  listed(list = 'site/w'): readonly string[] {
    return (this.#lists.get(list) ?? []).flatMap((address) => [address, ...this.listed(address)]);
  }

  #add(list: string, items: readonly Item[]): void {
    const existing = items.filter(({ at }) => at !== null).toSorted((a, b) => Number(a.at) - Number(b.at));
    this.#lists.set(list, existing.map(addressOf));
    for (const item of items) {
      this.#add(addressOf(item), item.items);
    }
  }
}
