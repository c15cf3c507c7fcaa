/** Prometheus metrics of issue clusters. No label contains the content of a cluster. */
import type { ClusterEvents, RunEnd } from '../clusters/events.ts';
import type { Instruments } from './instruments.ts';

/** Counters by the event that they count: name and help text. */
const COUNTED = {
  onOpened: ['opened', 'Number of change requests opened for issue clusters.'],
  onMerged: ['merged', 'Number of change requests for clusters found merged.'],
  onArchived: ['archived', 'Number of change requests for clusters found archived by a person.'],
  onReopened: ['reopened', 'Number of change requests for clusters found open again.'],
  onSuperseded: ['superseded', 'Number of drafts archived because another came first or a limit was reached.'],
  onCommented: ['progress_comments', 'Number of progress comments posted.'],
  onMuted: ['muted', 'Number of clusters muted after a merge.'],
  onTrouble: ['errors', 'Number of errors with single clusters and change requests.'],
} as const satisfies { readonly [Event in keyof ClusterEvents]: readonly [name: string, help: string] };

/** Registers the metrics of issue clusters. */
export function clusterMetrics(instruments: Instruments) {
  const { counter } = instruments;
  const counters = Object.entries(COUNTED).map(
    ([event, [name, help]]) => [event, counter(`clusters_${name}_total`, help, 'organization')] as const,
  );
  const ended = runMetrics(instruments);
  return {
    /** Returns a listener for the runs of one organization. `now` returns milliseconds since the epoch. */
    events: (organization: string, now: () => number): ClusterEvents => ({
      ...Object.fromEntries(counters.map(([event, counted]) => [event, () => counted.inc({ organization })])),
      onRunEnd: (end) => ended(organization, end, now()),
    }),
  };
}

function runMetrics({ counter, gauge }: Instruments) {
  const runs = counter('clusters_runs_total', 'Number of issue cluster runs, by outcome.', 'organization', 'outcome');
  const requests = counter('clusters_requests_total', 'Number of requests that runs made.', 'organization');
  const state = (name: string, help: string) => gauge(`clusters_${name}`, help, 'organization');
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
    'clusters_last_run_skipped',
    'Selected clusters without a new change request in the last run, by reason.',
    'organization',
    'reason',
  );
  /** Reasons that each organization has had: those of earlier runs become 0. */
  const reasons = new Map<string, Set<string>>();
  return (organization: string, end: RunEnd, now: number): void => {
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
    const counts: Readonly<Record<string, number>> = end.skipped;
    const known = new Set([...(reasons.get(organization) ?? []), ...Object.keys(counts)]);
    reasons.set(organization, known);
    for (const reason of known) {
      skipped.set({ organization, reason }, counts[reason] ?? 0);
    }
  };
}
