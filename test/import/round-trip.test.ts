import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { model } from '../support/arbitrary-manifests.ts';
import { countCases } from '../support/campaign.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { openWorld, UNLIMITED } from '../support/world.ts';
import { expectEmptyPlan, filesAfter, importFrom } from './importing.ts';

const SEED = Number(process.env.OCTAVO_SEED ?? 20260701);
const RUNS = Number(process.env.OCTAVO_RUNS ?? countCases({ sample: 4, ci: 12, full: 600 }));
const endOnFailure = process.env.OCTAVO_SHRINK === undefined;

const world = await openWorld();
afterAll(() => world.close());

/** Without specifications from files: the platform does not return their text, so an import cannot write it. */
function withoutFiles(drawn: Model): Model {
  const openapi = Object.entries(drawn.openapi).filter(([, { source }]) => 'url' in source);
  return { ...drawn, openapi: Object.fromEntries(openapi) };
}

/** Resources without references from outside. */
const DISPENSABLE = [['organization', 'sites/'], ['openapi'], ['saml']];

describe('any organization', () => {
  test('is imported with an empty plan, and a second import writes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(model, async (drawn) => {
        await world.begin();
        await world.settle(manifestsOf(drawn), { policy: UNLIMITED });
        const imported = await importFrom(world);
        expect(imported.omitted).toEqual([]);
        const files = filesAfter(imported);
        await expectEmptyPlan(world, files);
        const again = await importFrom(world, { into: files });
        expect(again.files).toEqual([]);
      }),
      { seed: SEED, numRuns: RUNS, endOnFailure },
    );
  });

  test('gives the same files after they are applied to an empty organization and imported from it', async () => {
    await fc.assert(
      fc.asyncProperty(model, async (drawn) => {
        await world.begin();
        await world.settle(manifestsOf(withoutFiles(drawn)), { policy: UNLIMITED });
        const files = filesAfter(await importFrom(world));
        await world.begin();
        await world.settle(files, { policy: UNLIMITED });
        expect(filesAfter(await importFrom(world))).toEqual(files);
      }),
      { seed: SEED + 1, numRuns: RUNS, endOnFailure },
    );
  });

  test('adds exactly the files that an incomplete repository lacks', async () => {
    await fc.assert(
      fc.asyncProperty(model, fc.subarray(DISPENSABLE), async (drawn, lacking) => {
        await world.begin();
        await world.settle(manifestsOf(drawn), { policy: UNLIMITED });
        const files = filesAfter(await importFrom(world));
        const isLacking = (path: string) => lacking.flat().some((name) => path.startsWith(name));
        const into = Object.fromEntries(Object.entries(files).filter(([path]) => !isLacking(path)));
        const imported = await importFrom(world, { into });
        expect(imported.files.map(({ path }) => path).filter((path) => path in into)).toEqual([]);
        expect(filesAfter(imported, into)).toEqual(files);
      }),
      { seed: SEED + 2, numRuns: Math.ceil(RUNS / 2), endOnFailure },
    );
  });
});
