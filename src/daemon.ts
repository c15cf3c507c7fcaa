/** The daemon: opens the state file, creates the features of each organization, and runs them. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { OrganizationConfig } from './config/config.ts';
import { loadIdPseudonymizers, type PseudonymizeId } from './conversations/intake/id-pseudonymizer.ts';
import { endsWithin } from './core/clock.ts';
import { ChangeNotifier } from './daemon/backend.ts';
import { changeEvents, notifyingBudget } from './daemon/change-events.ts';
import { OrganizationClusters } from './daemon/clusters.ts';
import { OrganizationCommitStatuses } from './daemon/commit-statuses.ts';
import { OrganizationConversations } from './daemon/conversations.ts';
import { FactReporting } from './daemon/facts/reporting.ts';
import type { DaemonContext, Feature, OrganizationContext } from './daemon/feature.ts';
import { serveHooks } from './daemon/hooks.ts';
import { IdleMemory } from './daemon/idle-memory.ts';
import type { ManagedOrganization } from './daemon/managed-organization.ts';
import { DaemonNotifications, openChannels } from './daemon/notifications.ts';
import type { DaemonOptions } from './daemon/options.ts';
import { Reconciliation } from './daemon/reconciliation.ts';
import { requireWork } from './daemon/require-work.ts';
import { TokenConnections } from './daemon/token-connections.ts';
import { WebPage } from './daemon/web-page.ts';
import type { Channel } from './notify/channels/channel.ts';
import { ConversationsProbe } from './platform/conversations-probe.ts';
import type { OrganizationReconciler } from './reconcile/daemon/organization.ts';
import { type ControlServer, openControl } from './server/control.ts';
import { controlSocketPath } from './server/control-client.ts';
import { combineListeners } from './server/listeners.ts';
import { createMetrics, type Metrics } from './server/metrics.ts';
import { observeQueue, queueObservation } from './server/pass-events.ts';
import { createServer } from './server/server.ts';
import { openSqliteStore } from './store/sqlite.ts';
import type { Store } from './store/store.ts';

const approveCommand = (checksum: string) => `octavo approve ${checksum}`;

/** A running daemon. */
export interface Daemon {
  /** URL of health and metrics; null before `start`, and for a single round. */
  readonly address: string | null;
  /** URL of the web page; null before `start`, and if it is not configured. */
  readonly pageAddress: string | null;
  /** Organizations that have a source of manifests. */
  readonly organizations: readonly OrganizationReconciler[];
  /** Serves health and metrics, opens the control socket and starts all features. */
  start(): Promise<void>;
  /**
   * Runs one round: a pass of each organization, a poll of each conversation source, and then one run over the issue
   * clusters. Returns false if conversations or clusters failed.
   */
  once(): Promise<boolean>;
  /** Runs once over the issue clusters of each organization, regardless of schedules. Returns false if a run failed. */
  runClusters(): Promise<boolean>;
  /**
   * Stops accepting work, lets requests in flight finish, records them and closes, within 10 s.
   * See docs/daemon.md#signals.
   */
  stop(): Promise<void>;
}

/** Milliseconds that requests in flight may take after a SIGTERM. */
const IN_FLIGHT = 6000;
/** Milliseconds after which unfinished work is abandoned: less than 10 s, including closing. */
const STOP_LIMIT = 8000;
const CLOSE_LIMIT = 1000;

/** Creates the daemon. Throws ConfigError and StoreError before anything is started. */
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, clock, random, version, log } = options;
  requireWork(config);
  const metrics = createMetrics();
  const store = (options.openStore ?? openSqliteStore)(resolve(config.store.path));
  try {
    const changes = new ChangeNotifier();
    const onEvent = notifyingBudget(observeQueue(metrics), () => changes.notify('budget'));
    const connections = await TokenConnections.open({ config, clock, random, version, log, store, onEvent });
    const channels = await openChannels(config, version, clock);
    const idPseudonymizers = await loadIdPseudonymizers(store, config.organizations, randomBytes);
    return new RunningDaemon({ ...options, metrics, store, connections, idPseudonymizers, changes, channels });
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Parts of the daemon that are opened before it is created. */
interface DaemonParts extends DaemonOptions {
  readonly metrics: Metrics;
  readonly store: Store;
  readonly connections: TokenConnections;
  readonly idPseudonymizers: ReadonlyMap<string, PseudonymizeId>;
  readonly changes: ChangeNotifier;
  readonly channels: readonly Channel[];
}

class RunningDaemon implements Daemon {
  address: string | null = null;
  pageAddress: string | null = null;
  readonly #options: DaemonOptions;
  readonly #context: DaemonContext;
  readonly #connections: TokenConnections;
  readonly #organizations: readonly ManagedOrganization[];
  readonly #stopping = new AbortController();
  readonly #abort = new AbortController();
  readonly #memory: IdleMemory;
  readonly #server: ReturnType<typeof createServer>;
  readonly #changes: ChangeNotifier;
  readonly #page: WebPage;
  readonly #notifications: DaemonNotifications;
  readonly #facts: FactReporting;
  #control: ControlServer | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DaemonParts) {
    const { store, metrics, connections, idPseudonymizers, changes } = options;
    this.#changes = changes;
    this.#options = options;
    this.#connections = connections;
    this.#memory = new IdleMemory(options.clock, this.#stopping.signal, options.releaseMemory ?? (() => undefined));
    this.#context = { ...options, metrics, store, stopping: this.#stopping.signal, abort: this.#abort.signal };
    this.#notifications = new DaemonNotifications(this.#context, options.channels, () =>
      changes.notify('notifications'),
    );
    this.#facts = new FactReporting(this.#context, this.#notifications);
    this.#organizations = options.config.organizations.map((organization) =>
      this.#open(organization, idPseudonymizers.get(organization.id) as PseudonymizeId),
    );
    this.#page = new WebPage({
      context: this.#context,
      organizations: this.#organizations,
      changes: this.#changes,
      ...{ connections, notifications: this.#notifications, logBuffer: options.logBuffer },
    });
    this.#server = createServer({ registry: metrics.registry, health: () => [], ready: () => this.#unready() });
    serveHooks(this.#server.app, this.#organizations, { clock: options.clock, metrics, changes });
  }

  get organizations(): readonly OrganizationReconciler[] {
    return this.#organizations.flatMap(({ reconciliation }) => reconciliation?.reconciler ?? []);
  }

  get #features(): readonly Feature[] {
    return this.#organizations.flatMap(({ features }) => features);
  }

  async start(): Promise<void> {
    const { config, log } = this.#context;
    await this.#check();
    await this.#notifications.start(this.#facts.start(this.#page.backend));
    this.#control = await openControl(
      controlSocketPath(resolve(config.store.path)),
      this.#page.backend.actions,
      (by, path) => this.#page.view(by, path),
    );
    this.address = await this.#server.listen(config.server.listen);
    this.pageAddress = await this.#page.open();
    log.info({ address: this.address, organizations: config.organizations.length }, 'octavo is running');
    this.#timer = setInterval(() => this.#observe(), 10_000);
    this.#timer.unref();
    await Promise.all(
      this.#organizations.map(async ({ features }) => {
        for (const feature of features) {
          await feature.start();
        }
      }),
    );
  }

  async once(): Promise<boolean> {
    await this.#check();
    let succeeded = true;
    for (const stage of [1, 2]) {
      const features = this.#features.filter((feature) => feature.stage === stage);
      const results = await Promise.all(features.map((feature) => feature.once()));
      succeeded &&= results.every(Boolean);
    }
    return succeeded;
  }

  async runClusters(): Promise<boolean> {
    return (await Promise.all(this.#organizations.map(({ clusters }) => clusters.once()))).every(Boolean);
  }

  async #check(): Promise<void> {
    await Promise.all(this.#features.map((feature) => feature.check?.()));
  }

  async stop(): Promise<void> {
    const { clock, log, store } = this.#context;
    this.#stopping.abort();
    clearInterval(this.#timer);
    const late = setTimeout(() => this.#abort.abort(), IN_FLIGHT);
    const hasEnded = await endsWithin(clock, STOP_LIMIT, [
      ...this.#connections.queues().map(([, queue]) => queue.drain(IN_FLIGHT)),
      ...this.#features.map((feature) => feature.stop(IN_FLIGHT)),
      this.#page.close(),
      this.#notifications.stop(IN_FLIGHT),
      this.#facts.stop(),
    ]);
    clearTimeout(late);
    if (!hasEnded) {
      log.warn('shutdown timed out; abandoning unfinished work');
    }
    await this.#connections.remember();
    await endsWithin(clock, CLOSE_LIMIT, [this.#connections.close(), this.#control?.close(), this.#server.close()]);
    await store.close();
  }

  #open(organization: OrganizationConfig, pseudonymizeId: PseudonymizeId): ManagedOrganization {
    const { id, source } = organization;
    const { events, conversationEvents, clusterEvents } = this.#options;
    const context: OrganizationContext = {
      ...this.#context,
      organization,
      connection: this.#connections.of(organization),
      probe: new ConversationsProbe(),
      log: this.#context.log.child({ organization: id }),
    };
    const notify = () => this.#changes.notify(id);
    const changes = changeEvents(notify);
    const statuses = OrganizationCommitStatuses.open(context);
    const reconciliation =
      source === null
        ? null
        : new Reconciliation(context, {
            source,
            approveCommand: this.#options.approveCommand ?? approveCommand,
            onPassEnd: () => this.#endPass(),
            onRecorded: (number) => {
              notify();
              statuses?.recorded(number);
              // The pass was stored with its events.
              this.#notifications.wake();
            },
            events: combineListeners([
              this.#memory.events(),
              changes.passes,
              statuses?.events() ?? {},
              this.#facts.passEvents(id),
              events?.(id) ?? {},
            ]),
          });
    const conversations = new OrganizationConversations(context, {
      pseudonymizeId,
      events: combineListeners([changes.conversations, conversationEvents?.(id) ?? {}]),
    });
    const clusters = new OrganizationClusters(context, {
      source: reconciliation?.source ?? null,
      bindings: () => reconciliation?.reconciler.lastPlan?.bindings ?? null,
      events: combineListeners([changes.clusters, this.#facts.clusterEvents(id), clusterEvents?.(id) ?? {}]),
    });
    const features = [reconciliation, statuses, conversations, clusters].filter((feature) => feature !== null);
    return { id, reconciliation, statuses, conversations, clusters, features };
  }

  #unready(): readonly string[] {
    return this.organizations
      .filter((organization) => organization.lastEnd === null)
      .map((organization) => `${organization.id}: the first pass has not ended`);
  }

  #observe(): void {
    this.#observeQueues();
    this.#page.observe();
    void this.#facts.observe();
    // Saved regularly, because a killed process cannot save anything.
    void this.#connections.remember();
    for (const feature of this.#features) {
      void feature.observe?.();
    }
  }

  #endPass(): void {
    this.#observeQueues();
    void this.#facts.observe();
  }

  #observeQueues(): void {
    for (const [name, queue] of this.#connections.queues()) {
      this.#context.metrics.queue(queueObservation(name, queue.snapshot()));
    }
  }
}
