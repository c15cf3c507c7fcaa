/** State and actions of the daemon, for its web page. */
import type { OrganizationConfig } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { EventBus } from '../core/event-bus.ts';
import { DAEMON_HISTORY, type History } from '../store/history.ts';
import type { Notifications } from '../store/notifications.ts';
import type { Store } from '../store/store.ts';
import type {
  ActionHandlers,
  Backend,
  FleetState,
  KnownResources,
  NotificationReader,
  OrganizationState,
  QueueState,
} from '../web/model/backend.ts';
import type { ReplicaConfigurationProblem } from '../web/model/configuration.ts';
import type { LogBuffer } from '../web/model/log-buffer.ts';
import type { BudgetSampler } from './budget-sampler.ts';
import type { FleetReports } from './fleet/fleet-reports.ts';
import type { DaemonEvents } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import type { RemoteOrganizations } from './states/remote-organizations.ts';

export interface BackendOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly store: Store;
  /** Returns the organizations of this replica. The list is another object after each change. */
  readonly organizations: () => readonly ManagedOrganization[];
  /** Returns the organizations of the configuration. The list is another object after each change. */
  readonly configured: () => readonly OrganizationConfig[];
  readonly fleet: () => FleetState | null;
  readonly reports: Pick<FleetReports, 'configurationProblems' | 'refresh'>;
  /** Organizations of the configuration that this replica does not have. */
  readonly remote: RemoteOrganizations;
  /** Returns the name of the queue of an organization. */
  readonly queueName: (organization: OrganizationConfig) => string;
  /** Null: the budgets are not sampled, because no page shows them. */
  readonly sampler: BudgetSampler | null;
  readonly log: LogBuffer;
  /** Names of the notification channels. */
  readonly channels: readonly string[];
  readonly actions: ActionHandlers;
  readonly events: EventBus<DaemonEvents>;
}

/** State of a running daemon. */
export class DaemonBackend implements Backend {
  readonly version: string;
  readonly clock: Clock;
  readonly actions: ActionHandlers;
  readonly log: LogBuffer;
  readonly notifications: NotificationReader;
  readonly history: Pick<History, 'audit'>;
  readonly #options: BackendOptions;
  #states: readonly OrganizationState[] = [];
  /** Organizations that the states are of. */
  #managed: readonly ManagedOrganization[] = [];
  #configured: readonly OrganizationConfig[] = [];

  constructor(options: BackendOptions) {
    const { version, clock, store, actions, log } = options;
    this.#options = options;
    this.version = version;
    this.clock = clock;
    this.actions = actions;
    this.log = log;
    this.notifications = notificationState(store.notifications(), options.channels);
    this.history = store.history(DAEMON_HISTORY);
  }

  organizations(): readonly OrganizationState[] {
    const managed = this.#options.organizations();
    const configured = this.#options.configured();
    if (managed !== this.#managed || configured !== this.#configured) {
      this.#managed = managed;
      this.#configured = configured;
      const own = new Map(managed.map((each) => [each.id, each]));
      this.#states = configured
        .map((config) => {
          const each = own.get(config.id);
          return each === undefined ? this.#options.remote.of(config).state : organizationState(this.#options, each);
        })
        .toSorted(byId);
    }
    return this.#states;
  }

  async refresh(): Promise<void> {
    const own = new Set(this.#options.organizations().map(({ id }) => id));
    const others = this.#options.configured().filter(({ id }) => !own.has(id));
    await this.#options.reports.refresh();
    await this.#options.remote.refresh(new Set(others.map(({ id }) => id)));
  }

  fleet(): FleetState | null {
    return this.#options.fleet();
  }

  configurationProblems(): readonly ReplicaConfigurationProblem[] {
    return this.#options.reports.configurationProblems();
  }

  onChange(listener: (topic: string) => void): () => void {
    return this.#options.events.subscribe({ onChange: listener });
  }
}

function byId(a: OrganizationState, b: OrganizationState): number {
  return a.id < b.id ? -1 : 1;
}

function organizationState(options: BackendOptions, managed: ManagedOrganization): OrganizationState {
  const { store } = options;
  const { id, config } = managed;
  return {
    id,
    config,
    get owner() {
      return options.remote.owner(id);
    },
    reconciler: managed.reconciliation?.reconciler ?? null,
    resources: async () => resourcesOf(managed),
    record: store.organization(id),
    history: store.history(id),
    queue: queueState(options, managed),
    conversations: managed.conversations,
    clusters: managed.clusters,
    pollInterval: config.source?.git?.pollInterval ?? null,
    webhook: managed.reconciliation?.pushes ?? null,
    statuses: managed.statuses,
  };
}

/** Returns the resources of an organization of this replica; null before its manifests were read. */
export function resourcesOf({ reconciliation }: Pick<ManagedOrganization, 'reconciliation'>): KnownResources | null {
  const { lastDesired = null, lastCheck = null } = reconciliation?.reconciler ?? {};
  return lastDesired === null
    ? null
    : { declared: lastDesired.state.declared, ids: lastCheck?.plan.bindings ?? new Map() };
}

function queueState({ queueName, sampler }: BackendOptions, { config, queue }: ManagedOrganization): QueueState {
  const name = queueName(config);
  return {
    name,
    isKnown: true,
    snapshot: () => queue.snapshot(),
    samples: async () => sampler?.of(name)?.read() ?? [],
  };
}

function notificationState(notifications: Notifications, channels: readonly string[]): NotificationReader {
  return {
    channels,
    conditions: (limit) => notifications.conditions(limit),
    deliveries: (query) => notifications.deliveries(query),
    lastSent: () => notifications.lastSent(),
  };
}
