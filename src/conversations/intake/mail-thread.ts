/** Converts the redacted mails of one file to an addition to their thread, which other files may have started. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import type { ThreadAddition, ThreadMail } from '../../store/outbox/outbox.ts';
import type { Conversation, Redactor } from '../model/conversation.ts';
import type { AuthorRole, Person, Ticket } from '../model/ticket.ts';

/** Options for composing the conversation of a thread. */
export interface ThreadOptions {
  readonly redactor: Redactor;
  /** Delay after the last mail, in milliseconds. */
  readonly settleDelay: number;
  /** Milliseconds since the epoch. A later date of a mail counts as this time. */
  readonly now: number;
}

/**
 * Returns the mails of a ticket as an addition to their thread; null for tickets that are not mails. `conversation` is
 * the redacted ticket, with a part for each part of the ticket.
 */
export function threadAddition(
  { mails, people }: Ticket,
  conversation: Conversation,
  { redactor, settleDelay, now }: ThreadOptions,
): ThreadAddition | null {
  if (mails === undefined) {
    return null;
  }
  const added = conversation.parts.map(({ role, body }, index) => ({
    id: mails.ids[index]?.id ?? '',
    at: mails.ids[index]?.at ?? null,
    role,
    // The thread has the subject of its first mail.
    subject: index === 0 ? (conversation.subject?.trim() ?? '') : '',
    body,
  }));
  return {
    mails: added.filter(({ body }) => body.trim() !== ''),
    links: mails.links,
    redactAgain: (text) => (mayName(text, people) ? redactor.text(text, people) : text),
    compose: (key, all) => {
      const thread = conversationOf(key, all, conversation);
      const payload = canonicalJson(thread);
      const last = all.findLast(({ at }) => at !== null)?.at ?? null;
      return thread.parts.some(({ role }) => role === 'user')
        ? {
            payload,
            hash: createHash('sha256').update(payload).digest('hex'),
            notBefore: last === null ? null : Math.min(last, now) + settleDelay,
          }
        : null;
    },
  };
}

/** Reports whether a text contains a word of the people's names or addresses: most texts need no second redaction. */
function mayName(text: string, people: readonly Person[]): boolean {
  const seen = plain(text);
  return people.some(({ names, emails }) =>
    [...names, ...emails].some((each) =>
      plain(each)
        .split(/[^\p{L}\p{N}]+/u)
        .some((word) => word !== '' && seen.includes(word)),
    ),
  );
}

/** Removes case and accents. */
function plain(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}

function conversationOf(key: string, mails: readonly ThreadMail[], like: Conversation): Conversation {
  const subject = mails.find((mail) => mail.subject !== '')?.subject;
  const first = mails.find(({ at }) => at !== null)?.at ?? null;
  const attributes = like.metadata?.attributes;
  return {
    id: key,
    ...(subject === undefined ? {} : { subject }),
    parts: mails.map(({ role, body }) => ({ type: 'message', role: role as AuthorRole, body })),
    metadata: {
      ...(attributes === undefined ? {} : { attributes }),
      ...(first === null ? {} : { createdAt: new Date(first).toISOString() }),
    },
  };
}
