/** The daemon: opens the store, claims organizations, and runs their features. */
import type { Config } from './config/config.ts';
import { endsWithin, repeatEvery } from './core/clock.ts';
import { messageOf } from './core/errors.ts';
import { EventBus } from './core/event-bus.ts';
import { describeFleet, metricOwnership, observeFleet, TransactionTimes } from './daemon/describe-fleet.ts';
import { FactCollector, PassActivities } from './daemon/fact-collector.ts';
import { configuredReporters } from './daemon/facts/reporting.ts';
import { Configuration } from './daemon/fleet/configuration.ts';
import { FleetReports } from './daemon/fleet/fleet-reports.ts';
import { openClock, openLeases, sharedBudgets } from './daemon/fleet/open-leases.ts';
import { FleetOrganizations, IN_FLIGHT } from './daemon/fleet/organizations.ts';
import { requireWork } from './daemon/fleet/require-work.ts';
import { TokenConnections, tokenDigest } from './daemon/fleet/token-connections.ts';
import { FleetLink } from './daemon/fleet-link.ts';
import { serveHooks } from './daemon/hooks.ts';
import { DaemonNotifications, openChannels } from './daemon/notifications.ts';
import { createOpener } from './daemon/open-organization.ts';
import type { Daemon, DaemonOptions } from './daemon/options.ts';
import type { DaemonContext, DaemonEvents } from './daemon/organization/feature.ts';
import { IdleMemory, subscribeToDaemon } from './daemon/subscribe.ts';
import { WebPage } from './daemon/web-page.ts';
import type { FleetLeases } from './fleet/fleet-leases.ts';
import type { Channel } from './notify/channel.ts';
import type { OrganizationReconciler } from './reconcile/organization.ts';
import { type ControlServer, openControl, type ViewLoader } from './server/control.ts';
import { controlSocketPath } from './server/control-client.ts';
import { createMetrics } from './server/metrics.ts';
import { createServer } from './server/server.ts';
import { FLEET_LEASE, type Lease } from './store/leases.ts';
import { openStore } from './store/open/open-store.ts';

export type { Daemon };

/** Milliseconds after which unfinished work is abandoned, and after which the process ends whatever is not closed. */
const STOP_LIMIT = 8500;
const EXIT_LIMIT = 9500;
/** Milliseconds that closing a part gets at least. */
const CLOSE_LIMIT = 100;
/** Milliseconds between two updates of the metrics, and of what is saved regularly. */
const OBSERVE_INTERVAL = 10_000;

/** Creates the daemon. Throws ConfigError and StoreError before anything is started. */
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, clock, random, version, log, dryRun } = options;
  requireWork(config);
  const metrics = createMetrics();
  const times = new TransactionTimes(metrics);
  const store = await (options.openStore?.(config.store) ?? openStore(config.store, clock, random, times.listener));
  try {
    const shared = await openClock(clock, store, log);
    const events = new EventBus<DaemonEvents>();
    const context: DaemonContext = { config, clock: shared, random, version, log, dryRun, metrics, store, events };
    const channels = await openChannels(config, version, shared);
    const daemon = new RunningDaemon(context, options, channels, times);
    await daemon.open();
    return daemon;
  } catch (error) {
    await store.close();
    throw error;
  }
}

class RunningDaemon implements Daemon {
  address: string | null = null;
  pageAddress: string | null = null;
  readonly #context: DaemonContext;
  readonly #connections: TokenConnections;
  readonly #organizations: FleetOrganizations;
  readonly #leases: FleetLeases;
  readonly #stopping = new AbortController();
  readonly #server: ReturnType<typeof createServer>;
  readonly #link: FleetLink;
  readonly #page: WebPage;
  readonly #notifications: DaemonNotifications;
  readonly #facts: FactCollector;
  readonly #configuration: Configuration | null;
  readonly #reports: FleetReports;
  #config: Config;
  /** False: the last write to the state file failed. */
  #isStorable = true;
  #control: ControlServer | null = null;

  constructor(context: DaemonContext, options: DaemonOptions, channels: readonly Channel[], times: TransactionTimes) {
    const { metrics, clock, log, events } = context;
    this.#context = context;
    this.#config = context.config;
    // 1. Leases, which decide on the organizations of this replica. Their work begins in `open`, when all parts exist.
    const work = { begin: (lease: Lease) => this.#begin(lease), end: (lease: Lease) => this.#end(lease) };
    this.#leases = openLeases(context, work, () => this.#config.invalidFiles.length === 0);
    // 2. Connections to the platform and to the channels of notifications.
    this.#connections = new TokenConnections(context, sharedBudgets(context, this.#leases));
    this.#notifications = new DaemonNotifications(context, channels, () => this.#reporters());
    // 3. Organizations and their configuration.
    const { listeners = () => [], releaseMemory = () => {} } = options;
    const { approveCommand = (checksum: string) => `octavo approve ${checksum}` } = options;
    const activities = new PassActivities(clock);
    const opener = createOpener(context, this.#connections, this.#leases.replica, {
      listeners,
      approveCommand,
      activities,
      notifications: this.#notifications,
      memory: new IdleMemory(clock, this.#stopping.signal, releaseMemory),
    });
    this.#organizations = new FleetOrganizations({ opener, clock, log, events });
    const { configuration: files } = options;
    const reconfigure = async (changed: Config) => {
      this.#configure(changed);
      await this.#notifications.forgetRemoved();
    };
    this.#configuration = files === undefined ? null : new Configuration(context, files, reconfigure);
    this.#reports = new FleetReports(context, this.#leases, () => this.#configuration?.problem ?? null);
    // 4. The other replicas, the page, facts for notifications, and webhooks.
    this.#link = new FleetLink({
      context,
      leases: this.#leases,
      connections: this.#connections,
      organizations: this.#organizations,
      stopping: this.#stopping.signal,
    });
    this.#page = new WebPage({
      context,
      connections: this.#connections,
      notifications: this.#notifications,
      link: this.#link,
      reports: this.#reports,
      fleet: () => describeFleet(this.#leases, this.#organizations.configured, this.#reports, times.average),
      organizations: this.#organizations,
      logBuffer: options.logBuffer,
    });
    const { backend } = this.#page;
    this.#facts = new FactCollector(context, this.#notifications, activities, this.#organizations, backend);
    this.#server = createServer({ registry: metrics.registry, health: () => [], ready: () => this.#unready() });
    metrics.registry.limitTo(metricOwnership(this.#organizations, this.#connections));
    serveHooks(this.#server.app, (id) => this.#link.hooks(id), context);
    // 5. What follows their events.
    subscribeToDaemon(context, {
      link: this.#link,
      facts: this.#facts,
      notifications: this.#notifications,
      reports: this.#reports,
      observeFacts: () => this.#observeFacts(),
      observeQueues: () => this.#observeQueues(),
    });
  }

  get organizations(): readonly OrganizationReconciler[] {
    return this.#organizations.open.flatMap(({ reconciliation }) => reconciliation?.reconciler ?? []);
  }

  /** Claims the organizations and opens them. Throws ConfigError and StoreError. */
  async open(): Promise<void> {
    try {
      this.#configure(this.#config);
      await this.#leases.start();
      const [error] = await this.#organizations.opened();
      if (error !== undefined && this.#leases.replica === null) {
        throw error;
      }
    } catch (error) {
      await this.#leases.drain(0);
      throw error;
    }
  }

  async start(): Promise<void> {
    const { config, clock, log } = this.#context;
    await this.#organizations.check();
    this.#facts.start();
    this.#link.start();
    await this.#notifications.start();
    const view: ViewLoader = (by, path) => this.#page.view(by, path);
    const { actions, version } = this.#page.backend;
    this.#control = await openControl(controlSocketPath(config), actions, view, version);
    this.address = await this.#server.listen(config.server.listen);
    this.pageAddress = await this.#page.open();
    log.info({ address: this.address, organizations: this.#config.organizations.length }, 'octavo is running');
    void repeatEvery(clock, OBSERVE_INTERVAL, this.#stopping.signal, () => this.#observe());
    await this.#organizations.start();
    await this.#configuration?.start();
  }

  async reload(): Promise<void> {
    await this.#configuration?.reload();
  }

  async once(): Promise<boolean> {
    await this.#organizations.check();
    return this.#organizations.once();
  }

  async runClusters(): Promise<boolean> {
    return (await Promise.all(this.#organizations.open.map(({ clusters }) => clusters.once()))).every(Boolean);
  }

  async stop(): Promise<void> {
    const { clock, log, store } = this.#context;
    const end = clock.monotonic() + EXIT_LIMIT;
    const close = (closing: readonly (Promise<unknown> | undefined)[]) =>
      endsWithin(clock, Math.max(CLOSE_LIMIT, end - clock.monotonic()), closing);
    this.#stopping.abort();
    this.#organizations.close();
    const hasEnded = await endsWithin(clock, STOP_LIMIT, [
      ...this.#connections.queues().map(([, queue]) => queue.drain(IN_FLIGHT)),
      this.#leases.drain(STOP_LIMIT),
      this.#configuration?.close(),
      this.#page.close(),
      this.#facts.stop(),
    ]);
    if (!hasEnded) {
      log.warn('shutdown timed out; abandoning unfinished work');
    }
    // A database that does not answer must not keep the process from ending.
    await close([this.#connections.remember()]);
    await close([this.#notifications.close(), this.#control?.close(), this.#server.close()]);
    await close([store.close()]);
  }

  #configure(config: Config): void {
    const { organizations } = config;
    const { baseUrl } = this.#context.config.platform;
    this.#config = config;
    this.#connections.setOrganizations(organizations);
    this.#organizations.setOrganizations(organizations);
    this.#leases.setOrganizations(organizations.map(({ id, token }) => ({ id, shard: tokenDigest(baseUrl, token) })));
  }

  #begin(lease: Lease): void {
    (lease.name === FLEET_LEASE ? this.#notifications : this.#organizations).begin(lease);
  }

  #end(lease: Lease): Promise<void> {
    return lease.name === FLEET_LEASE ? this.#notifications.end() : this.#organizations.end(lease);
  }

  #reporters(): readonly string[] | null {
    const { organizations, invalidFiles } = this.#config;
    return invalidFiles.length > 0 ? null : configuredReporters(organizations, this.#context.dryRun);
  }

  #unready(): readonly string[] {
    return this.#leases.replica === null
      ? [
          ...(this.#isStorable ? [] : ['the state file cannot be written; see the log']),
          ...this.#organizations.unready(),
        ]
      : this.#leases.status().hasJoined
        ? []
        : ['this replica has not joined the fleet'];
  }

  /** Writes to the state file: a full disk or a deleted file is noticed although there is nothing else to store. */
  async #checkStore(): Promise<void> {
    const { store, clock, log } = this.#context;
    try {
      await store.note('check').write(clock.now());
      this.#isStorable = true;
    } catch (error) {
      if (this.#isStorable && !this.#stopping.signal.aborted) {
        log.error({ reason: messageOf(error) }, 'the state file cannot be written');
      }
      this.#isStorable = false;
    }
  }

  #observe(): void {
    if (this.#leases.replica === null) {
      void this.#checkStore();
    }
    void this.#observeFacts();
    this.#observeQueues();
    observeFleet(this.#leases, this.#context.metrics);
    this.#context.events.publish.onChange?.('replicas', true);
    void this.#reports.publish();
    this.#page.observe();
    // Saved regularly, because a killed process cannot save anything.
    void this.#connections.remember();
    this.#organizations.observe();
  }

  async #observeFacts(): Promise<void> {
    await this.#reports.refresh();
    await this.#facts.collect();
  }

  #observeQueues(): void {
    for (const [name, queue] of this.#connections.queues()) {
      this.#context.metrics.queue(name, queue.snapshot());
    }
  }
}
