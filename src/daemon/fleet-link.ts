/** Connects this replica with the others: commands, states of organizations, and changes that pages show. */
import type { OrganizationConfig } from '../config/config.ts';
import { messageOf } from '../core/errors.ts';
import type { FleetLeases } from '../fleet/fleet-leases.ts';
import type { CommandKind } from '../store/commands.ts';
import type { FleetSignals } from '../store/leases.ts';
import type { ActionHandlers, Backend } from '../web/model/backend.ts';
import { CommandRunner, CommandSender, routeActions } from './commands.ts';
import type { FleetOrganizations } from './fleet/organizations.ts';
import type { TokenConnections } from './fleet/token-connections.ts';
import type { HookedOrganization } from './hooks.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import { RemoteOrganizations } from './states/remote-organizations.ts';
import { StatePublisher } from './states/state-publisher.ts';

export interface FleetLinkOptions {
  readonly context: Pick<DaemonContext, 'store' | 'clock' | 'random' | 'version' | 'log' | 'events'>;
  readonly leases: Pick<FleetLeases, 'replica' | 'holder'>;
  readonly organizations: Pick<FleetOrganizations, 'find' | 'configured'>;
  readonly connections: Pick<TokenConnections, 'queueName' | 'tokenUsers'>;
  /** Aborts when the daemon stops: no further commands are begun. */
  readonly stopping: AbortSignal;
}

/** Topic of changes of notifications. */
const NOTIFICATIONS = 'notifications';
/** Topic of the reports of replicas, such as invalid configurations. */
const CONFIGURATION = 'configuration';

/** Parts that only a fleet has. */
interface Shared {
  readonly replica: string;
  readonly signals: FleetSignals;
  readonly sender: CommandSender;
  readonly publisher: StatePublisher;
}

export class FleetLink {
  /** Organizations that other replicas have, or none. */
  readonly remote: RemoteOrganizations;
  readonly #options: FleetLinkOptions;
  /** Null for a state file. */
  readonly #shared: Shared | null;
  #runner: CommandRunner | null = null;
  #backend: Backend | null = null;

  constructor(options: FleetLinkOptions) {
    const { context, leases, connections } = options;
    this.#options = options;
    const queueName = (organization: OrganizationConfig) => connections.queueName(organization);
    this.remote = new RemoteOrganizations(context, leases, queueName, (id) => this.#tell(id, 'push'));
    this.#shared = this.#open();
  }

  /** Returns the actions on organizations of all replicas. `local`: those on the organizations of this one. */
  route(local: ActionHandlers, backend: Backend): ActionHandlers {
    const { organizations, context } = this.#options;
    const find = (id: string) => organizations.find(id);
    this.#backend = backend;
    if (this.#shared === null) {
      return local;
    }
    this.#runner = new CommandRunner(context, this.#shared.signals, find, local);
    return routeActions(local, find, backend, this.#shared.sender);
  }

  /** Writes the states of the organizations of this replica from now on. */
  start(): void {
    const { context, stopping, organizations } = this.#options;
    if (this.#shared === null) {
      return;
    }
    const { publisher, signals, replica } = this.#shared;
    const ends = [
      context.events.subscribe({
        onChange: (topic, isRemote) => {
          if (!isRemote) {
            publisher.changed(topic);
            this.#runner?.wake();
          }
        },
      }),
      signals.listen(({ kind, payload }) => {
        if (kind === 'change' && payload.from !== replica) {
          // Without a topic, messages were missed while the connection was interrupted.
          const topics =
            typeof payload.topic === 'string'
              ? [payload.topic]
              : [NOTIFICATIONS, CONFIGURATION, ...organizations.configured.map(({ id }) => id)];
          for (const topic of topics) {
            this.#hear(topic);
          }
        }
      }),
    ];
    void this.#runner?.run(stopping);
    void publisher.run(stopping).finally(() => {
      for (const end of ends) {
        end();
      }
    });
    context.log.debug({ replica }, 'states of organizations are written for other replicas');
  }

  /** Writes the state of an organization that this replica has opened, or ends that. */
  show(id: string): void {
    const managed = this.#options.organizations.find(id);
    if (managed === undefined) {
      this.#shared?.publisher.remove(id);
      this.#showQueue(id);
      return;
    }
    const { lease } = managed;
    const states = this.#options.context.store.fenced(lease).organizationStates();
    this.#shared?.publisher.add({ id, lease, states, read: () => this.#read(managed) });
  }

  /** Returns the receivers of the webhooks of an organization: its own, or those that store for the owner. */
  hooks(id: string): HookedOrganization | undefined {
    const managed = this.#options.organizations.find(id);
    if (managed !== undefined) {
      return { conversations: managed.conversations, pushes: managed.reconciliation?.pushes ?? null };
    }
    const config = this.#options.organizations.configured.find((each) => each.id === id);
    if (config === undefined) {
      return undefined;
    }
    const { conversations, pushes } = this.remote.of(config);
    return {
      pushes,
      conversations: {
        deliver: async (source, delivery) => {
          const answer = await conversations.deliver(source, delivery);
          if (answer.status === 202) {
            this.#tell(id, 'hints');
          }
          return answer;
        },
      },
    };
  }

  /**
   * Notifies the other replicas of a change: of an organization, of `notifications` that were stored, or of `configuration`,
   * the reports of this replica.
   */
  announce(topic: string): void {
    const { replica, signals } = this.#shared ?? {};
    signals?.send({ kind: 'change', payload: { topic, from: replica ?? '' } }).catch((error: unknown) => {
      this.#options.context.log.debug({ reason: messageOf(error) }, 'cannot notify the other replicas of a change');
    });
  }

  #open(): Shared | null {
    const { context, leases, stopping } = this.#options;
    const fleet = context.store.fleet();
    if (fleet === null || leases.replica === null) {
      return null;
    }
    const { signals } = fleet;
    const owner = (organization: string) => this.remote.owner(organization);
    return {
      replica: leases.replica,
      signals,
      sender: new CommandSender(context, signals, stopping, owner),
      publisher: new StatePublisher(context, (organization) => this.announce(organization)),
    };
  }

  #read(managed: ManagedOrganization) {
    const { id, conversations } = managed;
    const hasQueue = this.#queueHolder(managed.config) === id;
    const queue = hasQueue ? this.#backend?.organizations().find((each) => each.id === id)?.queue : null;
    return {
      reconciler: managed.reconciliation?.reconciler ?? null,
      resources: managed.reconciliation?.resources ?? null,
      statuses: managed.statuses,
      clusters: managed.clusters,
      ingestion: conversations.activity,
      queue: queue ?? null,
    };
  }

  /** Returns the organization of this replica whose state has the queue of a token: the first one that uses it. */
  #queueHolder(config: Pick<OrganizationConfig, 'id' | 'token'>): string | undefined {
    return this.#options.connections
      .tokenUsers(config)
      .find((id) => this.#options.organizations.find(id) !== undefined);
  }

  /** Writes the queue again that an organization used which this replica does not have any more. */
  #showQueue(id: string): void {
    const config =
      this.#shared === null ? undefined : this.#options.organizations.configured.find((each) => each.id === id);
    const holder = config === undefined ? undefined : this.#queueHolder(config);
    if (holder !== undefined) {
      this.#shared?.publisher.changed(holder);
    }
  }

  /** Publishes here what another replica has changed. */
  #hear(topic: string): void {
    const { publish } = this.#options.context.events;
    if (topic === CONFIGURATION) {
      publish.onRemoteReports?.();
    }
    publish.onChange?.(topic, true);
    if (topic === NOTIFICATIONS) {
      publish.onRemoteNotifications?.();
    } else if (topic !== CONFIGURATION) {
      // The state of an organization has the queue of its token.
      publish.onChange?.('budget', true);
    }
  }

  /** The owner polls regularly, so that a lost command only delays. */
  #tell(organization: string, kind: CommandKind): void {
    this.#shared?.sender.notify(organization, kind).catch((error: unknown) => {
      this.#options.context.log.warn(
        { organization, reason: messageOf(error) },
        'cannot notify the owner of a webhook',
      );
    });
  }
}
