import type { ClusterChangeRequest } from '../model/change-request.ts';

/** Whether a cluster may have a change request opened. */
export type ReopenDecision =
  | { readonly may: true }
  | {
      readonly may: false;
      /** In words that a person reads. */
      readonly why: string;
      /** The change request that decides it. */
      readonly request: ClusterChangeRequest;
    };

/** What is needed besides the change requests themselves. */
export interface ReopenOptions {
  /** How many issues the cluster has. */
  readonly issues: number;
  /** How many it had when a change request was merged, by the change request's id; as many as now where not known. */
  readonly issuesAtMerge: ReadonlyMap<string, number>;
  /** It may come again from so many times those issues. */
  readonly reopenGrowth: number;
}

/**
 * What became of a cluster's change requests says whether there may be another.
 *
 * | change requests | may |
 * |---|---|
 * | none, or all gave way to another or were merged without any edit | yes |
 * | one is a draft, open, or in a status that is not known | no |
 * | the one updated last was archived | no |
 * | the one updated last was merged | from `reopenGrowth` times the issues it had then |
 */
export function decideReopen(requests: readonly ClusterChangeRequest[], options: ReopenOptions): ReopenDecision {
  const counted = requests.filter(({ superseded, isEmptyMerge }) => !superseded && !isEmptyMerge);
  const live = counted.filter(isActive).sort(compareCreation)[0];
  if (live !== undefined) {
    return { may: false, why: `has ${nameOf(live)}`, request: live };
  }
  const last = counted.reduce<ClusterChangeRequest | null>(
    (later, each) => (isLater(each, later) ? each : later),
    null,
  );
  if (last === null) {
    return { may: true };
  }
  if (last.status === 'archived') {
    return { may: false, why: `has ${nameOf(last)}, which blocks another one until it is unarchived`, request: last };
  }
  const then = Math.max(1, options.issuesAtMerge.get(last.id) ?? options.issues);
  const needed = Math.ceil(then * options.reopenGrowth);
  return options.issues >= needed
    ? { may: true }
    : {
        may: false,
        why: `has ${nameOf(last)} with ${then} issues; another is opened at ${needed} issues`,
        request: last,
      };
}

/** Whether a change request stands in the way of another: neither merged nor archived. */
export function isActive({ status }: ClusterChangeRequest): boolean {
  return status !== 'merged' && status !== 'archived';
}

/** In the order they were made. */
export function compareCreation(a: ClusterChangeRequest, b: ClusterChangeRequest): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/** Of two that ended at once, the archived one counts: it says no. */
function isLater(one: ClusterChangeRequest, other: ClusterChangeRequest | null): boolean {
  if (other === null || one.updatedAt !== other.updatedAt) {
    return other === null || one.updatedAt > other.updatedAt;
  }
  return one.status === other.status ? compareCreation(other, one) < 0 : one.status === 'archived';
}

function nameOf({ status, id }: ClusterChangeRequest): string {
  const article = status === 'open' || status === 'archived' ? 'an' : 'a';
  return `${article} ${status} change request (${id})`;
}
