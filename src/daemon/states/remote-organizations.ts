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
import { StoreError } from '../../core/errors.ts';
import type { WebhookRequest } from '../../core/signature.ts';
import type { FleetLeases } from '../../fleet/fleet-leases.ts';
import { openPushReceiver, type PushReceiver } from '../../reconcile/push-receiver.ts';
import { organizationLease } from '../../store/leases.ts';
import type { DeadFilter, DeadLetter, Outbox } from '../../store/outbox/outbox.ts';
import type { OrganizationOwner, OrganizationState } from '../../web/model/backend.ts';
import type { DaemonContext } from '../organization/feature.ts';
import { UNKNOWN_QUEUE, UNKNOWN_STATE } from './state-parts.ts';
import { StateReader } from './state-reader.ts';

type StoreContext = Pick<DaemonContext, 'store' | 'clock' | 'random' | 'version'>;

/** Opens what it needs when it is first used. It neither polls nor sends. */
export class StoredConversations {
  readonly #config: OrganizationConfig;
  readonly #context: StoreContext;
  readonly #outbox: Outbox;
  #reading: Ingestion | null = null;
  #accepting: Promise<Ingestion> | null = null;

  constructor(config: OrganizationConfig, context: StoreContext) {
    this.#config = config;
    this.#context = context;
    this.#outbox = context.store.outbox(config.id, outboxLimit(config.conversations));
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
    return this.#outbox.dead(filter, limit);
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

  /** Ids are not read, so they need no pseudonyms. */
  get #reader(): Ingestion {
    this.#reading ??= this.#open((id) => id);
    return this.#reading;
  }

  async #accept(): Promise<Ingestion> {
    const { id } = this.#config;
    const pseudonymizeId = await findIdPseudonymizer(this.#context.store, id);
    if (pseudonymizeId === null) {
      throw new StoreError(`no replica has opened organization ${id} yet, so it accepts no conversations`);
    }
    return this.#open(pseudonymizeId);
  }

  #open(pseudonymizeId: PseudonymizeId): Ingestion {
    const { store, version, clock, random } = this.#context;
    const { id, conversations } = this.#config;
    const note = (topic: string) => store.note(`conversations/${id}/${topic}`);
    return new Ingestion({
      sources: openSources(conversations, { note, userAgent: `octavo/${version}`, clock, random }),
      outbox: this.#outbox,
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

/** An organization that this replica does not have. */
interface RemoteOrganization {
  readonly config: OrganizationConfig;
  readonly state: OrganizationState;
  readonly conversations: StoredConversations;
  /** Null if no webhook is configured. */
  readonly pushes: PushReceiver | null;
}

export class RemoteOrganizations {
  readonly #context: StoreContext;
  readonly #leases: Pick<FleetLeases, 'replica' | 'holder'>;
  readonly #queueName: (organization: OrganizationConfig) => string;
  readonly #onPush: (organization: string) => void;
  readonly #states: StateReader;
  readonly #organizations = new Map<string, RemoteOrganization>();

  /** `queueName` returns the name of the queue of an organization; `onPush` is called for a push to its repository. */
  constructor(
    context: StoreContext,
    leases: Pick<FleetLeases, 'replica' | 'holder'>,
    queueName: (organization: OrganizationConfig) => string,
    onPush: (organization: string) => void,
  ) {
    this.#context = context;
    this.#leases = leases;
    this.#queueName = queueName;
    this.#onPush = onPush;
    this.#states = new StateReader(context.store.organizationStates());
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
    const holder = this.#leases.holder(organizationLease(id));
    if (holder === null) {
      return { kind: 'only' };
    }
    const { replica, age } = holder;
    return replica === null
      ? { kind: 'none', since: age === null ? null : Math.round(this.#context.clock.now() - age) }
      : { kind: 'replica', id: replica.id, address: replica.address };
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
    const conversations = new StoredConversations(config, this.#context);
    const pushes = openPushReceiver(config, store, clock, () => this.#onPush(config.id));
    return { config, conversations, pushes, state: this.#stateOf(config, conversations, pushes) };
  }

  /** Returns the state of an organization, which changes whenever the states are refreshed. */
  #stateOf(
    config: OrganizationConfig,
    conversations: StoredConversations,
    webhook: PushReceiver | null,
  ): OrganizationState {
    const { store, clock } = this.#context;
    const { id, source } = config;
    const stored = () => this.#states.find(id) ?? UNKNOWN_STATE;
    const owner = () => this.owner(id);
    const queueName = () => this.#queueName(config);
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
      webhook,
      get statuses() {
        return stored().statuses;
      },
    };
  }
}
