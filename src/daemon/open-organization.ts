/** Opens the features of an organization, and connects their events. */
import { randomBytes } from 'node:crypto';
import { loadIdPseudonymizer, type PseudonymizeId } from '../conversations/intake/id-pseudonymizer.ts';
import { ConversationsProbe } from '../platform/conversations-probe.ts';
import { combineListeners } from '../server/listeners.ts';
import { changeEvents } from './change-events.ts';
import type { FactReporting } from './facts/reporting.ts';
import type { OrganizationOpener, OrganizationStart } from './fleet/running-organization.ts';
import { leaseRefusal, sendingTerms, userAgent } from './fleet/sending-terms.ts';
import type { TokenConnections } from './fleet/token-connections.ts';
import type { IdleMemory } from './idle-memory.ts';
import type { DaemonOptions } from './options.ts';
import { OrganizationClusters } from './organization/clusters.ts';
import { OrganizationCommitStatuses } from './organization/commit-statuses.ts';
import { OrganizationConversations } from './organization/conversations.ts';
import type { DaemonContext, OrganizationContext } from './organization/feature.ts';
import type { ManagedOrganization } from './organization/managed-organization.ts';
import { Reconciliation } from './organization/reconciliation.ts';

export interface OpenerOptions {
  readonly context: DaemonContext;
  readonly listeners: Pick<DaemonOptions, 'approveCommand' | 'events' | 'conversationEvents' | 'clusterEvents'>;
  readonly connections: TokenConnections;
  /** Id of this replica; null for a state file. */
  readonly replica: string | null;
  readonly memory: IdleMemory;
  readonly facts: FactReporting;
  /** Called when pages may show something else. */
  readonly onChange: (organization: string) => void;
  readonly onPassEnd: () => void;
  /** Called after a pass was stored with its events. */
  readonly onRecorded: () => void;
}

const approveCommand = (checksum: string) => `octavo approve ${checksum}`;

export class DaemonOrganizationOpener implements OrganizationOpener {
  readonly #options: OpenerOptions;

  constructor(options: OpenerOptions) {
    this.#options = options;
  }

  async open({ config: organization, lease, stopping, abort }: OrganizationStart): Promise<ManagedOrganization> {
    const { context, connections, replica } = this.#options;
    const { config, version, log } = context;
    const store = context.store.fenced(lease);
    const connection = await connections.acquire(organization, store);
    try {
      const pseudonymizeId = await loadIdPseudonymizer(store, organization.id, randomBytes);
      const { timeout } = config.platform;
      const terms = sendingTerms({ lease, stopping, timeout, userAgent: userAgent(version, replica, lease) });
      const of = { ...context, organization, lease, store, stopping, abort, connection: { ...connection, terms } };
      const checkSend = (milliseconds: number) => throwRefusal(leaseRefusal(lease, milliseconds));
      const probe = new ConversationsProbe();
      return this.#assemble(
        { ...of, probe, checkSend, log: log.child({ organization: organization.id }) },
        pseudonymizeId,
      );
    } catch (error) {
      await connections.release(organization);
      throw error;
    }
  }

  async close({ config }: ManagedOrganization): Promise<void> {
    await this.#options.connections.release(config);
  }

  #assemble(context: OrganizationContext, pseudonymizeId: PseudonymizeId): ManagedOrganization {
    const { organization, lease, connection } = context;
    const { id } = organization;
    const { listeners, facts, onChange } = this.#options;
    const changes = changeEvents(() => onChange(id));
    const statuses = OrganizationCommitStatuses.open(context);
    const reconciliation = this.#reconciliation(context, statuses);
    const conversations = new OrganizationConversations(context, {
      pseudonymizeId,
      events: combineListeners([changes.conversations, listeners.conversationEvents?.(id) ?? {}]),
    });
    const clusters = new OrganizationClusters(context, {
      source: reconciliation?.source ?? null,
      bindings: () => reconciliation?.reconciler.lastPlan?.bindings ?? null,
      events: combineListeners([
        changes.clusters,
        facts.clusterEvents(id, context.store.notifications(), context.stopping),
        listeners.clusterEvents?.(id) ?? {},
      ]),
    });
    const features = [reconciliation, statuses, conversations, clusters].filter((feature) => feature !== null);
    const { queue } = connection;
    return { id, config: organization, lease, queue, reconciliation, statuses, conversations, clusters, features };
  }

  #reconciliation(context: OrganizationContext, statuses: OrganizationCommitStatuses | null): Reconciliation | null {
    const { id, source } = context.organization;
    const { listeners, memory, facts, onChange, onPassEnd, onRecorded } = this.#options;
    return source === null
      ? null
      : new Reconciliation(context, {
          source,
          approveCommand: listeners.approveCommand ?? approveCommand,
          onPassEnd,
          onRecorded: (number) => {
            onChange(id);
            statuses?.recorded(number);
            onRecorded();
          },
          events: combineListeners([
            memory.events(),
            changeEvents(() => onChange(id)).passes,
            statuses?.events() ?? {},
            facts.passEvents(id),
            listeners.events?.(id) ?? {},
          ]),
        });
  }
}

function throwRefusal(refusal: Error | null): void {
  if (refusal !== null) {
    throw refusal;
  }
}
