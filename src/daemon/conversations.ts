import type { OrganizationConfig } from '../config/config.ts';
import { type ConversationRequest, handleConversationRequest } from '../conversations/ingestion/control-api.ts';
import { Ingestion, type WebhookAnswer } from '../conversations/ingestion/ingestion.ts';
import { openSources } from '../conversations/ingestion/open-sources.ts';
import type { PseudonymizeId } from '../conversations/intake/id-pseudonymizer.ts';
import type { ConversationEvents } from '../conversations/model/events.ts';
import type { Delivery } from '../conversations/model/source.ts';
import { redactionOptions } from '../conversations/redact/options.ts';
import { createConversationRedactor } from '../conversations/redact/redactor.ts';
import type { Clock, Random } from '../core/clock.ts';
import { CancelledError, messageOf } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Logger } from '../log.ts';
import { openWriter } from '../platform/client.ts';
import type { Connection } from '../platform/connection.ts';
import type { ConversationsProbe } from '../platform/conversations-probe.ts';
import { logConversations } from '../server/conversation-log.ts';
import { combineListeners } from '../server/listeners.ts';
import type { Metrics } from '../server/metrics.ts';
import type { Outbox } from '../store/outbox.ts';
import { recordedId } from '../store/recorded-id.ts';
import type { Note, OrganizationRecord } from '../store/store.ts';

export interface ConversationsOptions {
  readonly organization: OrganizationConfig;
  readonly connection: Connection;
  readonly outbox: Outbox;
  /** What was applied: a site may be named by its key. */
  readonly record: Pick<OrganizationRecord, 'read'>;
  readonly probe: ConversationsProbe;
  /** The organization's note of this topic. */
  readonly note: (topic: string) => Note;
  readonly pseudonymizeId: PseudonymizeId;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Told besides the log and the metrics. */
  readonly events: ConversationEvents;
  /** Nothing is asked of a source, and nothing is sent. */
  readonly dryRun: boolean;
  readonly abort: AbortSignal;
}

/** An organization's conversations in the daemon: polled, told by webhooks, sent, and seen in the metrics. */
export class OrganizationConversations {
  readonly #options: ConversationsOptions;
  readonly #ingestion: Ingestion;
  readonly #stopping = new AbortController();

  /** Throws ConfigError for a pattern of redaction that is none. */
  constructor(options: ConversationsOptions) {
    const {
      organization,
      connection,
      outbox,
      record,
      probe,
      note,
      pseudonymizeId,
      clock,
      random,
      version,
      log,
      metrics,
      events,
      dryRun,
      abort,
    } = options;
    const { conversations } = organization;
    const { site } = conversations;
    const client = { organization: organization.id, priority: 'ingestion', signal: abort } as const;
    this.#options = options;
    this.#ingestion = new Ingestion({
      sources: openSources(conversations, { note, userAgent: `octavo/${version}`, clock, random }),
      outbox,
      redactor: createConversationRedactor(redactionOptions(conversations.redact), pseudonymizeId),
      writer: dryRun ? null : openWriter(connection, client),
      site: site === null ? null : () => recordedId(record, 'site', site),
      probe,
      settleDelay: conversations.settleDelay,
      batch: conversations.batch,
      clock,
      random,
      events: combineListeners([logConversations(log), metrics.conversations.events(organization.id), events]),
    });
  }

  start(): void {
    if (!this.#options.dryRun) {
      this.#ingestion.start();
    }
  }

  /** One poll of every source, and all sent that is due. Answers whether nothing failed; what did is in the log. */
  async once(): Promise<boolean> {
    const { dryRun, log } = this.#options;
    try {
      return dryRun || (await this.#ingestion.once());
    } catch (error) {
      log.error(`conversations cannot be kept: ${messageOf(error)}`);
      return false;
    }
  }

  deliver(source: string, delivery: Delivery): Promise<WebhookAnswer> {
    return this.#ingestion.deliver(source, delivery);
  }

  /** Throws what `handleConversationRequest` throws. */
  answer(question: ConversationRequest): Promise<JsonObject> {
    const { outbox, organization, abort } = this.#options;
    const signal = AbortSignal.any([abort, this.#stopping.signal]);
    const sources = organization.conversations.sources.map(({ name }) => name);
    return handleConversationRequest({ ingestion: this.#ingestion, outbox, sources, signal }, question);
  }

  /** Shows in the metrics how much there is. */
  async observe(): Promise<void> {
    const { metrics, organization, log } = this.#options;
    try {
      metrics.conversations.status(organization.id, await this.#ingestion.status());
    } catch (error) {
      log.debug(`the state of conversations cannot be read: ${messageOf(error)}`);
    }
  }

  stop(milliseconds: number): Promise<void> {
    this.#stopping.abort(
      new CancelledError('it was asked to stop; push the rest again, what is unchanged is not sent twice'),
    );
    return this.#ingestion.stop(milliseconds);
  }
}
