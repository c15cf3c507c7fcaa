import type { Registry } from 'prom-client';
import type { ClusterEvents, RunEnd } from '../clusters/run/events.ts';
import { counter, gauge } from './instruments.ts';

/** The metrics of issue clusters. No label carries what a cluster is about. */
export interface ClusterMetrics {
  /** What the runs of one organization tell. `now` gives milliseconds since the epoch. */
  events(organization: string, now: () => number): ClusterEvents;
}

const BY_ORGANIZATION = ['organization'] as const;

/** Makes the metrics in a registry. */
export function clusterMetrics(registry: Registry): ClusterMetrics {
  const fate = fateMetrics(registry);
  const ended = runMetrics(registry);
  return {
    events: (organization, now) => ({ ...fate(organization), onRunEnd: (end) => ended(organization, end, now()) }),
  };
}

function fateMetrics(registry: Registry): (organization: string) => ClusterEvents {
  const total = (name: string, help: string) => counter(registry, `clusters_${name}_total`, help, BY_ORGANIZATION);
  const opened = total('opened', 'Change requests that were opened for issue clusters.');
  const merged = total('merged', 'Change requests of clusters that were seen to be merged.');
  const archived = total('archived', 'Change requests of clusters that were seen to be archived by hand.');
  const reopened = total('reopened', 'Change requests of clusters that were seen to be open again.');
  const superseded = total('gave_way', 'Drafts that were archived, since another came first or a limit was reached.');
  const commented = total('comments', 'Comments with later news.');
  const muted = total('muted', 'Clusters that were muted after a merge.');
  const trouble = total('troubles', 'What went wrong with single clusters and change requests.');
  return (organization) => ({
    onOpened: () => opened.inc({ organization }),
    onMerged: () => merged.inc({ organization }),
    onArchived: () => archived.inc({ organization }),
    onReopened: () => reopened.inc({ organization }),
    onSuperseded: () => superseded.inc({ organization }),
    onCommented: () => commented.inc({ organization }),
    onMuted: () => muted.inc({ organization }),
    onTrouble: () => trouble.inc({ organization }),
  });
}

function runMetrics(registry: Registry): (organization: string, end: RunEnd, now: number) => void {
  const runs = counter(registry, 'clusters_runs_total', 'Runs over the issue clusters by outcome.', [
    'organization',
    'outcome',
  ]);
  const requests = counter(registry, 'clusters_requests_total', 'Requests that runs made.', BY_ORGANIZATION);
  const state = (name: string, help: string) => gauge(registry, `clusters_${name}`, help, BY_ORGANIZATION);
  const seconds = state('last_run_seconds', 'How long the last run took.');
  const success = state('last_success_timestamp_seconds', 'When a run last succeeded.');
  const supported = state('supported', 'Whether the platform has issue clusters: 1 or 0.');
  const topics = state('topics', 'Whether the clusters are the topics of a site: 1 or 0.');
  const read = state('last_read', 'Clusters that the last run read.');
  const passing = state('last_passing', 'Clusters of those that passed the rule.');
  const open = state('open', 'Change requests of Octavo that are open, as far as is known.');
  const skipped = gauge(registry, 'clusters_last_skipped', 'Clusters that passed and were not opened, by reason.', [
    'organization',
    'reason',
  ]);
  const reasons = new Map<string, Set<string>>();
  return (organization, end, now) => {
    runs.inc({ organization, outcome: end.outcome });
    requests.inc({ organization }, end.requests);
    seconds.set({ organization }, end.milliseconds / 1000);
    supported.set({ organization }, end.outcome === 'unsupported' ? 0 : 1);
    if (end.source !== null) {
      topics.set({ organization }, end.source === 'topics' ? 1 : 0);
    }
    if (end.outcome !== 'done') {
      return;
    }
    success.set({ organization }, now / 1000);
    read.set({ organization }, end.read);
    passing.set({ organization }, end.passing);
    open.set({ organization }, end.open);
    const known = reasons.get(organization) ?? new Set();
    reasons.set(organization, new Set([...known, ...Object.keys(end.skipped)]));
    for (const reason of reasons.get(organization) ?? []) {
      skipped.set({ organization, reason }, end.skipped[reason as keyof RunEnd['skipped']] ?? 0);
    }
  };
}
