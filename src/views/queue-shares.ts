/** Queues of one token in several replicas, each with its share of the requests, as one queue. */
import { largest } from '../core/lists.ts';
import { PRIORITIES } from '../queue/request.ts';
import type { BudgetSnapshot, Outcome, QueueSnapshot } from '../queue/snapshot.ts';
import type { OrganizationState, QueueState } from './model/backend.ts';
import { budgetName } from './model/budget-samples.ts';

/** Queue of a token in one replica. */
export interface QueueShare {
  /** Host name and process id of the replica; null without a fleet, and while no replica has the organizations. */
  readonly address: string | null;
  readonly queue: QueueState;
}

/** Returns the queues that organizations with the same token use: one for each replica that has some of them. */
export function queueShares(members: readonly OrganizationState[]): readonly QueueShare[] {
  const byOwner = Map.groupBy(members, ({ owner }) => (owner.kind === 'replica' ? owner.id : null));
  // What nobody has was last seen at a replica that may be gone.
  const owned = [...byOwner].filter(([replica]) => replica !== null || byOwner.size === 1);
  return owned.map(([, some]) => {
    const [first] = some as [OrganizationState, ...OrganizationState[]];
    const { owner, queue } = some.find((each) => each.queue.isKnown) ?? first;
    return { queue, address: owner.kind === 'replica' ? owner.address : null };
  });
}

/** Returns the sum of queues of one token. They share the budgets, so these are not added up. */
export function sumQueues(snapshots: readonly [QueueSnapshot, ...QueueSnapshot[]]): QueueSnapshot {
  const [first] = snapshots;
  if (snapshots.length === 1) {
    return first;
  }
  const add = <K extends string>(keys: readonly K[], counts: (each: QueueSnapshot) => Readonly<Record<K, number>>) =>
    Object.fromEntries(keys.map((key) => [key, snapshots.reduce((sum, each) => sum + counts(each)[key], 0)])) as Record<
      K,
      number
    >;
  const ages = snapshots.flatMap(({ oldest }) => oldest ?? []);
  const breakers = snapshots.map(({ breaker }) => breaker);
  const budgets = Map.groupBy(
    snapshots.flatMap((each) => each.budgets),
    budgetName,
  );
  return {
    ...first,
    budgets: [...budgets.values()].map((same) => joinBudgets(same as [BudgetSnapshot, ...BudgetSnapshot[]])),
    waiting: add(PRIORITIES, ({ waiting }) => waiting),
    outcomes: add(Object.keys(first.outcomes) as Outcome[], ({ outcomes }) => outcomes),
    inFlight: snapshots.reduce((sum, { inFlight }) => sum + inFlight, 0),
    oldest: ages.length === 0 ? null : largest(ages),
    breaker: breakers.includes('open') ? 'open' : breakers.includes('half-open') ? 'half-open' : 'closed',
  };
}

/** Returns the state of a budget that several replicas have seen: the least that remains of a window that lasts. */
function joinBudgets(budgets: readonly [BudgetSnapshot, ...BudgetSnapshot[]]): BudgetSnapshot {
  const known = budgets.filter(({ remaining }) => remaining !== null);
  const current = known.filter(({ resetIn }) => (resetIn ?? 0) > 0);
  const [least = budgets[0]] = (current.length > 0 ? current : known).toSorted(
    (a, b) => (a.remaining ?? 0) - (b.remaining ?? 0),
  );
  return { ...least, cooldown: largest(budgets.map(({ cooldown }) => cooldown)) };
}
