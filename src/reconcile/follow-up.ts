/** Plans the changes that a result of the platform's background work has made possible, and no others. */
import type { Address } from '../core/address.ts';
import { type Change, changeId } from '../core/change.ts';
import { canonicalJson, sameJson } from '../core/json.ts';
import type { Actual, Observation } from '../core/resource.ts';
import type { Ordering } from '../plan/order/order.ts';
import type { Reader } from '../platform/client.ts';
import { withIds } from './applied.ts';
import { platformSource } from './observe/actual-source.ts';
import { observe } from './observe/observe.ts';
import { type Planned, type PlanningInput, planFrom } from './planning.ts';
import { baseOfManifests } from './record.ts';

/**
 * Plans again after an apply, and keeps only the changes that the new results have made possible: those that a plan
 * without these results does not have. Changes by others since the confirmed plan are in both plans, and are left to
 * the next one. `bindings`: ids that the apply knows; `finished`: ids of the resources with new results.
 */
export async function planFollowUp(
  input: PlanningInput,
  bindings: ReadonlyMap<Address, string>,
  finished: ReadonlySet<string>,
  reader: Reader,
): Promise<Planned> {
  const { kinds, declared } = input;
  // The base is what was just applied, so that a resource is recognized even if it was renamed meanwhile.
  const base = withIds(baseOfManifests(kinds, declared) ?? new Map(), bindings);
  const observation = await observe({ kinds, declared, base, source: platformSource(reader) });
  const now = planFrom({ ...input, base }, observation, 0);
  const without = planFrom({ ...input, base }, withoutResults(observation, finished), 0);
  return only(now, changesBeyond(now.plan.changes, without.plan.changes));
}

function withoutResults(observation: Observation, finished: ReadonlySet<string>): Observation {
  const hide = (actual: Actual): Actual => (finished.has(actual.id) ? { ...actual, aliases: [] } : actual);
  return {
    ...observation,
    kinds: new Map([...observation.kinds].map(([kind, actuals]) => [kind, actuals.map(hide)])),
  };
}

/** Returns the changes of one plan that another does not have, reduced to the fields that differ; no deletions. */
function changesBeyond(changes: readonly Change[], others: readonly Change[]): readonly Change[] {
  const known = new Map(others.map((change) => [changeId(change), change]));
  return changes.flatMap((change) => {
    const other = known.get(changeId(change));
    if (other === undefined) {
      return change.action === 'delete' ? [] : [change];
    }
    const before = new Set(other.fields.map((field) => canonicalJson(field)));
    const fields = change.fields.filter((field) => !before.has(canonicalJson(field)));
    const isMoved = !sameJson(change.anchor, other.anchor);
    return (change.action === 'update' && fields.length > 0) || (change.action === 'move' && isMoved)
      ? [{ ...change, fields }]
      : [];
  });
}

/** Reduces a plan to some of its changes, without those that require a change that is left out. */
function only(planned: Planned, wanted: readonly Change[]): Planned {
  const { ordering, plan } = planned;
  const all = new Set(ordering.sequence.map(changeId));
  const kept = new Map(wanted.map((change) => [changeId(change), change]));
  for (const change of ordering.sequence) {
    const id = changeId(change);
    const isMissing = (before: string) => all.has(before) && !kept.has(before);
    if (kept.has(id) && (ordering.hard.get(id) ?? []).some(isMissing)) {
      kept.delete(id);
    }
  }
  const names = new Set([...kept.keys(), ...ordering.barriers]);
  const sequence = ordering.sequence.flatMap((change) => kept.get(changeId(change)) ?? []);
  return { ...planned, ordering: restrict({ ...ordering, sequence }, names), plan: { ...plan, changes: sequence } };
}

function restrict({ sequence, hard, soft, late, barriers }: Ordering, names: ReadonlySet<string>): Ordering {
  const within = (ids: readonly string[]) => ids.filter((id) => names.has(id));
  const restricted = (edges: ReadonlyMap<string, readonly string[]>) =>
    new Map([...edges].filter(([id]) => names.has(id)).map(([id, ids]) => [id, within(ids)]));
  return {
    sequence,
    barriers,
    hard: restricted(hard),
    soft: restricted(soft),
    late: new Map([...late].map(([id, after]) => [id, { hard: within(after.hard), soft: within(after.soft) }])),
  };
}
