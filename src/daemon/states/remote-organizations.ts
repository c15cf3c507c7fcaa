/** Organizations of the configuration that this replica does not have: what their owners stored, their webhooks and owners. */

import { readStoredClusters } from '../../clusters/store.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import { outboxLimit } from '../../config/conversations.ts';
import type { Ingestion } from '../../conversations/ingestion.ts';
import { openIngestion } from '../../conversations/open-sources.ts';
import { findIdPseudonymizer } from '../../conversations/private-ids.ts';
import { StoreError } from '../../core/errors.ts';
import type { WebhookRequest } from '../../core/signature.ts';
import type { FleetLeases } from '../../fleet/fleet-leases.ts';
import { openPushReceiver, type PushReceiver } from '../../reconcile/push-receiver.ts';
import type { HookReceiver, PushHook } from '../../server/hooks.ts';
import { organizationLease } from '../../store/leases.ts';
import { recordedTitles } from '../../store/record.ts';
import type { OrganizationOwner, OrganizationState } from '../../web/model/page.ts';
import type { TokenConnections } from '../fleet/token-connections.ts';
import { conversationState } from '../organization/conversations.ts';
import type { DaemonContext } from '../organization/feature.ts';
import { StateReader, UNKNOWN_QUEUE, UNKNOWN_STATE } from './states.ts';

type StoreContext = Pick<DaemonContext, 'store' | 'clock' | 'random' | 'version'>;

/** Sends commands that nobody waits for to the owners of organizations. Never rejects. */
interface OwnerNotifier {
  notify(organization: string, kind: 'push' | 'hints'): Promise<void>;
}

/** Receivers of the webhooks of an organization. */
export interface Webhooks {
  readonly conversations: HookReceiver;
  /** Null if no webhook of the repository is configured. */
  readonly pushes: PushHook | null;
}

/** An organization that this replica does not have. */
interface RemoteOrganization extends Webhooks {
  readonly config: OrganizationConfig;
  readonly state: OrganizationState;
}

export class RemoteOrganizations {
  readonly #context: StoreContext;
  readonly #leases: Pick<FleetLeases, 'replica' | 'holder'>;
  readonly #connections: Pick<TokenConnections, 'queueName'>;
  readonly #commands: OwnerNotifier | null;
  readonly #states: StateReader;
  readonly #organizations = new Map<string, RemoteOrganization>();

  /** `commands` notifies the owners of webhooks; null for a state file. */
  constructor(
    context: StoreContext,
    leases: Pick<FleetLeases, 'replica' | 'holder'>,
    connections: Pick<TokenConnections, 'queueName'>,
    commands: OwnerNotifier | null,
  ) {
    this.#context = context;
    this.#leases = leases;
    this.#connections = connections;
    this.#commands = commands;
    this.#states = new StateReader(context.store.organizationStates());
  }

  /** Returns an organization; the same object as long as its settings are the same object. */
  of(config: OrganizationConfig): RemoteOrganization {
    const known = this.#organizations.get(config.id);
    const organization = known?.config === config ? known : this.#open(config);
    this.#organizations.set(config.id, organization);
    return organization;
  }

  owner(id: string): OrganizationOwner {
    return ownerOf(this.#leases, id, this.#context.clock.now());
  }

  /** Reads what the owners of these organizations have stored since. A state file has nothing. Throws StoreError. */
  async refresh(organizations: ReadonlySet<string>): Promise<void> {
    for (const id of this.#organizations.keys()) {
      if (!organizations.has(id)) {
        this.#organizations.delete(id);
      }
    }
    if (this.#leases.replica !== null && organizations.size > 0) {
      await this.#states.refresh(organizations);
    }
  }

  #open(config: OrganizationConfig): RemoteOrganization {
    const { store, clock } = this.#context;
    const { id } = config;
    let accepting: Promise<Ingestion> | null = null;
    // The owner looks for comments, too.
    const notify = () => void this.#commands?.notify(id, 'push');
    const pushes = openPushReceiver(config, store, clock, notify, notify);
    const deliver = async (source: string, delivery: WebhookRequest) => {
      accepting ??= openReceiver(config, this.#context);
      const ingestion = await accepting.catch((error: unknown) => {
        accepting = null;
        throw error;
      });
      const answer = await ingestion.deliver(source, delivery);
      if (answer.status === 202) {
        void this.#commands?.notify(id, 'hints');
      }
      return answer;
    };
    return { config, conversations: { deliver }, pushes, state: this.#stateOf(config, pushes) };
  }

  /** Returns the state of an organization, which changes whenever the states are refreshed. */
  #stateOf(config: OrganizationConfig, webhook: PushReceiver | null): OrganizationState {
    const { store, clock } = this.#context;
    const { id, source } = config;
    const stored = () => this.#states.find(id) ?? UNKNOWN_STATE;
    const owner = () => this.owner(id);
    const queueName = () => this.#connections.queueName(config);
    const outbox = store.outbox(id, outboxLimit(config.conversations));
    return {
      id,
      config,
      get owner() {
        return owner();
      },
      get reconciler() {
        return source === null ? null : stored().reconciler;
      },
      resources: async () =>
        source === null || stored().reconciler.lastDesired === null ? null : this.#states.resources(id),
      record: store.organization(id),
      history: store.history(id),
      queue: {
        get name() {
          return queueName();
        },
        get isKnown() {
          return stored().queue !== null;
        },
        snapshot: () => stored().queue?.(clock.now()) ?? UNKNOWN_QUEUE,
        samples: () => this.#states.samples(id),
      },
      conversations: conversationState(config.conversations, outbox, clock, () => stored().ingestion),
      clusters: {
        get overview() {
          return stored().overview;
        },
        stored: () => readStoredClusters(store.note(`clusters/${id}`)),
      },
      pollInterval: source?.git?.pollInterval ?? null,
      webhook,
      get statuses() {
        return stored().statuses;
      },
    };
  }
}

/** Returns the replica that has an organization. */
export function ownerOf(leases: Pick<FleetLeases, 'holder'>, id: string, now: number): OrganizationOwner {
  const holder = leases.holder(organizationLease(id));
  if (holder === null) {
    return { kind: 'only' };
  }
  const { replica, age } = holder;
  return replica === null
    ? { kind: 'none', since: age === null ? null : Math.round(now - age) }
    : { kind: 'replica', id: replica.id, address: replica.address };
}

/** Opens what stores the content of webhooks. It neither polls nor sends. Throws StoreError. */
async function openReceiver(
  config: OrganizationConfig,
  { store, version, clock, random }: StoreContext,
): Promise<Ingestion> {
  const { id, conversations } = config;
  const pseudonymizeId = await findIdPseudonymizer(store, id);
  if (pseudonymizeId === null) {
    throw new StoreError(`no replica has opened organization ${id} yet, so it accepts no conversations`);
  }
  const titles = await recordedTitles(store.organization(id));
  const outbox = store.outbox(id, outboxLimit(conversations));
  return openIngestion(config, { store, version, outbox, pseudonymizeId, titles, clock, random, events: {} }, null);
}
