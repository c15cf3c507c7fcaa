/** Turns the redacted mails of one file into an addition to their thread, which other files may have begun. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/json.ts';
import type { ThreadAddition, ThreadMail } from '../../store/outbox.ts';
import type { Conversation, Redactor } from '../model/conversation.ts';
import type { AuthorRole, Person, Ticket } from '../model/ticket.ts';

/** What a thread's conversation is made with, whichever of its mails are there. */
export interface ThreadOptions {
  readonly redactor: Redactor;
  /** Milliseconds for which a conversation rests after its last mail. */
  readonly settleDelay: number;
  /** Milliseconds since the epoch: no mail is from later. */
  readonly now: number;
}

/**
 * The addition of a ticket that was read from mails; null for other tickets. `conversation` is what redaction made of it,
 * with a part for each of the ticket's.
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
    // The subject is that of the thread's first mail.
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

/** Whether any word of the people's names and addresses is in a text: most texts need not be redacted again. */
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

/** Without case and accents. */
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
