/** Receiver of conversations: the organization, or the context records of a site. */
import { RejectedError, TransientError } from '../core/errors.ts';
import type { CallOptions, Writer } from '../platform/client.ts';
import { type ConversationsProbe, isMissingOperation } from '../platform/conversations-probe.ts';
import { operations } from '../platform/operations/index.ts';
import type { Input } from '../platform/operations/model/operation.ts';
import type { ConversationEvents } from './model/source.ts';
import type { AuthorRole, Conversation } from './model/ticket.ts';

/** Receiver of conversations. */
export interface Destination {
  /**
   * Resolves once all conversations are accepted; throws the errors of the client. After an error, some may have been
   * accepted: send all of them again, unless the error rules that out.
   */
  send(conversations: readonly Conversation[], call: CallOptions): Promise<void>;
}

interface DestinationOptions {
  /** Writer of the organization, with priority `ingestion`. */
  readonly writer: Writer;
  /** Returns the id of the site that receives context records on a platform without conversations; null: not configured. */
  readonly site: (() => Promise<string>) | null;
  readonly probe: ConversationsProbe;
  /** Maximum size of a request body; a single record may exceed it. */
  readonly bytes: number;
  readonly events: Pick<ConversationEvents, 'onDestination'>;
}

/**
 * Sends to the organization's conversations or, on a platform without them, to the context records of a site. One
 * request detects which of them the platform has, before the first conversation is sent. Without a configured site
 * there is no alternative, and no such request is made. Source: docs/platform-notes.md#context-records
 */
export class PlatformDestination implements Destination {
  readonly #options: DestinationOptions;
  #reported: 'conversations' | 'context-records' | null = null;

  constructor(options: DestinationOptions) {
    this.#options = options;
  }

  async send(conversations: readonly Conversation[], call: CallOptions): Promise<void> {
    const { site, probe } = this.#options;
    if (site === null) {
      await this.#sendConversations(conversations, call, NAME_A_SITE);
      return;
    }
    const { generation } = probe;
    if (await this.#hasConversations(call)) {
      try {
        await this.#sendConversations(conversations, call, '');
        return;
      } catch (error) {
        if (!isMissingOperation(error)) {
          throw error;
        }
        // The platform may have been upgraded to a version without conversations.
        probe.forget(generation);
        if (await this.#hasConversations(call)) {
          throw error;
        }
      }
    }
    await this.#sendRecords(conversations, await site(), call);
  }

  /** Probes the platform. Nothing has been sent yet, so an error leaves no batch in doubt. */
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
    this.#report('conversations', null);
    // The schema's types have no readonly arrays.
    const body = (conversations.length === 1 ? only : conversations) as never;
    try {
      await this.#options.writer.send(operations.ingestConversations, { body }, call);
    } catch (error) {
      throw isMissingOperation(error)
        ? new RejectedError(`${error.message}${hint}`, error.status, { cause: error })
        : error;
    }
  }

  /** Sends context records. A record replaces the one with the same id, so that sending it again is safe. */
  async #sendRecords(conversations: readonly Conversation[], siteId: string, call: CallOptions): Promise<void> {
    const { writer, probe, bytes } = this.#options;
    const { generation } = probe;
    this.#report('context-records', siteId);
    for (const body of withinBytes(conversations.map(toContextRecord), bytes)) {
      try {
        await writer.send(operations.putContextRecords, { path: { siteId }, body }, call);
      } catch (error) {
        if (!isMissingOperation(error)) {
          throw error;
        }
        probe.forget(generation);
        throw noSuchSite(error, siteId);
      }
    }
  }

  #report(kind: 'conversations' | 'context-records', site: string | null): void {
    if (this.#reported !== kind) {
      this.#reported = kind;
      this.#options.events.onDestination?.({ kind, site });
    }
  }
}

const NAME_A_SITE =
  '; from 0.167 on, platforms take context records of a site instead: name the site in conversations.site';

function noSuchSite(error: RejectedError, siteId: string): RejectedError {
  const why = `the site ${siteId} has no context records; check conversations.site`;
  return new RejectedError(`${error.message}; ${why}`, error.status, { cause: error });
}

/** A record of the body. */
type ContextRecord = Input<typeof operations.putContextRecords>['body'][number];

/** Splits records into lists of at most `bytes`: a record may be longer than its conversation. */
function withinBytes(records: readonly ContextRecord[], bytes: number): ContextRecord[][] {
  const lists: ContextRecord[][] = [];
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

/** Longest title, in characters; a title is required. Source: docs/platform-notes.md#limits */
const MAX_TITLE_LENGTH = 256;

const HALF_PLACEHOLDER = /\[[A-Z][A-Z0-9_]{0,48}$/;
const HALF_NUMBER = /[+(]?\d[\d\s().-]*$|\[[A-Z][A-Z0-9_]{0,48}$/;

/** Name of each author in the body. */
const SPEAKERS: Readonly<Record<AuthorRole, string>> = {
  user: 'Customer',
  assistant: 'Assistant',
  'team-member': 'Team',
};

/**
 * Converts a conversation to a context record. The body is Markdown with the parts in order, each after its speaker.
 * The subject becomes the title. If the subject is too long, the description contains all of it; if it is missing, the
 * title is the first line of text. The record contains nothing that is not in the redacted conversation. Source:
 * docs/platform-notes.md#context-records
 */
export function toContextRecord(conversation: Conversation): ContextRecord {
  const { id, subject = '', parts, metadata = {} } = conversation;
  const { url, createdAt, attributes = {} } = metadata;
  const whole = oneLine(subject);
  const title = cut(whole === '' ? firstWords(conversation) : whole);
  return {
    id,
    type: 'ticket',
    title,
    ...(whole === '' || whole === title ? {} : { description: whole }),
    body: parts.map(({ role, body }) => `**${SPEAKERS[role]}:**\n\n${body}`).join('\n\n'),
    ...(url === undefined ? {} : { url }),
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(Object.keys(attributes).length === 0 ? {} : { metadata: attributes }),
  };
}

/** Returns the first line of the customer, else of anyone, else the id, which is never empty. */
function firstWords({ id, parts }: Conversation): string {
  const said = [...parts.filter(({ role }) => role === 'user'), ...parts];
  const lines = said.flatMap(({ body }) => body.split('\n').map(oneLine));
  return lines.find((line) => line !== '') ?? id;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim();
}

/**
 * Shortens a title. It is cut between graphemes, and before a partial placeholder or number: the first digits of a long
 * number may look like a private value.
 */
function cut(text: string): string {
  if ([...text].length <= MAX_TITLE_LENGTH) {
    return text;
  }
  let kept = '';
  let points = 0;
  for (const { segment } of new Intl.Segmenter('und').segment(text)) {
    points += [...segment].length;
    if (points >= MAX_TITLE_LENGTH) {
      break;
    }
    kept += segment;
  }
  const isInNumber = /^[\s().-]?\d/.test(text.slice(kept.length, kept.length + 2));
  const whole = kept.replace(isInNumber ? HALF_NUMBER : HALF_PLACEHOLDER, '');
  return `${whole.trimEnd()}…`;
}
