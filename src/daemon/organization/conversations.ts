/** Conversations of one organization in the daemon. */
import { outboxLimit } from '../../config/conversations.ts';
import { type ConversationRequest, handleConversationRequest } from '../../conversations/control-api.ts';
import {
  Ingestion,
  type IngestionActivity,
  type IngestionStatus,
  type WebhookAnswer,
} from '../../conversations/ingestion.ts';
import { openSources } from '../../conversations/open-sources.ts';
import type { PseudonymizeId } from '../../conversations/private-ids.ts';
import { redactionOptions } from '../../conversations/redact/options.ts';
import { RedactionThreads, THREADS } from '../../conversations/redact/redaction-threads.ts';
import { createConversationRedactor } from '../../conversations/redact/redactor.ts';
import { CancelledError, messageOf } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { WebhookRequest } from '../../core/signature.ts';
import { openWriter } from '../../platform/client.ts';
import { type DeadFilter, type DeadLetter, type Outbox, RecentStatus } from '../../store/outbox/outbox.ts';
import { recordedId } from '../../store/record.ts';
import type { Feature, OrganizationContext } from './feature.ts';

/** Ingests the conversations of an organization: polls sources, accepts webhooks and sends. A dry run does neither. */
export class OrganizationConversations implements Feature {
  readonly stage = 1;
  readonly #context: OrganizationContext;
  readonly #outbox: Outbox;
  readonly #recent: RecentStatus;
  readonly #ingestion: Ingestion;
  readonly #stopping = new AbortController();

  /** Throws ConfigError for an invalid redaction pattern. */
  constructor(context: OrganizationContext, pseudonymizeId: PseudonymizeId) {
    const { organization, connection, store, probe, clock, random, version, dryRun, abort, events } = context;
    const { conversations } = organization;
    const { site } = conversations;
    const client = { organization: organization.id, priority: 'ingestion', signal: abort } as const;
    const note = (topic: string) => store.note(`conversations/${organization.id}/${topic}`);
    const redaction = redactionOptions(conversations.redact);
    const redactor = createConversationRedactor(redaction, pseudonymizeId);
    const onUnavailable = events.publish.onThreadsUnavailable;
    this.#context = context;
    this.#outbox = store.outbox(organization.id, outboxLimit(conversations), () => this.#recent.markChanged());
    this.#recent = new RecentStatus(this.#outbox, clock);
    this.#ingestion = new Ingestion({
      sources: openSources(conversations, { note, userAgent: `octavo/${version}`, clock, random }),
      outbox: this.#outbox,
      redactor,
      threads: new RedactionThreads({ redaction, redactor, threads: THREADS, clock, onUnavailable }),
      writer: dryRun ? null : openWriter(connection, client),
      site: site === null ? null : () => recordedId(store.organization(organization.id), 'site', site),
      probe,
      settleDelay: conversations.settleDelay,
      batch: conversations.batch,
      clock,
      random,
      events: events.publish,
    });
  }

  async start(): Promise<void> {
    if (!this.#context.dryRun) {
      this.#ingestion.start();
    }
  }

  /** Polls every source once, and sends the conversations that are due. */
  async once(): Promise<boolean> {
    const { dryRun, log } = this.#context;
    try {
      return dryRun || (await this.#ingestion.once());
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'cannot store conversations');
      return false;
    }
  }

  deliver(source: string, delivery: WebhookRequest): Promise<WebhookAnswer> {
    return this.#ingestion.deliver(source, delivery);
  }

  /** Throws what `handleConversationRequest` throws. */
  handle(request: ConversationRequest): Promise<JsonObject> {
    const { organization, abort } = this.#context;
    const signal = AbortSignal.any([abort, this.#stopping.signal]);
    const sources = organization.conversations.sources.map(({ name }) => name);
    return handleConversationRequest({ ingestion: this.#ingestion, outbox: this.#outbox, sources, signal }, request);
  }

  /** State that is not stored. */
  get activity(): IngestionActivity {
    return this.#ingestion.activity;
  }

  /** Follows hints and sends now: another replica has received something. */
  wake(): void {
    this.#recent.markChanged();
    this.#ingestion.wake();
  }

  /** Throws StoreError. */
  status(): Promise<IngestionStatus> {
    return this.#ingestion.status();
  }

  /**
   * Returns the status as of the last change by this process, or message from another one. What another process stored
   * without a message is at most a minute late. Throws StoreError.
   */
  async recentStatus(): Promise<IngestionStatus> {
    return this.#ingestion.describe(await this.#recent.read());
  }

  /** Returns the number of waiting conversations per source that were redacted with other settings. Throws StoreError. */
  outdated(): Promise<ReadonlyMap<string, number>> {
    return this.#ingestion.outdated();
  }

  /** Returns dead letters without their content, oldest first. Throws StoreError. */
  deadLetters(filter: DeadFilter, limit: number): Promise<readonly DeadLetter[]> {
    return this.#outbox.dead(filter, limit);
  }

  async observe(): Promise<void> {
    const { metrics, organization, log } = this.#context;
    try {
      metrics.conversations.status(organization.id, await this.recentStatus());
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'cannot read the state of conversations');
    }
  }

  stop(milliseconds: number): Promise<void> {
    this.#stopping.abort(
      new CancelledError('the daemon is stopping; push the rest again, unchanged conversations are not sent twice'),
    );
    return this.#ingestion.stop(milliseconds);
  }
}
