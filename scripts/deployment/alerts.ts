/** Alerts on Octavo's metrics, for Prometheus. */

export interface Alert {
  readonly name: string;
  readonly severity: 'critical' | 'warning';
  /** Expression of Prometheus; true while there is a result. */
  readonly expression: string;
  /** Duration for which it must be true. */
  readonly wait: string;
  /** Sentence for people, with the labels of the result. */
  readonly summary: string;
}

const organization = '{{ $labels.organization }}';

/** Alerts, the most urgent first. With the labels of replicas or queues, a result exists once for each. */
export const ALERTS: readonly Alert[] = [
  {
    ...{
      name: 'OctavoAbsent',
      severity: 'critical',
      wait: '5m',
      expression: 'absent(octavo_main_thread_busy_seconds)',
    },
    summary: 'No replica of Octavo exports metrics; check that it runs and is scraped',
  },
  {
    ...{ name: 'OctavoOrganizationsWithoutOwner', severity: 'critical', wait: '2m' },
    expression: 'max(octavo_leases_unowned) > 0',
    summary:
      'No replica has {{ $value }} leases, so nothing works for their organizations; check the replicas and the database',
  },
  {
    ...{ name: 'OctavoLeaseRunsOut', severity: 'critical', wait: '1m', expression: 'octavo_lease_left_seconds < 20' },
    summary: 'The replica {{ $labels.replica }} cannot renew its leases; check the database',
  },
  {
    ...{ name: 'OctavoTokenRefused', severity: 'critical', wait: '5m' },
    expression: 'max by (organization) (octavo_organization_failing{reason="unauthorized"}) == 1',
    summary: `The platform refuses the token of ${organization}; replace it`,
  },
  {
    ...{ name: 'OctavoPlatformFailing', severity: 'warning', wait: '5m' },
    expression: 'max by (queue) (octavo_queue_circuit_breaker_open) == 1',
    summary: 'The platform keeps failing for the token of {{ $labels.queue }}',
  },
  {
    ...{ name: 'OctavoPassesFailing', severity: 'warning', wait: '15m' },
    expression: 'max by (organization, reason) (octavo_organization_failing{reason!="unauthorized"}) == 1',
    summary: `The passes of ${organization} fail: {{ $labels.reason }}`,
  },
  {
    ...{ name: 'OctavoSourceNotReady', severity: 'warning', wait: '15m' },
    expression: 'min by (organization) (octavo_source_ready) == 0',
    summary: `The manifests of ${organization} cannot be read, or are invalid`,
  },
  {
    ...{ name: 'OctavoChangesFailing', severity: 'warning', wait: '30m' },
    expression: 'max by (organization) (octavo_changes_pending{status="failed"}) > 0',
    summary: `{{ $value }} changes of ${organization} fail`,
  },
  {
    ...{ name: 'OctavoDatabaseSlow', severity: 'warning', wait: '10m' },
    expression: 'rate(octavo_database_seconds_sum[5m]) / rate(octavo_database_seconds_count[5m]) > 0.5',
    summary: 'Transactions in PostgreSQL take {{ $value | humanizeDuration }} on average',
  },
  {
    ...{ name: 'OctavoDeadLetters', severity: 'warning', wait: '10m' },
    expression: 'max by (organization, source) (octavo_conversations_dead_letters) > 0',
    summary: `The platform refused {{ $value }} conversations of ${organization} from {{ $labels.source }}`,
  },
  {
    ...{ name: 'OctavoOutboxFull', severity: 'warning', wait: '10m' },
    expression: 'max by (organization) (octavo_conversations_outbox_full) == 1',
    summary: `The outbox of ${organization} is full, so polling is paused`,
  },
  {
    ...{ name: 'OctavoPollsFailing', severity: 'warning', wait: '30m' },
    expression: 'max by (organization, source) (octavo_conversations_poll_failing) == 1',
    summary: `The source {{ $labels.source }} of ${organization} cannot be polled`,
  },
  {
    ...{ name: 'OctavoNotificationsGivenUp', severity: 'warning', wait: '0m' },
    expression: 'sum by (channel) (increase(octavo_notification_attempts_total{outcome="given-up"}[1h])) > 0',
    summary: 'Notifications to the channel {{ $labels.channel }} were given up',
  },
  {
    ...{ name: 'OctavoMainThreadBusy', severity: 'warning', wait: '1m' },
    expression: 'octavo_main_thread_busy_seconds > 5',
    summary: 'A replica did not respond for {{ $value | humanizeDuration }}',
  },
];

/** Returns the table of alerts for the documentation. */
export function alertsTable(): string {
  const rows = ALERTS.map(
    ({ name, severity, expression, wait }) => `| \`${name}\` | ${severity} | \`${expression}\` | ${wait} |`,
  );
  return ['| alert | severity | expression | for |', '|---|---|---|---|', ...rows].join('\n');
}
