/** Link of this replica to the others of a fleet: writes states and runs commands for them, and publishes what they change. */
import type { OrganizationConfig } from '../config/config.ts';
import type { FleetSignal, FleetSignals } from '../store/leases.ts';
import { organizationOf, organizationTopic, readTopic, type Topic } from '../web/model/page.ts';
import type { CommandRunner } from './commands.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import type { DaemonParts } from './parts.ts';
import { StatePublisher } from './states/states.ts';

type LinkedParts = Pick<DaemonParts, 'context' | 'leases' | 'connections' | 'organizations' | 'model'>;

export class FleetLink {
  readonly #parts: LinkedParts;
  readonly #signals: FleetSignals;
  readonly #runner: Pick<CommandRunner, 'run' | 'wake'>;
  readonly #publisher: StatePublisher;

  constructor(parts: LinkedParts, signals: FleetSignals, runner: Pick<CommandRunner, 'run' | 'wake'>) {
    this.#parts = parts;
    this.#signals = signals;
    this.#runner = runner;
    this.#publisher = new StatePublisher(parts.context, (id) => this.announce(organizationTopic(id)));
  }

  /** Writes the states of the organizations of this replica from now on, and follows the others, until the daemon stops. */
  start(): void {
    const { context, leases } = this.#parts;
    const end = this.#signals.listen((signal) => this.#receive(signal));
    void this.#runner.run();
    void this.#publisher.run(context.stopping).finally(end);
    context.log.debug({ replica: leases.replica }, 'states of organizations are written for other replicas');
  }

  /** Writes the state of an organization that this replica has opened, or ends that. */
  show(id: string): void {
    const { context, organizations } = this.#parts;
    const managed = organizations.find(id);
    if (managed === undefined) {
      this.#publisher.remove(id);
      // The queue that it used is in the state of another one.
      const config = organizations.configured.find((each) => each.id === id);
      const holder = config && this.#queueHolder(config);
      if (holder !== undefined) {
        this.#publisher.changed(holder);
      }
      return;
    }
    const { lease } = managed;
    const states = context.store.fenced(lease).organizationStates();
    this.#publisher.add({ id, lease, states, read: () => this.#read(managed) });
  }

  /** Writes the state of an organization soon, if this replica has it, and checks for commands: one may be possible now. */
  changed(id: string): void {
    this.#publisher.changed(id);
    this.#runner.wake();
  }

  /** Notifies the other replicas of a change. */
  announce(topic: Topic): void {
    void this.#signals.send({ kind: 'change', payload: { topic, from: this.#parts.leases.replica } });
  }

  #read(managed: ManagedOrganization) {
    const { id, reconciliation, statuses, clusters, conversations } = managed;
    const hasQueue = this.#queueHolder(managed.config) === id;
    const state = hasQueue ? this.#parts.model.organizations().find((each) => each.id === id) : undefined;
    return {
      reconciler: reconciliation?.reconciler ?? null,
      resources: reconciliation?.resources ?? null,
      statuses,
      clusters,
      ingestion: conversations.ingestion.activity,
      queue: state?.queue ?? null,
    };
  }

  /** Returns the organization of this replica whose state has the queue of a token: the first one that uses it. */
  #queueHolder(config: OrganizationConfig): string | undefined {
    const { connections, organizations } = this.#parts;
    return connections.tokenUsers(config).find((id) => organizations.find(id) !== undefined);
  }

  #receive({ kind, payload }: FleetSignal): void {
    const { leases, organizations } = this.#parts;
    if (kind !== 'change' || payload.from === leases.replica) {
      return;
    }
    // Without a topic, messages were missed while the connection was interrupted.
    const topics: readonly Topic[] =
      typeof payload.topic === 'string'
        ? [readTopic(payload.topic)]
        : ['notifications', 'configuration', ...organizations.configured.map(({ id }) => organizationTopic(id))];
    for (const topic of topics) {
      this.#publish(topic);
    }
  }

  /** Publishes here what another replica has changed. */
  #publish(topic: Topic): void {
    const { publish } = this.#parts.context.events;
    if (topic === 'configuration') {
      publish.onRemoteReports?.();
    }
    publish.onChange?.(topic);
    if (topic === 'notifications') {
      publish.onRemoteNotifications?.();
    } else if (organizationOf(topic) !== null) {
      // The state of an organization has the queue of its token.
      publish.onChange?.('budget');
    }
  }
}
