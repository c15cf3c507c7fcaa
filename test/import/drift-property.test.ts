import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolveDrift } from '../../src/import/drift.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { baseOfRecord } from '../../src/reconcile/record.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { countCases } from '../support/campaign.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { declare, openWorld, UNLIMITED, type World } from '../support/world.ts';
import { type Files, filesAfter, importFrom } from './importing.ts';

const SEED = Number(process.env.OCTAVO_SEED ?? 20260703);
const RUNS = Number(process.env.OCTAVO_RUNS ?? countCases({ sample: 4, ci: 10, full: 500 }));
const endOnFailure = process.env.OCTAVO_SHRINK === undefined;

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** Without multiline texts, so that a comment can follow every line. */
function oneLiners(drawn: Model): Model {
  const translations = Object.entries(drawn.translations).map(([key, each]) => [
    key,
    { ...each, instructions: undefined },
  ]);
  const openapi = Object.entries(drawn.openapi).filter(([, { source }]) => 'url' in source);
  return JSON.parse(
    JSON.stringify({
      ...drawn,
      translations: Object.fromEntries(translations),
      openapi: Object.fromEntries(openapi),
    }),
  ) as Model;
}

/** Adds a distinct comment after every line. */
function commented(files: Files): Files {
  let count = 0;
  const line = (text: string) => {
    count += 1;
    return text === '' || text.trimStart().startsWith('#') ? text : `${text} # <${count}>`;
  };
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.split('\n').map(line).join('\n')]));
}

const marks = (files: Files) => Object.values(files).flatMap((text) => text.match(/<\d+>/g) ?? []);

test('writes or reports every manual change, and loses a comment only with its line', async () => {
  let written = 0;
  let removals = 0;
  await fc.assert(
    fc.asyncProperty(twoModels, fc.boolean(), async ([a, b], hasBase) => {
      await world.begin();
      await world.settle(manifestsOf(oneLiners(a)), { policy: UNLIMITED });
      const files = commented(filesAfter(await importFrom(world)));
      await world.record.remove((await world.record.read()).entries.map(({ address }) => address));
      await world.settle(files, { policy: UNLIMITED });
      await byHand(oneLiners(b), hasBase ? { manifests: files } : null);
      const options = { policy: UNLIMITED };
      const { plan, identity, observation } = await world.plan(files, options);
      const drift = await resolveDrift(
        {
          kinds,
          changes: plan.changes,
          declared: await declare(files),
          bound: identity.bound,
          base: hasBase ? (await baseOfRecord(world.record)).base : null,
          observation,
          manifests: new Map(Object.entries(files)),
        },
        async (texts) => (await world.plan({ ...files, ...Object.fromEntries(texts) }, options)).plan.changes,
      );
      const after = { ...files, ...Object.fromEntries(drift.texts) };
      written += drift.fields.length;
      const left = new Set(drift.omitted.map(({ address }) => address));
      const { changes } = (await world.plan(after, options)).plan;
      const writable = hasBase ? ['update', 'move', 'create'] : ['update', 'move'];
      const still = changes.filter(({ action }) => writable.includes(action));
      expect(still.map(({ address }) => address).filter((address) => !left.has(address))).toEqual([]);
      removals += drift.places.filter(({ action }) => action === 'delete').length;
      if (drift.places.some(({ action }) => action === 'delete')) {
        return;
      }
      // The line of a member who left a team is removed with its comment.
      const gone = marks(files).filter((mark) => !marks(after).includes(mark));
      const lines = Object.values(files).flatMap((text) => text.split('\n'));
      expect(gone.filter((mark) => !/^ +\S+@\S+: /.test(lines.find((each) => each.includes(mark)) ?? ''))).toEqual([]);
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure },
  );
  expect(written).toBeGreaterThan(RUNS);
  expect(removals).toBeGreaterThan(0);
});

/** Applies other manifests without recording them, so that their content is an out-of-band edit. */
async function byHand(model: Model, base: { manifests: Files } | null): Promise<void> {
  await world.apply(manifestsOf(model), { policy: UNLIMITED, base, records: false });
}
