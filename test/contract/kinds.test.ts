import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { type PlannedRequest, Ref } from '../../src/kinds/model/kind.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { type Sample, type SampleStep, samplesByVersion } from '../support/kind-samples.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';
import { kindSamples } from './samples.ts';
import { send } from './send.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.begin());

const policy = { policy: UNLIMITED };

test('every sample is of a kind of the registry', () => {
  expect(Object.keys(kindSamples).toSorted()).toEqual(kinds.map(({ name }) => name).toSorted());
});

describe.each(samplesByVersion.map((each) => ({ each, kind: each.kind, version: each.version })))(
  '$kind in $version',
  ({ each }) => {
    const { address, storedIn } = each;
    const kind = kinds.find(({ name }) => name === each.kind);
    const manifest = (step: SampleStep) => each.steps[step] ?? '';
    const apply = (step: SampleStep) => world.settle(manifest(step), policy);

    beforeEach(() => {
      world.emulator.setFeatures(getFeatures(each.version));
    });

    async function shortPlan(step: SampleStep): Promise<string[]> {
      const { plan } = await world.plan(manifest(step), policy);
      return plan.changes.map((change) => `${change.action} ${change.address} ${JSON.stringify(change.fields)}`);
    }

    async function idOf(owned: string): Promise<string> {
      const { entries } = await world.record.read();
      return entries.find((entry) => entry.address === owned)?.id ?? '';
    }

    /** The first request for the resource in the plan of a step. */
    async function firstRequest(step: SampleStep): Promise<PlannedRequest> {
      const { changes } = (await world.plan(manifest(step), policy)).plan;
      const change = changes.find((planned) => planned.address === address);
      const creation = (other: string) => changes.find((planned) => planned.address === other);
      const first = change === undefined ? undefined : kind?.writes(change, { creation, actuals: () => [] }).first[0];
      if (first === undefined) {
        throw new Error(`${step}: no request for ${address}`);
      }
      return first;
    }

    /** Deletes the resource as another client does. */
    async function deleteElsewhere(): Promise<void> {
      const { operation, input } = await firstRequest('gone');
      const { path = {} } = input as { readonly path?: Readonly<Record<string, string | Ref>> };
      let url = operation.path;
      for (const [name, value] of Object.entries(path)) {
        url = url.replace(`{${name}}`, value instanceof Ref ? await idOf(value.address) : value);
      }
      await world.call(operation.method, url.replace('{organizationId}', world.emulator.organization));
    }

    test('is created once, followed by an empty plan', async () => {
      await apply('created');
      const made = count(storedIn);
      expect(await shortPlan('created')).toEqual([]);
      await apply('created');
      expect(count(storedIn)).toBe(made);
    });

    test('accepts new values in every field, and cleared fields', async () => {
      await apply('created');
      expect((await shortPlan('updated')).some((line) => line.includes(address))).toBe(true);
      await apply('updated');
      expect(await shortPlan('updated')).toEqual([]);
      if (each.steps.cleared !== undefined) {
        expect(await shortPlan('cleared')).not.toEqual([]);
        await apply('cleared');
        expect(await shortPlan('cleared')).toEqual([]);
      }
    });

    test('is corrected after drift', async () => {
      await apply('created');
      const before = await idOf(address);
      await send(world, each.drift, before);
      const plan = await shortPlan('created');
      expect(plan.filter((line) => line.includes(` ${address} `))).toHaveLength(1);
      await apply('created');
      expect(await shortPlan('created')).toEqual([]);
      expect(await idOf(address)).toBe(before);
    });

    test.runIf(kind?.deletable)('is pruned when it is no longer declared', async () => {
      await apply('created');
      const made = count(storedIn);
      await apply('gone');
      expect(count(storedIn)).toBeLessThan(made);
      expect(await idOf(address)).toBe('');
      expect(await shortPlan('gone')).toEqual([]);
    });

    test('is not deleted without a base', async () => {
      await apply('created');
      const { plan } = await world.plan(manifest('gone'), { ...policy, base: null });
      expect(plan.changes.filter((change) => change.action === 'delete')).toEqual([]);
    });

    test.runIf(kind?.deletable && kind.creatable === true)(
      'counts as deleted when another client has deleted it',
      async () => {
        await apply('created');
        const id = await idOf(address);
        const deletes = { method: 'DELETE' };
        world.emulator.setFaults([{ match: deletes, times: 1, fault: { kind: 'reset-after' } }]);
        await apply('gone');
        world.emulator.setFaults([]);
        expect(await idOf(address)).toBe('');
        await apply('created');
        await deleteElsewhere();
        await apply('gone');
        expect(await idOf(address)).not.toBe(id);
        expect(await shortPlan('gone')).toEqual([]);
      },
    );

    test.runIf(kind?.creatable === true)('is not created twice after a lost response', async () => {
      const { operation, bulk } = await firstRequest('created');
      const names = [operation.name, ...(bulk === null ? [] : [bulk.request.operation.name])];
      await apply('created');
      const made = count(storedIn);
      await world.begin();
      world.emulator.setFaults(
        names.map((name) => ({ match: { operation: name }, times: 2, fault: { kind: 'reset-after' } })),
      );
      await apply('created');
      expect(names.some((name) => world.emulator.requests.count(name) > 0)).toBe(true);
      expect(count(storedIn)).toBe(made);
      expect(await shortPlan('created')).toEqual([]);
    });
  },
);

/** Number of these on the platform that have not been deleted. */
function count(storedIn: Sample['storedIn']): number {
  const lists = world.emulator.state() as unknown as Readonly<Record<string, readonly unknown[]>>;
  if (lists[storedIn] === undefined) {
    throw new Error(`sample.storedIn is ${storedIn}, which is none of ${Object.keys(lists).join(', ')}`);
  }
  const records = lists[storedIn] as readonly { readonly deletedAt?: string }[];
  return records.filter((record) => record.deletedAt === undefined).length;
}
