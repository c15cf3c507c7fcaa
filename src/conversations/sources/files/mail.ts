/** Reads the sender's own text of one mail, and repairs mails that break the rules of MIME. */
import { isAscii, isUtf8 } from 'node:buffer';
import EmailReplyParser from 'email-reply-parser';
import PostalMime, { type Address, type Email } from 'postal-mime';
import { textOfHtml } from '../../model/html.ts';
import type { Person, TicketSkipReason } from '../../model/ticket.ts';
import { parseTimestamp } from '../dates.ts';

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
  const authors = email.from === undefined ? [] : [email.from];
  const [from] = mailboxes(authors);
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
    people: mailboxes(
      [...authors, email.sender ?? [], email.replyTo ?? [], email.to ?? [], email.cc ?? [], email.bcc ?? []].flat(),
    ),
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

/**
 * Limit of the text that the parser receives, in UTF-16 units. The parser takes superlinear time in the length of a
 * line and in the number of certain words. Lines that are too long to introduce a quotation are hidden from it. If a
 * mail is too long or has too many of these words, only its quoted lines are removed.
 */
const MAX_LENGTH = 32 * 1024;
const MAX_LINE_LENGTH = 1000;
const MAX_LENGTH_WITH_ADDRESS = 250;
const MAX_WORDS = 30;
const COSTLY_START = /^[^\S\n]*(?:Op|W dniu|Dnia|在|[a-z]{3,4}\.)/gm;
const COSTLY_WORD = /schreef|pisze|napisał|写道|skrev/g;
/** Placeholder of a hidden line, in private-use characters, which no mail contains. */
const PLACEHOLDER = /\uE0F0(\d+)\uE0F1/g;

/** Returns the text without quotations and signature. */
export function senderText(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const tidy = lines
    // A trailing space is significant only in the signature separator.
    .map((line) => (line === '-- ' ? line : line.trimEnd()))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  if (isCostly(tidy)) {
    return unquoted(tidy);
  }
  const long: string[] = [];
  const short = tidy
    .split('\n')
    .map((line) => (isLong(line) ? `${line[0] === '>' ? '>' : ''}\uE0F0${long.push(line) - 1}\uE0F1` : line))
    .join('\n');
  const own = new EmailReplyParser().parseReply(short).trim();
  // If the parser removes the whole mail, only its quoted lines are removed.
  return own === '' ? unquoted(tidy) : own.replace(PLACEHOLDER, (_, index) => long[Number(index)] ?? '');
}

function isLong(line: string): boolean {
  return line.length > MAX_LINE_LENGTH || (line.length > MAX_LENGTH_WITH_ADDRESS && line.includes('<'));
}

function isCostly(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  return (
    text.length > MAX_LENGTH ||
    text.includes('\uE0F0') ||
    (count(COSTLY_WORD) > 0 && Math.max(count(COSTLY_START), count(COSTLY_WORD)) > MAX_WORDS)
  );
}

function unquoted(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('>'))
    .join('\n')
    .trim();
}

/** Header field, and a line that begins a mail in a mailbox. */
const FIELD = /^[!-9;-~]+[ \t]*:/;
const KNOWN_FIELD = /^(?:from|to|date|subject|message-id|mime-version|content-[a-z-]+)[ \t]*:/i;
const TYPE = /^[\w.+-]+\/[\w.+-]+$/;
/** Charsets whose text is nearly never valid UTF-8 by chance. */
const LATIN = /^(?:us-ascii|ascii|iso-?8859-1|latin1|windows-1252|cp1252)$/i;
const HTML = /^\s*<(?:!doctype|html|body|div|p)\b/i;
/** Words with which mail programs fill the text before the first part. */
const PREAMBLE = /\bMIME\b/i;
/** Characters that no text contains. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is searched.
const BINARY = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;
/** Parts that are nested more deeply are not repaired. */
const MAX_DEPTH = 5;
/** Maximum number of lines that may be boundaries; a mail with more is not repaired. */
const MAX_BOUNDARIES = 20_000;

/** Part of a mail, in Latin-1: a character for each byte. */
interface Part {
  readonly text: string;
  readonly hasText: boolean;
}

/**
 * Repairs a mail whose text a strict parser would lose: multiparts without boundaries, parts without an empty line
 * after the header, missing and wrong charsets and transfer encodings, raw characters in the header, and CR line ends. If
 * no part has text, text outside the parts and other types of text count. What is not broken stays as it is.
 */
function repaired(bytes: Buffer): Buffer {
  const raw = bytes.toString('latin1');
  const lines = (raw.includes('\n') ? raw : raw.replaceAll('\r', '\n')).split('\n');
  if (lines.filter((line) => line.startsWith('--')).length > MAX_BOUNDARIES) {
    return bytes;
  }
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(raw)?.[1] ?? '';
  const repair = { charset, all: false, depth: 0 };
  const strict = partOf(lines, repair);
  const { text } = strict.hasText ? strict : partOf(lines, { ...repair, all: true });
  return text === raw ? bytes : Buffer.from(text, 'latin1');
}

/** Position in a mail whose parts are repaired. */
interface Repair {
  /** Charset that the mail names first. */
  readonly charset: string;
  /** True if text outside the parts and other types of text count too. */
  readonly all: boolean;
  readonly depth: number;
}

/** A header, the empty line after it, and the lines of the body. */
interface Section {
  readonly header: string;
  readonly blank: string;
  readonly body: readonly string[];
}

function partOf(lines: readonly string[], repair: Repair): Part {
  const end = endOfHeader(lines);
  const isClosed = lines[end]?.trimEnd() === '';
  const section: Section = {
    header: decodedHeader(lines.slice(0, end).join('\n'), repair.charset),
    blank: isClosed ? (lines[end] ?? '') : '',
    body: lines.slice(isClosed ? end + 1 : end),
  };
  const { header, body } = section;
  const declared = fieldOf(header, 'content-type').split(';')[0]?.trim().toLowerCase() ?? '';
  const type = declared === '' || TYPE.test(declared) ? declared : 'broken';
  const isMail = type === 'message/rfc822';
  // Reports about mails are skipped, whatever they contain.
  if (repair.depth > MAX_DEPTH || type === 'multipart/report' || (isMail && encodingOf(header) !== '')) {
    return { text: lines.join('\n'), hasText: true };
  }
  if (type.startsWith('multipart/')) {
    return multipartOf(section, repair);
  }
  if (isMail) {
    const { text, hasText } = partOf(body, { ...repair, depth: repair.depth + 1 });
    return { text: whole(section, text), hasText };
  }
  const isOther = !['', 'broken', 'text/plain', 'text/html'].includes(type);
  const isAttached = /^\s*attachment\b/i.test(fieldOf(header, 'content-disposition'));
  if (isAttached || (isOther && !(repair.all && type.startsWith('text/')))) {
    return { text: whole(section), hasText: false };
  }
  return textOf(section, isOther || type === 'broken');
}

function whole({ header, blank, body }: Section, text = body.join('\n')): string {
  return `${header === '' ? '' : `${header}\n`}${blank}\n${text}`;
}

/** Returns the index of the line after the header, which is not empty if the empty line is missing. */
function endOfHeader(lines: readonly string[]): number {
  const empty = lines.findIndex((line) => line.trimEnd() === '');
  const header = empty < 0 ? lines : lines.slice(0, empty);
  const broken = header.findIndex(
    (line, at) => !(FIELD.test(line) || /^[ \t]/.test(line) || (at === 0 && /^>?From /.test(line))),
  );
  return broken < 0 || header.slice(broken).some((line) => KNOWN_FIELD.test(line)) ? header.length : broken;
}

const REPLACED = /^content-(?:type|transfer-encoding)[ \t]*:[^\n]*(?:\n[ \t][^\n]*)*\n?/gim;

function fieldOf(header: string, name: `content-${'type' | 'disposition' | 'transfer-encoding'}`): string {
  const [, value = ''] = new RegExp(`^${name}[ \\t]*:([^\\n]*(?:\\n[ \\t][^\\n]*)*)`, 'im').exec(header) ?? [];
  return value.replace(/[\r\n]+/g, '').trim();
}

/** Returns the header with another type and transfer encoding. */
function withType(header: string, type: string, encoding: string): string {
  const rest = header.replace(REPLACED, '').trimEnd();
  const how = encoding === '' ? '' : `\nContent-Transfer-Encoding: ${encoding}`;
  return `${rest === '' ? '' : `${rest}\n`}Content-Type: ${type}${how}`;
}

function encodingOf(header: string): string {
  const encoding = /base64|quoted-printable/i.exec(fieldOf(header, 'content-transfer-encoding'));
  return encoding?.[0].toLowerCase() ?? '';
}

function multipartOf(section: Section, repair: Repair): Part {
  const { header, body } = section;
  const [, quoted, bare] = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(fieldOf(header, 'content-type')) ?? [];
  const declared = quoted ?? bare ?? '';
  const isIn = declared !== '' && body.some((line) => line.startsWith('--') && line.trimEnd() === `--${declared}`);
  const guessed = body.find((line, at) => /^--\S/.test(line) && /^content-[a-z-]+:/i.test(body[at + 1] ?? ''));
  const boundary = isIn ? declared : (guessed?.trimEnd().slice(2) ?? '');
  if (boundary === '') {
    const type = HTML.test(body.slice(0, 100).join('\n')) ? 'text/html' : 'text/plain';
    return textOf({ ...section, header: withType(header, type, encodingOf(header)) }, false);
  }
  const sections: string[] = [];
  let hasText = false;
  let isInside = false;
  let part: string[] = [];
  const close = () => {
    const isProse =
      repair.all && !isInside && part.some((line) => line.trim() !== '') && !PREAMBLE.test(part.join('\n'));
    if (isInside || isProse) {
      const inner = { ...repair, depth: repair.depth + 1 };
      const read = isInside ? partOf(part, inner) : textOf({ header: '', blank: '', body: part }, false);
      hasText ||= read.hasText;
      sections.push(isInside ? read.text : `--${boundary}\n${read.text}`);
    } else if (part.length > 0) {
      sections.push(part.join('\n'));
    }
    part = [];
  };
  for (const line of body) {
    const tidy = line.startsWith('--') ? line.trimEnd() : '';
    const isEnd = tidy === `--${boundary}--`;
    if (isEnd || tidy === `--${boundary}`) {
      close();
      isInside = !isEnd;
      // Text after the last part becomes a part.
      if (!(isEnd && repair.all)) {
        sections.push(line);
      }
    } else {
      part.push(line);
    }
  }
  close();
  const own = boundary === declared ? header : withType(header, `multipart/mixed; boundary="${boundary}"`, '');
  return { text: whole({ ...section, header: own }, sections.join('\n')), hasText };
}

/** Text of a part; `isOther`: its type must be replaced. */
function textOf(section: Section, isOther: boolean): Part {
  const { header, body } = section;
  const type = fieldOf(header, 'content-type');
  const label = /charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1] ?? '';
  const { bytes, isRepaired } = decodedBody(body.join('\n'), encodingOf(header));
  const text = textOfBytes(bytes, label);
  const hasText = (text ?? bytes.toString('latin1')).replace(/<[^<>]*>|&nbsp;/g, '').trim() !== '';
  if (text === null && !isRepaired && !isOther) {
    return { text: whole(section), hasText };
  }
  const subtype = /^text\/(?:html|enriched|richtext)\b/i.test(type) ? 'html' : 'plain';
  const flowed = /;\s*format\s*=\s*"?flowed/i.test(type) ? '; format=flowed' : '';
  const delSp = /;\s*delsp\s*=\s*"?yes/i.test(type) ? '; delsp=yes' : '';
  const charset = text !== null || label === '' ? 'utf-8' : label;
  const encoded = (text === null ? bytes : Buffer.from(text)).toString('base64').replace(/.{76}/g, '$&\n');
  const own = withType(header, `text/${subtype}; charset="${charset}"${flowed}${delSp}`, 'base64');
  return { text: whole({ header: own, blank: '', body: [encoded, ''] }), hasText };
}

/** Decodes bytes that their label does not describe: as UTF-8, or else windows-1252. Null if the label is right. */
function textOfBytes(bytes: Buffer, label: string): string | null {
  if (isAscii(bytes)) {
    return null;
  }
  const isUnicode = isUtf8(bytes);
  if (label === '' || /^utf-?8$/i.test(label) || LATIN.test(label)) {
    const isRight = isUnicode ? !LATIN.test(label) : LATIN.test(label);
    return isRight ? null : new TextDecoder(isUnicode ? 'utf-8' : 'windows-1252').decode(bytes);
  }
  try {
    new TextDecoder(label, { fatal: true }).decode(bytes);
    return null;
  } catch (error) {
    // The parser knows more labels.
    const isUnknown = error instanceof RangeError;
    return isUnicode ? bytes.toString('utf8') : isUnknown ? null : new TextDecoder('windows-1252').decode(bytes);
  }
}

function decodedBody(body: string, encoding: string): { readonly bytes: Buffer; readonly isRepaired: boolean } {
  if (encoding === 'quoted-printable') {
    const joined = body.replace(/=[ \t]+(\r?)$/gm, '=$1');
    const text = joined
      .replace(/=\r?\n/g, '')
      .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return { bytes: Buffer.from(text, 'latin1'), isRepaired: joined !== body };
  }
  if (encoding === 'base64') {
    const lines = body.split('\n');
    // A pattern for a whole line, white space included, would take quadratic time for a line of spaces.
    const other = lines.findIndex((line) => !/^[A-Za-z0-9+/=]*$/.test(line.trim()));
    const encoded = (other < 0 ? lines : lines.slice(0, other)).join('\n');
    const rest = other < 0 ? '' : lines.slice(other).join('\n');
    const bytes = Buffer.from(encoded, 'base64');
    const isWord = encoded.replace(/\s/g, '').length % 4 !== 0 && BINARY.test(bytes.toString('latin1'));
    return isWord || bytes.length === 0
      ? { bytes: Buffer.from(body, 'latin1'), isRepaired: body.trim() !== '' }
      : {
          bytes: Buffer.from(`${bytes.toString('latin1')}${rest === '' ? '' : `\n${rest}`}`, 'latin1'),
          isRepaired: rest !== '',
        };
  }
  return { bytes: Buffer.from(body, 'latin1'), isRepaired: false };
}

/** Decodes raw characters of a header like the body, and corrects wrong labels of encoded words. */
function decodedHeader(header: string, charset: string): string {
  const bytes = Buffer.from(header, 'latin1');
  const text = isUtf8(bytes) ? header : Buffer.from(decodedAs(bytes, charset)).toString('latin1');
  return text.replace(/=\?utf-?8(\*[^?\s]*)?\?([qb])\?([^?\s]*)\?=/gi, (word, _, kind: string, content: string) => {
    const encoding = kind.toLowerCase() === 'q' ? 'quoted-printable' : 'base64';
    const { bytes: decoded } = decodedBody(content, encoding);
    return isUtf8(decoded) ? word : word.replace(/utf-?8/i, 'windows-1252');
  });
}

function decodedAs(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
