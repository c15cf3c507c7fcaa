import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { kinds } from '../../src/kinds/registry.ts';
import { openWorld, UNLIMITED, type World } from '../support/world.ts';
import { type KindCase, kindCases, send } from './kind-cases.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.begin());

const policy = { policy: UNLIMITED };
const text = (each: KindCase, step: string) => `${each.base ?? ''}${step}`;

async function apply(each: KindCase, step: string): Promise<void> {
  await world.settle(text(each, step), policy);
}

async function shortPlan(each: KindCase, step: string): Promise<string[]> {
  const { plan } = await world.plan(text(each, step), policy);
  return plan.changes.map(({ action, address, fields }) => `${action} ${address} ${JSON.stringify(fields)}`);
}

async function idOf(address: string): Promise<string> {
  const { entries } = await world.record.read();
  return entries.find((entry) => entry.address === address)?.id ?? '';
}

/** How many there are on the platform that have not been deleted. */
function count(table: KindCase['storedIn']): number {
  const lists = world.emulator.state() as unknown as Readonly<Record<string, readonly unknown[]>>;
  const records = (lists[table] ?? []) as readonly { readonly deletedAt?: string }[];
  return records.filter((record) => record.deletedAt === undefined).length;
}

test('every kind of the registry is held to the contract', () => {
  expect(kinds.filter(({ sample }) => sample === undefined).map(({ name }) => name)).toEqual([]);
});

describe.each(kindCases)('$kind', (each) => {
  const creates = each.createdBy !== null;

  test('is created once, and then there is nothing left to do', async () => {
    await apply(each, each.created);
    const made = count(each.storedIn);
    expect(await shortPlan(each, each.created)).toEqual([]);
    await apply(each, each.created);
    expect(count(each.storedIn)).toBe(made);
  });

  test('takes every field anew, and cleared', async () => {
    await apply(each, each.created);
    expect((await shortPlan(each, each.updated)).some((line) => line.includes(each.address))).toBe(true);
    await apply(each, each.updated);
    expect(await shortPlan(each, each.updated)).toEqual([]);
    if (each.cleared !== undefined) {
      expect(await shortPlan(each, each.cleared)).not.toEqual([]);
      await apply(each, each.cleared);
      expect(await shortPlan(each, each.cleared)).toEqual([]);
    }
  });

  test('is put back when it drifts', async () => {
    await apply(each, each.created);
    const before = await idOf(each.address);
    await send(world, each.drift, before);
    const plan = await shortPlan(each, each.created);
    expect(plan.filter((line) => line.includes(` ${each.address} `))).toHaveLength(1);
    await apply(each, each.created);
    expect(await shortPlan(each, each.created)).toEqual([]);
    expect(await idOf(each.address)).toBe(before);
  });

  test.runIf(each.remove !== null)('is pruned when its declaration has gone', async () => {
    await apply(each, each.created);
    const made = count(each.storedIn);
    await apply(each, each.gone);
    expect(count(each.storedIn)).toBeLessThan(made);
    expect(await idOf(each.address)).toBe('');
    expect(await shortPlan(each, each.gone)).toEqual([]);
  });

  test('stays without a base', async () => {
    await apply(each, each.created);
    const { plan } = await world.plan(text(each, each.gone), {
      ...policy,
      base: null,
    });
    expect(plan.changes.filter((change) => change.action === 'delete')).toEqual([]);
  });

  test.runIf(each.remove !== null && each.kind !== 'member')(
    'is as good as deleted when somebody else was faster',
    async () => {
      await apply(each, each.created);
      const id = await idOf(each.address);
      const deletes = { method: 'DELETE' };
      world.emulator.setFaults([{ match: deletes, times: 1, fault: { kind: 'reset-after' } }]);
      await apply(each, each.gone);
      world.emulator.setFaults([]);
      expect(await idOf(each.address)).toBe('');
      await apply(each, each.created);
      await send(world, each.remove ?? each.drift, await idOf(each.address));
      await apply(each, each.gone);
      expect(await idOf(each.address)).not.toBe(id);
      expect(await shortPlan(each, each.gone)).toEqual([]);
    },
  );

  test.runIf(creates)('is not made twice when the answer is lost', async () => {
    await apply(each, each.created);
    const made = count(each.storedIn);
    await world.begin();
    const match = { operation: each.createdBy ?? '' };
    world.emulator.setFaults([{ match, times: 2, fault: { kind: 'reset-after' } }]);
    await apply(each, each.created);
    expect(world.emulator.requests.count(match.operation)).toBeGreaterThan(0);
    expect(count(each.storedIn)).toBe(made);
    expect(await shortPlan(each, each.created)).toEqual([]);
  });
});
