/** The daemon: opens the store, claims organizations, and runs their features. */

import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Config } from './config/config.ts';
import { endsWithin, repeatEvery } from './core/clock.ts';
import { messageOf } from './core/errors.ts';
import { EventBus } from './core/event-bus.ts';
import { openActions } from './daemon/actions.ts';
import { openCommandSender } from './daemon/command-sender.ts';
import { CommandRunner, routeRequests } from './daemon/commands.ts';
import { FactCollector, PassActivities } from './daemon/fact-collector.ts';
import { configuredReporters } from './daemon/facts/reporting.ts';
import { Configuration, requireWork } from './daemon/fleet/configuration.ts';
import { FleetReports } from './daemon/fleet/fleet-reports.ts';
import { openClock, openLeases, sharedBudgets } from './daemon/fleet/open-leases.ts';
import { FleetOrganizations, IN_FLIGHT } from './daemon/fleet/organizations.ts';
import { TokenConnections, tokenDigest } from './daemon/fleet/token-connections.ts';
import { FleetLink } from './daemon/fleet-link.ts';
import { DaemonNotifications, openChannels } from './daemon/notifications.ts';
import { createOpener } from './daemon/open-organization.ts';
import type { DaemonOptions } from './daemon/options.ts';
import { recordAction } from './daemon/organization/audit.ts';
import type { DaemonContext, DaemonEvents } from './daemon/organization/feature.ts';
import type { DaemonParts } from './daemon/parts.ts';
import { ReadModel, TransactionTimes } from './daemon/read-model.ts';
import { ownerOf, RemoteOrganizations, type Webhooks } from './daemon/states/remote-organizations.ts';
import { releaseWhenIdle, subscribeToDaemon } from './daemon/subscribe.ts';
import type { Channel } from './notify/channel.ts';
import type { OrganizationReconciler } from './reconcile/organization.ts';
import { type ControlServer, openControl, type ViewLoader } from './server/control.ts';
import { controlSocketPath } from './server/control-client.ts';
import { addHooks } from './server/hooks.ts';
import { createMetrics } from './server/metrics.ts';
import type { RequestHandlers } from './server/requests.ts';
import { createServer } from './server/server.ts';
import { DAEMON_HISTORY } from './store/history.ts';
import { FLEET_LEASE, type Lease } from './store/leases.ts';
import { openStore } from './store/open/open-store.ts';
import type { Backend } from './web/model/page.ts';

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
    const stop = new AbortController();
    const shares = { config, clock: shared, random, version, log, dryRun, metrics, store, events };
    const channels = await openChannels(config, version, shared);
    const daemon = new Daemon({ ...shares, stopping: stop.signal }, options, channels, times, stop);
    await daemon.open();
    return daemon;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** A running daemon. */
class Daemon {
  /** URL of health and metrics; null before `start`, and for a single round. */
  address: string | null = null;
  /** URL of the web page; null before `start`, and if it is not configured. */
  pageAddress: string | null = null;
  readonly #parts: DaemonParts;
  readonly #model: ReadModel;
  readonly #stop: AbortController;
  readonly #server: ReturnType<typeof createServer>;
  /** Handlers of requests of people. */
  readonly #handlers: RequestHandlers;
  /** Null for a state file. */
  readonly #link: FleetLink | null;
  readonly #facts: FactCollector;
  readonly #configuration: Configuration | null;
  #config: Config;
  /** False: the last write to the state file failed. */
  #isStorable = true;
  #control: ControlServer | null = null;
  #page: Awaited<ReturnType<typeof servePage>> = null;

  constructor(
    context: DaemonContext,
    options: DaemonOptions,
    channels: readonly Channel[],
    times: TransactionTimes,
    stop: AbortController,
  ) {
    const { metrics, clock, store, stopping } = context;
    this.#config = context.config;
    this.#stop = stop;
    // 1. Leases, which decide on the organizations of this replica. Their work begins in `open`, when all parts exist.
    const work = { begin: (lease: Lease) => this.#begin(lease), end: (lease: Lease) => this.#end(lease) };
    const leases = openLeases(context, work, () => this.#config.invalidFiles.length === 0);
    // 2. Connections to the platform and to the channels of notifications.
    const connections = new TokenConnections(context, sharedBudgets(context, leases));
    const notifications = new DaemonNotifications(context, channels, () => this.#reporters());
    // 3. Organizations of this replica, and their configuration.
    const { listeners = () => [], releaseMemory = () => {} } = options;
    const { approveCommand = (checksum: string) => `octavo approve ${checksum}` } = options;
    const activities = new PassActivities(clock);
    const memory = releaseWhenIdle(clock, stopping, releaseMemory);
    const subscribers = { listeners, approveCommand, activities, notifications, memory };
    const opener = createOpener(context, connections, leases.replica, subscribers);
    const organizations = new FleetOrganizations(context, opener);
    const { configuration: files } = options;
    const reconfigure = async (changed: Config) => {
      this.#configure(changed);
      await notifications.forgetRemoved();
    };
    this.#configuration = files === undefined ? null : new Configuration(context, files, reconfigure);
    const reports = new FleetReports(context, leases, () => this.#configuration?.problem ?? null);
    // 4. Organizations of other replicas, and the read model of all.
    const signals = leases.replica === null ? null : (store.fleet()?.signals ?? null);
    const commands = signals && openCommandSender(context, signals, (id) => ownerOf(leases, id, clock.now()));
    const remote = new RemoteOrganizations(context, leases, connections, commands);
    const own = { context, leases, connections, notifications, organizations, reports, remote };
    const model = new ReadModel(own, times, options.logBuffer);
    const parts = { ...own, model };
    this.#parts = parts;
    this.#model = model;
    // 5. Requests of people: carried out here, or by the owner of the organization.
    const local = openActions(parts);
    this.#handlers = commands === null ? local : routeRequests(local, parts, commands);
    this.#link = signals && new FleetLink(parts, signals, new CommandRunner(context, signals, organizations, local));
    // 6. Facts for notifications, health, metrics and webhooks.
    this.#facts = new FactCollector(parts, activities);
    this.#server = createServer({ registry: metrics.registry, ready: () => this.#unready() });
    // Other replicas export the metrics of their own organizations.
    metrics.registry.limitTo({
      organization: (id) => organizations.isHeld(id),
      receiver: (id) => organizations.isConfigured(id),
      queue: (name) => connections.isOpen(name),
    });
    serveHooks(this.#server.app, parts);
    // 7. What follows their events.
    subscribeToDaemon(context, {
      link: this.#link,
      facts: this.#facts,
      notifications,
      reports,
      observeFacts: () => this.#observeFacts(),
      observeQueues: () => this.#observeQueues(),
    });
  }

  /** Organizations that have a source of manifests. */
  get organizations(): readonly OrganizationReconciler[] {
    return this.#parts.organizations.open.flatMap(({ reconciliation }) => reconciliation?.reconciler ?? []);
  }

  /** Claims the organizations and opens them. Throws ConfigError and StoreError. */
  async open(): Promise<void> {
    try {
      this.#configure(this.#config);
      await this.#parts.leases.start();
      const [error] = await this.#parts.organizations.opened();
      if (error !== undefined && this.#parts.leases.replica === null) {
        throw error;
      }
    } catch (error) {
      await this.#parts.leases.drain(0);
      throw error;
    }
  }

  /** Serves health and metrics, opens the control socket and starts all features. */
  async start(): Promise<void> {
    const { context, organizations, notifications, model } = this.#parts;
    const { config, clock, log, version, stopping } = context;
    await organizations.check();
    this.#facts.start();
    this.#link?.start();
    await notifications.start();
    this.#control = await openControl(
      controlSocketPath(config),
      this.#handlers,
      viewLoader(model, this.#handlers),
      version,
    );
    this.address = await this.#server.listen(config.server.listen);
    this.#page = await servePage(context, model, this.#handlers);
    this.pageAddress = this.#page?.address ?? null;
    log.info({ address: this.address, organizations: this.#config.organizations.length }, 'octavo is running');
    void repeatEvery(clock, OBSERVE_INTERVAL, stopping, () => this.#observe());
    await organizations.start();
    await this.#configuration?.start();
  }

  /** Reads the configuration again, and applies what has changed. */
  async reload(): Promise<void> {
    await this.#configuration?.reload();
  }

  /**
   * Runs one round: a pass of each organization, a poll of each conversation source, and then one run over the issue
   * clusters. Returns false if conversations or clusters failed.
   */
  async once(): Promise<boolean> {
    await this.#parts.organizations.check();
    return this.#parts.organizations.once();
  }

  /** Runs once over the issue clusters of each organization, regardless of schedules. Returns false if a run failed. */
  async runClusters(): Promise<boolean> {
    return (await Promise.all(this.#parts.organizations.open.map(({ clusters }) => clusters.once()))).every(Boolean);
  }

  /**
   * Stops accepting work, lets requests in flight finish, records them and closes, within 10 s.
   * See docs/daemon.md#signals.
   */
  async stop(): Promise<void> {
    const { context, organizations, connections, leases, notifications } = this.#parts;
    const { clock, log, store } = context;
    const end = clock.monotonic() + EXIT_LIMIT;
    const close = (closing: readonly (Promise<unknown> | undefined)[]) =>
      endsWithin(clock, Math.max(CLOSE_LIMIT, end - clock.monotonic()), closing);
    this.#stop.abort();
    organizations.close();
    const hasEnded = await endsWithin(clock, STOP_LIMIT, [
      ...connections.queues().map(([, queue]) => queue.drain(IN_FLIGHT)),
      leases.drain(STOP_LIMIT),
      this.#configuration?.close(),
      this.#page?.server.close(),
      this.#facts.stop(),
    ]);
    if (!hasEnded) {
      log.warn('shutdown timed out; abandoning unfinished work');
    }
    // A database that does not answer must not keep the process from ending.
    await close([connections.remember()]);
    await close([notifications.close(), this.#control?.close(), this.#server.close()]);
    await close([store.close()]);
  }

  #configure(config: Config): void {
    const { context, connections, organizations, leases } = this.#parts;
    const { baseUrl } = context.config.platform;
    this.#config = config;
    connections.setOrganizations(config.organizations);
    organizations.setOrganizations(config.organizations);
    leases.setOrganizations(config.organizations.map(({ id, token }) => ({ id, shard: tokenDigest(baseUrl, token) })));
  }

  #begin(lease: Lease): void {
    (lease.name === FLEET_LEASE ? this.#parts.notifications : this.#parts.organizations).begin(lease);
  }

  #end(lease: Lease): Promise<void> {
    return lease.name === FLEET_LEASE ? this.#parts.notifications.end() : this.#parts.organizations.end(lease);
  }

  #reporters(): readonly string[] | null {
    const { organizations, invalidFiles } = this.#config;
    return invalidFiles.length > 0 ? null : configuredReporters(organizations, this.#parts.context.dryRun);
  }

  #unready(): readonly string[] {
    return this.#parts.leases.replica === null
      ? [
          ...(this.#isStorable ? [] : ['the state file cannot be written; see the log']),
          ...this.#parts.organizations.unready(),
        ]
      : this.#parts.leases.status().hasJoined
        ? []
        : ['this replica has not joined the fleet'];
  }

  /** Writes to the state file: a full disk or a deleted file is noticed although there is nothing else to store. */
  async #checkStore(): Promise<void> {
    const { store, clock, log } = this.#parts.context;
    try {
      await store.note('check').write(clock.now());
      this.#isStorable = true;
    } catch (error) {
      if (this.#isStorable && !this.#stop.signal.aborted) {
        log.error({ reason: messageOf(error) }, 'the state file cannot be written');
      }
      this.#isStorable = false;
    }
  }

  #observe(): void {
    const { context, leases, connections, organizations, reports } = this.#parts;
    if (leases.replica === null) {
      void this.#checkStore();
    } else {
      const { leases: held, unowned, left } = leases.status();
      context.metrics.leases(leases.replica, held.length, unowned.length, left / 1000);
    }
    void this.#observeFacts();
    this.#observeQueues();
    context.events.publish.onChange?.('replicas');
    void reports.publish();
    this.#model.observe();
    // Saved regularly, because a killed process cannot save anything.
    void connections.remember();
    organizations.observe();
  }

  async #observeFacts(): Promise<void> {
    await this.#parts.reports.refresh();
    await this.#facts.collect();
  }

  #observeQueues(): void {
    for (const [name, queue] of this.#parts.connections.queues()) {
      this.#parts.context.metrics.queue(name, queue.snapshot());
    }
  }
}

type HookParts = Pick<DaemonParts, 'context' | 'organizations' | 'remote'>;

/** Serves the webhooks, and counts their requests. */
function serveHooks(app: FastifyInstance, parts: HookParts): void {
  const { clock, metrics, events } = parts.context;
  addHooks(app, {
    receiver: (organization) => webhooksOf(parts, organization)?.conversations,
    pushHook: (organization) => webhooksOf(parts, organization)?.pushes ?? undefined,
    clock,
    onOutcome: (...outcome) => metrics.conversations.hook(...outcome),
    onPush: (organization, outcome) => {
      metrics.push(organization, outcome, clock.now());
      if (outcome !== 'refused') {
        events.publish.onStateChange?.(organization);
      }
    },
  });
}

/** Returns the webhooks of an organization: its own, or those that store for the owner. */
function webhooksOf({ organizations, remote }: HookParts, id: string): Webhooks | undefined {
  const managed = organizations.find(id);
  if (managed !== undefined) {
    return { conversations: managed.conversations.ingestion, pushes: managed.reconciliation?.pushes ?? null };
  }
  const config = organizations.configured.find((each) => each.id === id);
  return config === undefined ? undefined : remote.of(config);
}

/** Serves the page. Returns its server and its URL; null if it is not configured. */
async function servePage(context: DaemonContext, backend: Backend, handlers: RequestHandlers) {
  const { config, log, store } = context;
  if (config.ui.listen === undefined) {
    return null;
  }
  const { createPageServer } = await import('./web/server/page-server.ts');
  const server = await createPageServer({
    backend,
    handlers,
    config: config.ui,
    log,
    randomBytes,
    sessions: store.sessions(),
    onGuesses: (peer, attempts) => recordGuesses(context, peer, attempts),
  });
  const address = await server.listen();
  log.info({ address }, 'web page is served');
  const { tokens, proxy, oidc, roles } = config.ui;
  if (roles.length === 0 && (tokens.length > 0 || proxy !== undefined || oidc !== undefined)) {
    log.warn('nobody has a role on the web page; set ui.roles');
  }
  return { server, address };
}

/** Records in the audit that somebody guesses tokens. */
function recordGuesses(context: DaemonContext, peer: string | null, attempts: number): void {
  const { store, clock, log, events } = context;
  const detail = `${attempts} wrong tokens within a minute; further ones are refused for a minute`;
  const about = { action: 'sign in', subject: peer ?? 'all addresses', reason: '', detail } as const;
  const entry = { ...about, at: clock.now(), actor: { name: '', method: 'token' }, outcome: 'refused' } as const;
  recordAction(context, store.history(DAEMON_HISTORY), entry).then(
    () => events.publish.onChange?.('audit'),
    (error: unknown) => log.warn({ reason: messageOf(error) }, 'cannot record wrong tokens in the audit'),
  );
}

/** Returns the loader of view models for a user of the machine, who may see everything. */
function viewLoader(backend: Backend, handlers: RequestHandlers): ViewLoader {
  return async (by, path) => {
    const { loadView } = await import('./web/pages/index.ts');
    return loadView(backend, handlers, { actor: by, role: () => 'approver' }, path);
  };
}
