import type { ClustersConfig } from '../../config/clusters.ts';
import type { Clock } from '../../core/clock.ts';
import { describeReachedLimit, UNLIMITED } from '../decide/claims.ts';
import { decideReopen } from '../decide/reopen-policy.ts';
import type { Route, TargetSpace } from '../decide/route.ts';
import { isOfCluster } from '../model/change-request.ts';
import { type IssueCluster, impactWeight } from '../model/cluster.ts';
import { clusterKey } from '../model/ownership-marker.ts';
import type { ClusterStore, KnownSkip } from '../read/cluster-store.ts';
import type { ListedRequest, RequestList } from './change-request-lists.ts';
import type { SkipReason } from './events.ts';

/** Reason why no change request is opened now. */
export interface Skip {
  readonly reason: SkipReason;
  readonly why: string;
  /** True if no check is needed until the cluster is updated. */
  readonly lasts: boolean;
}

const DAY = 86_400_000;

/** Rules for opening a change request for a selected cluster: earlier change requests, the space, and the limits. */
export class OpeningRules {
  readonly #store: ClusterStore;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #config: Pick<ClustersConfig, 'limits' | 'afterMerge'>;

  constructor(store: ClusterStore, clock: Pick<Clock, 'now'>, config: Pick<ClustersConfig, 'limits' | 'afterMerge'>) {
    this.#store = store;
    this.#clock = clock;
    this.#config = config;
  }

  /**
   * Returns the reason why a cluster gets no change request, or null. Without a list, stored results that still hold
   * are used.
   */
  findSkip(cluster: IssueCluster, list: RequestList | null): Skip | null {
    const own = this.#store.findActive(cluster.id);
    if (own !== null) {
      const is = own.state === 'begun' ? 'was requested, but the response was lost' : `is ${own.state}`;
      const why = `its change request ${own.id === null ? '' : `${own.id} `}${is}`;
      return { reason: 'exists', why, lasts: own.state === 'open' };
    }
    const decision = list === null ? null : this.#decideReopen(cluster, list);
    if (decision?.may === false) {
      const { status } = decision.request;
      const reason = status === 'archived' || status === 'merged' ? status : 'exists';
      return { reason, why: decision.why, lasts: status !== 'draft' };
    }
    const known = this.#store.memory.skips[cluster.id];
    const holds = known !== undefined && isUnchanged(known, cluster) && Math.abs(this.#clock.now() - known.at) < DAY;
    return holds && (list === null || known.reason === 'unrouted')
      ? { reason: known.reason, why: known.why, lasts: true }
      : null;
  }

  /** Returns the routed space if one more change request may be opened there, else the reason. */
  findSpace(route: Route, planned: RequestList['requests']): TargetSpace | Skip {
    if (route.space === null) {
      return { reason: route.waits ? 'waiting' : 'unrouted', why: route.why, lasts: !route.waits };
    }
    return this.findReachedLimit(planned, route.space.id) ?? route.space;
  }

  /** Returns the limit that prevents one more change request. `space` null: limits of a space are not checked. */
  findReachedLimit(planned: RequestList['requests'], space: string | null): Skip | null {
    const { maxOpen, maxOpenPerSpace, maxPerDay } = this.#config.limits;
    const limits = [
      ['limit-open', { maxOpen }],
      ['limit-day', { maxPerDay }],
      ...(space === null ? [] : ([['limit-space', { maxOpenPerSpace }]] as const)),
    ] as const;
    for (const [reason, limit] of limits) {
      const at = { space: space ?? '', createdAt: this.#clock.now() };
      const why = describeReachedLimit(planned, at, { ...UNLIMITED, ...limit });
      if (why !== null) {
        return { reason, why, lasts: false };
      }
    }
    return null;
  }

  /** Returns a change request that will be created, in the form of a listed one. */
  plan(cluster: string, space: string): ListedRequest {
    const at = this.#clock.now();
    return {
      id: '',
      space,
      cluster: clusterKey(cluster),
      status: 'draft',
      subject: '',
      url: null,
      createdAt: at,
      updatedAt: at,
      superseded: false,
      isEmptyMerge: false,
      isDescribed: true,
      isDraftSubject: true,
    };
  }

  #decideReopen({ id, issues }: IssueCluster, { requests }: RequestList) {
    const { reopenGrowth } = this.#config.afterMerge;
    return decideReopen(
      requests.filter((request) => isOfCluster(request, id)),
      { issues, issuesAtMerge: this.#store.issuesAtMerge, reopenGrowth },
    );
  }
}

/** Returns whether a cluster is unchanged. Timestamps may be coarse, so the number of issues is compared too. */
export function isUnchanged(known: KnownSkip, { updatedAt, issues }: IssueCluster): boolean {
  return known.updatedAt === updatedAt && known.issues === issues;
}

type Severity = Pick<IssueCluster, 'id' | 'impact' | 'issues' | 'createdAt'>;

/** Compares clusters by severity: impact, then number of issues, then age. */
export function compareSeverity(a: Severity, b: Severity): number {
  return (
    impactWeight(b.impact) - impactWeight(a.impact) ||
    b.issues - a.issues ||
    (a.createdAt ?? 0) - (b.createdAt ?? 0) ||
    (a.id < b.id ? -1 : Number(a.id > b.id))
  );
}
