import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmulatorState, FaultRule } from '../../src/emulator/emulator.ts';
import { model } from '../support/arbitrary-manifests.ts';
import { manifestsOf } from '../support/model.ts';
import { differences } from '../support/oracle.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';

const SEED = Number(process.env.OCTAVO_SEED ?? 20260701);
const RUNS = Number(process.env.OCTAVO_RUNS ?? 15);
const policy = { policy: UNLIMITED };

let world: World;
let start: EmulatorState;

beforeAll(async () => {
  world = await openWorld();
  start = world.emulator.state();
});
afterAll(() => world.close());

/** One request of a pass: whatever happens to it, completed changes stay, and later ones may fail. */
const trouble: fc.Arbitrary<FaultRule[]> = fc.array(
  fc.record({
    match: fc.record({
      method: fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE'),
      nth: fc.integer({ min: 1, max: 25 }),
    }),
    fault: fc.constantFrom(
      { kind: 'reset-after' } as const,
      { kind: 'reset-before' } as const,
      { kind: 'truncate' } as const,
      { kind: 'half' } as const,
      { kind: 'status', status: 400, message: 'no' } as const,
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

test('creates nothing twice whatever fails, and finishes in the next passes', async () => {
  await fc.assert(
    fc.asyncProperty(model, trouble, async (drawn, rules) => {
      world.emulator.restore(start);
      await world.record.remove((await world.record.read()).entries.map((entry) => entry.address));
      const manifests = manifestsOf(drawn);
      world.emulator.setFaults(rules);
      await world.apply(manifests, policy);
      world.emulator.setFaults([]);
      await world.settle(manifests, policy);
      expect(differences(drawn, start, world.emulator.state())).toEqual([]);
      expect((await world.plan(manifests, policy)).plan.changes).toEqual([]);
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: process.env.OCTAVO_SHRINK === undefined },
  );
});
