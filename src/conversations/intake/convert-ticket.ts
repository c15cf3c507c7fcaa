import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import type { NewContent } from '../../store/outbox/outbox.ts';
import type { Conversation, RedactionCounts, Redactor } from '../model/conversation.ts';
import { problemOfKey, type Ticket, type TicketSkipReason } from '../model/ticket.ts';
import { writableKey } from '../model/writable-key.ts';
import { type RedactionResult, redactOrFail } from '../redact/redaction-result.ts';
import { threadAddition } from './mail-thread.ts';

export interface ConvertOptions {
  readonly redactor: Redactor;
  /** Result of the redaction, if another thread made it. */
  readonly redacted?: RedactionResult | undefined;
  /** Delay after a ticket is solved, in milliseconds. */
  readonly settleDelay: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Result of the conversion. `key` is the key of the ticket as it may be written. */
export type ConvertedTicket = { readonly key: string } & (
  | { readonly kind: 'content'; readonly content: NewContent; readonly counts: RedactionCounts }
  | { readonly kind: 'skipped'; readonly reason: TicketSkipReason }
  | { readonly kind: 'rejected'; readonly reason: string }
);

/** Longest URL, in characters. Source: docs/platform-notes.md#limits */
const MAX_URL_LENGTH = 2048;

/**
 * Converts a ticket to the outbox entry of a redacted conversation that the platform accepts.
 * Source: docs/platform-notes.md#conversations
 */
export function convertTicket(ticket: Ticket, options: ConvertOptions): ConvertedTicket {
  const { redactor, settleDelay, now } = options;
  // 1. Replace an id that is itself private. The platform limits the length of a key.
  const key = writableKey(ticket.key, redactor, ticket.people);
  const problem = problemOfKey(ticket.key);
  if (problem !== null) {
    return { kind: 'rejected', key, reason: problem };
  }
  // 2. Redact. Nothing before this step is written, logged or sent.
  const redacted = options.redacted ?? redactOrFail(redactor, ticket);
  if ('failure' in redacted) {
    return { kind: 'rejected', key, reason: `it cannot be redacted (${redacted.failure})` };
  }
  // 3. Add mails to their thread, which other files may have started.
  const thread = threadAddition(ticket, redacted.conversation, options);
  // 4. Omit what the platform refuses, and skip a conversation without a customer.
  const conversation = fitToPlatform(redacted.conversation, key);
  if (conversation.parts.length === 0) {
    return { kind: 'skipped', key, reason: 'empty' };
  }
  // The customer's mail may be in another file.
  if (thread === null && !conversation.parts.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', key, reason: 'no-customer' };
  }
  // 5. Serialize it in a canonical form, so that equal content has an equal hash.
  const payload = canonicalJson(conversation);
  const content: NewContent = {
    kind: 'content',
    key,
    hash: createHash('sha256').update(payload).digest('hex'),
    redactor: redactor.version,
    payload,
    // The clock of the source may be ahead, so the delay is never longer than the settle delay from now.
    notBefore: ticket.settledAt === null ? null : Math.min(ticket.settledAt, now) + settleDelay,
    ...(thread === null ? {} : { thread }),
    ...(ticket.recheck === undefined ? {} : { recheck: ticket.recheck }),
  };
  return { kind: 'content', key, content, counts: redacted.counts };
}

/** Omits empty parts and members, and a URL that redaction has made invalid. */
function fitToPlatform({ subject, parts, metadata }: Conversation, id: string): Conversation {
  const { url, attributes, createdAt } = metadata ?? {};
  const time = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
  const names = Object.keys(attributes ?? {}).toSorted();
  // Members are in order of their names, so that they need no sorting to be serialized.
  const kept = {
    ...(names.length > 0
      ? { attributes: Object.fromEntries(names.map((name) => [name, attributes?.[name] ?? ''])) }
      : {}),
    ...(Number.isNaN(time) ? {} : { createdAt: new Date(time).toISOString() }),
    ...(url && isWebAddress(url) ? { url } : {}),
  };
  // The redactor has shortened the subject already: a cut can create text that has to be redacted in turn.
  const title = subject?.trim() ?? '';
  return {
    id,
    ...(Object.keys(kept).length === 0 ? {} : { metadata: kept }),
    parts: parts.filter(({ body }) => body.trim() !== ''),
    ...(title === '' ? {} : { subject: title }),
  };
}

/**
 * Reports whether a URL is that of a web page. A file may contain any URL, and a person may open it: scripts are
 * excluded.
 */
function isWebAddress(url: string): boolean {
  return url.length <= MAX_URL_LENGTH && /^https?:$/.test(URL.parse(url)?.protocol ?? '');
}
