/** Organizations of the configuration that this replica does not have: what their owners stored, their webhooks and owners. */
import { readChangeRequests } from '../../clusters/store.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import type { Clock, Random } from '../../core/clock.ts';
import type { FleetLeases } from '../../fleet/fleet-leases.ts';
import { PushReceiver, pushWebhook } from '../../reconcile/push-receiver.ts';
import { organizationLease } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import type { OrganizationOwner, OrganizationState } from '../../web/model/backend.ts';
import { UNKNOWN_QUEUE, UNKNOWN_STATE } from './state-parts.ts';
import { StateReader } from './state-reader.ts';
import { StoredConversations } from './stored-conversations.ts';

export interface RemoteOrganizationsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly leases: Pick<FleetLeases, 'replica' | 'holder'>;
  /** Returns the name of the queue of an organization. */
  readonly queueName: (organization: OrganizationConfig) => string;
  /** Called for a push to the repository of an organization. */
  readonly onPush: (organization: string) => void;
}

/** An organization that this replica does not have. */
export interface RemoteOrganization {
  readonly config: OrganizationConfig;
  readonly state: OrganizationState;
  readonly conversations: StoredConversations;
  /** Null if no webhook is configured. */
  readonly pushes: PushReceiver | null;
}

export class RemoteOrganizations {
  readonly #options: RemoteOrganizationsOptions;
  readonly #states: StateReader;
  readonly #organizations = new Map<string, RemoteOrganization>();

  constructor(options: RemoteOrganizationsOptions) {
    this.#options = options;
    this.#states = new StateReader(options.store.organizationStates());
  }

  /** Returns an organization; the same object as long as its settings are the same object. */
  of(config: OrganizationConfig): RemoteOrganization {
    const known = this.#organizations.get(config.id);
    const organization = known?.config === config ? known : this.#open(config);
    this.#organizations.set(config.id, organization);
    return organization;
  }

  /** Returns the owner of an organization. */
  owner(id: string): OrganizationOwner {
    const { leases, clock } = this.#options;
    const holder = leases.holder(organizationLease(id));
    if (holder === null) {
      return { kind: 'only' };
    }
    const { replica, age } = holder;
    return replica === null
      ? { kind: 'none', since: age === null ? null : Math.round(clock.now() - age) }
      : { kind: 'replica', id: replica.id, address: replica.address };
  }

  /** Reads what the owners of these organizations have stored since. A state file has nothing. Throws StoreError. */
  async refresh(organizations: ReadonlySet<string>): Promise<void> {
    for (const id of this.#organizations.keys()) {
      if (!organizations.has(id)) {
        this.#organizations.delete(id);
      }
    }
    if (this.#options.leases.replica !== null && organizations.size > 0) {
      await this.#states.refresh(organizations);
    }
  }

  #open(config: OrganizationConfig): RemoteOrganization {
    const { store, clock, random, version, onPush } = this.#options;
    const { id } = config;
    const conversations = new StoredConversations({ config, store, version, clock, random });
    const webhook = pushWebhook(config);
    const note = (name: string) => store.note(`push-webhook/${name}/${id}`);
    const pushes = webhook === null ? null : new PushReceiver({ webhook, note, clock, onPush: () => onPush(id) });
    const state = remoteOrganization({
      config,
      store,
      clock,
      conversations,
      pushes,
      states: this.#states,
      owner: () => this.owner(id),
      queueName: () => this.#options.queueName(config),
    });
    return { config, state, conversations, pushes };
  }
}

interface RemoteOrganizationOptions {
  readonly config: OrganizationConfig;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly states: Pick<StateReader, 'find' | 'resources' | 'samples'>;
  readonly conversations: StoredConversations;
  /** Null if no webhook is configured. */
  readonly pushes: PushReceiver | null;
  /** Returns the replica that has the organization. */
  readonly owner: () => OrganizationOwner;
  /** Returns the name of the queue. */
  readonly queueName: () => string;
}

/** Returns the state of an organization, which changes whenever `states` is refreshed. */
export function remoteOrganization(options: RemoteOrganizationOptions): OrganizationState {
  const { config, store, clock, states, conversations, pushes } = options;
  const { id, source } = config;
  const stored = () => states.find(id) ?? UNKNOWN_STATE;
  return {
    id,
    config,
    get owner() {
      return options.owner();
    },
    get reconciler() {
      return source === null ? null : stored().reconciler;
    },
    resources: async () => (source === null || stored().reconciler.lastDesired === null ? null : states.resources(id)),
    record: store.organization(id),
    history: store.history(id),
    queue: {
      get name() {
        return options.queueName();
      },
      get isKnown() {
        return stored().queue !== null;
      },
      snapshot: () => stored().queue?.(clock.now()) ?? UNKNOWN_QUEUE,
      samples: () => states.samples(id),
    },
    conversations: {
      status: () => conversations.status(stored().ingestion),
      recentStatus: () => conversations.status(stored().ingestion),
      outdated: () => conversations.outdated(),
      deadLetters: (filter, limit) => conversations.deadLetters(filter, limit),
    },
    clusters: {
      get overview() {
        return stored().overview;
      },
      changeRequests: () => readChangeRequests(store.note(`clusters/${id}`)),
    },
    pollInterval: source?.git?.pollInterval ?? null,
    webhook: pushes,
    get statuses() {
      return stored().statuses;
    },
  };
}
