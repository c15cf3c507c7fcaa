/** Conversations of an organization that this replica does not have: reads the outbox, and accepts webhooks. */

import type { OrganizationConfig } from '../../config/config.ts';
import { outboxLimit } from '../../config/conversations.ts';
import { Ingestion, type WebhookAnswer } from '../../conversations/ingestion/ingestion.ts';
import type { IngestionActivity, IngestionStatus } from '../../conversations/ingestion/ingestion-status.ts';
import { openSources } from '../../conversations/ingestion/open-sources.ts';
import { findIdPseudonymizer, type PseudonymizeId } from '../../conversations/intake/id-pseudonymizer.ts';
import { redactionOptions } from '../../conversations/redact/options.ts';
import { createConversationRedactor } from '../../conversations/redact/redactor.ts';
import type { Clock, Random } from '../../core/clock.ts';
import { StoreError } from '../../core/errors.ts';
import type { WebhookRequest } from '../../core/signature.ts';
import type { DeadFilter, DeadLetter, Outbox } from '../../store/outbox/outbox.ts';
import type { Store } from '../../store/store.ts';

export interface StoredConversationsOptions {
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
