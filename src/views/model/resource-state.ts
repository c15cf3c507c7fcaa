/** States of resources, from the last check and what the last pass did. */
import type { Address } from '../../core/address.ts';
import { type Change, type ChangeResult, changeId } from '../../core/change.ts';
import type { ManualPause } from '../../store/history.ts';
import type { ReconcilerState } from './backend.ts';

/** States of a resource, worst first. */
export const RESOURCE_STATES = [
  'failed',
  'held',
  'paused',
  'planned',
  'pending',
  'stale',
  'unknown',
  'in-sync',
] as const;
export type ResourceState = (typeof RESOURCE_STATES)[number];

/** Changes of the last check by address, and their results. */
export interface ResourceStates {
  /** Returns the changes of a resource, in the order of the plan. */
  changesOf(address: Address): readonly Change[];
  /** Changes of resources that no manifest declares any more, sorted by address. */
  readonly undeclared: readonly Change[];
  /** Returns the result of a change; undefined if the last pass did not reach it. */
  result(change: Change): ChangeResult | undefined;
  /** Returns why a declared resource cannot be created yet. */
  pendingReason(address: Address): string | undefined;
  /** Returns true if the last change undoes what somebody changed on the platform. */
  isDrift(address: Address): boolean;
  state(address: Address): ResourceState;
}

type Check = NonNullable<ReconcilerState['lastCheck']>;
interface Indexed {
  readonly end: ReconcilerState['lastEnd'];
  readonly states: ResourceStates;
}

/** Indexes by the check that they are of. */
const indexes = new WeakMap<Check, Indexed>();

/** Returns the states of the resources of an organization. `isStale`: the last check is too old to call anything in sync. */
export function resourceStates(reconciler: ReconcilerState, isStale: boolean): ResourceStates {
  const { lastCheck, lastEnd } = reconciler;
  if (lastCheck === null) {
    return UNCHECKED;
  }
  const before = indexes.get(lastCheck);
  const indexed = before?.end === lastEnd ? before : { end: lastEnd, states: indexChanges(lastCheck, lastEnd) };
  indexes.set(lastCheck, indexed);
  const { states } = indexed;
  const state = (address: Address) => {
    const known = states.state(address);
    return known === 'in-sync' ? 'stale' : known;
  };
  return isStale ? { ...states, state } : states;
}

const UNCHECKED: ResourceStates = {
  changesOf: () => [],
  undeclared: [],
  result: () => undefined,
  pendingReason: () => undefined,
  isDrift: () => false,
  state: () => 'unknown',
};

function indexChanges({ plan, drift }: Check, end: ReconcilerState['lastEnd']): ResourceStates {
  const changesOf = groupChanges(plan.changes);
  const results = new Map((end?.plan === plan ? end.results : []).map((result) => [changeId(result), result]));
  const pending = new Map(plan.pending.map(({ address, reason }) => [address, reason]));
  const result = (change: Change) => (results.size === 0 ? undefined : results.get(changeId(change)));
  const isWholeHeld = plan.verdict.state === 'held';
  const stateOf = (change: Change): ResourceState => {
    const status = result(change)?.status;
    if (status === 'applied') {
      return 'in-sync';
    }
    if (status === 'failed') {
      return 'failed';
    }
    if (change.paused !== null) {
      return 'paused';
    }
    return change.held !== null || isWholeHeld ? 'held' : 'planned';
  };
  const state = (address: Address): ResourceState => {
    const own = changesOf(address);
    const [first] = own;
    const worst = own.length > 1 || first === undefined ? worstOf(own.map(stateOf)) : stateOf(first);
    return worst !== 'in-sync' ? worst : pending.has(address) ? 'pending' : 'in-sync';
  };
  return {
    changesOf,
    undeclared: plan.changes
      .filter((change) => change.source === null && change.action === 'delete' && result(change)?.status !== 'applied')
      .toSorted((a, b) => (a.address < b.address ? -1 : 1)),
    result,
    pendingReason: (address) => pending.get(address),
    isDrift: (address) => changesOf(address).some((change) => drift.has(change)),
    state,
  };
}

/** Groups changes by address. Nearly every resource has one change, so that there is no list for each. */
function groupChanges(changes: readonly Change[]): ResourceStates['changesOf'] {
  const first = new Map<Address, Change>();
  const more = new Map<Address, Change[]>();
  for (const change of changes) {
    const before = first.get(change.address);
    if (before === undefined) {
      first.set(change.address, change);
    } else {
      const all = more.get(change.address) ?? [before];
      all.push(change);
      more.set(change.address, all);
    }
  }
  return (address) => {
    const only = first.get(address);
    return more.get(address) ?? (only === undefined ? [] : [only]);
  };
}

function worstOf(states: readonly ResourceState[]): ResourceState {
  return RESOURCE_STATES.find((each) => states.includes(each)) ?? 'in-sync';
}

/** Returns the pause that covers a resource: its own, or that of the organization. */
export function pauseOf(address: Address, pauses: readonly ManualPause[]): ManualPause | null {
  return pauses.find((pause) => pause.address === address) ?? pauses.find((pause) => pause.address === '') ?? null;
}
