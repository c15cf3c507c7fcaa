/** Prometheus metrics of the webhooks of repositories. */
import type { Registry } from 'prom-client';
import type { PushOutcome } from '../reconcile/push-receiver.ts';
import { counter, gauge } from './instruments.ts';

export interface PushMetrics {
  /** Counts a request to the webhook of an organization's repository. `at` is in milliseconds since the epoch. */
  push(organization: string, outcome: PushOutcome | 'failed', at: number): void;
}

/** Registers the metrics of webhooks of repositories. */
export function pushMetrics(registry: Registry): PushMetrics {
  const requests = counter(
    registry,
    'push_webhook_requests_total',
    "Number of requests to the webhook of an organization's repository, by outcome.",
    ['organization', 'outcome'],
  );
  const last = gauge(
    registry,
    'push_webhook_last_timestamp_seconds',
    'Time of the last request with a valid signature, in seconds since the epoch.',
    ['organization'],
  );
  return {
    push: (organization, outcome, at) => {
      requests.inc({ organization, outcome });
      if (outcome !== 'refused') {
        last.set({ organization }, at / 1000);
      }
    },
  };
}
