import type { ClusterChangeRequest } from '../model/change-request.ts';

/** Decision whether a change request may be opened for a cluster. */
export type ReopenDecision =
  | { readonly may: true }
  | {
      readonly may: false;
      /** Reason, as text for a person. */
      readonly why: string;
      /** The change request that decides it. */
      readonly request: ClusterChangeRequest;
    };

/** Options of the decision, in addition to the change requests. */
export interface ReopenOptions {
  /** Number of issues of the cluster. */
  readonly issues: number;
  /** Number of issues at the merge, by change request id. An unknown number counts as the current one. */
  readonly issuesAtMerge: ReadonlyMap<string, number>;
  /** Factor by which the issues must grow after a merge. */
  readonly reopenGrowth: number;
}

/**
 * Decides by the status of a cluster's change requests whether another one may be opened.
 *
 * | change requests | may |
 * |---|---|
 * | none, or all were superseded or were merged without any edit | yes |
 * | one is a draft, open, or in an unknown status | no |
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

/** Returns whether a change request blocks another one: it is neither merged nor archived. */
export function isActive({ status }: ClusterChangeRequest): boolean {
  return status !== 'merged' && status !== 'archived';
}

/** Compares change requests by creation. */
export function compareCreation(a: ClusterChangeRequest, b: ClusterChangeRequest): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : Number(a.id > b.id));
}

/**
 * Compares by last update. At the same time, an archived change request counts as later, because it blocks another one.
 */
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
