import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import type { NewContent } from '../../store/outbox.ts';
import type { Conversation, RedactionCounts, Redactor } from '../model/conversation.ts';
import { problemOfKey, type SkipReason, type Ticket } from '../model/ticket.ts';
import { writableKey } from '../model/writable-key.ts';
import { threadAddition } from './mail-thread.ts';

/** What becomes of a ticket. */
export type Admission =
  | { readonly kind: 'content'; readonly content: NewContent; readonly counts: RedactionCounts }
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | { readonly kind: 'rejected'; readonly reason: string };

/** Longest URL, in characters. Source: docs/platform-notes.md#limits */
const LONGEST_URL = 2048;

/**
 * Redacts a ticket and converts it to a conversation that the platform accepts: no empty part, at least one part of a
 * customer, and no URL that redaction has made invalid. `settleDelay` is the delay after a ticket is solved, in milliseconds;
 * `now` is milliseconds since the epoch. Source: docs/platform-notes.md#conversations
 */
export function admit(ticket: Ticket, redactor: Redactor, settleDelay: number, now: number): Admission {
  const problem = problemOfKey(ticket.key);
  if (problem !== null) {
    return { kind: 'rejected', reason: problem };
  }
  let redacted: ReturnType<Redactor['redact']>;
  try {
    redacted = redactor.redact(ticket);
  } catch (error) {
    // Its message may quote what it was about.
    return { kind: 'rejected', reason: `it cannot be redacted (${error instanceof Error ? error.name : 'error'})` };
  }
  const key = writableKey(ticket.key, redactor, ticket.people);
  const thread = threadAddition(ticket, redacted.conversation, { redactor, settleDelay, now });
  const conversation = fitted(redacted.conversation, key);
  if (conversation.parts.length === 0) {
    return { kind: 'skipped', reason: 'empty' };
  }
  // The customer's mail may be in another file.
  if (thread === null && !conversation.parts.some(({ role }) => role === 'user')) {
    return { kind: 'skipped', reason: 'no-customer' };
  }
  const payload = canonicalJson(conversation);
  const content: NewContent = {
    kind: 'content',
    key,
    hash: createHash('sha256').update(payload).digest('hex'),
    redactor: redactor.version,
    payload,
    // Another machine's clock may be ahead, and holds nothing back for longer than that.
    notBefore: ticket.settledAt === null ? null : Math.min(ticket.settledAt, now) + settleDelay,
    ...(thread === null ? {} : { thread }),
    ...(ticket.recheck === undefined ? {} : { recheck: ticket.recheck }),
  };
  return { kind: 'content', content, counts: redacted.counts };
}

function fitted({ subject, parts, metadata }: Conversation, id: string): Conversation {
  const { url, attributes, createdAt } = metadata ?? {};
  const time = createdAt === undefined ? Number.NaN : Date.parse(createdAt);
  const kept = {
    ...(url && isAddress(url) ? { url } : {}),
    ...(attributes && Object.keys(attributes).length > 0 ? { attributes } : {}),
    ...(Number.isNaN(time) ? {} : { createdAt: new Date(time).toISOString() }),
  };
  // The redactor has cut it: what a cut makes look like a value has to be redacted in its turn.
  const title = subject?.trim() ?? '';
  return {
    id,
    ...(title === '' ? {} : { subject: title }),
    parts: parts.filter(({ body }) => body.trim() !== ''),
    ...(Object.keys(kept).length === 0 ? {} : { metadata: kept }),
  };
}

/** Whether it leads to a page. A file may say anything, and somebody may follow it: a script is no address. */
function isAddress(url: string): boolean {
  return url.length <= LONGEST_URL && /^https?:$/.test(URL.parse(url)?.protocol ?? '');
}
