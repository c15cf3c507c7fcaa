/** Prometheus metrics of the daemon. No label contains a title, an email or a token. */

import { createHash } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client';
import type { ClusterEvents, RunEnd } from '../clusters/events.ts';
import type { IngestionStatus } from '../conversations/ingestion.ts';
import type { ConversationEvents, SenderState } from '../conversations/model/source.ts';
import { keyOf, kindOf } from '../core/address.ts';
import { type Change, type ChangeResult, changeId } from '../core/change.ts';
import { AppError, CancelledError } from '../core/errors.ts';
import type { BudgetSnapshot, QueueEvent, QueueSnapshot } from '../queue/snapshot.ts';
import type { PassEnd, PassEvents } from '../reconcile/pass.ts';
import type { PushOutcome } from '../reconcile/push-receiver.ts';
import type { HookOutcome } from './hooks.ts';

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

/** Gauges of a kind of item: name, help text and value; null: none. */
type GaugeTable<T> = readonly (readonly [name: string, help: string, value: (item: T) => number | null])[];

/** Constructors for the metrics of one registry. */
type Instruments = ReturnType<typeof instrumentsIn>;

/** Returns constructors that register their metrics. */
function instrumentsIn(registry: Registry) {
  const common = (name: string, help: string) => ({ name: `octavo_${name}`, help, registers: [registry] });
  const counter = <L extends string>(name: string, help: string, ...labelNames: readonly L[]) =>
    new Counter<L>({ ...common(name, help), labelNames });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: readonly L[]) =>
    new Gauge<L>({ ...common(name, help), labelNames });
  const histogram = <L extends string>(name: string, help: string, label: L, buckets: number[]) =>
    new Histogram<L>({ ...common(name, help), labelNames: [label], buckets });
  /** Registers a gauge that exports only the latest values of each owner, without those that are null. */
  const changingGauge = <L extends string>(name: string, help: string, ...labelNames: readonly L[]) => {
    const all = gauge(name, help, ...labelNames);
    const shown = new Map<string, Record<L, string>[]>();
    return (owner: string, values: readonly (readonly [labels: Record<L, string>, value: number | null])[]): void => {
      for (const labels of shown.get(owner) ?? []) {
        all.remove(labels);
      }
      const current: Record<L, string>[] = [];
      for (const [labels, value] of values) {
        if (value !== null) {
          all.set(labels, value);
          current.push(labels);
        }
      }
      shown.set(owner, current);
    };
  };
  /** Registers a changing gauge for each line of a table: name, help text and value of an item. */
  const changingGauges = <T, L extends string>(prefix: string, table: GaugeTable<T>, ...labelNames: readonly L[]) => {
    const gauges = table.map(
      ([name, help, value]) => [changingGauge(`${prefix}_${name}`, help, ...labelNames), value] as const,
    );
    return (owner: string, items: readonly (readonly [labels: Record<L, string>, item: T])[]): void => {
      for (const [show, value] of gauges) {
        show(
          owner,
          items.map(([labels, item]) => [labels, value(item)]),
        );
      }
    };
  };
  return { counter, gauge, histogram, changingGauge, changingGauges };
}

/** Maximum number of changes that are named per organization; `octavo_changes_pending` counts all. */
const MAX_NAMED = 100;

/** Registers the metrics of passes and sources. */
function passInstruments({ counter, gauge, changingGauge }: Instruments) {
  return {
    passes: counter('reconcile_passes_total', 'Number of passes, by outcome.', 'organization', 'outcome'),
    seconds: gauge('reconcile_last_duration_seconds', 'Duration of the last pass.', 'organization'),
    success: gauge(
      'reconcile_last_success_timestamp_seconds',
      'Time of the last successful pass, in seconds since the epoch.',
      'organization',
    ),
    changes: counter(
      'changes_total',
      'Number of changes that passes tried, by kind, action and status.',
      'organization',
      'kind',
      'action',
      'status',
    ),
    pending: gauge(
      'changes_pending',
      'Changes that are held, failed or paused after the last pass.',
      'organization',
      'status',
    ),
    drift: counter('drifted_resources_total', 'Number of resources found to have drifted.', 'organization', 'kind'),
    flapping: changingGauge(
      'flapping_fields',
      'Fields that something else keeps changing back.',
      'organization',
      'kind',
    ),
    ready: gauge(
      'source_ready',
      '1 if the last read of the source succeeded and its manifests were valid, otherwise 0.',
      'organization',
    ),
    commit: changingGauge(
      'source_commit_info',
      'The last valid commit, as a label; always 1.',
      'organization',
      'commit',
    ),
  };
}

/** Registers the metrics of failing changes and organizations. */
function failureInstruments({ changingGauge }: Instruments) {
  return {
    failingChanges: changingGauge(
      'change_failing',
      `1 for each change that failed in the last pass; at most ${MAX_NAMED} per organization. octavo_changes_pending counts all.`,
      'organization',
      'kind',
      'address',
    ),
    failing: changingGauge(
      'organization_failing',
      '1 for each organization whose last pass failed, with the reason.',
      'organization',
      'reason',
    ),
  };
}

type PassInstruments = ReturnType<typeof passInstruments> & ReturnType<typeof failureInstruments>;

/** Returns a listener that counts the passes of an organization. */
function passListener(organization: string, metrics: PassInstruments): PassEvents {
  let drifted: ReadonlySet<string> = new Set();
  return {
    onSource: ({ commit }) => {
      metrics.ready.set({ organization }, 1);
      if (commit !== null) {
        metrics.commit(organization, [[{ organization, commit }, 1]]);
      }
    },
    onBadSource: () => metrics.ready.set({ organization }, 0),
    onPlan: (_planned, drift) => {
      // Drift that is only reported is found again by every pass; count it once.
      const fresh = drift.filter((change) => !drifted.has(changeId(change)));
      drifted = new Set(drift.map(changeId));
      for (const { kind } of fresh) {
        metrics.drift.inc({ organization, kind });
      }
    },
    onFlapping: (flapping) => {
      const kinds = Map.groupBy(flapping, ({ kind }) => kind);
      metrics.flapping(
        organization,
        [...kinds].map(([kind, same]) => [{ organization, kind }, same.length]),
      );
    },
    onResult: ({ action, status }, change) =>
      metrics.changes.inc({ organization, kind: change?.kind ?? 'unknown', action, status }),
    onPassEnd: (end) => {
      const { outcome, plan, results } = end;
      metrics.passes.inc({ organization, outcome });
      metrics.seconds.set({ organization }, end.milliseconds / 1000);
      if (outcome !== 'failed') {
        metrics.success.set({ organization }, end.endedAt / 1000);
      }
      const failed = results.filter(({ status }) => status === 'failed');
      const reason = reasonOf(end, failed.length);
      metrics.failing(organization, reason === null ? [] : [[{ organization, reason }, 1]]);
      if (plan === null) {
        // The pass ended before planning, so the previous values still apply.
        return;
      }
      const changes = new Map(plan.changes.map((change) => [changeId(change), change]));
      metrics.failingChanges(
        organization,
        failed.slice(0, MAX_NAMED).map((result) => {
          const { kind, address } = nameOf(result, changes.get(changeId(result)));
          return [{ organization, kind, address }, 1];
        }),
      );
      const held = plan.changes.filter((change) => change.held !== null);
      const paused = plan.changes.filter((change) => change.held === null && change.paused !== null);
      for (const [status, list] of Object.entries({ held, failed, paused })) {
        metrics.pending.set({ organization, status }, list.length);
      }
    },
  };
}

/** Reasons of failed passes by the code of the error. */
const REASONS: Readonly<Record<string, string>> = {
  'not-authorized': 'unauthorized',
  transient: 'unreachable',
  timeout: 'unreachable',
  'not-the-platform': 'unreachable',
  rejected: 'rejected',
  'rate-limited': 'rate_limited',
  cancelled: 'timeout',
  'invalid-manifests': 'invalid_manifests',
  source: 'source',
  store: 'state',
  'refused-plan': 'refused',
};

/** Returns why a pass failed; null if it did not fail or was only stopped. */
function reasonOf({ outcome, error }: PassEnd, failed: number): string | null {
  if (outcome !== 'failed') {
    return null;
  }
  if (error instanceof AppError) {
    // Report the original error of work that was cancelled after repeated failures.
    const first = error instanceof CancelledError && error.cause instanceof AppError ? error.cause : error;
    return REASONS[first.code] ?? 'unknown';
  }
  return error !== null ? 'unknown' : failed > 0 ? 'changes' : null;
}

/** Returns the kind and address of a failed change; in place of an email, the address has an id or a short hash. */
function nameOf({ address, id }: ChangeResult, change: Change | undefined) {
  const kind = change?.kind ?? kindOf(address);
  if (!address.includes('@')) {
    return { kind, address };
  }
  const name = id ?? createHash('sha256').update(keyOf(address)).digest('hex').slice(0, 8);
  return { kind, address: `${kindOf(address)}/${name}` };
}

const SENDER_STATES = [
  'stopped',
  'idle',
  'sending',
  'failing',
  'refused',
  'unsupported',
] as const satisfies readonly SenderState['kind'][];

/** Registers the metrics of conversations. */
function conversationMetrics(instruments: Instruments) {
  return { ...flowMetrics(instruments), ...stockMetrics(instruments), ...hookMetrics(instruments) };
}

function flowMetrics({ counter, gauge }: Instruments) {
  const total = <L extends string = never>(name: string, help: string, ...more: readonly L[]) =>
    counter<'organization' | 'source' | L>(`conversations_${name}_total`, help, 'organization', 'source', ...more);
  const found = total('found', 'Number of tickets read from a source.');
  const unchanged = total('unchanged', 'Number of tickets that have not changed since they were sent.');
  const skipped = total('skipped', 'Number of tickets that are not sent, by reason.', 'reason');
  const rejected = total('rejected', 'Number of records that could not be read.');
  const incomplete = total('incomplete', 'Number of tickets for which a source returned fewer parts than it reported.');
  const redacted = total('redacted', 'Number of redactions, by type.', 'type');
  const refused = total('refused', 'Number of conversations that the platform refused.');
  const sent = counter(
    'conversations_sent_total',
    'Number of conversations that the platform accepted.',
    'organization',
  );
  const unconfirmed = counter(
    'conversations_unconfirmed_total',
    'Number of conversations sent without a response; they are sent again.',
    'organization',
  );
  const records = gauge(
    'conversations_as_context_records',
    '1 if conversations are sent to a site as context records, otherwise 0.',
    'organization',
  );
  return {
    /** Returns the listener that counts the events of an organization. */
    events: (organization: string): ConversationEvents => ({
      onIntake: (taken) => {
        const labels = { organization, source: taken.source };
        found.inc(labels, taken.found);
        unchanged.inc(labels, taken.unchanged);
        rejected.inc(labels, taken.rejected);
        incomplete.inc(labels, taken.incomplete);
        for (const [reason, count] of Object.entries(taken.skipped)) {
          skipped.inc({ ...labels, reason }, count);
        }
        for (const [type, count] of Object.entries(taken.redacted)) {
          redacted.inc({ ...labels, type }, count);
        }
      },
      onSent: ({ items }) => sent.inc({ organization }, items),
      onDoubt: ({ items }) => unconfirmed.inc({ organization }, items),
      onRefused: ({ source }) => refused.inc({ organization, source }),
      onDestination: ({ kind }) => records.set({ organization }, kind === 'context-records' ? 1 : 0),
    }),
  };
}

const SOURCE_GAUGES: GaugeTable<IngestionStatus['sources'][number]> = [
  ['waiting', 'Conversations in the outbox, waiting to be sent.', ({ waiting }) => waiting],
  [
    'oldest_wait_seconds',
    'Waiting time of the oldest conversation in the outbox.',
    (one) => one.oldestWaitSeconds ?? 0,
  ],
  ['dead_letters', 'Dead letters: conversations that the platform refused.', ({ deadLetters }) => deadLetters],
  ['poll_age_seconds', 'Time since the last completed poll of a source.', ({ pollAgeSeconds }) => pollAgeSeconds],
  ['poll_failing', '1 if the last poll of a source failed, otherwise 0.', ({ error }) => (error === null ? 0 : 1)],
];

function stockMetrics({ gauge, changingGauges }: Instruments) {
  const showSources = changingGauges('conversations', SOURCE_GAUGES, 'organization', 'source');
  const full = gauge(
    'conversations_outbox_full',
    '1 if the outbox is full and polling is paused, otherwise 0.',
    'organization',
  );
  const sender = gauge(
    'conversations_sender_state',
    '1 for the current state of the sender, 0 for other states.',
    'organization',
    'state',
  );
  const inFlight = gauge(
    'conversations_batches_in_flight',
    'Batches of conversations that were sent and have no response yet.',
    'organization',
  );
  return {
    /** Updates the gauges of an organization. */
    status: (organization: string, status: IngestionStatus): void => {
      showSources(
        organization,
        status.sources.map((each) => [{ organization, source: each.source }, each]),
      );
      full.set({ organization }, status.outbox.isFull ? 1 : 0);
      inFlight.set({ organization }, status.inFlight);
      for (const state of SENDER_STATES) {
        sender.set({ organization, state }, status.sender.kind === state ? 1 : 0);
      }
    },
  };
}

function hookMetrics({ counter }: Instruments) {
  const hooks = counter(
    'webhook_requests_total',
    'Number of webhook requests, by outcome.',
    'organization',
    'source',
    'outcome',
  );
  return {
    hook: (organization: string, source: string, outcome: HookOutcome): void =>
      hooks.inc({ organization, source, outcome }),
  };
}

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
function clusterMetrics(instruments: Instruments) {
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

/** Work that this process has now. A label value that it does not have is not exported any more. */
interface MetricOwnership {
  /** Returns true if this process works for an organization. */
  readonly organization: (id: string) => boolean;
  /** Returns true if an organization is configured. Any replica of a fleet receives the webhooks of all of them. */
  readonly receiver: (organization: string) => boolean;
  /** Returns true if a queue is open. */
  readonly queue: (name: string) => boolean;
}

/** Metrics that the replica which receives a webhook writes, and not the owner of the organization. */
const RECEIVED = /^octavo_(push_)?webhook_/;
/** Metrics of the limit of a token, which replicas that divide its organizations share: its first organization's owner exports it. */
const SHARED_LIMIT = /^octavo_budget_(limit|remaining)$/;
const OWNED_LABELS: readonly string[] = ['organization', 'queue'];

type Labels = Readonly<Partial<Record<string, string | number>>>;

/**
 * Registry that removes the values of organizations and queues which this process does not have any more. They are removed
 * when metrics are read, so that a late write of work that has ended is not exported either.
 */
class CurrentRegistry extends Registry {
  #ownership: MetricOwnership | null = null;

  /** Exports only what is owned, from now on. */
  limitTo(ownership: MetricOwnership): void {
    this.#ownership = ownership;
  }

  override async metrics(): Promise<string> {
    const ownership = this.#ownership;
    if (ownership !== null) {
      await Promise.all(this.getMetricsAsArray().map((metric) => removeOthers(metric as unknown as Metric, ownership)));
    }
    return super.metrics();
  }
}

async function removeOthers(metric: Metric, ownership: MetricOwnership): Promise<void> {
  const { labelNames } = metric as unknown as { readonly labelNames: readonly string[] };
  // Histograms are about all organizations.
  if (
    !(metric instanceof Gauge || metric instanceof Counter) ||
    !labelNames.some((each) => OWNED_LABELS.includes(each))
  ) {
    return;
  }
  const { name, values } = await metric.get();
  for (const { labels } of values) {
    if (!isOwned(name, labels, ownership)) {
      metric.remove(labels as Record<string, string>);
    }
  }
}

function isOwned(metric: string, { organization, queue }: Labels, ownership: MetricOwnership): boolean {
  if (queue !== undefined) {
    const name = String(queue);
    return ownership.queue(name) && (!SHARED_LIMIT.test(metric) || ownership.organization(name));
  }
  const isCurrent = RECEIVED.test(metric) ? ownership.receiver : ownership.organization;
  return organization === undefined || isCurrent(String(organization));
}
