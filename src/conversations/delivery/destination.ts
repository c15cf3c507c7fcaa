import { RejectedError, TransientError } from '../../core/errors.ts';
import type { CallOptions, Writer } from '../../platform/client.ts';
import { type ConversationsProbe, saysNotThere } from '../../platform/conversations-probe.ts';
import { operations } from '../../platform/operations/index.ts';
import type { ContextRecordInput } from '../../platform/operations/sites/site-context.ts';
import type { Conversation } from '../model/conversation.ts';
import type { ConversationEvents } from '../model/events.ts';
import { toContextRecord } from './context-record.ts';

/** Where conversations go. */
export interface Destination {
  /**
   * Resolves once all of them are taken; throws what the client throws. Where it throws, some may be taken: all of them
   * are to be sent again, unless the error says otherwise.
   */
  send(conversations: readonly Conversation[], call: CallOptions): Promise<void>;
}

export interface DestinationOptions {
  /** The organization's, with priority `ingestion`. */
  readonly writer: Writer;
  /** Gives the id of the site that takes them where the platform has no conversations; null: none does. */
  readonly site: (() => Promise<string>) | null;
  readonly probe: ConversationsProbe;
  /** Of one request's body at most, but for a single record. */
  readonly bytes: number;
  readonly events: Pick<ConversationEvents, 'onDestination'>;
}

/**
 * Sends to the organization's conversations or, on a platform without them, to the context records of a site. The
 * platform is asked once which of them it has, before the first conversation is sent. Without a configured site there
 * is no choice, and no request is made. Source: docs/platform-notes.md#context-records
 */
export class PlatformDestination implements Destination {
  readonly #options: DestinationOptions;
  #told: 'conversations' | 'context-records' | null = null;

  constructor(options: DestinationOptions) {
    this.#options = options;
  }

  async send(conversations: readonly Conversation[], call: CallOptions): Promise<void> {
    const { site, probe } = this.#options;
    if (site === null) {
      await this.#sendConversations(conversations, call, NAME_A_SITE);
      return;
    }
    if (await this.#hasConversations(call)) {
      try {
        await this.#sendConversations(conversations, call, '');
        return;
      } catch (error) {
        if (!saysNotThere(error)) {
          throw error;
        }
        // It may have become one that has none.
        probe.forget();
        if (await this.#hasConversations(call)) {
          throw error;
        }
      }
    }
    await this.#sendRecords(conversations, await site(), call);
  }

  /** What is asked beforehand leaves nothing in doubt, whatever becomes of the question. */
  async #hasConversations({ signal }: CallOptions): Promise<boolean> {
    const { probe, writer } = this.#options;
    try {
      return await probe.has(writer, signal);
    } catch (error) {
      throw error instanceof TransientError ? new TransientError(error.message, false, { cause: error }) : error;
    }
  }

  async #sendConversations(conversations: readonly Conversation[], call: CallOptions, hint: string): Promise<void> {
    const [only] = conversations;
    this.#tell('conversations', null);
    // The schema's types know no readonly lists.
    const body = (conversations.length === 1 ? only : conversations) as never;
    try {
      await this.#options.writer.send(operations.ingestConversations, { body }, call);
    } catch (error) {
      throw saysNotThere(error) ? new RejectedError(`${error.message}${hint}`, error.status, { cause: error }) : error;
    }
  }

  /** A record of the same id takes the place of the one that is there, so that it may be put again at any time. */
  async #sendRecords(conversations: readonly Conversation[], siteId: string, call: CallOptions): Promise<void> {
    const { writer, probe, bytes } = this.#options;
    this.#tell('context-records', siteId);
    for (const body of withinBytes(conversations.map(toContextRecord), bytes)) {
      try {
        await writer.send(operations.putContextRecords, { path: { siteId }, body }, call);
      } catch (error) {
        if (!saysNotThere(error)) {
          throw error;
        }
        probe.forget();
        throw noSuchSite(error, siteId);
      }
    }
  }

  #tell(kind: 'conversations' | 'context-records', site: string | null): void {
    if (this.#told !== kind) {
      this.#told = kind;
      this.#options.events.onDestination?.({ kind, site });
    }
  }
}

function noSuchSite(error: RejectedError, siteId: string): RejectedError {
  const why = `the site ${siteId} has no context records; check conversations.site`;
  return new RejectedError(`${error.message}; ${why}`, error.status, { cause: error });
}

const NAME_A_SITE =
  '; from 0.167 on, platforms take context records of a site instead: name the site in conversations.site';

/** Lists of so many bytes at most: rendered, records may be longer than what they were made of. */
function withinBytes(records: readonly ContextRecordInput[], bytes: number): ContextRecordInput[][] {
  const lists: ContextRecordInput[][] = [];
  let room = 0;
  for (const record of records) {
    const size = Buffer.byteLength(JSON.stringify(record)) + 1;
    const last = lists.at(-1);
    if (last === undefined || size > room) {
      lists.push([record]);
      room = bytes - size - 1;
    } else {
      last.push(record);
      room -= size;
    }
  }
  return lists;
}
