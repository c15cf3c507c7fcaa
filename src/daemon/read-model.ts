/** Read model of the daemon: the state of all organizations, of this replica and of others, that pages, `status` and conditions show. */

import type { OrganizationConfig } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { compareText } from '../core/lists.ts';
import type { FleetLeases } from '../fleet/fleet-leases.ts';
import type { Metrics } from '../server/metrics.ts';
import { DAEMON_HISTORY, type History } from '../store/history.ts';
import { FLEET_LEASE, organizationLease } from '../store/leases.ts';
import type { TransactionListener } from '../store/sql/database.ts';
import { BudgetSamples, sampleInterval } from '../web/model/budget-samples.ts';
import type { ReplicaConfigurationProblem } from '../web/model/configuration.ts';
import { LogBuffer } from '../web/model/log-buffer.ts';
import type { Backend, FleetState, NotificationReader, OrganizationState, Topic } from '../web/model/page.ts';
import type { FleetReports } from './fleet/fleet-reports.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import type { DaemonParts } from './parts.ts';

type ReadParts = Pick<DaemonParts, 'context' | 'leases' | 'connections' | 'organizations' | 'reports' | 'remote'>;

export class ReadModel implements Backend {
  readonly version: string;
  readonly clock: Clock;
  readonly log: LogBuffer;
  readonly notifications: NotificationReader;
  readonly history: Pick<History, 'audit'>;
  readonly #parts: ReadParts;
  readonly #times: TransactionTimes;
  #states: readonly OrganizationState[] = [];
  /** Organizations that the states are of. */
  #managed: readonly ManagedOrganization[] = [];
  #configured: readonly OrganizationConfig[] = [];
  /** Samples of the queues, by name. */
  #samples: ReadonlyMap<string, BudgetSamples> = new Map();
  /** Number of log records when their change was last published. */
  #logged = 0;

  /** `log`: latest records of the log; undefined: none. */
  constructor(parts: ReadParts, times: TransactionTimes, log = new LogBuffer()) {
    const { version, clock, config, store } = parts.context;
    this.#parts = parts;
    this.#times = times;
    this.version = version;
    this.clock = clock;
    this.log = log;
    this.notifications = { ...store.notifications(), channels: Object.keys(config.notifications.channels) };
    this.history = store.history(DAEMON_HISTORY);
  }

  organizations(): readonly OrganizationState[] {
    const { organizations, remote } = this.#parts;
    const { open: managed, configured } = organizations;
    if (managed !== this.#managed || configured !== this.#configured) {
      this.#managed = managed;
      this.#configured = configured;
      const own = new Map(managed.map((each) => [each.id, each]));
      this.#states = configured
        .map((config) => {
          const each = own.get(config.id);
          return each === undefined ? remote.of(config).state : this.#stateOf(each);
        })
        .toSorted((a, b) => compareText(a.id, b.id));
    }
    return this.#states;
  }

  async refresh(): Promise<void> {
    const { organizations, reports, remote } = this.#parts;
    const own = new Set(organizations.open.map(({ id }) => id));
    await reports.refresh();
    await remote.refresh(new Set(organizations.configured.flatMap(({ id }) => (own.has(id) ? [] : [id]))));
  }

  fleet(): FleetState | null {
    const { leases, organizations, reports } = this.#parts;
    return describeFleet(leases, organizations.configured, reports, this.#times.average);
  }

  configurationProblems(): readonly ReplicaConfigurationProblem[] {
    return this.#parts.reports.configurationProblems();
  }

  onChange(listener: (topic: Topic) => void): () => void {
    return this.#parts.context.events.subscribe({ onChange: listener });
  }

  /** Publishes what changes without an event: samples of the budgets, which only a page shows, and the log. */
  observe(): void {
    const { config, events } = this.#parts.context;
    if (config.ui.listen !== undefined && this.#takeSamples()) {
      events.publish.onChange?.('budget');
    }
    if (this.log.added > this.#logged) {
      this.#logged = this.log.added;
      events.publish.onChange?.('log');
    }
  }

  /** Takes the samples that are due. Returns true if there were any. */
  #takeSamples(): boolean {
    const now = this.clock.now();
    const before = this.#samples;
    const sampled = this.#parts.connections.queues().map(([name, queue], _index, { length }) => {
      const samples = before.get(name) ?? new BudgetSamples(sampleInterval(length));
      return { name, samples, hasAdded: samples.add(now, queue.snapshot()) };
    });
    // Those of queues that are not open any more are dropped.
    this.#samples = new Map(sampled.map(({ name, samples }) => [name, samples]));
    return sampled.some(({ hasAdded }) => hasAdded);
  }

  #stateOf({ id, config, queue, reconciliation, conversations, clusters, statuses }: ManagedOrganization) {
    const { context, remote, connections } = this.#parts;
    const name = connections.queueName(config);
    return {
      id,
      config,
      get owner() {
        return remote.owner(id);
      },
      reconciler: reconciliation?.reconciler ?? null,
      resources: async () => reconciliation?.resources ?? null,
      record: context.store.organization(id),
      history: context.store.history(id),
      queue: {
        name,
        isKnown: true,
        snapshot: () => queue.snapshot(),
        samples: async () => this.#samples.get(name)?.read() ?? [],
      },
      conversations: conversations.state,
      clusters,
      pollInterval: config.source?.git?.pollInterval ?? null,
      webhook: reconciliation?.pushes ?? null,
      statuses,
    };
  }
}

/** Part of the average that the latest transaction is. */
const SHARE = 1 / 50;

/** Durations of transactions: their average, and the metric. */
export class TransactionTimes {
  readonly listener: TransactionListener;
  /** In milliseconds; recent ones count most. Null before the first one. */
  average: number | null = null;

  constructor(metrics: Pick<Metrics, 'database'>) {
    this.listener = (operation, milliseconds) => {
      metrics.database(operation, milliseconds / 1000);
      this.average = this.average === null ? milliseconds : this.average + (milliseconds - this.average) * SHARE;
    };
  }
}

/**
 * Returns the state of the fleet with these organizations; null if the state is in a file. Organizations that only other
 * replicas have configured are in it while they have no owner. The leases alone cannot tell them from removed ones.
 */
export function describeFleet(
  leases: Pick<FleetLeases, 'replica' | 'holder' | 'status'>,
  organizations: readonly { readonly id: string }[],
  reports: Pick<FleetReports, 'unowned'>,
  latency: number | null,
): FleetState | null {
  if (leases.replica === null) {
    return null;
  }
  const { replicas, left, failure } = leases.status();
  const counts = new Map<string, number>();
  const unowned: FleetState['unowned'][number][] = [];
  for (const { id } of organizations) {
    const holder = leases.holder(organizationLease(id));
    if (holder?.replica == null) {
      unowned.push({ organization: id, age: holder?.age ?? null, isConfigured: true });
    } else {
      counts.set(holder.replica.id, (counts.get(holder.replica.id) ?? 0) + 1);
    }
  }
  const configured = new Set(organizations.map(({ id }) => id));
  for (const id of [...reports.unowned()].filter((each) => !configured.has(each))) {
    const holder = leases.holder(organizationLease(id));
    // Since the report, a replica may have claimed it, or its lease may have been removed.
    if (holder?.replica === null && holder.age !== null) {
      unowned.push({ organization: id, age: holder.age, isConfigured: false });
    }
  }
  const shared = leases.holder(FLEET_LEASE);
  return {
    replica: leases.replica,
    replicas: replicas.map((replica) => ({ ...replica, organizations: counts.get(replica.id) ?? 0 })),
    left,
    failure,
    latency,
    unowned,
    notificationsUnowned: shared !== null && shared.replica === null ? (shared.age ?? 0) : null,
  };
}
