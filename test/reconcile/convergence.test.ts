import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DesiredStateError } from '../../src/core/errors.ts';
import type { EmulatorState } from '../../src/emulator/emulator.ts';
import type { Planned } from '../../src/reconcile/planning.ts';
import { twoModelsOf } from '../support/arbitrary-manifests.ts';
import { countCases, SEED } from '../support/campaign.ts';
import { addForeign } from '../support/foreign.ts';
import { isIn, samples, sampleVersions } from '../support/kind-samples.ts';
import { type Model, manifestsOf, shuffledManifestsOf } from '../support/model.ts';
import { differences } from '../support/oracle.ts';
import { foreignRecords } from '../support/oracle-lookups.ts';
import { declare, type Manifests, openWorld, type PassOptions, UNLIMITED, type World } from '../support/world.ts';

/** Shrinking takes long; enable it to minimize a counterexample. */
const endOnFailure = process.env.OCTAVO_SHRINK === undefined;
const RUNS = countCases({ sample: 8, ci: 30, full: 1000 });

describe.each(sampleVersions)('platform %s', (version) => {
  const twoModels = twoModelsOf(version);
  let world: World;
  let start: EmulatorState;

  beforeAll(async () => {
    world = await openWorld({ platform: version });
    await addForeign(world);
    start = world.emulator.state();
  });
  afterAll(() => world.close());

  /** Applies, and compares the platform with the model by other means than the planner's. */
  async function expectConverges(model: Model, options: PassOptions): Promise<void> {
    const manifests = manifestsOf(model);
    await world.settle(manifests, options);
    await expectConverged(model, manifests, options);
  }

  async function expectConverged(model: Model, manifests: Manifests, options: PassOptions): Promise<void> {
    const again = await world.plan(manifests, options);
    expect(again.plan.changes.map(({ action, address, fields }) => ({ action, address, fields }))).toEqual([]);
    expect(differences(model, start, world.emulator.state())).toEqual([]);
    expect(foreignRecords(start, world.emulator.state())).toBe(foreignRecords(start, start));
  }

  /** Settles; where a title was passed on, sets the ids that the problems ask for. Returns the manifests then. */
  async function settleWithIds(model: Model, options: PassOptions, first: Planned): Promise<Record<string, string>> {
    try {
      await world.settle(manifestsOf(model), options);
      return manifestsOf(model);
    } catch (error) {
      if (!(error instanceof DesiredStateError)) {
        throw error;
      }
      const chosen = structuredClone(model);
      const sections = chosen as unknown as Record<string, Record<string, { id?: string }>>;
      for (const { address, message } of error.problems) {
        expect(message).toMatch(/^may be .*set id to choose one$/);
        const [kind = '', key = ''] = address.split('/');
        const entry = sections[`${kind}s`]?.[key];
        const id = first.identity.bound.get(address)?.id;
        if (entry === undefined || id === undefined) {
          throw error;
        }
        entry.id = id;
      }
      await world.settle(manifestsOf(chosen), options);
      return manifestsOf(chosen);
    }
  }

  describe('converges between any two sets of manifests', () => {
    test('with the record as base, which has ids', async () => {
      await fc.assert(
        fc.asyncProperty(twoModels, async ([a, b]) => {
          await world.begin(start);
          await expectConverges(a, { policy: UNLIMITED });
          await expectConverges(b, { policy: UNLIMITED });
        }),
        { seed: SEED, numRuns: RUNS, endOnFailure },
      );
    });

    test('one resource after the other, each with what it requires', async () => {
      await fc.assert(
        fc.asyncProperty(twoModels, fc.infiniteStream(fc.nat()), async ([a, b], picks) => {
          await world.begin(start);
          await expectConverges(a, { policy: UNLIMITED });
          const { plan } = await world.plan(manifestsOf(b), { policy: UNLIMITED });
          const left = new Set(plan.changes.map(({ address }) => address));
          while (left.size > 0) {
            const target = [...left][(picks.next().value ?? 0) % left.size] ?? '';
            left.delete(target);
            const options = { policy: UNLIMITED, targets: [target] };
            const { planned, results } = await world.apply(manifestsOf(b), options);
            expect(results.filter((result) => result.status === 'failed')).toEqual([]);
            expect(planned.plan.targets?.leftOut).not.toContain(target);
          }
          await expectConverges(b, { policy: UNLIMITED });
        }),
        { seed: SEED, numRuns: RUNS, endOnFailure },
      );
    });

    test('with a git ref as base, which has no ids', async () => {
      await fc.assert(
        fc.asyncProperty(twoModels, async ([a, b]) => {
          await world.begin(start);
          await expectConverges(a, { policy: UNLIMITED, base: null });
          const before: PassOptions = { policy: UNLIMITED, base: { manifests: manifestsOf(a) } };
          const { planned, results } = await world.apply(manifestsOf(b), before);
          expect(results.filter((result) => result.status === 'failed')).toEqual([]);
          let manifests = manifestsOf(b);
          if (results.some((result) => result.status !== 'applied')) {
            // The applied ref does not move.
            manifests = await settleWithIds(b, before, planned);
          }
          const moved: PassOptions = { policy: UNLIMITED, base: { manifests } };
          await world.settle(manifests, moved);
          await expectConverged(b, manifests, moved);
        }),
        { seed: SEED + 1, numRuns: RUNS, endOnFailure },
      );
    });

    test('with one plan, whatever the order of files and keys', async () => {
      await fc.assert(
        fc.asyncProperty(twoModels, async ([a, b]) => {
          await world.begin(start);
          await world.settle(manifestsOf(a), { policy: UNLIMITED });
          const one = await world.plan(manifestsOf(b), { policy: UNLIMITED });
          const other = await world.plan(shuffledManifestsOf(b), { policy: UNLIMITED });
          const shown = (planned: typeof one) =>
            planned.plan.changes.map((change) => `${change.action} ${change.address}`);
          expect(shown(other)).toEqual(shown(one));
          expect(other.plan.checksum).toBe(one.plan.checksum);
        }),
        { seed: SEED + 2, numRuns: Math.ceil(RUNS / 3), endOnFailure },
      );
    });
  });

  test('every kind that the version has is generated', async () => {
    const generated = new Set<string>();
    for (const [first] of fc.sample(twoModels, { seed: 20_260_601, numRuns: 100 })) {
      for (const { kind } of (await declare(manifestsOf(first))).values()) {
        generated.add(kind);
      }
    }
    expect([...generated].sort()).toEqual(
      samples
        .filter((each) => isIn(each, version))
        .map(({ kind }) => kind)
        .sort(),
    );
  });
});
