/** Prometheus metrics of commit statuses. */
import type { Registry } from 'prom-client';
import { counter } from './instruments.ts';

export interface CommitStatusMetrics {
  /** Counts a request that sets a commit status or a deployment. */
  commitStatus(organization: string, outcome: 'sent' | 'refused' | 'failed'): void;
}

/** Registers the metrics of commit statuses. */
export function commitStatusMetrics(registry: Registry): CommitStatusMetrics {
  const requests = counter(
    registry,
    'commit_status_requests_total',
    'Number of commit statuses and deployments sent to the forge, by outcome: sent, refused or failed.',
    ['organization', 'outcome'],
  );
  return { commitStatus: (organization, outcome) => requests.inc({ organization, outcome }) };
}
