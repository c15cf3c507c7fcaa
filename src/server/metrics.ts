/** Prometheus metrics of the daemon. */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, Histogram, type Registry } from 'prom-client';
import type { PushOutcome } from '../reconcile/push-receiver.ts';
import { type ClusterMetrics, clusterMetrics } from './cluster-metrics.ts';
import { type ConversationMetrics, conversationMetrics } from './conversation-metrics.ts';
import { CurrentRegistry, type MetricOwnership } from './current-registry.ts';
import { type FailureMetrics, failureMetrics } from './failure-metrics.ts';
import { type FleetMetrics, fleetMetrics } from './fleet-metrics.ts';
import { ChangingGauge, counter, gauge } from './instruments.ts';

const OUTCOMES = ['sent', 'failed', 'given-up'] as const;
type NotificationOutcome = (typeof OUTCOMES)[number];

interface NotificationMetrics {
  /** Exports the attempts of these channels from now on, beginning with 0: Prometheus sees only increases of known values. */
  channels(names: readonly string[]): void;
  /** Counts an attempt to send a notification. */
  notification(channel: string, outcome: NotificationOutcome): void;
  /** Sets the number of conditions that fire, by code. */
  firing(codes: readonly string[]): void;
}

/** Registers the metrics of notifications. */
function notificationMetrics(registry: Registry): NotificationMetrics {
  const attempts = counter(
    registry,
    'notification_attempts_total',
    'Number of attempts to send a notification, by channel and outcome. given-up: there is no further attempt.',
    ['channel', 'outcome'],
  );
  const firing = gauge(registry, 'conditions_firing', 'Number of conditions that fire, by code.', ['code']);
  return {
    channels: (names) => {
      for (const channel of names) {
        for (const outcome of OUTCOMES) {
          attempts.inc({ channel, outcome }, 0);
        }
      }
    },
    notification: (channel, outcome) => attempts.inc({ channel, outcome }),
    firing: (codes) => {
      firing.reset();
      for (const [code, all] of Map.groupBy(codes, (each) => each)) {
        firing.set({ code }, all.length);
      }
    },
  };
}

interface PushMetrics {
  /** Counts a request to the webhook of an organization's repository. `at` is in milliseconds since the epoch. */
  push(organization: string, outcome: PushOutcome | 'failed', at: number): void;
}

/** Registers the metrics of webhooks of repositories. */
function pushMetrics(registry: Registry): PushMetrics {
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

interface CommitStatusMetrics {
  /** Counts a request that sets a commit status or a deployment. */
  commitStatus(organization: string, outcome: 'sent' | 'refused' | 'failed'): void;
}

/** Registers the metrics of commit statuses. */
function commitStatusMetrics(registry: Registry): CommitStatusMetrics {
  const requests = counter(
    registry,
    'commit_status_requests_total',
    'Number of commit statuses and deployments sent to the forge, by outcome: sent, refused or failed.',
    ['organization', 'outcome'],
  );
  return { commitStatus: (organization, outcome) => requests.inc({ organization, outcome }) };
}

/** One reconcile pass of an organization. */
interface PassObservation {
  readonly organization: string;
  readonly outcome: 'done' | 'held' | 'failed';
  readonly seconds: number;
  /** End of the pass, in milliseconds since the epoch. */
  readonly at: number;
}

/** A change that a pass tried to apply. */
interface ChangeObservation {
  readonly organization: string;
  readonly kind: string;
  readonly action: string;
  readonly status: string;
}

/** Number of changes of an organization that wait after a pass. */
interface PendingObservation {
  readonly held: number;
  readonly failed: number;
  readonly paused: number;
}

/** State of a source at its last read. `commit` is the last valid commit; null if there is none. */
interface SourceObservation {
  readonly organization: string;
  readonly isReady: boolean;
  readonly commit: string | null;
}

/** State of a queue: waiting requests by priority, age of the oldest, and rate limits. */
export interface QueueObservation {
  readonly queue: string;
  readonly waiting: Readonly<Record<string, number>>;
  readonly oldestSeconds: number;
  /** The circuit breaker is open or half-open: only trial requests are sent. */
  readonly isCircuitOpen: boolean;
  readonly budgets: readonly BudgetObservation[];
}

/** The platform's rate limit for a class of requests, as last learned. */
interface BudgetObservation {
  readonly class: string;
  /** Null while unknown. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** Remaining cooldown after a 429. */
  readonly cooldownSeconds: number;
}

/** One request to the platform. `outcome` is a status code, or a word if there was no response. */
interface RequestObservation {
  readonly class: string;
  readonly outcome: string;
  /** Time in the queue before the request was sent. */
  readonly waitedSeconds: number;
}

/** All metrics of Octavo. No label contains a title, an email or a token. */
export interface Metrics extends FailureMetrics, FleetMetrics, PushMetrics, CommitStatusMetrics, NotificationMetrics {
  /** Registry that `/metrics` serves. */
  readonly registry: Registry;
  /** Exports only the organizations and queues that this process has, from now on. */
  limitTo(ownership: MetricOwnership): void;
  readonly conversations: ConversationMetrics;
  readonly clusters: ClusterMetrics;
  pass(observation: PassObservation): void;
  change(observation: ChangeObservation): void;
  pending(organization: string, counts: PendingObservation): void;
  /** Counts resources that were found to have drifted. */
  drift(organization: string, kind: string, count: number): void;
  /** Sets the number of flapping fields; `kinds` contains the kind of each. */
  flapping(organization: string, kinds: readonly string[]): void;
  source(observation: SourceObservation): void;
  /** Counts a request that was answered or failed. */
  request(observation: RequestObservation): void;
  /** Counts a request that the platform refused because of its rate limit (429). */
  rateLimited(requestClass: string): void;
  queue(observation: QueueObservation): void;
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

/** Creates all metrics in a new registry. */
export function createMetrics(): Metrics {
  const registry = new CurrentRegistry();
  collectDefaultMetrics({ register: registry, prefix: 'octavo_' });
  addBusyTime(registry);
  return {
    registry,
    limitTo: (ownership) => registry.limitTo(ownership),
    ...passMetrics(registry),
    ...flappingMetrics(registry),
    ...sourceMetrics(registry),
    ...requestMetrics(registry),
    ...queueMetrics(registry),
    ...failureMetrics(registry),
    ...fleetMetrics(registry),
    ...pushMetrics(registry),
    ...notificationMetrics(registry),
    ...commitStatusMetrics(registry),
    conversations: conversationMetrics(registry),
    clusters: clusterMetrics(registry),
  };
}

function passMetrics(registry: Registry): Pick<Metrics, 'pass' | 'change' | 'pending' | 'drift'> {
  const passes = counter(registry, 'reconcile_passes_total', 'Number of passes, by outcome.', [
    'organization',
    'outcome',
  ]);
  const seconds = gauge(registry, 'reconcile_last_duration_seconds', 'Duration of the last pass.', ['organization']);
  const success = gauge(
    registry,
    'reconcile_last_success_timestamp_seconds',
    'Time of the last successful pass, in seconds since the epoch.',
    ['organization'],
  );
  const changes = counter(
    registry,
    'changes_total',
    'Number of changes that passes tried, by kind, action and status.',
    ['organization', 'kind', 'action', 'status'],
  );
  const pending = gauge(registry, 'changes_pending', 'Changes that are held, failed or paused after the last pass.', [
    'organization',
    'status',
  ]);
  const drift = counter(registry, 'drifted_resources_total', 'Number of resources found to have drifted.', [
    'organization',
    'kind',
  ]);
  return {
    pass: (observation) => {
      const { organization, outcome } = observation;
      passes.inc({ organization, outcome });
      seconds.set({ organization }, observation.seconds);
      if (outcome !== 'failed') {
        success.set({ organization }, observation.at / 1000);
      }
    },
    change: ({ organization, kind, action, status }) => changes.inc({ organization, kind, action, status }),
    pending: (organization, { held, failed, paused }) => {
      pending.set({ organization, status: 'held' }, held);
      pending.set({ organization, status: 'failed' }, failed);
      pending.set({ organization, status: 'paused' }, paused);
    },
    drift: (organization, kind, count) => drift.inc({ organization, kind }, count),
  };
}

function flappingMetrics(registry: Registry): Pick<Metrics, 'flapping'> {
  const fields = new ChangingGauge(
    gauge(registry, 'flapping_fields', 'Fields that something else keeps changing back.', ['organization', 'kind']),
  );
  return {
    flapping: (organization, kinds) => {
      const counts = [...Map.groupBy(kinds, (kind) => kind)];
      fields.show(
        organization,
        counts.map(([kind, same]) => ({ labels: { organization, kind }, value: same.length })),
      );
    },
  };
}

function sourceMetrics(registry: Registry): Pick<Metrics, 'source'> {
  const ready = gauge(
    registry,
    'source_ready',
    '1 if the last read of the source succeeded and its manifests were valid, otherwise 0.',
    ['organization'],
  );
  const commit = gauge(registry, 'source_commit_info', 'The last valid commit, as a label; always 1.', [
    'organization',
    'commit',
  ]);
  const shown = new Map<string, string>();
  return {
    source: (observation) => {
      const { organization } = observation;
      ready.set({ organization }, observation.isReady ? 1 : 0);
      const before = shown.get(organization);
      if (observation.commit === null) {
        return;
      }
      if (before !== undefined && before !== observation.commit) {
        commit.remove({ organization, commit: before });
      }
      commit.set({ organization, commit: observation.commit }, 1);
      shown.set(organization, observation.commit);
    },
  };
}

function requestMetrics(registry: Registry): Pick<Metrics, 'request' | 'rateLimited'> {
  const requests = counter(registry, 'requests_total', 'Number of requests to the platform, by outcome.', [
    'class',
    'outcome',
  ]);
  const waits = new Histogram({
    name: 'octavo_request_wait_seconds',
    help: 'Time that requests waited in the queue, in seconds.',
    labelNames: ['class'],
    buckets: [0.01, 0.1, 1, 5, 15, 60, 300],
    registers: [registry],
  });
  const limited = counter(
    registry,
    'rate_limited_total',
    'Number of requests that the platform refused because of its rate limit (429).',
    ['class'],
  );
  return {
    request: (observation) => {
      requests.inc({ class: observation.class, outcome: observation.outcome });
      waits.observe({ class: observation.class }, observation.waitedSeconds);
    },
    rateLimited: (requestClass) => limited.inc({ class: requestClass }),
  };
}

function queueMetrics(registry: Registry): Pick<Metrics, 'queue'> {
  const waiting = gauge(registry, 'queue_waiting', 'Requests waiting in the queue, by priority.', [
    'queue',
    'priority',
  ]);
  const oldest = gauge(registry, 'queue_oldest_wait_seconds', 'Waiting time of the oldest request in the queue.', [
    'queue',
  ]);
  const circuit = gauge(
    registry,
    'queue_circuit_breaker_open',
    '1 if the platform keeps failing and the circuit breaker sends only trial requests, otherwise 0.',
    ['queue'],
  );
  const ofClass = (name: string, help: string) =>
    new ChangingGauge(gauge(registry, `budget_${name}`, help, ['queue', 'class']));
  const limit = ofClass('limit', 'Rate limit of a request class, in requests per window.');
  const remaining = ofClass('remaining', 'Remaining requests of the rate limit.');
  const cooldown = ofClass(
    'cooldown_seconds',
    'Remaining cooldown after a 429, in which no request of the class is sent.',
  );
  return {
    queue: ({ queue, waiting: counts, oldestSeconds, isCircuitOpen, budgets }) => {
      for (const [priority, count] of Object.entries(counts)) {
        waiting.set({ queue, priority }, count);
      }
      oldest.set({ queue }, oldestSeconds);
      circuit.set({ queue }, isCircuitOpen ? 1 : 0);
      const values = (value: (budget: BudgetObservation) => number | null) =>
        budgets.flatMap((budget) => {
          const shown = value(budget);
          return shown === null ? [] : [{ labels: { queue, class: budget.class }, value: shown }];
        });
      limit.show(
        queue,
        values((budget) => budget.limit),
      );
      remaining.show(
        queue,
        values((budget) => budget.remaining),
      );
      cooldown.show(
        queue,
        values((budget) => budget.cooldownSeconds),
      );
    },
  };
}
