import type { ClustersConfig } from '../../config/clusters.ts';
import type { ClusterChangeRequest } from '../model/change-request.ts';
import { compareCreation, decideReopen, isActive, type ReopenOptions } from './reopen-policy.ts';

/**
 * Delay in milliseconds between the creation of the last draft and the list that decides claims. It covers the
 * resolution of the platform's timestamps, so that the list contains everything that is older than a draft.
 */
export const SETTLE_DELAY = 2_000;

const DAY = 86_400_000;

type Limits = Pick<ClustersConfig['limits'], 'maxOpen' | 'maxOpenPerSpace' | 'maxPerDay'>;

export const UNLIMITED: Limits = {
  maxOpen: Number.POSITIVE_INFINITY,
  maxOpenPerSpace: Number.POSITIVE_INFINITY,
  maxPerDay: Number.POSITIVE_INFINITY,
};

/** Options of the decision about claims. */
export interface ClaimOptions {
  readonly limits: Limits;
  /** See `ReopenOptions`. */
  readonly reopenGrowth: number;
  readonly issuesAtMerge: ReadonlyMap<string, number>;
}

/** A draft that is not opened, with the reason. */
export interface SupersededDraft {
  readonly request: ClusterChangeRequest;
  /** Reason, as text for a person. */
  readonly why: string;
  /** The change request that superseded it; null if a limit was reached. */
  readonly to: ClusterChangeRequest | null;
}

/** Decision about own drafts. */
export interface ClaimDecision {
  readonly open: readonly ClusterChangeRequest[];
  readonly superseded: readonly SupersededDraft[];
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
): ClaimDecision {
  const open: ClusterChangeRequest[] = [];
  const superseded: SupersededDraft[] = [];
  const drafts = list.filter(({ id, status }) => claims.has(id) && status === 'draft').sort(compareCreation);
  for (const draft of drafts) {
    const before = list.filter((other) => other.id !== draft.id && !isLaterDraft(other, draft));
    const rivals = before.filter(({ cluster }) => cluster === draft.cluster);
    const reopenOptions: ReopenOptions = { ...options, issues: claims.get(draft.id) ?? 0 };
    const decision = decideReopen(rivals, reopenOptions);
    const limit = describeReachedLimit(before, draft, options.limits);
    if (!decision.may) {
      superseded.push({ request: draft, why: `the cluster ${decision.why}`, to: decision.request });
    } else if (limit !== null) {
      superseded.push({ request: draft, why: limit, to: null });
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

/**
 * Returns a description of the limit that prevents one more change request in this space at this time; null if none
 * does. `list`: existing and planned change requests.
 */
export function describeReachedLimit(
  list: readonly ClusterChangeRequest[],
  { space, createdAt }: Pick<ClusterChangeRequest, 'space' | 'createdAt'>,
  limits: Limits,
): string | null {
  const live = list.filter(isActive);
  const ofSpace = live.filter((other) => other.space === space);
  const ofDay = list.filter((other) => !other.superseded && other.createdAt > createdAt - DAY);
  if (countClusters(live) >= limits.maxOpen) {
    return `limit reached: ${limits.maxOpen} open at the same time`;
  }
  if (countClusters(ofSpace) >= limits.maxOpenPerSpace) {
    return `limit reached: ${limits.maxOpenPerSpace} open at the same time in this space`;
  }
  // Every draft counts: while it waits, an earlier change request of its cluster can be merged, so that both are opened.
  return ofDay.length >= limits.maxPerDay ? `limit reached: ${limits.maxPerDay} opened within 24 hours` : null;
}

/**
 * Counts change requests that can be open at the same time. Drafts of a cluster count once, and not at all if it has an
 * open change request, because at most one of them is open.
 */
function countClusters(live: readonly ClusterChangeRequest[]): number {
  const open = live.filter(({ status }) => status !== 'draft');
  const clusters = new Set(open.map(({ cluster }) => cluster));
  const drafts = live.filter(({ status, cluster }) => status === 'draft' && !clusters.has(cluster));
  return open.length + new Set(drafts.map(({ cluster }) => cluster)).size;
}
