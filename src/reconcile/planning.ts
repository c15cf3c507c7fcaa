import type { Address } from '../core/address.ts';
import type { Change, Cost } from '../core/change.ts';
import type { Base, Declared, Observation } from '../core/resource.ts';
import type { Kind } from '../kinds/model/kind.ts';
import type { Writes } from '../kinds/model/request.ts';
import { pruneOf } from '../plan/changes.ts';
import type { Elsewhere } from '../plan/identity/elsewhere.ts';
import { PeopleAddresses } from '../plan/model/people.ts';
import type { Ordering } from '../plan/order/order.ts';
import { computePlan, type PlannedChanges } from '../plan/plan.ts';
import type { Policy } from '../plan/policy.ts';
import type { Reader } from '../platform/client.ts';
import type { Work } from '../queue/estimate/simulation.ts';
import { type ActualSource, platformSource } from './observe/actual-source.ts';
import { observe } from './observe/observe.ts';
import { couldLockOut, ownUser } from './own-user.ts';
import { dueSteps, isLast, requestsOf, stepsOf } from './steps.ts';

/** How long work takes, in seconds, under the rate learned so far. */
export type Estimate = (work: readonly Work[]) => number;

export interface PlanningOptions {
  readonly organization: string;
  /** Tells the manifest folders of one organization apart; the root scope where absent. */
  readonly scope?: string;
  /** What other scopes of the organization claim; nothing where absent. */
  readonly elsewhere?: Elsewhere;
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

/**
 * Reads what is needed and plans. Makes no write: the reader has no way to. Where the plan takes an admin away, or any
 * member, and nothing says whose token is used, one more request asks for that, and the plan is judged by it.
 */
export async function makePlan(options: PlanningOptions, reader: Reader, reads: () => number): Promise<Planned> {
  const planned = await planOver(options, platformSource(reader), reads);
  const { policy } = options;
  if (policy.user !== null || !couldLockOut(options.kinds, planned.plan.changes)) {
    return planned;
  }
  const members = new PeopleAddresses(options.kinds).kinds.flatMap((kind) => planned.observation.kinds.get(kind) ?? []);
  const user = await ownUser(reader, members);
  return planFrom({ ...options, policy: { ...policy, user } }, { ...planned.observation, reads: reads() });
}

/** The same over any source of the actual state; `reads` tells how many requests that took. */
export async function planOver(options: PlanningOptions, source: ActualSource, reads: () => number): Promise<Planned> {
  const { kinds, declared, base, policy } = options;
  const also = kinds
    .filter((kind) => pruneOf(policy.prune, kind.name) === 'all')
    .map((kind) => kind.partOf ?? kind.name);
  const observed = await observe({ kinds, declared, base, source, also });
  return planFrom(options, { ...observed, reads: reads() });
}

/** Plans from an observation that is there already. */
export function planFrom(options: PlanningOptions, observation: Observation): Planned {
  const byName = new Map(options.kinds.map((kind) => [kind.name, kind]));
  let creations: ReadonlyMap<Address, Change> = new Map();
  const writesOf = (change: Change): Writes =>
    byName.get(change.kind)?.writes(change, { creation: (address) => creations.get(address) }) ?? { first: [] };
  const planned = computePlan({
    ...options,
    observation,
    cost: (ordering) => {
      const created = ordering.sequence.filter((change) => change.action === 'create');
      creations = new Map(created.map((change) => [change.address, change]));
      return costOf(ordering, observation.reads, writesOf, options.estimate);
    },
  });
  return { ...planned, observation, writesOf };
}

/**
 * The writes are exactly those of an apply in which nothing fails; what waits for a person, and what stands on that,
 * makes none. The time is that of the apply: the writes in their order, and a look at each thing that the platform
 * works on by itself. How long it does is not known beforehand; it goes on beside the other writes.
 */
function costOf(ordering: Ordering, reads: number, writesOf: (change: Change) => Writes, estimate: Estimate): Cost {
  const due = dueSteps(stepsOf(ordering, writesOf));
  const places = new Map([...due.keys()].map((id, place) => [id, place]));
  const work = [...due.values()].map((step) => ({
    writes: requestsOf(step).length,
    reads: isLast(step) && step.writes.watch !== undefined ? 1 : 0,
    after: step.waitsFor.flatMap((id) => places.get(id) ?? []),
  }));
  const writes = work.reduce((sum, each) => sum + each.writes, 0);
  return { requests: { reads, writes }, seconds: writes === 0 ? 0 : estimate(work) };
}
