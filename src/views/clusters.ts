/** View of the issue clusters of an organization and of Octavo's change requests for them. */

import type { KnownCluster, LastRun } from '../clusters/events.ts';
import type { OwnRequest } from '../clusters/store.ts';
import { cronFiring } from '../config/model/cron.ts';
import { counted } from '../plan/render/words.ts';
import type { OrganizationState } from './model/backend.ts';
import { type Freshness, freshness } from './model/freshness.ts';
import { isoTime } from './model/words.ts';

export interface ChangeRequestView {
  /** Null until the platform has confirmed it. */
  readonly id: string | null;
  readonly cluster: string;
  readonly label: string;
  readonly subject: string;
  readonly state: OwnRequest['state'];
  readonly space: string;
  readonly url: string | null;
  readonly requestedAt: string;
}

export interface ClusterView extends Omit<KnownCluster, 'readAt' | 'createdAt' | 'updatedAt' | 'skipped' | 'why'> {
  readonly readAt: string;
  readonly updatedAt: string | null;
  /** Why no change request was opened; null if there is one, or if nothing is known. */
  readonly reason: string | null;
  /** Change requests that are open or being created. */
  readonly changeRequests: readonly ChangeRequestView[];
}

export interface ClusterRunView {
  readonly outcome: LastRun['outcome'];
  readonly error: string | null;
  readonly source: LastRun['source'];
  readonly read: number;
  readonly selected: number;
  readonly opened: number;
  readonly requests: number;
  readonly milliseconds: number;
  readonly dryRun: boolean;
  readonly troubles: readonly string[];
}

export interface ClustersView {
  readonly organization: string;
  readonly sentence: string;
  readonly isEnabled: boolean;
  /** Age of the last run since the daemon started. */
  readonly freshness: Freshness;
  readonly nextRun: string | null;
  /** Null until a run has ended since the daemon started. */
  readonly lastRun: ClusterRunView | null;
  /** Selected ones first, then by severity. */
  readonly clusters: readonly ClusterView[];
  /** Number of the first cluster of this page, from 0, and of all clusters that are known. */
  readonly start: number;
  readonly known: number;
  /** Less severe clusters that are not kept. */
  readonly omitted: number;
  /** Newest first. */
  readonly changeRequests: readonly ChangeRequestView[];
  readonly moreChangeRequests: number;
}

/** Number of clusters and of change requests in a page. */
export const CLUSTERS_PER_PAGE = 25;
const SHOWN_REQUESTS = 50;

/** Returns the view of an organization, from the cluster with number `start`. Throws StoreError. */
export async function clustersView(state: OrganizationState, start: number, now: number): Promise<ClustersView> {
  const { id, config, clusters } = state;
  const { enabled, schedule } = config.clusters;
  const { overview } = clusters;
  const requests = (await clusters.changeRequests()).toReversed().map(toRequest);
  const byCluster = Map.groupBy(requests.filter(isActive), ({ cluster }) => cluster);
  const known = overview.clusters;
  const nextRun = enabled ? cronFiring(schedule, 'next', now) : null;
  const interval = nextRun === null ? null : (cronFiring(schedule, 'next', nextRun) ?? nextRun) - nextRun;
  const age = freshness(overview.lastRun?.endedAt ?? null, now, interval);
  const open = requests.filter(({ state }) => state === 'open').length;
  return {
    organization: id,
    sentence: sentenceOf(state, open, age),
    isEnabled: enabled,
    freshness: age,
    nextRun: isoTime(nextRun),
    lastRun: overview.lastRun === null ? null : toRun(overview.lastRun),
    clusters: known
      .slice(start, start + CLUSTERS_PER_PAGE)
      .map((cluster) => toCluster(cluster, byCluster.get(cluster.id) ?? [])),
    start,
    known: known.length,
    omitted: overview.omitted,
    changeRequests: requests.slice(0, SHOWN_REQUESTS),
    moreChangeRequests: Math.max(0, requests.length - SHOWN_REQUESTS),
  };
}

function sentenceOf({ config, clusters }: OrganizationState, open: number, age: Freshness): string {
  const { lastRun } = clusters.overview;
  const requests = open === 0 ? 'no change request is open' : `${counted(open, 'change request')} open`;
  if (!config.clusters.enabled) {
    return `Issue clusters are not enabled; ${requests}`;
  }
  if (lastRun === null) {
    return `No run has ended since the daemon started; ${requests}`;
  }
  if (lastRun.outcome === 'failed') {
    return `The last run failed: ${lastRun.error ?? 'it was interrupted'}; ${requests}`;
  }
  if (lastRun.outcome === 'unsupported') {
    return `The platform has no issue clusters; ${requests}`;
  }
  const late = age.isStale ? 'The last run is long ago; ' : '';
  const text = `the last run read ${counted(lastRun.read, 'cluster')}, selected ${lastRun.passing} and opened ${lastRun.opened}`;
  return `${late === '' ? 'T' : `${late}t`}${text.slice(1)}; ${requests}`;
}

function toRun({
  outcome,
  error,
  source,
  read,
  passing,
  opened,
  requests,
  milliseconds,
  ...rest
}: LastRun): ClusterRunView {
  const { dryRun, troubles } = rest;
  return { outcome, error, source, read, selected: passing, opened, requests, milliseconds, dryRun, troubles };
}

function toRequest({ id, cluster, label, subject, state, space, url, at }: OwnRequest): ChangeRequestView {
  return { id, cluster, label, subject, state, space, url, requestedAt: isoTime(at) };
}

function isActive({ state }: ChangeRequestView): boolean {
  return state !== 'merged' && state !== 'archived';
}

function toCluster(cluster: KnownCluster, requests: readonly ChangeRequestView[]): ClusterView {
  const { id, label, impact, muted, issues, conversations, url, weeklyPulse, isSelected, readAt, updatedAt, why } =
    cluster;
  return {
    ...{ id, label, impact, muted, issues, conversations, url, weeklyPulse, isSelected },
    readAt: isoTime(readAt),
    updatedAt: isoTime(updatedAt),
    reason: requests.length > 0 ? null : why,
    changeRequests: requests,
  };
}
