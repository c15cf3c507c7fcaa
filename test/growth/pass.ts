/** One pass over the manifests of a shape, as a command runs it, without a platform: load, plan, show, order, apply. */
import { type Change, changeId, type Verdict } from '../../src/core/change.ts';
import { DesiredStateError } from '../../src/core/errors.ts';
import type { Writes } from '../../src/kinds/model/kind.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createManifestLoader } from '../../src/manifests/loader.ts';
import { DEFAULT_POLICY } from '../../src/plan/guard.ts';
import { computePlan } from '../../src/plan/plan.ts';
import { planToJson } from '../../src/plan/render/document.ts';
import { renderPlanMarkdown } from '../../src/plan/render/markdown.ts';
import { renderPlanText } from '../../src/plan/render/text.ts';
import { PLAIN } from '../../src/plan/render/text-layout.ts';
import type { Writer } from '../../src/platform/client.ts';
import { apply } from '../../src/reconcile/apply.ts';
import { baseOfManifests } from '../../src/reconcile/record.ts';
import { memoryTree } from '../support/memory-tree.ts';
import { mirror, mirrorId } from './mirror.ts';
import type { Files, Shape } from './shapes.ts';

const signal = new AbortController().signal;
const byName = new Map(kinds.map((kind) => [kind.name, kind]));

async function load(files: Files) {
  return (await createManifestLoader(kinds).load(memoryTree(files))).declared;
}

/** Runs everything up to the requests, which are not sent; returns the length of all output. */
export async function passOver(shape: Shape, n: number): Promise<number> {
  const declared = await load(shape.now(n));
  const before = shape.before === undefined ? null : await load(shape.before(n));
  const base = before === null ? null : baseOfManifests(kinds, before);
  const owned =
    base === null || shape.withoutIds === true
      ? base
      : new Map([...base].map(([address, entry]) => [address, { ...entry, id: mirrorId(address) }]));
  const observation = mirror(before ?? new Map());
  try {
    const input = {
      organization: 'org_1',
      commit: null,
      baseCommit: null,
      kinds,
      declared,
      base: owned,
      policy: { ...DEFAULT_POLICY, now: 0 },
      estimate: () => 0,
    };
    const cost = () => ({ requests: { reads: 1, writes: 0 }, seconds: 0 });
    const planned = computePlan({ ...input, observation, cost });
    const ready: Verdict = { state: 'ready', reasons: [] };
    const creations = new Map(
      planned.plan.changes.filter(({ action }) => action === 'create').map((change) => [change.address, change]),
    );
    const creation = (address: string) => creations.get(address);
    const requests = (change: Change): Writes =>
      byName.get(change.kind)?.writes(change, { creation, actuals: () => [] }) ?? { first: [] };
    planned.plan.changes.map(requests);
    const approved = {
      ...planned,
      observation,
      plan: { ...planned.plan, verdict: ready },
      writesOf: () => ({ first: [] }),
    };
    const { results } = await apply(input, approved, {
      writer: {} as Writer,
      clock: { now: () => 0, monotonic: () => 0, sleep: async () => {} },
      parallel: 10,
      signal,
      abort: signal,
      record: null,
    });
    if (new Set(results.map(changeId)).size !== planned.plan.changes.length) {
      throw new Error('not every change has a result');
    }
    const shown = [
      renderPlanText(planned.plan, { columns: 100, paint: PLAIN }),
      renderPlanMarkdown(planned.plan),
      JSON.stringify(planToJson(planned.plan)),
      results.map(({ error }) => error ?? '').join(''),
    ];
    return shown.join('').length;
  } catch (error) {
    return lengthOf(error);
  }
}

/** Loads invalid manifests; returns the length of their problems. */
export async function loadBroken(files: (n: number) => Files, n: number): Promise<number> {
  return load(files(n)).then(() => 1, lengthOf);
}

function lengthOf(error: unknown): number {
  if (error instanceof DesiredStateError) {
    return error.message.length;
  }
  throw error;
}
