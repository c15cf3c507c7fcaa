/** Decides which clusters may get a change request, and which drafts are opened. */
import type { ClustersConfig } from '../config/clusters.ts';
import { compareText } from '../core/lists.ts';
import type { ClusterChangeRequest } from './change-request.ts';

/**
 * Delay in milliseconds between the creation of the last draft and the list that decides claims. It covers the
 * resolution of the platform's timestamps, so that the list contains everything that is older than a draft.
 */
export const SETTLE_DELAY = 2_000;

const DAY = 86_400_000;

/** Options of the decision about claims. */
export interface ClaimOptions extends Omit<ReopenOptions, 'issues'> {
  /** Null for none. */
  readonly limits: Limits | null;
}

type Limits = Pick<ClustersConfig['limits'], 'maxOpen' | 'maxOpenPerSpace' | 'maxPerDay'>;

/** A draft that is not opened, with the reason. */
export interface SupersededDraft {
  readonly request: ClusterChangeRequest;
  /** Reason, as text for a person. */
  readonly why: string;
  /** The change request that superseded it; null if a limit was reached. */
  readonly to: ClusterChangeRequest | null;
}

/**
 * Decides which of this daemon's drafts are opened. A draft is a claim on its cluster. The daemon lists all change
 * requests of clusters after it has created its drafts, and decides by that list, in which the order does not matter.
 * `claims`: own drafts by id, with the number of issues of their clusters.
 *
 * A draft yields to an open change request of its cluster and to an earlier draft of it. It also yields if a limit
 * would be exceeded, assuming that every earlier draft is opened, one for each cluster.
 *
 * This opens at most one change request per cluster and respects the limits. Proof: take any set of change requests
 * that are open at the same time, and the one of them that was created last. All others existed when it was decided, so
 * its list contained them, open or as drafts. It would have yielded to one of the same cluster, and it counted all of
 * them.
 */
export function decideClaims(
  list: readonly ClusterChangeRequest[],
  claims: ReadonlyMap<string, number>,
  options: ClaimOptions,
): { readonly open: readonly ClusterChangeRequest[]; readonly superseded: readonly SupersededDraft[] } {
  const open: ClusterChangeRequest[] = [];
  const superseded: SupersededDraft[] = [];
  const drafts = list.filter(({ id, status }) => claims.has(id) && status === 'draft').sort(compareCreation);
  for (const draft of drafts) {
    const before = list.filter((other) => other.id !== draft.id && !isLaterDraft(other, draft));
    const rivals = before.filter(({ cluster }) => cluster === draft.cluster);
    const decision = decideReopen(rivals, { ...options, issues: claims.get(draft.id) ?? 0 });
    const [limit] = options.limits === null ? [] : reachedLimits(before, draft, options.limits);
    if (!decision.may) {
      superseded.push({ request: draft, why: `the cluster ${decision.why}`, to: decision.request });
    } else if (limit !== undefined) {
      superseded.push({ request: draft, why: limit.why, to: null });
    } else {
      open.push(draft);
    }
  }
  return { open, superseded };
}

/**
 * Returns whether another change request is a later draft. Only a later draft does not take precedence; any other
 * change request does, whenever it was created.
 */
function isLaterDraft(other: ClusterChangeRequest, draft: ClusterChangeRequest): boolean {
  return other.status === 'draft' && compareCreation(other, draft) > 0;
}

/** Members of a change request that limits count. */
export type CountedRequest = Pick<ClusterChangeRequest, 'space' | 'cluster' | 'status' | 'createdAt' | 'superseded'>;

/**
 * Returns the limits that prevent one more change request in this space at this time. `list`: existing and planned change
 * requests.
 */
export function reachedLimits(
  list: readonly CountedRequest[],
  { space, createdAt }: Pick<ClusterChangeRequest, 'space' | 'createdAt'>,
  { maxOpen, maxOpenPerSpace, maxPerDay }: Limits,
) {
  const live = list.filter(isActive);
  const ofSpace = live.filter((other) => other.space === space);
  // Every draft counts: while it waits, an earlier change request of its cluster can be merged, so that both are opened.
  const ofDay = list.filter((other) => !other.superseded && other.createdAt > createdAt - DAY);
  const limits = [
    ['limit-open', countClusters(live), maxOpen, 'open at the same time'],
    ['limit-space', countClusters(ofSpace), maxOpenPerSpace, 'open at the same time in this space'],
    ['limit-day', ofDay.length, maxPerDay, 'opened within 24 hours'],
  ] as const;
  return limits.flatMap(([reason, count, most, what]) =>
    count < most ? [] : [{ reason, why: `the limit of ${most} ${what} is reached` }],
  );
}

/**
 * Counts change requests that can be open at the same time. Drafts of a cluster count once, and not at all if it has an
 * open change request, because at most one of them is open.
 */
function countClusters(live: readonly CountedRequest[]): number {
  const open = live.filter(({ status }) => status !== 'draft');
  const clusters = new Set(open.map(({ cluster }) => cluster));
  const drafts = live.filter(({ status, cluster }) => status === 'draft' && !clusters.has(cluster));
  return open.length + new Set(drafts.map(({ cluster }) => cluster)).size;
}

/** Decision whether a change request may be opened for a cluster. */
type ReopenDecision =
  | { readonly may: true }
  | {
      readonly may: false;
      /** Reason, as text for a person. */
      readonly why: string;
      /** The change request that decides it. */
      readonly request: ClusterChangeRequest;
    };

/** Options of the decision, in addition to the change requests. */
interface ReopenOptions {
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
  const [last] = counted.toSorted(compareUpdate);
  if (last === undefined) {
    return { may: true };
  }
  if (last.status === 'archived') {
    return { may: false, why: `has ${nameOf(last)}, which blocks another one until it is unarchived`, request: last };
  }
  const then = Math.max(1, options.issuesAtMerge.get(last.id) ?? options.issues);
  const needed = Math.ceil(then * options.reopenGrowth);
  const why = `has ${nameOf(last)} with ${then} issues; another is opened at ${needed} issues`;
  return options.issues >= needed ? { may: true } : { may: false, why, request: last };
}

/** Returns whether a change request blocks another one: it is neither merged nor archived. */
function isActive({ status }: Pick<ClusterChangeRequest, 'status'>): boolean {
  return status !== 'merged' && status !== 'archived';
}

/** Compares change requests by creation. */
export function compareCreation(a: ClusterChangeRequest, b: ClusterChangeRequest): number {
  return a.createdAt - b.createdAt || compareText(a.id, b.id);
}

/** Compares by last update, the last one first. At the same time, an archived one is first: it blocks another one. */
function compareUpdate(a: ClusterChangeRequest, b: ClusterChangeRequest): number {
  const isArchived = ({ status }: ClusterChangeRequest) => Number(status === 'archived');
  return b.updatedAt - a.updatedAt || isArchived(b) - isArchived(a) || compareCreation(b, a);
}

function nameOf({ status, id }: ClusterChangeRequest): string {
  const article = status === 'open' || status === 'archived' ? 'an' : 'a';
  return `${article} ${status} change request (${id})`;
}
