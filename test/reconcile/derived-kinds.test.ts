import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kinds } from '../../src/kinds/registry.ts';
import { derived, withDerived } from '../support/derived-kinds.ts';
import { type Model, manifestsOf } from '../support/model.ts';
import { differences } from '../support/oracle.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

/* Generators that a new kind gets from its sample, tested with kinds that also have hand-written ones. */

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const NOTHING: Model = {
  members: { 'ana@acme.example': { role: 'admin' } },
  teams: {},
  saml: {},
  collections: {},
  spaces: {},
  openapi: {},
  translations: {},
  sites: {},
};
/** Kinds whose entries depend on each other, or on people who join by themselves. */
const SPECIAL = ['member', 'site', 'translation'];
const flat = kinds.filter(({ name, manifest }) => manifest !== null && !SPECIAL.includes(name));

test.each(flat.map((kind) => ({ kind, name: kind.name })))(
  'entries derived from the sample of $name converge',
  async ({ kind }) => {
    const options = { policy: UNLIMITED };
    const entries = derived([kind]);
    let declared = 0;
    await fc.assert(
      fc.asyncProperty(entries, entries, async (first, second) => {
        await world.begin();
        const before = world.emulator.state();
        for (const drawn of [first, second]) {
          const model = withDerived(NOTHING, drawn);
          declared += Object.keys(drawn.sections).length;
          await world.settle(manifestsOf(model), options);
          expect((await world.plan(manifestsOf(model), options)).plan.changes).toEqual([]);
          // The oracle compares only the fields of the organization that the hand-written models have.
          const wrong = differences(model, before, world.emulator.state());
          expect(wrong.filter((each) => !each.startsWith('organization.'))).toEqual([]);
        }
      }),
      { seed: 20260601, numRuns: 10, endOnFailure: true },
    );
    expect(declared).toBeGreaterThan(5);
  },
);
