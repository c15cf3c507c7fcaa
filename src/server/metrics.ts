import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { type ClusterMetrics, clusterMetrics } from './cluster-metrics.ts';
import { type ConversationMetrics, conversationMetrics } from './conversation-metrics.ts';
import { ChangingGauge, counter, gauge } from './instruments.ts';
import { type TroubleMetrics, troubleMetrics } from './trouble.ts';

/** One reconcile pass of an organization. */
export interface PassObservation {
  readonly organization: string;
  readonly outcome: 'done' | 'held' | 'failed';
  readonly seconds: number;
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
}

/** One change that a pass tried. */
export interface ChangeObservation {
  readonly organization: string;
  readonly kind: string;
  readonly action: string;
  readonly status: string;
}

/** How much waits in an organization after a pass. */
export interface PendingObservation {
  readonly held: number;
  readonly failed: number;
  readonly paused: number;
}

/** A source as it was last looked at. `commit` is the last good one; null: there was none, or it has no commits. */
export interface SourceObservation {
  readonly organization: string;
  readonly good: boolean;
  readonly commit: string | null;
}

/** What waits in a queue: by priority, how many and since how many seconds. */
export interface QueueObservation {
  readonly queue: string;
  readonly waiting: Readonly<Record<string, number>>;
  readonly oldestSeconds: number;
  /** Since the platform failed lastingly: next to nothing is sent. */
  readonly broken: boolean;
  readonly budgets: readonly BudgetObservation[];
}

/** The platform's rate limit for a class of requests, as last learned. */
export interface BudgetObservation {
  readonly class: string;
  /** Null while nothing is known. */
  readonly limit: number | null;
  readonly remaining: number | null;
  /** How much longer a refusal (429) keeps it closed. */
  readonly closedSeconds: number;
}

/** One request to the platform. `outcome` is a status, or a word for what came instead of one. */
export interface RequestObservation {
  readonly class: string;
  readonly outcome: string;
  /** How long it waited in the queue before it was sent. */
  readonly waitedSeconds: number;
}

/** The product's metrics. No label ever carries a title, an email or a token. */
export interface Metrics extends TroubleMetrics {
  /** To be served as `/metrics`. */
  readonly registry: Registry;
  readonly conversations: ConversationMetrics;
  readonly clusters: ClusterMetrics;
  pass(observation: PassObservation): void;
  change(observation: ChangeObservation): void;
  pending(organization: string, counts: PendingObservation): void;
  /** So many resources were found drifted. */
  drift(organization: string, kind: string, count: number): void;
  /** The kind of each field that something else keeps changing back. */
  fights(organization: string, kinds: readonly string[]): void;
  source(observation: SourceObservation): void;
  /** A request was answered, or failed, after waiting for the gate. */
  request(observation: RequestObservation): void;
  /** The platform refused a request for its rate (429). */
  rateLimited(requestClass: string): void;
  queue(observation: QueueObservation): void;
}

/** Set by the listener's thread while the main thread does not answer; 0 in every answer of the main thread itself. */
export const BUSY_METRIC = 'octavo_main_thread_busy_seconds';

/** Makes the metrics in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'octavo_' });
  gauge(
    registry,
    BUSY_METRIC.replace(/^octavo_/, ''),
    'Seconds for which the main thread has not answered; 0: it does.',
    [],
  ).set(0);
  return {
    registry,
    ...passMetrics(registry),
    ...fightMetrics(registry),
    ...sourceMetrics(registry),
    ...requestMetrics(registry),
    ...queueMetrics(registry),
    ...troubleMetrics(registry),
    conversations: conversationMetrics(registry),
    clusters: clusterMetrics(registry),
  };
}

function passMetrics(registry: Registry): Pick<Metrics, 'pass' | 'change' | 'pending' | 'drift'> {
  const passes = counter(registry, 'reconcile_passes_total', 'Reconcile passes by outcome.', [
    'organization',
    'outcome',
  ]);
  const seconds = gauge(registry, 'reconcile_last_seconds', 'How long the last pass took.', ['organization']);
  const success = gauge(registry, 'reconcile_last_success_timestamp_seconds', 'When a pass last succeeded.', [
    'organization',
  ]);
  const changes = counter(registry, 'changes_total', 'Changes by kind, action and status.', [
    'organization',
    'kind',
    'action',
    'status',
  ]);
  const pending = gauge(registry, 'changes_pending', 'Changes that wait after the last pass.', [
    'organization',
    'status',
  ]);
  const drift = counter(registry, 'drift_total', 'Resources found drifted.', ['organization', 'kind']);
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

function fightMetrics(registry: Registry): Pick<Metrics, 'fights'> {
  const fights = new ChangingGauge(
    gauge(registry, 'fights', 'Fields that something else keeps changing back.', ['organization', 'kind']),
  );
  return {
    fights: (organization, kinds) => {
      const counts = [...Map.groupBy(kinds, (kind) => kind)];
      fights.show(
        organization,
        counts.map(([kind, same]) => ({ labels: { organization, kind }, value: same.length })),
      );
    },
  };
}

function sourceMetrics(registry: Registry): Pick<Metrics, 'source'> {
  const good = gauge(registry, 'source_good', 'Whether the source could be read: 1 or 0.', ['organization']);
  const commit = gauge(registry, 'source_commit_info', 'The last good commit, as a label.', ['organization', 'commit']);
  const shown = new Map<string, string>();
  return {
    source: (observation) => {
      const { organization } = observation;
      good.set({ organization }, observation.good ? 1 : 0);
      const before = shown.get(organization);
      if (observation.commit === null || observation.commit === before) {
        return;
      }
      if (before !== undefined) {
        commit.remove({ organization, commit: before });
      }
      commit.set({ organization, commit: observation.commit }, 1);
      shown.set(organization, observation.commit);
    },
  };
}

function requestMetrics(registry: Registry): Pick<Metrics, 'request' | 'rateLimited'> {
  const requests = counter(registry, 'requests_total', 'Requests to the platform by outcome.', ['class', 'outcome']);
  const waits = new Histogram({
    name: 'octavo_request_wait_seconds',
    help: 'How long requests waited in the queue.',
    labelNames: ['class'],
    buckets: [0.01, 0.1, 1, 5, 15, 60, 300],
    registers: [registry],
  });
  const limited = counter(registry, 'rate_limited_total', 'Requests that the platform refused for their rate.', [
    'class',
  ]);
  return {
    request: (observation) => {
      requests.inc({ class: observation.class, outcome: observation.outcome });
      waits.observe({ class: observation.class }, observation.waitedSeconds);
    },
    rateLimited: (requestClass) => limited.inc({ class: requestClass }),
  };
}

function queueMetrics(registry: Registry): Pick<Metrics, 'queue'> {
  const waiting = gauge(registry, 'queue_waiting', 'Requests that wait, by priority.', ['queue', 'priority']);
  const oldest = gauge(registry, 'queue_oldest_seconds', 'How long the oldest request has waited.', ['queue']);
  const broken = gauge(
    registry,
    'queue_breaker_open',
    'Whether the platform fails lastingly, so that nothing but a trial now and then is sent: 1 or 0.',
    ['queue'],
  );
  const ofClass = (name: string, help: string) =>
    new ChangingGauge(gauge(registry, `budget_${name}`, help, ['queue', 'class']));
  const limit = ofClass('limit', 'The rate limit of a class of requests.');
  const remaining = ofClass('remaining', 'What is left of the rate limit.');
  const closed = ofClass(
    'closed_seconds',
    'How much longer a refusal (429) keeps a class of requests waiting; 0: it does not.',
  );
  return {
    queue: ({ queue, waiting: counts, oldestSeconds, broken: isBroken, budgets }) => {
      for (const [priority, count] of Object.entries(counts)) {
        waiting.set({ queue, priority }, count);
      }
      oldest.set({ queue }, oldestSeconds);
      broken.set({ queue }, isBroken ? 1 : 0);
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
      closed.show(
        queue,
        values((budget) => budget.closedSeconds),
      );
    },
  };
}
