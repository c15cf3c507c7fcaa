/** State and actions of the daemon for its web page, and the page itself if it is configured. */

import { randomBytes } from 'node:crypto';
import type { OrganizationConfig } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import { messageOf } from '../core/errors.ts';
import { compareText } from '../core/lists.ts';
import { type Actor, DAEMON_HISTORY, type History } from '../store/history.ts';
import type {
  ActionHandlers,
  Backend,
  FleetState,
  NotificationReader,
  OrganizationState,
} from '../web/model/backend.ts';
import { BudgetSamples, sampleInterval } from '../web/model/budget-samples.ts';
import type { ReplicaConfigurationProblem } from '../web/model/configuration.ts';
import { LogBuffer } from '../web/model/log-buffer.ts';
import type { PageServer } from '../web/server/page-server.ts';
import { Actions, AuditWriter } from './actions.ts';
import type { FleetReports } from './fleet/fleet-reports.ts';
import type { FleetOrganizations } from './fleet/organizations.ts';
import type { TokenConnections } from './fleet/token-connections.ts';
import type { FleetLink } from './fleet-link.ts';
import type { DaemonNotifications } from './notifications.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';

/** Samples of the queues, by name. */
class BudgetSampler {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #connections: Pick<TokenConnections, 'queues'>;
  #samples: ReadonlyMap<string, BudgetSamples> = new Map();

  constructor(connections: Pick<TokenConnections, 'queues'>, clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#connections = connections;
  }

  /** Takes the samples that are due. Returns true if there were any. */
  sample(): boolean {
    const now = this.#clock.now();
    const before = this.#samples;
    const sampled = this.#connections.queues().map(([name, queue], _index, { length }) => {
      const samples = before.get(name) ?? new BudgetSamples(sampleInterval(length));
      return { name, samples, hasAdded: samples.add(now, queue.snapshot()) };
    });
    // Those of queues that are not open any more are dropped.
    this.#samples = new Map(sampled.map(({ name, samples }) => [name, samples]));
    return sampled.some(({ hasAdded }) => hasAdded);
  }

  /** Returns the samples of a queue; undefined before the first one. */
  of(name: string): BudgetSamples | undefined {
    return this.#samples.get(name);
  }
}

interface WebPageOptions {
  readonly context: DaemonContext;
  readonly organizations: Pick<FleetOrganizations, 'open' | 'configured'>;
  readonly link: FleetLink;
  readonly fleet: () => FleetState | null;
  readonly reports: Pick<FleetReports, 'configurationProblems' | 'refresh'>;
  readonly connections: Pick<TokenConnections, 'queues' | 'queueName'>;
  readonly notifications: Pick<DaemonNotifications, 'wake'>;
  /** Latest records of the log; undefined: none. */
  readonly logBuffer: LogBuffer | undefined;
}

/** State of a running daemon. */
class DaemonBackend implements Backend {
  readonly version: string;
  readonly clock: Clock;
  readonly actions: ActionHandlers;
  readonly log: LogBuffer;
  readonly notifications: NotificationReader;
  readonly history: Pick<History, 'audit'>;
  readonly #options: WebPageOptions;
  readonly #sampler: BudgetSampler | null;
  #states: readonly OrganizationState[] = [];
  /** Organizations that the states are of. */
  #managed: readonly ManagedOrganization[] = [];
  #configured: readonly OrganizationConfig[] = [];

  /** `sampler` null: the budgets are not sampled. */
  constructor(options: WebPageOptions, sampler: BudgetSampler | null, audit: AuditWriter) {
    const { context, link, notifications, organizations, logBuffer = new LogBuffer() } = options;
    const { version, clock, config, store } = context;
    this.#options = options;
    this.#sampler = sampler;
    this.version = version;
    this.clock = clock;
    this.actions = link.route(new Actions(context, audit, notifications, () => organizations.open), this);
    this.log = logBuffer;
    this.notifications = { ...store.notifications(), channels: Object.keys(config.notifications.channels) };
    this.history = store.history(DAEMON_HISTORY);
  }

  organizations(): readonly OrganizationState[] {
    const { open: managed, configured } = this.#options.organizations;
    if (managed !== this.#managed || configured !== this.#configured) {
      this.#managed = managed;
      this.#configured = configured;
      const own = new Map(managed.map((each) => [each.id, each]));
      this.#states = configured
        .map((config) => {
          const each = own.get(config.id);
          return each === undefined ? this.#options.link.remote.of(config).state : this.#stateOf(each);
        })
        .toSorted((a, b) => compareText(a.id, b.id));
    }
    return this.#states;
  }

  async refresh(): Promise<void> {
    const { organizations, reports, link } = this.#options;
    const own = new Set(organizations.open.map(({ id }) => id));
    await reports.refresh();
    await link.remote.refresh(new Set(organizations.configured.flatMap(({ id }) => (own.has(id) ? [] : [id]))));
  }

  fleet(): FleetState | null {
    return this.#options.fleet();
  }

  configurationProblems(): readonly ReplicaConfigurationProblem[] {
    return this.#options.reports.configurationProblems();
  }

  onChange(listener: (topic: string) => void): () => void {
    return this.#options.context.events.subscribe({ onChange: listener });
  }

  #stateOf({ id, config, queue, reconciliation, conversations, clusters, statuses }: ManagedOrganization) {
    const { context, link, connections } = this.#options;
    const name = connections.queueName(config);
    return {
      id,
      config,
      get owner() {
        return link.remote.owner(id);
      },
      reconciler: reconciliation?.reconciler ?? null,
      resources: async () => reconciliation?.resources ?? null,
      record: context.store.organization(id),
      history: context.store.history(id),
      queue: {
        name,
        isKnown: true,
        snapshot: () => queue.snapshot(),
        samples: async () => this.#sampler?.of(name)?.read() ?? [],
      },
      conversations,
      clusters,
      pollInterval: config.source?.git?.pollInterval ?? null,
      webhook: reconciliation?.pushes ?? null,
      statuses,
    };
  }
}

/** State and actions of the daemon, and the page that shows them if it is configured. */
export class WebPage {
  readonly backend: DaemonBackend;
  readonly #context: DaemonContext;
  readonly #audit: AuditWriter;
  readonly #stopping = new AbortController();
  /** Null if no page is served: nothing else shows the samples. */
  readonly #sampler: BudgetSampler | null;
  #server: PageServer | null = null;
  /** Number of log records when listeners were last called. */
  #logged = 0;

  constructor(options: WebPageOptions) {
    const { context, connections } = options;
    this.#context = context;
    this.#audit = new AuditWriter(context, this.#stopping.signal);
    this.#sampler = context.config.ui.listen === undefined ? null : new BudgetSampler(connections, context.clock);
    this.backend = new DaemonBackend(options, this.#sampler, this.#audit);
  }

  /** Serves the page. Returns its URL; null if it is not configured. Its modules are loaded only then. */
  async open(): Promise<string | null> {
    const { config, log, store } = this.#context;
    if (config.ui.listen === undefined) {
      return null;
    }
    const { createPageServer } = await import('../web/server/page-server.ts');
    this.#server = await createPageServer({
      backend: this.backend,
      config: config.ui,
      log,
      randomBytes,
      sessions: store.sessions(),
      onGuesses: (peer, attempts) => this.#auditGuesses(peer, attempts),
    });
    const address = await this.#server.listen();
    log.info({ address }, 'web page is served');
    const { tokens, proxy, oidc, roles } = config.ui;
    if (roles.length === 0 && (tokens.length > 0 || proxy !== undefined || oidc !== undefined)) {
      log.warn('nobody has a role on the web page; set ui.roles');
    }
    return address;
  }

  /** Records in the audit that somebody guesses tokens. */
  #auditGuesses(peer: string | null, attempts: number): void {
    const { store, clock, log } = this.#context;
    const detail = `${attempts} wrong tokens within a minute; further ones are refused for a minute`;
    const about = { action: 'sign in', subject: peer ?? 'all addresses', reason: '', detail } as const;
    const entry = { ...about, at: clock.now(), actor: { name: '', method: 'token' }, outcome: 'refused' } as const;
    this.#audit.write(store.history(DAEMON_HISTORY), entry).then(
      () => this.#changed('notifications'),
      (error: unknown) => log.warn({ reason: messageOf(error) }, 'cannot record wrong tokens in the audit'),
    );
  }

  /** Returns the view model of the page at a path, for a user of the machine, who may see everything; null: no such page. */
  async view(by: Actor, path: string): Promise<object | null> {
    const { loadView } = await import('../web/pages/load-view.ts');
    return loadView(this.backend, { actor: by, role: () => 'approver' }, path);
  }

  /** Samples the budgets, and reports what changes without an event. */
  observe(): void {
    if (this.#sampler?.sample() === true) {
      this.#changed('budget');
    }
    const { added } = this.backend.log;
    if (added > this.#logged) {
      this.#logged = added;
      this.#changed('log');
    }
  }

  #changed(topic: string): void {
    this.#context.events.publish.onChange?.(topic, false);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#server?.close();
  }
}
