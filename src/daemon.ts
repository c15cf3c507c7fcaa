import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { ClusterEvents } from './clusters/run/events.ts';
import type { Config, OrganizationConfig } from './config/config.ts';
import { outboxLimit } from './config/conversations.ts';
import { loadIdPseudonymizers, type PseudonymizeId } from './conversations/intake/id-pseudonymizer.ts';
import type { ConversationEvents } from './conversations/model/events.ts';
import type { Clock, Random } from './core/clock.ts';
import { endsWithin } from './core/clock.ts';
import { ConfigError } from './core/errors.ts';
import { type ClustersOptions, OrganizationClusters } from './daemon/clusters.ts';
import { OrganizationConversations } from './daemon/conversations.ts';
import { approvePlan, type Member, memberOf, reconcileByHand, statusOf } from './daemon/members.ts';
import { openReconciliation, type Reconciliation } from './daemon/reconciliation.ts';
import { TokenConnections } from './daemon/token-connections.ts';
import type { Logger } from './log.ts';
import type { Connection } from './platform/connection.ts';
import { ConversationsProbe } from './platform/conversations-probe.ts';
import type { OrganizationReconciler } from './reconcile/daemon/organization.ts';
import type { PassEvents } from './reconcile/daemon/pass.ts';
import { type ControlServer, controlSocketPath, openControl } from './server/control.ts';
import { addHooks } from './server/hooks.ts';
import { createMetrics, type Metrics } from './server/metrics.ts';
import { observeQueue, queueObservation } from './server/pass-events.ts';
import { createServer } from './server/server.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';

/** What the daemon is made of. */
export interface DaemonOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly version: string;
  /** Plans and reports, and never writes: no client that could is made. */
  readonly dryRun: boolean;
  /** The command that approves a checksum, for the log; absent: without a configuration. */
  readonly approveCommand?: (checksum: string) => string;
  /** Opens the state file; absent: as it is meant to be. */
  readonly openStore?: (path: string) => Store;
  /** Told of every pass besides the log and the metrics. */
  readonly events?: (organization: string) => PassEvents;
  /** Told of conversations besides the log and the metrics. */
  readonly conversationEvents?: (organization: string) => ConversationEvents;
  /** Told of issue clusters besides the log and the metrics. */
  readonly clusterEvents?: (organization: string) => ClusterEvents;
}

const approveCommand = (checksum: string) => `octavo approve ${checksum}`;

/** A running daemon. */
export interface Daemon {
  /** Where health and metrics are answered; null before `start`, and for a single pass. */
  readonly address: string | null;
  /** Those that have a source of manifests. */
  readonly organizations: readonly OrganizationReconciler[];
  /** Answers health, opens the control socket, watches the sources, and makes the first pass of every organization. */
  start(): Promise<void>;
  /**
   * One pass of every organization, one poll of each source of its conversations, one look at its issue clusters, and no
   * more. Answers whether nothing failed with conversations and clusters.
   */
  once(): Promise<boolean>;
  /** One look at the issue clusters of every organization, whatever their schedules say. Answers whether nothing failed. */
  lookAtClusters(): Promise<boolean>;
  /**
   * Stops accepting work, lets requests in flight finish, records them and closes, within 10 s.
   * See docs/daemon.md#signals.
   */
  stop(): Promise<void>;
}

/** Milliseconds that requests in flight get to end after a SIGTERM. */
const IN_FLIGHT = 6000;
/** Milliseconds after which what still goes on is left: with the closing, less than 10 s. */
const STOP_LIMIT = 8000;
const CLOSE_LIMIT = 1000;

/** Puts the daemon together. Throws ConfigError and StoreError before anything is begun. */
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, clock, random, version, log } = options;
  const idle = config.organizations.find((organization) => !hasWork(organization));
  if (idle !== undefined) {
    throw new ConfigError(
      `organization ${idle.id} has nothing to do: set source.git.url or source.directory, conversations.sources, or clusters.enabled for it in the configuration`,
    );
  }
  const metrics = createMetrics();
  const store = (options.openStore ?? openSqliteStore)(resolve(config.store.path));
  try {
    const onEvent = observeQueue(metrics);
    const connections = await TokenConnections.open({ config, clock, random, version, log, store, onEvent });
    const idPseudonymizers = await loadIdPseudonymizers(store, config.organizations, randomBytes);
    return new RunningDaemon(options, metrics, store, connections, idPseudonymizers);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Whether the configuration gives the daemon anything to do for an organization. */
function hasWork({ source, conversations, clusters }: OrganizationConfig): boolean {
  return source !== null || conversations.sources.length > 0 || clusters.enabled;
}

class RunningDaemon implements Daemon {
  address: string | null = null;
  readonly #options: DaemonOptions;
  readonly #metrics: Metrics;
  readonly #store: Store;
  readonly #connections: TokenConnections;
  /** By organization. */
  readonly #idPseudonymizers: ReadonlyMap<string, PseudonymizeId>;
  readonly #members: readonly Member[];
  readonly #stopping = new AbortController();
  readonly #abort = new AbortController();
  readonly #server: ReturnType<typeof createServer>;
  #control: ControlServer | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    options: DaemonOptions,
    metrics: Metrics,
    store: Store,
    connections: TokenConnections,
    idPseudonymizers: ReadonlyMap<string, PseudonymizeId>,
  ) {
    this.#options = options;
    this.#idPseudonymizers = idPseudonymizers;
    this.#metrics = metrics;
    this.#store = store;
    this.#connections = connections;
    const { config } = options;
    this.#members = config.organizations.map((organization) => this.#member(organization));
    this.#server = createServer({
      registry: this.#metrics.registry,
      health: () => [],
      ready: () => this.#unready(),
    });
    addHooks(this.#server.app, {
      receivers: new Map(this.#members.map(({ id, conversations }) => [id, conversations])),
      clock: options.clock,
      onOutcome: (...told) => metrics.conversations.hook(...told),
    });
  }

  get organizations(): readonly OrganizationReconciler[] {
    return this.#members.flatMap(({ reconciliation }) => reconciliation?.reconciler ?? []);
  }

  async start(): Promise<void> {
    const { config, log } = this.#options;
    await this.#check();
    this.#control = await openControl(controlSocketPath(resolve(config.store.path)), {
      approve: (checksum) => approvePlan(this.#members, checksum),
      reconcile: async (organization) => reconcileByHand(this.#members, organization),
      status: async () => statusOf(this.#members),
      conversations: async (organization, question) =>
        memberOf(this.#members, organization).conversations.answer(question),
      clusters: async (organization, question) => memberOf(this.#members, organization).clusters.answer(question),
    });
    this.address = await this.#server.listen(config.server.listen);
    log.info({ address: this.address, organizations: config.organizations.length }, 'octavo is running');
    this.#timer = setInterval(() => this.#lookAtQueues(), 10_000);
    this.#timer.unref();
    await Promise.all(
      this.#members.map(async ({ reconciliation, conversations, clusters }) => {
        await reconciliation?.schedule.start();
        void reconciliation?.reconciler.trigger('start');
        conversations.start();
        clusters.start();
      }),
    );
  }

  async once(): Promise<boolean> {
    await this.#check();
    const sent = this.#members.map(({ conversations }) => conversations.once());
    await Promise.all(this.organizations.map((reconciler) => reconciler.trigger('start')));
    // What the pass has made is there for them, and what was sent may have become clusters.
    const areSent = await Promise.all(sent);
    return (await this.lookAtClusters()) && areSent.every(Boolean);
  }

  async lookAtClusters(): Promise<boolean> {
    return (await Promise.all(this.#members.map(({ clusters }) => clusters.once()))).every(Boolean);
  }

  /** What of the configuration only the manifests and the platform know. Throws ConfigError. */
  async #check(): Promise<void> {
    await Promise.all(this.#members.map(({ clusters }) => clusters.check()));
  }

  async stop(): Promise<void> {
    const { clock, log } = this.#options;
    this.#stopping.abort();
    clearInterval(this.#timer);
    const late = setTimeout(() => this.#abort.abort(), IN_FLIGHT);
    const ended = await endsWithin(clock, STOP_LIMIT, [
      ...this.#connections.queues().map(([, queue]) => queue.drain(IN_FLIGHT)),
      ...this.#members.map(({ reconciliation }) => reconciliation?.schedule.stop()),
      ...this.organizations.map((reconciler) => reconciler.idle()),
      ...this.#members.map(({ conversations }) => conversations.stop(IN_FLIGHT)),
      ...this.#members.map(({ clusters }) => clusters.stop()),
    ]);
    clearTimeout(late);
    if (!ended) {
      log.warn('something does not end in time, such as a git that waits for its server; it is left');
    }
    await this.#connections.remember();
    await endsWithin(clock, CLOSE_LIMIT, [this.#connections.close(), this.#control?.close(), this.#server.close()]);
    await this.#store.close();
  }

  #member(organization: OrganizationConfig): Member {
    const connection = this.#connections.of(organization);
    const reconciliation = this.#reconciliation(organization, connection);
    const probe = new ConversationsProbe();
    const conversations = this.#conversations(organization, connection, probe);
    const clusters = this.#clusters(organization, connection, {
      source: reconciliation?.source ?? null,
      probe,
      bindings: () => reconciliation?.reconciler.lastPlan?.bindings ?? null,
    });
    return { id: organization.id, reconciliation, conversations, clusters };
  }

  #reconciliation(organization: OrganizationConfig, connection: Connection): Reconciliation | null {
    const { config, clock, log, dryRun } = this.#options;
    if (organization.source === null) {
      return null;
    }
    return openReconciliation({
      ...{ organization, source: organization.source, config, connection, store: this.#store, clock, log, dryRun },
      metrics: this.#metrics,
      approveCommand: this.#options.approveCommand ?? approveCommand,
      onPassEnd: () => this.#observeQueues(),
      events: this.#options.events?.(organization.id) ?? {},
      stopping: this.#stopping.signal,
      abort: this.#abort.signal,
    });
  }

  #clusters(
    organization: OrganizationConfig,
    connection: Connection,
    shared: Pick<ClustersOptions, 'source' | 'probe' | 'bindings'>,
  ): OrganizationClusters {
    const { clock, random, log, dryRun } = this.#options;
    return new OrganizationClusters({
      organization,
      connection,
      ...shared,
      store: this.#store,
      clock,
      random,
      log: log.child({ organization: organization.id }),
      metrics: this.#metrics,
      events: this.#options.clusterEvents?.(organization.id) ?? {},
      dryRun,
      stopping: this.#stopping.signal,
      abort: this.#abort.signal,
    });
  }

  #conversations(
    organization: OrganizationConfig,
    connection: Connection,
    probe: ConversationsProbe,
  ): OrganizationConversations {
    const { clock, random, version, log, dryRun } = this.#options;
    return new OrganizationConversations({
      organization,
      connection,
      probe,
      outbox: this.#store.outbox(organization.id, outboxLimit(organization.conversations)),
      record: this.#store.organization(organization.id),
      note: (topic) => this.#store.note(`conversations/${organization.id}/${topic}`),
      pseudonymizeId: this.#idPseudonymizers.get(organization.id) as PseudonymizeId,
      clock,
      random,
      version,
      log: log.child({ organization: organization.id }),
      metrics: this.#metrics,
      events: this.#options.conversationEvents?.(organization.id) ?? {},
      dryRun,
      abort: this.#abort.signal,
    });
  }

  #unready(): readonly string[] {
    return this.organizations
      .filter((organization) => organization.lastEnd === null)
      .map((organization) => `${organization.id}: no first sync yet`);
  }

  #lookAtQueues(): void {
    this.#observeQueues();
    // Now and then besides: a process that is killed has no time to.
    void this.#connections.remember();
    for (const { conversations } of this.#members) {
      void conversations.observe();
    }
  }

  #observeQueues(): void {
    for (const [name, queue] of this.#connections.queues()) {
      this.#metrics.queue(queueObservation(name, queue.snapshot()));
    }
  }
}
