/** Makes plans: reads the actual state, computes the changes and their steps, and estimates what they cost. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Address } from '../core/address.ts';
import { type Change, type Cost, changeId } from '../core/change.ts';
import type { Actual, Observation } from '../core/resource.ts';
import type { BulkItem, Kind, PlannedRequest, Writes } from '../kinds/model/kind.ts';
import { pruneOf } from '../plan/changes.ts';
import { BARRIER, type Ordering } from '../plan/order.ts';
import { computePlan, type PlanInput, type PlannedChanges } from '../plan/plan.ts';
import { reviewOf } from '../plan/review.ts';
import { PeopleAddresses } from '../plan/rules.ts';
import type { Work } from '../queue/estimate.ts';
import { type ActualSource, couldLockOut, observe, settleAll } from './observe.ts';

/** Estimates how many seconds work takes at the rate learned so far. */
export type Estimate = (work: readonly Work[]) => number;

/**
 * Returns how many changes are applied concurrently. The queue limits the requests in flight to `concurrency`, and to
 * twice as many while responses are overdue; changes beyond that would only wait and take memory.
 */
export function applyParallel(concurrency: number): number {
  return 2 * concurrency;
}

/** Input of a plan, except the actual state. */
export interface PlanningInput extends Omit<PlanInput, 'kinds' | 'observation' | 'cost'> {
  /** Ordered so that each kind comes after those it refers to. */
  readonly kinds: readonly Kind[];
  readonly estimate: Estimate;
}

/** A plan, the actual state it was made from, and the requests that apply it. */
export interface Planned extends PlannedChanges {
  readonly observation: Observation;
  writesOf(change: Change): Writes;
}

/**
 * Reads the required part of the actual state and plans. Writes nothing: the source cannot write. Plans again with what
 * only some plans need, one request each: the contents of what held deletions would destroy, and the token's user, if the
 * plan could lock out that user and the user is not known.
 */
export async function makePlan(input: PlanningInput, source: ActualSource): Promise<Planned> {
  // 1. Read what is declared, owned, or to be pruned.
  const { kinds, declared, base, policy } = input;
  const pruned = kinds.filter((kind) => pruneOf(policy.prune, kind.name) === 'all');
  const also = pruned.map((kind) => kind.partOf ?? kind.name);
  const observation = await observe({ kinds, declared, base, source, also });
  await giveTurn(declared.size);
  // 2. Compute the changes and their cost.
  const reads = source.requests();
  const planned = planFrom(input, observation, reads);
  // 3. Read what the plan turns out to need.
  const read = await withContents(kinds, planned.plan.changes, observation, source);
  const complete = await withNeededFacts(kinds, planned, read, source);
  let { user } = policy;
  if (user === null && source.ownUser !== undefined && couldLockOut(kinds, planned.plan.changes)) {
    const members = new PeopleAddresses(kinds).kinds.flatMap((kind) => observation.kinds.get(kind) ?? []);
    user = await source.ownUser(members);
  }
  // The count alone does not decide: an answer may be one that was known already.
  if (user === policy.user && complete === observation && source.requests() === reads) {
    return planned;
  }
  await giveTurn(declared.size);
  return planFrom({ ...input, policy: { ...policy, user } }, complete, source.requests());
}

/** Held deletions whose contents are read. */
const MAX_READ_CONTENTS = 20;

/** Adds to the actual state what held deletions would destroy; returns the same state if nothing was read. */
async function withContents(
  kinds: readonly Kind[],
  changes: readonly Change[],
  observation: Observation,
  source: ActualSource,
): Promise<Observation> {
  const readable = new Map(
    kinds.flatMap((kind) => (kind.readContents === undefined ? [] : [[kind.name, kind] as const])),
  );
  const due = changes.flatMap(({ action, kind: name, id, held }) => {
    const kind = action === 'delete' && held !== null ? readable.get(name) : undefined;
    return kind === undefined || id === null ? [] : [{ kind, id }];
  });
  const read = await settleAll(
    due.slice(0, MAX_READ_CONTENTS).map(async ({ kind, id }) => {
      const contents = (await source.contents?.(kind, id)) ?? null;
      return contents === null ? [] : [[`${kind.name} ${id}`, contents] as const];
    }),
  );
  const known = new Map(read.flat());
  if (known.size === 0) {
    return observation;
  }
  const withFacts = (actual: Actual): Actual => {
    const contents = known.get(`${actual.kind} ${actual.id}`);
    return contents === undefined ? actual : { ...actual, facts: { ...actual.facts, ...contents } };
  };
  const found = [...observation.kinds].map(
    ([name, actuals]) => [name, readable.has(name) ? actuals.map(withFacts) : actuals] as const,
  );
  return { ...observation, kinds: new Map(found) };
}

/** Adds to the actual state what the review of the plan needs; returns the same state if nothing was read. */
async function withNeededFacts(
  kinds: readonly Kind[],
  { plan, identity }: Planned,
  observation: Observation,
  source: ActualSource,
): Promise<Observation> {
  const review = reviewOf(kinds, plan.changes, observation, identity);
  const needed = new Set(kinds.flatMap((kind) => kind.reviewNeeds?.(review) ?? []));
  const read = await settleAll(
    [...needed].slice(0, MAX_READ_CONTENTS).map(async (address) => {
      const actual = identity.bound.get(address);
      const kind = kinds.find(({ name }) => name === actual?.kind);
      const facts = actual === undefined || kind === undefined ? null : ((await source.facts?.(kind, actual)) ?? null);
      return actual === undefined || facts === null ? [] : [[actual, facts] as const];
    }),
  );
  const known = new Map(read.flat());
  const add = (actual: Actual): Actual => {
    const facts = known.get(actual);
    return facts === undefined ? actual : { ...actual, facts: { ...actual.facts, ...facts } };
  };
  return known.size === 0
    ? observation
    : { ...observation, kinds: new Map([...observation.kinds].map(([name, actuals]) => [name, actuals.map(add)])) };
}

/** Number of resources from which planning, and what follows it, keeps the main thread busy for a noticeable time. */
const MANY = 5000;

/** Lets health checks and pages be answered between two steps about very many resources. */
export async function giveTurn(resources: number): Promise<void> {
  if (resources >= MANY) {
    await nextTurn();
  }
}

/** Plans from an actual state that was read with this many requests. */
export function planFrom(input: PlanningInput, observation: Observation, reads: number): Planned {
  const byName = new Map(input.kinds.map((kind) => [kind.name, kind]));
  let creations: ReadonlyMap<Address, Change> = new Map();
  const known = new Map<Change, Writes>();
  const writesOf = (change: Change): Writes => {
    const context = {
      creation: (address: Address) => creations.get(address),
      actuals: (kind: string) => observation.kinds.get(kind) ?? [],
    };
    const writes = known.get(change) ?? byName.get(change.kind)?.writes(change, context) ?? { first: [] };
    known.set(change, writes);
    return writes;
  };
  const cost = (ordering: Ordering): Cost => {
    const created = ordering.sequence.filter((change) => change.action === 'create');
    creations = new Map(created.map((change) => [change.address, change]));
    return costOf(ordering, reads, writesOf, input.estimate);
  };
  return { ...computePlan({ ...input, observation, cost }), observation, writesOf };
}

/**
 * Computes the cost of an apply in which nothing fails. Changes that wait for approval, and changes that depend on them,
 * make no requests. The time is that of the writes in their order, and of one check of each background job of the
 * platform: how long a job takes is not known beforehand, and it runs in parallel with other writes.
 */
function costOf(ordering: Ordering, reads: number, writesOf: (change: Change) => Writes, estimate: Estimate): Cost {
  const due = dueSteps(planSteps(ordering, writesOf));
  const indexes = new Map([...due.keys()].map((id, index) => [id, index]));
  const together = writesTogether(due.values());
  const work = [...due.values()].map((step) => ({
    writes: together.get(step) ?? requestsOf(step).length,
    reads: isLast(step) && step.writes.watch !== undefined ? 1 : 0,
    after: step.waitsFor.flatMap((id) => indexes.get(id) ?? []),
  }));
  const writes = work.reduce((sum, each) => sum + each.writes, 0);
  return { requests: { reads, writes }, seconds: writes === 0 ? 0 : estimate(work) };
}

/**
 * One half of a change, or a barrier without requests. Other changes wait for the `first` half; the `late` half waits
 * for other changes.
 */
export interface Step {
  readonly id: string;
  /** Null for a barrier. */
  readonly change: Change | null;
  readonly half: 'first' | 'late';
  readonly writes: Writes;
  /** Steps that must have ended before it starts. */
  readonly waitsFor: readonly string[];
  /** Steps in `waitsFor` that must have succeeded. */
  readonly requires: readonly string[];
}

/** Splits a plan into steps by id, in the plan's order, with its barriers at the end. */
export function planSteps(ordering: Ordering, writesOf: (change: Change) => Writes): ReadonlyMap<string, Step> {
  const steps = new Map<string, Step>();
  for (const change of ordering.sequence) {
    const id = changeId(change);
    const writes = writesOf(change);
    const requires = ordering.hard.get(id) ?? NONE;
    const waitsFor = union(requires, ordering.soft.get(id) ?? NONE);
    steps.set(id, { id, change, writes, half: 'first', requires, waitsFor });
    if ((writes.late ?? NONE).length > 0) {
      const late = ordering.late.get(id);
      const needed = [id, ...(late?.hard ?? NONE)];
      const after = union(needed, late?.soft ?? NONE);
      steps.set(lateId(id), { id: lateId(id), change, writes, half: 'late', requires: needed, waitsFor: after });
    }
  }
  for (const id of ordering.barriers) {
    const requires = ordering.hard.get(id) ?? NONE;
    const waitsFor = union(requires, ordering.soft.get(id) ?? NONE);
    steps.set(id, { id, change: null, writes: { first: [] }, half: 'first', requires, waitsFor });
  }
  return steps;
}

/** Most changes wait for nothing. */
const NONE: readonly string[] = [];

function union(hard: readonly string[], soft: readonly string[]): readonly string[] {
  return hard.length + soft.length === 0 ? NONE : [...new Set([...hard, ...soft])];
}

function lateId(id: string): string {
  return `${id} (late)`;
}

/** Returns the requests of a step, in order. */
export function requestsOf({ half, writes }: Step): readonly PlannedRequest[] {
  return (half === 'first' ? writes.first : writes.late) ?? [];
}

/** Returns what the step is in a request that makes several changes; null if it is sent alone. */
export function bulkOf(step: Step): BulkItem | null {
  const [only, ...others] = requestsOf(step);
  return others.length === 0 ? (only?.bulk ?? null) : null;
}

/** Returns the name of the steps that can be sent in one request with an item. */
export function bulkGroup({ request, path }: BulkItem): string {
  return [request.operation.name, ...Object.values(path).map(({ address }) => address)].join(' ');
}

/** Returns the number of writes of the steps that are sent together because they wait for the same; 0 for most of them. */
function writesTogether(steps: Iterable<Step>): ReadonlyMap<Step, number> {
  const groups = new Map<string, { readonly most: number; readonly steps: Step[] }>();
  for (const step of steps) {
    const bulk = bulkOf(step);
    if (bulk !== null) {
      // Everything else that it waits for has ended when the barrier has.
      const barriers = step.waitsFor.filter((id) => id.startsWith(BARRIER));
      const name = [bulkGroup(bulk), ...(barriers.length === 0 ? step.waitsFor : barriers)].join('\n');
      const group = groups.get(name) ?? { most: bulk.request.most, steps: [] };
      groups.set(name, group);
      group.steps.push(step);
    }
  }
  return new Map(
    [...groups.values()].flatMap(({ most, steps: of }) =>
      of.map((step, index) => [step, index === 0 ? Math.ceil(of.length / most) : 0] as const),
    ),
  );
}

/** Returns true if the change is complete after this step. */
export function isLast({ half, writes }: Step): boolean {
  return half === 'late' || (writes.late ?? []).length === 0;
}

/**
 * Returns the steps that run if nothing fails: all except those that are held or paused and those that require one of
 * these.
 */
function dueSteps(steps: ReadonlyMap<string, Step>): ReadonlyMap<string, Step> {
  const isWaiting = ({ change }: Step) => change !== null && (change.held !== null || change.paused !== null);
  const blocked = new Set([...steps.values()].filter(isWaiting).map((step) => step.id));
  if (blocked.size === 0) {
    return steps;
  }
  const followers = new Map<string, string[]>([...steps.keys()].map((id) => [id, []]));
  for (const step of steps.values()) {
    for (const before of step.requires) {
      followers.get(before)?.push(step.id);
    }
  }
  // The set grows during the iteration, which visits the added steps too.
  for (const id of blocked) {
    for (const follower of followers.get(id) ?? []) {
      blocked.add(follower);
    }
  }
  return new Map([...steps].filter(([id]) => !blocked.has(id)));
}
