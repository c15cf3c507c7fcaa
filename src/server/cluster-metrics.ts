/** Prometheus metrics of issue clusters. */
import type { Registry } from 'prom-client';
import type { ClusterEvents, RunEnd } from '../clusters/events.ts';
import { counter, gauge } from './instruments.ts';

/** Metrics of issue clusters. No label contains the content of a cluster. */
export interface ClusterMetrics {
  /** Listeners for the runs of one organization. `now` returns milliseconds since the epoch. */
  events(organization: string, now: () => number): ClusterEvents;
}

const BY_ORGANIZATION = ['organization'] as const;

/** Registers the metrics of issue clusters. */
export function clusterMetrics(registry: Registry): ClusterMetrics {
  const count = changeRequestMetrics(registry);
  const ended = runMetrics(registry);
  return {
    events: (organization, now) => ({ ...count(organization), onRunEnd: (end) => ended(organization, end, now()) }),
  };
}

function changeRequestMetrics(registry: Registry): (organization: string) => ClusterEvents {
  const total = (name: string, help: string) => counter(registry, `clusters_${name}_total`, help, BY_ORGANIZATION);
  const opened = total('opened', 'Number of change requests opened for issue clusters.');
  const merged = total('merged', 'Number of change requests for clusters found merged.');
  const archived = total('archived', 'Number of change requests for clusters found archived by a person.');
  const reopened = total('reopened', 'Number of change requests for clusters found open again.');
  const superseded = total(
    'superseded',
    'Number of drafts archived because another came first or a limit was reached.',
  );
  const commented = total('progress_comments', 'Number of progress comments posted.');
  const muted = total('muted', 'Number of clusters muted after a merge.');
  const trouble = total('errors', 'Number of errors with single clusters and change requests.');
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
  const runs = counter(registry, 'clusters_runs_total', 'Number of issue cluster runs, by outcome.', [
    'organization',
    'outcome',
  ]);
  const requests = counter(registry, 'clusters_requests_total', 'Number of requests that runs made.', BY_ORGANIZATION);
  const state = (name: string, help: string) => gauge(registry, `clusters_${name}`, help, BY_ORGANIZATION);
  const seconds = state('last_run_duration_seconds', 'Duration of the last run.');
  const success = state(
    'last_success_timestamp_seconds',
    'Time of the last successful run, in seconds since the epoch.',
  );
  const supported = state('supported', '1 if the platform has issue clusters, otherwise 0.');
  const topics = state('from_topics', '1 if topics of a site are used as clusters, otherwise 0.');
  const read = state('last_run_read', 'Clusters read in the last run.');
  const passing = state('last_run_selected', 'Clusters that the last run selected.');
  const open = state('open_change_requests', 'Open change requests of Octavo.');
  const skipped = gauge(
    registry,
    'clusters_last_run_skipped',
    'Selected clusters without a new change request in the last run, by reason.',
    ['organization', 'reason'],
  );
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
