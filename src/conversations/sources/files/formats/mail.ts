import PostalMime, { type Address, type Email } from 'postal-mime';
import { textOfHtml } from '../../../model/html.ts';
import type { Person, TicketSkipReason } from '../../../model/ticket.ts';
import { parseTimestamp } from './dates.ts';
import { repaired } from './mail-repair.ts';
import { senderText } from './sender-text.ts';

/** Content of a mail. */
export interface Mail {
  readonly subject: string;
  /** In lower case; empty if there is none. */
  readonly from: string;
  /** Milliseconds since the epoch. */
  readonly at: number | null;
  /** Text without quotations and signature. */
  readonly words: string;
  readonly people: readonly Person[];
  /** Reason to skip the mail, or null. */
  readonly skip: TicketSkipReason | null;
}

/**
 * Maximum number of lines: a longest mail has 430,000, if all of it is an attachment. Each takes the parser up to 20
 * microseconds and 150 bytes.
 */
const MAX_LINES = 500_000;
const LINE_FEED = 0x0a;

/** Reads a mail (RFC 5322, MIME), or returns its problem. Never throws. */
export async function mailOf(bytes: Buffer): Promise<Mail | { readonly problem: string }> {
  if (hasTooManyLines(bytes)) {
    return { problem: `is a mail with more than ${MAX_LINES} lines` };
  }
  let email: Email;
  try {
    email = await PostalMime.parse(repaired(bytes), { maxNestingDepth: 50, attachmentEncoding: 'arraybuffer' });
  } catch {
    // The parser's message may quote the mail.
    return { problem: 'is a mail that cannot be read: nested too deeply, or the header is too large' };
  }
  const [from] = mailboxes(email.from === undefined ? [] : [email.from]);
  if (from === undefined && email.date === undefined && email.messageId === undefined) {
    return { problem: 'is not a mail: From, Date and Message-ID are missing' };
  }
  const text = email.text ?? '';
  const date = email.headers.find(({ key }) => key === 'date')?.value;
  return {
    subject: email.subject?.trim() ?? '',
    from: from?.emails[0]?.toLowerCase() ?? '',
    at: parseTimestamp(date?.replace(/\([^()]*\)/g, '')),
    words: senderText(text.trim() === '' ? textOfHtml(email.html ?? '') : text),
    people: mailboxes([
      ...(email.from === undefined ? [] : [email.from]),
      ...(email.replyTo ?? []),
      ...(email.to ?? []),
      ...(email.cc ?? []),
    ]),
    skip: skipReason(email),
  };
}

function hasTooManyLines(bytes: Buffer): boolean {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0 && lines <= MAX_LINES; at = bytes.indexOf(LINE_FEED, at + 1)) {
    lines += 1;
  }
  return lines > MAX_LINES;
}

/** Returns why a mail is skipped: it is automatic, list mail, a bounce or spam. Source: docs/helpdesk-notes.md#mail */
function skipReason(email: Email): TicketSkipReason | null {
  const header = (name: string) =>
    email.headers
      .find(({ key }) => key === name)
      ?.value.trim()
      .toLowerCase();
  if (header('x-spam-flag') === 'yes') {
    return 'spam';
  }
  const automatic = header('auto-submitted');
  const isBounce = header('return-path') === '<>' || /^multipart\/report\b/.test(header('content-type') ?? '');
  return (automatic !== undefined && !/^no\b/.test(automatic)) ||
    /^(?:bulk|list|junk)\b/.test(header('precedence') ?? '') ||
    header('list-id') !== undefined ||
    isBounce
    ? 'bulk'
    : null;
}

function mailboxes(addresses: readonly Address[]): Person[] {
  return addresses
    .flatMap((address) => address.group ?? [address])
    .map(({ name, address }) => ({
      names: name.trim() === '' ? [] : [name.trim()],
      emails: address === undefined || address === '' ? [] : [address],
    }))
    .filter(({ names, emails }) => names.length + emails.length > 0);
}
