/** Prometheus metrics of the daemon. No label contains a title, an email or a token. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { BudgetSnapshot, QueueEvent, QueueSnapshot } from '../queue/snapshot.ts';
import type { PushOutcome } from '../reconcile/push-receiver.ts';
import { clusterMetrics } from './cluster-metrics.ts';
import { conversationMetrics } from './conversation-metrics.ts';
import { CurrentRegistry } from './current-registry.ts';
import { type GaugeTable, type Instruments, instrumentsIn } from './instruments.ts';
import { failureInstruments, passInstruments, passListener } from './pass-metrics.ts';

/** All metrics of Octavo. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates all metrics in a new registry, which `/metrics` serves. */
export function createMetrics() {
  const registry = new CurrentRegistry();
  collectDefaultMetrics({ register: registry, prefix: 'octavo_' });
  addBusyTime(registry);
  const instruments = instrumentsIn(registry);
  // Metrics are exported in the order in which they are registered.
  const passes = passInstruments(instruments);
  const queues = queueMetrics(instruments);
  const failures = failureInstruments(instruments);
  return {
    registry,
    ...queues,
    /** Returns a listener that counts the passes of an organization. */
    passes: (organization: string) => passListener(organization, { ...passes, ...failures }),
    ...fleetMetrics(instruments),
    ...pushMetrics(instruments),
    ...notificationMetrics(instruments),
    ...commitStatusMetrics(instruments),
    conversations: conversationMetrics(instruments),
    clusters: clusterMetrics(instruments),
  };
}

/** Milliseconds between samples of the main thread. */
const SAMPLING = 50;

/** Measures how long the main thread answered nothing. */
function addBusyTime(registry: Registry): void {
  const delay = monitorEventLoopDelay({ resolution: SAMPLING });
  delay.enable();
  new Gauge({
    name: 'octavo_main_thread_busy_seconds',
    help: 'Longest time in seconds that the main thread was busy since the previous scrape.',
    registers: [registry],
    collect() {
      this.set(Math.max(0, delay.max / 1e9 - SAMPLING / 1000));
      delay.reset();
    },
  });
}

const BUDGET_GAUGES: GaugeTable<BudgetSnapshot> = [
  ['limit', 'Rate limit of a request class, in requests per window.', ({ limit }) => limit],
  ['remaining', 'Remaining requests of the rate limit.', ({ remaining }) => remaining],
  [
    'cooldown_seconds',
    'Remaining cooldown after a 429, in which no request of the class is sent.',
    ({ cooldown }) => cooldown / 1000,
  ],
];

function queueMetrics({ counter, gauge, histogram, changingGauges }: Instruments) {
  const requests = counter('requests_total', 'Number of requests to the platform, by outcome.', 'class', 'outcome');
  const help = 'Time that requests waited in the queue, in seconds.';
  const waits = histogram('request_wait_seconds', help, 'class', [0.01, 0.1, 1, 5, 15, 60, 300]);
  const limited = counter(
    'rate_limited_total',
    'Number of requests that the platform refused because of its rate limit (429).',
    'class',
  );
  const waiting = gauge('queue_waiting', 'Requests waiting in the queue, by priority.', 'queue', 'priority');
  const oldest = gauge('queue_oldest_wait_seconds', 'Waiting time of the oldest request in the queue.', 'queue');
  const circuit = gauge(
    'queue_circuit_breaker_open',
    '1 if the platform keeps failing and the circuit breaker sends only trial requests, otherwise 0.',
    'queue',
  );
  const showBudgets = changingGauges('budget', BUDGET_GAUGES, 'queue', 'class');
  return {
    /** Counts a request that was answered or failed. */
    queueEvent: (event: QueueEvent): void => {
      if (event.kind === 'attempt') {
        requests.inc({ class: event.class, outcome: event.outcome });
        waits.observe({ class: event.class }, event.waited / 1000);
        if (event.outcome === 'refused') {
          limited.inc({ class: event.class });
        }
      }
    },
    /** Sets the state of a queue: waiting requests, the age of the oldest, and rate limits as last learned. */
    queue: (queue: string, snapshot: QueueSnapshot): void => {
      for (const [priority, count] of Object.entries(snapshot.waiting)) {
        waiting.set({ queue, priority }, count);
      }
      oldest.set({ queue }, (snapshot.oldest ?? 0) / 1000);
      circuit.set({ queue }, snapshot.breaker === 'closed' ? 0 : 1);
      showBudgets(
        queue,
        snapshot.budgets.map((budget) => {
          const name = [budget.classes.join('+'), ...budget.operations].join(' ');
          return [{ queue, class: name }, budget];
        }),
      );
    },
  };
}

/** Metrics of a fleet and its database. Without one, they have no values. */
function fleetMetrics({ gauge, histogram }: Instruments) {
  const of = (name: string, help: string) => gauge(name, help, 'replica');
  const owned = of('replica_leases', 'Leases that this replica has.');
  const unowned = of('leases_unowned', 'Leases that no replica has, of those that the configuration needs.');
  const left = of('lease_left_seconds', 'Time that the leases of this replica last without another renewal.');
  const transactions = histogram(
    'database_seconds',
    'Duration of transactions in PostgreSQL, in seconds.',
    'operation',
    [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
  );
  return {
    /** Sets the leases of this replica, those that no replica has, and the seconds until its own end. */
    leases: (replica: string, leases: number, ownedByNone: number, leftSeconds: number): void => {
      owned.set({ replica }, leases);
      unowned.set({ replica }, ownedByNone);
      left.set({ replica }, Math.max(0, leftSeconds));
    },
    /** Counts a transaction of the database. */
    database: (operation: 'read' | 'write', seconds: number): void => transactions.observe({ operation }, seconds),
  };
}

/** Metrics of webhooks of repositories. */
function pushMetrics({ counter, gauge }: Instruments) {
  const requests = counter(
    'push_webhook_requests_total',
    "Number of requests to the webhook of an organization's repository, by outcome.",
    'organization',
    'outcome',
  );
  const last = gauge(
    'push_webhook_last_timestamp_seconds',
    'Time of the last request with a valid signature, in seconds since the epoch.',
    'organization',
  );
  return {
    /** Counts a request. `at` is in milliseconds since the epoch. */
    push: (organization: string, outcome: PushOutcome | 'failed', at: number): void => {
      requests.inc({ organization, outcome });
      if (outcome !== 'refused') {
        last.set({ organization }, at / 1000);
      }
    },
  };
}

const NOTIFICATION_OUTCOMES = ['sent', 'failed', 'given-up'] as const;

function notificationMetrics({ counter, gauge }: Instruments) {
  const attempts = counter(
    'notification_attempts_total',
    'Number of attempts to send a notification, by channel and outcome. given-up: there is no further attempt.',
    'channel',
    'outcome',
  );
  const firing = gauge('conditions_firing', 'Number of conditions that fire, by code.', 'code');
  return {
    /** Exports the attempts of these channels from now on, beginning with 0: Prometheus sees only increases of known values. */
    channels: (names: readonly string[]): void => {
      for (const channel of names) {
        for (const outcome of NOTIFICATION_OUTCOMES) {
          attempts.inc({ channel, outcome }, 0);
        }
      }
    },
    /** Counts an attempt to send a notification. */
    notification: (channel: string, outcome: (typeof NOTIFICATION_OUTCOMES)[number]): void =>
      attempts.inc({ channel, outcome }),
    /** Sets the number of conditions that fire, by code. */
    firing: (codes: readonly string[]): void => {
      firing.reset();
      for (const code of codes) {
        firing.inc({ code });
      }
    },
  };
}

function commitStatusMetrics({ counter }: Instruments) {
  const requests = counter(
    'commit_status_requests_total',
    'Number of commit statuses and deployments sent to the forge, by outcome: sent, refused or failed.',
    'organization',
    'outcome',
  );
  return {
    /** Counts a request that sets a commit status or a deployment. */
    commitStatus: (organization: string, outcome: 'sent' | 'refused' | 'failed'): void =>
      requests.inc({ organization, outcome }),
  };
}
