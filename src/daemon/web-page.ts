/** The web page of the daemon, and what it keeps in memory for it. */
import { randomBytes } from 'node:crypto';
import type { OrganizationConfig } from '../config/config.ts';
import { messageOf } from '../core/errors.ts';
import { type Actor, DAEMON_HISTORY } from '../store/history.ts';
import type { FleetState } from '../web/model/backend.ts';
import { LogBuffer } from '../web/model/log-buffer.ts';
import type { PageServer } from '../web/server/page-server.ts';
import { Actions } from './actions.ts';
import { AuditWriter } from './audit-writer.ts';
import { type BackendOptions, DaemonBackend } from './backend.ts';
import { BudgetSampler } from './budget-sampler.ts';
import { DeliveryActions } from './delivery-actions.ts';
import type { TokenConnections } from './fleet/token-connections.ts';
import type { FleetLink } from './fleet-link.ts';
import type { DaemonNotifications } from './notifications.ts';
import type { DaemonContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import { SessionActions } from './session-actions.ts';

export interface WebPageOptions {
  readonly context: DaemonContext;
  /** Returns the organizations of this replica. The list is another object after each change. */
  readonly organizations: () => readonly ManagedOrganization[];
  /** Returns the organizations of the configuration. */
  readonly configured: () => readonly OrganizationConfig[];
  readonly link: FleetLink;
  readonly fleet: () => FleetState | null;
  readonly reports: BackendOptions['reports'];
  readonly connections: Pick<TokenConnections, 'queues' | 'queueName'>;
  readonly notifications: Pick<DaemonNotifications, 'wake'>;
  /** Latest records of the log; undefined: none. */
  readonly logBuffer: LogBuffer | undefined;
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
    const {
      context,
      organizations,
      configured,
      link,
      fleet,
      reports,
      connections,
      notifications,
      logBuffer = new LogBuffer(),
    } = options;
    const { config, store, clock, version, events } = context;
    this.#context = context;
    this.#audit = new AuditWriter({ ...context, stopping: this.#stopping.signal });
    this.#sampler = config.ui.listen === undefined ? null : new BudgetSampler(() => connections.queues(), clock);
    const local = new Actions({
      ...{ organizations, store, clock, audit: this.#audit },
      onAudited: (id) => {
        this.#changed(id);
        // An approval was stored with its event.
        notifications.wake();
      },
      deliveries: new DeliveryActions({
        ...{ store, clock, audit: this.#audit, notifications, channels: Object.keys(config.notifications.channels) },
        onAudited: () => this.#changed('notifications'),
      }),
      sessions: new SessionActions({
        ...{ store, clock, audit: this.#audit },
        onAudited: () => this.#changed('notifications'),
      }),
    });
    this.backend = new DaemonBackend({
      ...{ version, clock, store, events, sampler: this.#sampler, log: logBuffer, organizations, configured, fleet },
      ...{ remote: link.remote, reports },
      queueName: (organization) => connections.queueName(organization),
      channels: Object.keys(config.notifications.channels),
      actions: link.route(local, () => this.backend),
    });
  }

  /** Serves the page. Returns its URL; null if it is not configured. Its modules are loaded only then. */
  async open(): Promise<string | null> {
    const { config, log, store } = this.#context;
    if (config.ui.listen === undefined) {
      return null;
    }
    const { createPageServer } = await import('../web/server/page-server.ts');
    this.#server = await createPageServer({
      ...{ backend: this.backend, config: config.ui, log, randomBytes },
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
