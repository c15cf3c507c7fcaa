/** The web page of the daemon, and what it keeps in memory for it. */
import { randomBytes } from 'node:crypto';
import type { Actor } from '../store/history.ts';
import { LogBuffer } from '../views/model/log-buffer.ts';
import type { PageServer } from '../web/server/page-server.ts';
import { Actions } from './actions.ts';
import { type ChangeNotifier, DaemonBackend } from './backend.ts';
import { BudgetSampler } from './budget-sampler.ts';
import type { DaemonContext } from './feature.ts';
import type { ManagedOrganization } from './managed-organization.ts';
import type { DaemonNotifications } from './notifications.ts';
import { type SilenceActionOptions, SilenceActions } from './silence-actions.ts';
import type { TokenConnections } from './token-connections.ts';

export interface WebPageOptions {
  readonly context: DaemonContext;
  readonly organizations: readonly ManagedOrganization[];
  readonly connections: TokenConnections;
  readonly changes: ChangeNotifier;
  readonly notifications: SilenceActionOptions['notifications'] & Pick<DaemonNotifications, 'wake'>;
  /** Latest records of the log; undefined: none. */
  readonly logBuffer: LogBuffer | undefined;
}

/** State and actions of the daemon, and the page that shows them if it is configured. */
export class WebPage {
  readonly backend: DaemonBackend;
  readonly #context: DaemonContext;
  readonly #changes: ChangeNotifier;
  /** Null if no page is served: nothing else shows the samples. */
  readonly #sampler: BudgetSampler | null;
  #server: PageServer | null = null;
  /** Number of log records when listeners were last called. */
  #logged = 0;

  constructor(options: WebPageOptions) {
    const { context, organizations, connections, changes, notifications, logBuffer = new LogBuffer() } = options;
    const { config, store, clock, version } = context;
    this.#context = context;
    this.#changes = changes;
    this.#sampler = config.ui.listen === undefined ? null : new BudgetSampler(connections.queues(), clock);
    this.backend = new DaemonBackend({
      ...{ version, clock, store, changes, sampler: this.#sampler, log: logBuffer },
      organizations: config.organizations.map((each, index) => ({
        config: each,
        managed: organizations[index] as ManagedOrganization,
      })),
      queueOf: (organization) => connections.queueOf(organization),
      channels: Object.keys(config.notifications.channels),
      actions: new Actions({
        ...{ organizations, store, clock },
        onAudited: (id) => {
          changes.notify(id);
          // An approval was stored with its event.
          notifications.wake();
        },
        silences: new SilenceActions({
          ...{ store, clock, notifications },
          organizations: config.organizations.map(({ id }) => id),
          onAudited: (id) => {
            changes.notify('notifications');
            changes.notify(id ?? 'notifications');
          },
        }),
      }),
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
    });
    const address = await this.#server.listen();
    log.info({ address }, 'web page is served');
    const { tokens, proxy, oidc, roles } = config.ui;
    if (roles.length === 0 && (tokens.length > 0 || proxy !== undefined || oidc !== undefined)) {
      log.warn('nobody has a role on the web page; set ui.roles');
    }
    return address;
  }

  /** Returns the view model of the page at a path, for a user of the machine, who may see everything; null: no such page. */
  async view(by: Actor, path: string): Promise<object | null> {
    const { loadView } = await import('../web/pages/load-view.ts');
    return loadView(this.backend, { actor: by, role: () => 'approver' }, path);
  }

  /** Samples the budgets, and reports what changes without an event. */
  observe(): void {
    if (this.#sampler?.sample() === true) {
      this.#changes.notify('budget');
    }
    const { added } = this.backend.log;
    if (added > this.#logged) {
      this.#logged = added;
      this.#changes.notify('log');
    }
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }
}
