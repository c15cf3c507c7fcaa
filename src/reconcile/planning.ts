import type { Address } from '../core/address.ts';
import type { Change, Cost } from '../core/change.ts';
import type { Base, Declared, Observation } from '../core/resource.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Writes } from '../kinds/request.ts';
import { pruneOf } from '../plan/changes.ts';
import { computePlan, type PlannedChanges } from '../plan/plan.ts';
import type { Policy } from '../plan/policy.ts';
import type { Reader } from '../platform/client.ts';
import { observe } from './observe.ts';

/** How long so many requests take, in seconds, under the rate learned so far. */
export type Estimate = (writes: number, reads: number) => number;

export interface PlanningOptions {
  readonly organization: string;
  readonly kinds: readonly Kind[];
  readonly declared: ReadonlyMap<Address, Declared>;
  readonly base: Base;
  readonly commit: string | null;
  readonly baseCommit: string | null;
  readonly policy: Policy;
  readonly estimate: Estimate;
}

/** A plan, what it was made from, and how it would be written. */
export interface Planned extends PlannedChanges {
  readonly observation: Observation;
  writesOf(change: Change): Writes;
}

/** Reads what is needed and plans. Makes no write: the reader has no way to. */
export async function makePlan(options: PlanningOptions, reader: Reader, reads: () => number): Promise<Planned> {
  const { kinds, declared, base, policy } = options;
  const also = kinds
    .filter((kind) => pruneOf(policy.prune, kind.name) === 'all')
    .map((kind) => kind.partOf ?? kind.name);
  const observed = await observe({ kinds, declared, base, reader, also });
  return planFrom(options, { ...observed, reads: reads() });
}

/** Plans from an observation that is there already. */
function planFrom(options: PlanningOptions, observation: Observation): Planned {
  const byName = new Map(options.kinds.map((kind) => [kind.name, kind]));
  let creations: ReadonlyMap<Address, Change> = new Map();
  const writesOf = (change: Change): Writes =>
    byName.get(change.kind)?.writes(change, { creation: (address) => creations.get(address) }) ?? { first: [] };
  const planned = computePlan({
    ...options,
    observation,
    cost: (changes) => {
      creations = new Map(
        changes.filter((change) => change.action === 'create').map((change) => [change.address, change]),
      );
      return costOf(changes, observation.reads, writesOf, options.estimate);
    },
  });
  return { ...planned, observation, writesOf };
}

function costOf(
  changes: readonly Change[],
  reads: number,
  writesOf: (change: Change) => Writes,
  estimate: Estimate,
): Cost {
  let writes = 0;
  let watches = 0;
  for (const change of changes) {
    if (change.held === null && change.paused === null) {
      const { first, late, watch } = writesOf(change);
      writes += first.length + (late?.length ?? 0);
      watches += watch === undefined ? 0 : 1;
    }
  }
  return { requests: { reads, writes }, seconds: writes === 0 ? 0 : estimate(writes, watches) };
}
