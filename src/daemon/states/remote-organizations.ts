/** Organizations of the configuration that this replica does not have: what their owners stored, their webhooks and owners. */

import { readChangeRequests } from '../../clusters/store.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import { outboxLimit } from '../../config/conversations.ts';
import {
  Ingestion,
  type IngestionActivity,
  type IngestionStatus,
  type WebhookAnswer,
} from '../../conversations/ingestion.ts';
import { openSources } from '../../conversations/open-sources.ts';
import { findIdPseudonymizer, type PseudonymizeId } from '../../conversations/private-ids.ts';
import { redactionOptions } from '../../conversations/redact/options.ts';
import { createConversationRedactor } from '../../conversations/redact/redactor.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { StoreError } from '../../core/errors.ts';
import type { WebhookRequest } from '../../core/signature.ts';
import type { FleetLeases } from '../../fleet/fleet-leases.ts';
import { PushReceiver, pushWebhook } from '../../reconcile/push-receiver.ts';
import { organizationLease } from '../../store/leases.ts';
import type { DeadFilter, DeadLetter, Outbox } from '../../store/outbox/outbox.ts';
import type { Store } from '../../store/store.ts';
import type { OrganizationOwner, OrganizationState } from '../../web/model/backend.ts';
import { UNKNOWN_QUEUE, UNKNOWN_STATE } from './state-parts.ts';
import { StateReader } from './state-reader.ts';

interface StoredConversationsOptions {
  readonly config: OrganizationConfig;
  readonly store: Store;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
}

/** Opens what it needs when it is first used. It neither polls nor sends. */
export class StoredConversations {
  readonly #options: StoredConversationsOptions;
  #outbox: Outbox | null = null;
  #reading: Ingestion | null = null;
  #accepting: Promise<Ingestion> | null = null;

  constructor(options: StoredConversationsOptions) {
    this.#options = options;
  }

  /** Returns the status; `activity` is that of the owner. Throws StoreError. */
  status(activity: IngestionActivity): Promise<IngestionStatus> {
    return this.#reader.status(activity);
  }

  /** Throws StoreError. */
  outdated(): Promise<ReadonlyMap<string, number>> {
    return this.#reader.outdated();
  }

  /** Throws StoreError. */
  deadLetters(filter: DeadFilter, limit: number): Promise<readonly DeadLetter[]> {
    return this.#stored.dead(filter, limit);
  }

  /** Stores the content of a webhook request. The caller notifies the owner. Throws StoreError. */
  async deliver(source: string, delivery: WebhookRequest): Promise<WebhookAnswer> {
    this.#accepting ??= this.#accept();
    const ingestion = await this.#accepting.catch((error: unknown) => {
      this.#accepting = null;
      throw error;
    });
    return ingestion.deliver(source, delivery);
  }

  get #stored(): Outbox {
    const { config, store } = this.#options;
    this.#outbox ??= store.outbox(config.id, outboxLimit(config.conversations));
    return this.#outbox;
  }

  /** Ids are not read, so they need no pseudonyms. */
  get #reader(): Ingestion {
    this.#reading ??= this.#open((id) => id);
    return this.#reading;
  }

  async #accept(): Promise<Ingestion> {
    const { config, store } = this.#options;
    const pseudonymizeId = await findIdPseudonymizer(store, config.id);
    if (pseudonymizeId === null) {
      throw new StoreError(`no replica has opened organization ${config.id} yet, so it accepts no conversations`);
    }
    return this.#open(pseudonymizeId);
  }

  #open(pseudonymizeId: PseudonymizeId): Ingestion {
    const { config, store, version, clock, random } = this.#options;
    const { conversations } = config;
    const note = (topic: string) => store.note(`conversations/${config.id}/${topic}`);
    return new Ingestion({
      sources: openSources(conversations, { note, userAgent: `octavo/${version}`, clock, random }),
      outbox: this.#stored,
      redactor: createConversationRedactor(redactionOptions(conversations.redact), pseudonymizeId),
      writer: null,
      settleDelay: conversations.settleDelay,
      batch: conversations.batch,
      clock,
      random,
      events: {},
    });
  }
}

interface RemoteOrganizationsOptions {
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
interface RemoteOrganization {
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
