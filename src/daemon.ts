import { randomBytes } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import type { Config, OrganizationConfig } from './config/config.ts';
import type { ConversationEvents } from './conversations/events.ts';
import { type HideId, openHiddenIds } from './conversations/hidden-ids.ts';
import type { Clock, Random } from './core/clock.ts';
import { ConfigError, RefusedPlanError } from './core/errors.ts';
import type { JsonObject } from './core/json.ts';
import { endsWithin } from './core/within.ts';
import { OrganizationConversations } from './daemon/conversations.ts';
import { TokenConnections } from './daemon/token-connections.ts';
import { kinds } from './kinds/registry.ts';
import type { Logger } from './log.ts';
import { createManifestLoader } from './manifests/loader.ts';
import { openReader, openWriter } from './platform/client.ts';
import type { Connection } from './platform/connection.ts';
import { FightBook } from './reconcile/fight-book.ts';
import { OrganizationReconciler } from './reconcile/organization.ts';
import type { PassEvents } from './reconcile/pass.ts';
import { createSchedule, type Schedule } from './reconcile/schedule.ts';
import { type DesiredSource, openSource } from './reconcile/source.ts';
import { type ControlServer, controlSocketPath, openControl } from './server/control.ts';
import { addHooks } from './server/hooks.ts';
import { createMetrics, type Metrics } from './server/metrics.ts';
import { combineEvents, logEvents, metricEvents, observeQueue, queueObservation } from './server/pass-events.ts';
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
  /** Opens the state file; absent: as it is meant to be. */
  readonly openStore?: (path: string) => Store;
  /** Told of every pass besides the log and the metrics. */
  readonly events?: (organization: string) => PassEvents;
  /** Told of conversations besides the log and the metrics. */
  readonly conversationEvents?: (organization: string) => ConversationEvents;
}

/** A running daemon. */
export interface Daemon {
  /** Where health and metrics are answered; null before `start`, and for a single pass. */
  readonly address: string | null;
  readonly organizations: readonly OrganizationReconciler[];
  /** Answers health, opens the control socket, watches the sources, and makes the first pass of every organization. */
  start(): Promise<void>;
  /**
   * One pass of every organization, one poll of each source of its conversations, and no more. Answers whether nothing
   * failed with conversations.
   */
  once(): Promise<boolean>;
  /** Takes no more work, lets what is in flight end, records it and closes: within 10 s (design: Daemon). */
  stop(): Promise<void>;
}

/** Milliseconds that requests in flight get to end after a SIGTERM. */
const IN_FLIGHT = 6000;
/** Milliseconds after which what still goes on is left: with the closing, less than 10 s. */
const STOP_LIMIT = 8000;
const CLOSE_LIMIT = 1000;

interface Member {
  readonly reconciler: OrganizationReconciler;
  readonly schedule: Schedule;
  readonly conversations: OrganizationConversations;
}

/** Puts the daemon together. Throws ConfigError and StoreError before anything is begun. */
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, clock, random, version, log } = options;
  const homeless = config.organizations.find(({ source }) => source === null);
  if (homeless !== undefined) {
    throw new ConfigError(
      `organization ${homeless.id} has no source: set source.git.url or source.directory for it in the configuration`,
    );
  }
  const metrics = createMetrics();
  const store = (options.openStore ?? openSqliteStore)(resolve(config.store.path));
  try {
    const onEvent = observeQueue(metrics);
    const connections = await TokenConnections.open({ config, clock, random, version, log, store, onEvent });
    const hideIds = await openHiddenIds(store, config.organizations, randomBytes);
    return new RunningDaemon(options, metrics, store, connections, hideIds);
  } catch (error) {
    await store.close();
    throw error;
  }
}

class RunningDaemon implements Daemon {
  address: string | null = null;
  readonly #options: DaemonOptions;
  readonly #metrics: Metrics;
  readonly #store: Store;
  readonly #connections: TokenConnections;
  /** By organization. */
  readonly #hideIds: ReadonlyMap<string, HideId>;
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
    hideIds: ReadonlyMap<string, HideId>,
  ) {
    this.#options = options;
    this.#hideIds = hideIds;
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
      receivers: new Map(this.#members.map(({ reconciler, conversations }) => [reconciler.id, conversations])),
      clock: options.clock,
      onOutcome: (...told) => metrics.conversations.hook(...told),
    });
  }

  get organizations(): readonly OrganizationReconciler[] {
    return this.#members.map((member) => member.reconciler);
  }

  async start(): Promise<void> {
    const { config, log } = this.#options;
    this.#control = await openControl(controlSocketPath(resolve(config.store.path)), {
      approve: (checksum) => this.#approve(checksum),
      reconcile: (organization) => this.#reconcile(organization),
      status: async () => this.#status(),
      conversations: (organization, question) => this.#memberOf(organization).conversations.answer(question),
    });
    this.address = await this.#server.listen(config.server.listen);
    log.info({ address: this.address, organizations: config.organizations.length }, 'octavo is running');
    this.#timer = setInterval(() => this.#lookAtQueues(), 10_000);
    this.#timer.unref();
    await Promise.all(
      this.#members.map(async ({ reconciler, schedule, conversations }) => {
        await schedule.start();
        void reconciler.trigger('start');
        conversations.start();
      }),
    );
  }

  async once(): Promise<boolean> {
    const sent = this.#members.map(({ conversations }) => conversations.once());
    await Promise.all(this.#members.map(({ reconciler }) => reconciler.trigger('start')));
    return (await Promise.all(sent)).every(Boolean);
  }

  async stop(): Promise<void> {
    const { clock, log } = this.#options;
    this.#stopping.abort();
    clearInterval(this.#timer);
    const late = setTimeout(() => this.#abort.abort(), IN_FLIGHT);
    const ended = await endsWithin(clock, STOP_LIMIT, [
      ...this.#connections.queues().map(([, queue]) => queue.drain(IN_FLIGHT)),
      ...this.#members.map(({ schedule }) => schedule.stop()),
      ...this.#members.map(({ reconciler }) => reconciler.idle()),
      ...this.#members.map(({ conversations }) => conversations.stop(IN_FLIGHT)),
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
    const { config, clock, log, dryRun } = this.#options;
    const connection = this.#connections.of(organization);
    const clones = join(dirname(resolve(config.store.path)), 'checkouts');
    const source = this.#source(organization, clones);
    const client = (count: (method: string) => void, priority: Parameters<typeof openReader>[1]['priority']) => ({
      organization: organization.id,
      priority,
      signal: this.#abort.signal,
      onRequest: (operation: { readonly method: string }) => count(operation.method),
    });
    const parallel = 2 * config.queue.concurrency;
    let schedule: Schedule | null = null;
    const reconciler = new OrganizationReconciler({
      config: organization,
      user: config.platform.user,
      kinds,
      source,
      record: this.#store.organization(organization.id),
      fights: new FightBook(this.#store.note(`fights/${organization.id}`)),
      clock,
      openReader: (priority, count) => openReader(connection, client(count, priority)),
      openWriter: dryRun ? null : (priority, count) => openWriter(connection, client(count, priority)),
      estimate: (work) => connection.queue.estimate(work, parallel),
      parallel,
      signal: this.#stopping.signal,
      abort: this.#abort.signal,
      events: combineEvents([
        logEvents(log.child({ organization: organization.id })),
        metricEvents(organization.id, this.#metrics),
        this.#options.events?.(organization.id) ?? {},
        {
          onPassEnd: ({ again }) => {
            this.#observeQueues();
            if (again !== null) {
              schedule?.again(again);
            }
          },
        },
      ]),
    });
    schedule = createSchedule({
      reconciler,
      source,
      drift: organization.schedule.drift,
      clock,
      onError: (message) => log.warn({ organization: organization.id }, message),
    });
    return { reconciler, schedule, conversations: this.#conversations(organization, connection) };
  }

  #conversations(organization: OrganizationConfig, connection: Connection): OrganizationConversations {
    const { clock, random, version, log, dryRun } = this.#options;
    return new OrganizationConversations({
      organization,
      connection,
      outbox: this.#store.outbox(organization.id, organization.conversations.outbox),
      note: (topic) => this.#store.note(`conversations/${organization.id}/${topic}`),
      hideId: this.#hideIds.get(organization.id) as HideId,
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

  #source(organization: OrganizationConfig, clones: string): DesiredSource {
    if (organization.source === null) {
      throw new ConfigError(`organization ${organization.id} has no source`);
    }
    return openSource(organization.source, organization.id, clones, createManifestLoader(kinds), this.#abort.signal);
  }

  #unready(): readonly string[] {
    return this.organizations
      .filter((organization) => !organization.tried)
      .map((organization) => `${organization.id}: no first sync yet`);
  }

  async #approve(checksum: string): Promise<JsonObject> {
    for (const organization of this.organizations) {
      const plan = await organization.approve(checksum);
      if (plan !== null) {
        void organization.trigger('approval');
        const held = plan.changes.filter((change) => change.held !== null).map((change) => change.address);
        return { organization: organization.id, checksum, approved: held };
      }
    }
    const held = this.organizations.flatMap(({ lastPlan }) => heldOf(lastPlan));
    const now = held.length === 0 ? 'nothing is held now' : `held now: ${held.join(', ')}`;
    throw new RefusedPlanError(`no held plan has the checksum ${checksum}; ${now}`);
  }

  /** The one with this id, or the only one there is. */
  #memberOf(id: string | null): Member {
    const [chosen, other] = this.#members.filter(({ reconciler }) => id === null || reconciler.id === id);
    if (chosen === undefined || other !== undefined) {
      const known = this.organizations.map((organization) => organization.id).join(', ');
      throw new ConfigError(
        chosen === undefined
          ? `there is no organization ${JSON.stringify(id)} here; there is ${known}`
          : `several organizations are configured; say which with --organization: ${known}`,
      );
    }
    return chosen;
  }

  async #reconcile(id: string | null): Promise<JsonObject> {
    const chosen = id === null ? this.organizations : [this.#memberOf(id).reconciler];
    for (const organization of chosen) {
      void organization.trigger('hand');
    }
    return { reconciling: chosen.map((organization) => organization.id) };
  }

  #status(): JsonObject {
    return {
      organizations: this.organizations.map(({ id, tried, lastEnd, lastPlan }) => ({
        id,
        tried,
        outcome: lastEnd?.outcome ?? null,
        commit: lastPlan?.commit ?? null,
        held: heldOf(lastPlan),
      })),
    };
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

function heldOf(plan: OrganizationReconciler['lastPlan']): readonly string[] {
  if (plan === null || (plan.verdict.state === 'ready' && plan.heldChecksum === null)) {
    return [];
  }
  return [plan.verdict.state === 'held' ? plan.checksum : (plan.heldChecksum ?? plan.checksum)];
}
