/** Conversations of one organization in the daemon. */
import type { OrganizationConfig } from '../../config/config.ts';
import { outboxLimit } from '../../config/conversations.ts';
import { type ConversationRequest, handleConversationRequest } from '../../conversations/control-api.ts';
import { describeIngestion, type Ingestion, type IngestionActivity } from '../../conversations/ingestion.ts';
import { openIngestion } from '../../conversations/open-sources.ts';
import type { PseudonymizeId } from '../../conversations/private-ids.ts';
import { redactionOptions } from '../../conversations/redact/options.ts';
import { createConversationRedactor } from '../../conversations/redact/redactor.ts';
import type { Clock } from '../../core/clock.ts';
import { CancelledError, messageOf } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { openWriter } from '../../platform/client.ts';
import { type Outbox, RecentStatus } from '../../store/outbox/outbox.ts';
import type { ConversationState } from '../../web/model/page.ts';
import type { Feature, OrganizationContext } from './feature.ts';

/** Ingests the conversations of an organization: polls sources, accepts webhooks and sends. A dry run does neither. */
export class OrganizationConversations implements Feature {
  readonly stage = 1;
  readonly ingestion: Ingestion;
  readonly state: ConversationState;
  readonly #context: OrganizationContext;
  readonly #outbox: Outbox;
  readonly #recent: RecentStatus;
  readonly #stopping = new AbortController();

  /**
   * Throws ConfigError for an invalid redaction pattern. `titles` are those of the resources, whose words are not
   * guessed to be names.
   */
  constructor(context: OrganizationContext, pseudonymizeId: PseudonymizeId, titles: readonly string[]) {
    const { organization, connection, store, probe, clock, random, version, dryRun, abort } = context;
    const { conversations } = organization;
    const client = { organization: organization.id, priority: 'ingestion', signal: abort } as const;
    const outbox = store.outbox(organization.id, outboxLimit(conversations), () => this.#recent.markChanged());
    const events = context.events.publish;
    this.#context = context;
    this.#outbox = outbox;
    this.#recent = new RecentStatus(outbox, clock);
    this.state = conversationState(conversations, outbox, clock, () => this.ingestion.activity, this.#recent);
    this.ingestion = openIngestion(
      organization,
      { store, version, outbox, pseudonymizeId, titles, clock, random, events },
      { writer: dryRun ? null : openWriter(connection, client), probe },
    );
  }

  async start(): Promise<void> {
    if (!this.#context.dryRun) {
      this.ingestion.start();
    }
  }

  /** Polls every source once, and sends the conversations that are due. */
  async once(): Promise<boolean> {
    const { dryRun, log } = this.#context;
    try {
      return dryRun || (await this.ingestion.once());
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'cannot store conversations');
      return false;
    }
  }

  /** Throws what `handleConversationRequest` throws. */
  handle(request: ConversationRequest): Promise<JsonObject> {
    const { organization, abort } = this.#context;
    const signal = AbortSignal.any([abort, this.#stopping.signal]);
    const sources = organization.conversations.sources.map(({ name }) => name);
    return handleConversationRequest({ ingestion: this.ingestion, outbox: this.#outbox, sources, signal }, request);
  }

  /** Follows hints and sends now: another replica has received something. */
  wake(): void {
    this.#recent.markChanged();
    this.ingestion.wake();
  }

  /** Updates the metrics. Never rejects. */
  async observe(): Promise<void> {
    const { metrics, organization, log } = this.#context;
    try {
      metrics.conversations.status(organization.id, await this.state.recentStatus());
    } catch (error) {
      log.debug({ reason: messageOf(error) }, 'cannot read the state of conversations');
    }
  }

  stop(milliseconds: number): Promise<void> {
    this.#stopping.abort(
      new CancelledError('the daemon is stopping; push the rest again, unchanged conversations are not sent twice'),
    );
    return this.ingestion.stop(milliseconds);
  }
}

/**
 * Returns the state of the conversations of an organization, which reads the store only. `activity` returns that of the process
 * that polls and sends. `recent` is a status that is read again after changes only; by default, it is always read.
 */
export function conversationState(
  { sources, redact }: OrganizationConfig['conversations'],
  outbox: Outbox,
  clock: Pick<Clock, 'now'>,
  activity: () => IngestionActivity,
  recent?: Pick<RecentStatus, 'read'>,
): ConversationState {
  const names = sources.map(({ name }) => name);
  const status = async () => describeIngestion(await outbox.status(), activity(), names, clock.now());
  return {
    status,
    recentStatus:
      recent === undefined
        ? status
        : async () => describeIngestion(await recent.read(), activity(), names, clock.now()),
    outdated: () => outbox.outdated(createConversationRedactor(redactionOptions(redact)).version),
    deadLetters: (filter, limit) => outbox.dead(filter, limit),
    recent: (now) => outbox.recent(now),
    find: (text) => outbox.find(text),
  };
}
