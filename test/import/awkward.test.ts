import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Observation } from '../../src/core/resource.ts';
import { readAll } from '../../src/import/import.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { countCases } from '../support/campaign.ts';
import { actual, planOf } from '../support/planning.ts';
import { declare, openWorld } from '../support/world.ts';
import { expectEmptyPlan, filesAfter, importFrom, importOf, observationOf } from './importing.ts';

const SEED = Number(process.env.OCTAVO_SEED ?? 20260702);
const RUNS = Number(process.env.OCTAVO_RUNS ?? countCases({ sample: 4, ci: 10, full: 500 }));
const endOnFailure = process.env.OCTAVO_SHRINK === undefined;

const world = await openWorld();
afterAll(() => world.close());

const TITLES = [
  'no', 'Yes', 'on', '1e3', '0x1F', '~', 'null', 'true', '@home', '`tick`', '# not a comment', '- dash', 'a: b', '? what',
  '*star*', '&anchor', '!tag', '%percent', '{ braces }', '[brackets]', '"quoted"', "it's", '2026-06-01', '12:30:00', '.inf',
  '=', '<<', ' spaces ', 'tab\there', 'back\\slash', '🚀🚀', '📚', '👨‍👩‍👧', 'שלום עולם', 'مرحبا', 'עברית and English',
  'Привет мир', 'Ελλάδα', '指南', '指南 2', 'Guides', 'guides', 'GUIDES!', 'Guides', 'con', 'constructor', '__proto__',
  'a\u202eb', '\ufeffx', 'ÅÄÖ ß', 'C++', 'Q & A', '...', 'x'.repeat(50),
]; // biome-ignore format: a table
const title = fc.oneof(fc.constantFrom(...TITLES), fc.string({ unit: 'grapheme', minLength: 2, maxLength: 30 }));

interface Awkward {
  readonly teams: readonly string[];
  readonly collections: readonly { readonly title: string; readonly parent: number }[];
  readonly spaces: readonly { readonly title: string; readonly collection: number }[];
  readonly sections: readonly string[];
  readonly groups: readonly string[];
}

const awkward: fc.Arbitrary<Awkward> = fc.record({
  teams: fc.array(title, { maxLength: 5 }),
  collections: fc.array(fc.record({ title, parent: fc.integer({ min: -1, max: 2 }) }), { maxLength: 4 }),
  spaces: fc.array(fc.record({ title, collection: fc.integer({ min: -1, max: 3 }) }), { minLength: 3, maxLength: 6 }),
  sections: fc.array(title, { maxLength: 3 }),
  groups: fc.array(title, { maxLength: 3 }),
});

/** Creates it as people would, one after another, through the platform's API. */
async function make(drawn: Awkward): Promise<void> {
  for (const each of drawn.teams) {
    await world.call('PUT', '/teams', { title: each });
  }
  const collections: string[] = [];
  for (const each of drawn.collections) {
    const parent = collections[each.parent];
    collections.push(
      (await world.call('POST', '/collections', { title: each.title, ...(parent ? { parent } : {}) })).id,
    );
  }
  const spaces: string[] = [];
  for (const each of drawn.spaces) {
    const parent = collections[each.collection];
    spaces.push((await world.call('POST', '/spaces', { title: each.title, ...(parent ? { parent } : {}) })).id);
  }
  const site = await world.call('POST', '/sites', {
    title: `Site ${drawn.teams[0] ?? ''}`,
    spaces: spaces.slice(0, 1),
  });
  for (const [index, each] of drawn.sections.entries()) {
    const spaceId = spaces[(index + 1) % spaces.length];
    // A section's title has two characters at least.
    const whole = [...each].length === 1 ? each + each : each;
    await world.call('POST', `/sites/${site.id}/sections`, { spaceId, title: whole });
  }
  for (const each of drawn.groups) {
    await world.call('POST', `/sites/${site.id}/section-groups`, { title: each });
  }
}

function shuffled({ kinds: found, ...rest }: Observation): Observation {
  return { ...rest, kinds: new Map([...found].reverse().map(([kind, actuals]) => [kind, actuals.toReversed()])) };
}

describe('titles of every kind', () => {
  test('give an empty plan in any order, and nothing to write in a second import', async () => {
    await fc.assert(
      fc.asyncProperty(awkward, async (drawn) => {
        await world.begin();
        await make(drawn);
        const { observation } = await readAll(kinds, [], world.reader());
        const imported = await importOf(observation);
        const files = filesAfter(imported);
        expect(filesAfter(await importOf(shuffled(observation)))).toEqual(files);
        // Without sections its groups show nothing, and cannot be declared.
        await expectEmptyPlan(world, files, drawn.sections.length === 0 ? ['section-group'] : []);
        expect((await importOf(observation, { into: files })).files).toEqual([]);
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure },
    );
  });

  test.each(TITLES)(
    'keep %j unchanged, or its id where it begins or ends with white space, with a key of letters',
    async (each) => {
      const observation = observationOf([actual('team', 'tem_1', { title: each, members: {} })]);
      const declared = await declare(filesAfter(await importOf(observation, { kinds: ['team'] })));
      const [team] = [...declared.values()];
      expect([...declared.keys()]).toEqual([expect.stringMatching(/^team\/[a-z0-9]+(-[a-z0-9]+)*$/)]);
      if (each.trim() === each) {
        expect(team?.fields.title).toBe(each);
      } else {
        expect(team?.fields.title).toBeUndefined();
        expect(team?.id).toEqual(expect.any(String));
      }
    },
  );
});

test('distinguishes equal titles by collection, or by id in the same collection', async () => {
  await world.begin();
  const shelves = [];
  for (const each of ['Docs', 'Help']) {
    shelves.push(await world.call('POST', '/collections', { title: each }));
  }
  for (const parent of [shelves[0].id, shelves[1].id, shelves[1].id]) {
    await world.call('POST', '/spaces', { title: 'Guides', parent });
  }
  const files = filesAfter(await importFrom(world));
  await expectEmptyPlan(world, files);
  const text = files['spaces.yaml'] ?? '';
  expect(text.replaceAll(/spc_\w+/g, 'SPC')).toMatchInlineSnapshot(`
    "# yaml-language-server: $schema=./.octavo/schema.json
    spaces:
      # key: "guides" would be the key of 3
      docs-guides: { title: Guides, collection: docs, editMode: live }
      # id: no other field identifies it reliably
      guides: { id: SPC, title: Guides, collection: help, editMode: live }
      # key: "guides" is the key of another space
      # id: no other field identifies it reliably
      guides-2: { id: SPC, title: Guides, collection: help, editMode: live }
    "
  `);
});

test('imports 1,000 resources with every title used twice', async () => {
  const pair = (index: number) => Math.floor(index / 2);
  const many = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, index) => make(index));
  const shelf = (index: number) => ({ $id: `col_${index}`, kinds: ['collection'] });
  const actuals = [
    ...many(80, (index) => actual('team', `tem_${index}`, { title: `Team ${pair(index)}`, members: {} })),
    ...many(80, (index) =>
      actual('collection', `col_${index}`, {
        title: `Shelf ${pair(index)}`,
        parent: index < 4 ? null : shelf(index % 4),
      }),
    ),
    ...many(436, (index) =>
      actual('space', `spc_${index}`, { title: `Space ${pair(index)}`, collection: shelf(index % 80) }),
    ),
    ...many(4, (index) => actual('site', `sit_${index}`, { title: `Site ${pair(index)}`, published: false })),
    ...many(400, (index) => {
      const within = `sit_${index % 4}`;
      const space = { $id: `spc_${index}`, kinds: ['space', 'translation'] };
      const place = { list: within, index };
      return actual('site-space', `ssp_${index}`, { space, path: `p${index}`, section: null }, { within, place });
    }),
  ];
  const files = filesAfter(await importOf(observationOf(actuals)));
  expect((await declare(files)).size).toBe(1000);
  // Their paths identify them, once it is known which site is which.
  expect(Object.values(files).join('')).not.toContain('id: ssp_');
  const { plan } = await planOf({ manifests: files, actuals });
  expect(plan.changes).toEqual([]);
  expect(plan.unmanaged).toEqual([]);
});
