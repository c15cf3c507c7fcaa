import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Change, type ChangeResult, changeId } from '../../src/core/change.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { openReader, openWriter } from '../../src/platform/client.ts';
import { apply, outcomeOf } from '../../src/reconcile/apply.ts';
import { platformSource } from '../../src/reconcile/observe.ts';
import { makePlan, type Planned, type PlanningInput } from '../../src/reconcile/planning.ts';
import { baseOfManifests } from '../../src/reconcile/record.ts';
import { twoModels } from '../support/arbitrary-manifests.ts';
import { manifestsOf } from '../support/model.ts';
import { VirtualPlatform } from '../support/virtual-platform.ts';
import { declare, type Manifests, planningInput, UNLIMITED } from '../support/world.ts';

const organization = 'org_acme';
const SEED = Number(process.env.OCTAVO_SEED ?? 20260601);
const RUNS = Number(process.env.OCTAVO_RUNS ?? 40);
/** Path of every request of a poisoned change. */
const POISONED = '/v1/poisoned';

interface Transition {
  readonly input: PlanningInput;
  readonly planned: Planned;
}

/** A platform, and the transition from one set of manifests to the next, with some of the changes poisoned. */
class Poisoning {
  readonly platform = new VirtualPlatform();
  readonly #connection = this.platform.connect();

  constructor(status: 422 | 500) {
    this.platform.fault = ({ path }) => (path === POISONED ? status : null);
  }

  async plan(manifests: Manifests, before: Manifests | null): Promise<Transition> {
    const base = before === null ? null : baseOfManifests(kinds, await declare(before));
    const input = planningInput(organization, await declare(manifests), base, UNLIMITED);
    const reader = openReader(this.#connection, { organization, priority: 'person' });
    return { input, planned: await this.platform.clock.run(makePlan(input, platformSource(reader))) };
  }

  async apply(
    { input, planned }: Transition,
    poisoned: ReadonlySet<string> = new Set(),
  ): Promise<readonly ChangeResult[]> {
    const signal = new AbortController().signal;
    const writesOf = (change: Change) => {
      const writes = planned.writesOf(change);
      if (!poisoned.has(changeId(change))) {
        return writes;
      }
      const spoil = (requests: typeof writes.first) =>
        requests.map((each) => ({ ...each, operation: { ...each.operation, path: POISONED }, tolerates: [] }));
      return { ...writes, first: spoil(writes.first), late: spoil(writes.late ?? []) };
    };
    const applied = apply(
      input,
      { ...planned, writesOf },
      {
        writer: openWriter(this.#connection, { organization, priority: 'apply' }),
        clock: this.platform.clock,
        parallel: 20,
        signal,
        abort: signal,
        record: null,
      },
    );
    return (await this.platform.clock.run(applied)).results;
  }
}

/**
 * Expected result for a reader of the plan: poisoned changes fail, and the changes that require them, directly or not,
 * are skipped. A change that is only ordered after a failed one, such as taking a title that was not released, is tried
 * all the same, and the platform may reject it. A site can have parts as soon as it is created, and is complete when
 * its default has been set, which requires one of them.
 */
function unexpected(
  { plan: { changes }, ordering, writesOf }: Planned,
  poisoned: ReadonlySet<string>,
  results: readonly ChangeResult[],
): readonly string[] {
  const statuses = new Map(results.map((result) => [changeId(result), result.status]));
  const made = new Set(results.filter(({ action, id }) => action === 'create' && id !== null).map(changeId));
  const begun = new Set<string>();
  const expected = new Map<string, readonly string[]>();
  // In the plan's order, each comes after the changes that it requires.
  for (const change of changes) {
    const id = changeId(change);
    const required = throughBarriers(ordering.hard, id, ordering.barriers);
    const named = changes.filter(({ address }) => change.dependsOn.includes(address)).map(changeId);
    expect(named).toEqual(expect.arrayContaining([...required]));
    const waits = required.some((each) => !begun.has(each));
    const status = change.held !== null ? 'held' : waits ? 'skipped' : poisoned.has(id) ? 'failed' : 'applied';
    const preferred = throughBarriers(ordering.soft, id, ordering.barriers);
    const before = [...preferred, ...(ordering.late.get(id)?.soft ?? [])];
    const mayBeRefused = status === 'applied' && before.some((each) => statuses.get(each) !== 'applied');
    expected.set(id, mayBeRefused ? ['applied', 'failed'] : [status]);
    if (status === 'applied' && (made.has(id) || statuses.get(id) !== 'failed')) {
      begun.add(id);
    }
  }
  return changes.map(changeId).flatMap((id, place) => {
    const late = (writesOf(changes[place] as Change).late ?? []).length > 0 ? ordering.late.get(id)?.hard : [];
    const isLeft = begun.has(id) && late?.some((each) => !begun.has(each));
    const right = isLeft ? ['skipped'] : (expected.get(id) ?? []);
    const found = statuses.get(id) ?? 'nothing';
    return right.includes(found) ? [] : [`${id}: ${found}, and not ${right.join(' or ')}`];
  });
}

function throughBarriers(
  edges: ReadonlyMap<string, readonly string[]>,
  id: string,
  barriers: readonly string[],
): readonly string[] {
  return (edges.get(id) ?? []).flatMap((each) => (barriers.includes(each) ? (edges.get(each) ?? []) : [each]));
}

test('fails poisoned changes, skips those that require them, and applies all others', async () => {
  let failures = 0;
  await fc.assert(
    fc.asyncProperty(
      twoModels,
      fc.infiniteStream(fc.boolean()),
      fc.constantFrom(422 as const, 500 as const),
      async ([a, b], picks, status) => {
        const world = new Poisoning(status);
        await world.apply(await world.plan(manifestsOf(a), null));
        const transition = await world.plan(manifestsOf(b), manifestsOf(a));
        const { planned } = transition;
        const poisoned = new Set(
          planned.plan.changes
            .filter((change) => planned.writesOf(change).first.length > 0 && picks.next().value && picks.next().value)
            .map(changeId),
        );
        const results = await world.apply(transition, poisoned);
        const statuses = new Map(results.map((result) => [changeId(result), result.status]));
        expect(unexpected(planned, poisoned, results)).toEqual([]);
        const how = [...statuses.values()];
        expect(outcomeOf(planned, results)).toBe(
          how.includes('failed') ? 'failed' : how.includes('held') ? 'held' : 'done',
        );
        failures += poisoned.size;
        for (const { status: how, error } of results) {
          expect(error === null).toBe(how === 'applied');
        }
      },
    ),
    { seed: SEED, numRuns: RUNS, endOnFailure: true },
  );
  expect(failures).toBeGreaterThan(RUNS);
});
