/** State and actions of the daemon, for its web page. */
import type { OrganizationConfig } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { RequestQueue } from '../queue/schedule/request-queue.ts';
import { DAEMON_HISTORY, type History } from '../store/history.ts';
import type { Notifications } from '../store/notifications.ts';
import type { Store } from '../store/store.ts';
import type { ActionHandlers, Backend, OrganizationState, QueueState } from '../views/model/backend.ts';
import type { LogBuffer } from '../views/model/log-buffer.ts';
import type { NotificationReader } from '../views/model/notification-reader.ts';
import type { BudgetSampler } from './budget-sampler.ts';
import type { ManagedOrganization } from './managed-organization.ts';

export interface BackendOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly store: Store;
  readonly organizations: readonly { readonly config: OrganizationConfig; readonly managed: ManagedOrganization }[];
  readonly queueOf: (organization: OrganizationConfig) => { readonly name: string; readonly queue: RequestQueue };
  /** Null: the budgets are not sampled, because no page shows them. */
  readonly sampler: BudgetSampler | null;
  readonly log: LogBuffer;
  /** Names of the notification channels. */
  readonly channels: readonly string[];
  readonly actions: ActionHandlers;
  readonly changes: ChangeNotifier;
}

/** Tells listeners that something changed. A topic is the id of an organization, or `budget`, `log` or `notifications`. */
export class ChangeNotifier {
  readonly #listeners = new Set<(topic: string) => void>();

  listen(listener: (topic: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  notify(topic: string): void {
    for (const listener of this.#listeners) {
      listener(topic);
    }
  }
}

/** State of a running daemon. */
export class DaemonBackend implements Backend {
  readonly version: string;
  readonly clock: Clock;
  readonly actions: ActionHandlers;
  readonly log: LogBuffer;
  readonly notifications: NotificationReader;
  readonly history: Pick<History, 'audit'>;
  readonly #organizations: readonly OrganizationState[];
  readonly #changes: ChangeNotifier;

  constructor(options: BackendOptions) {
    const { version, clock, store, organizations, actions, changes, log } = options;
    this.version = version;
    this.clock = clock;
    this.actions = actions;
    this.log = log;
    this.notifications = notificationState(store.notifications(), options.channels);
    this.history = store.history(DAEMON_HISTORY);
    this.#changes = changes;
    this.#organizations = organizations
      .map(({ config, managed }) => ({
        id: config.id,
        config,
        reconciler: managed.reconciliation?.reconciler ?? null,
        record: store.organization(config.id),
        history: store.history(config.id),
        queue: queueState(options, config),
        conversations: managed.conversations,
        clusters: managed.clusters,
        pollInterval: config.source?.git?.pollInterval ?? null,
        webhook: managed.reconciliation?.pushes ?? null,
        statuses: managed.statuses,
      }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  organizations(): readonly OrganizationState[] {
    return this.#organizations;
  }

  onChange(listener: (topic: string) => void): () => void {
    return this.#changes.listen(listener);
  }
}

function queueState({ queueOf, sampler }: BackendOptions, organization: OrganizationConfig): QueueState {
  const { name, queue } = queueOf(organization);
  const samples = sampler?.of(name);
  return {
    name,
    snapshot: () => queue.snapshot(),
    samples: () => samples?.read() ?? [],
  };
}

function notificationState(notifications: Notifications, channels: readonly string[]): NotificationReader {
  return {
    channels,
    conditions: (limit) => notifications.conditions(limit),
    deliveries: (query) => notifications.deliveries(query),
    lastSent: () => notifications.lastSent(),
    silences: (limit) => notifications.silences(limit),
  };
}
