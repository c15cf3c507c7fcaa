/** Reads mails and mailboxes as threads. */
import { createHash } from 'node:crypto';
import { compareText } from '../../../core/lists.ts';
import type { Person, SourceRecord } from '../../model/ticket.ts';
import { parseTimestamp } from '../dates.ts';
import { type FileInput, type Line, largerThan, linesOf, MAX_LENGTH, type ReadOptions, rejected } from './input.ts';
import { type Mail, mailOf } from './mail.ts';

/** Longest line that is kept; real lines are shorter. */
const MAX_LINE_LENGTH = 1024 * 1024;
/** Maximum number of mails in one file: each takes some hundred bytes while it is read. */
const MAX_MAILS = 1_000_000;
/** Factor of the size limit for mails, which include attachments. */
const MAIL_FACTOR = 2;
/**
 * Separator line: `From ana@acme.example Sat Jan  3 01:05:34 2026`.
 */
const SEPARATOR = /^From .*\d{1,2}:\d\d/;
/** One with a date, which needs no header if the file ends after it. */
const DATED = / [A-Z][a-z]{2} +\d{1,2} .*\d:\d\d.* \d{4}/;
/** Escaped line in any of the line ends. */
const ESCAPED = /(^|[\r\n])>(>*From )/g;

/** Reads one mail as a thread. */
export async function* readEml(input: FileInput, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const header = new HeaderReader();
  let end = 0;
  for await (const lines of linesOf(input.open(), MAX_LINE_LENGTH)) {
    for (const line of lines) {
      end = line.end;
      if (header.isOpen) {
        header.push(line.bytes);
      }
    }
  }
  yield* readThreads(input, [{ line: 1, start: 0, end, threading: header.threading() }], false, options);
}

/** Reads a mailbox (mboxrd and similar): each thread is a ticket. A first pass finds the position of each mail. */
export async function* readMbox(input: FileInput, options: ReadOptions): AsyncGenerator<SourceRecord> {
  const mails: Envelope[] = [];
  let isEmpty = true;
  for await (const mail of envelopesOf(input)) {
    isEmpty = false;
    if (mail.start === mail.end) {
      yield rejected(input.name, mail.line, 'is not a mail: nothing follows its "From " line');
    } else if (mails.push(mail) > MAX_MAILS) {
      yield rejected(input.name, 1, `has more than ${MAX_MAILS} mails; split the file (nothing was read)`);
      return;
    }
  }
  if (isEmpty) {
    yield rejected(input.name, 1, 'is not a mailbox: it has no text');
  }
  yield* readThreads(input, mails, true, options);
}

/**
 * A mail begins at a separator line that follows an empty line and precedes a header; other lines `From ` are prose. Text
 * before the first separator is a mail too, so that it is read or rejected.
 */
async function* envelopesOf(input: FileInput): AsyncGenerator<Envelope> {
  let open: { line: number; start: number; header: HeaderReader } | null = null;
  /** A line that may be a separator, and the line after it. */
  let waiting: Line[] = [];
  let mayBegin = true;
  let end = 0;
  const envelope = ({ line, start, header }: NonNullable<typeof open>, until: number): Envelope => {
    return { line, start, end: until, threading: header.threading() };
  };
  for await (const lines of linesOf(input.open(), MAX_LINE_LENGTH)) {
    for (const line of lines) {
      const isEmpty = line.bytes?.length === 0;
      const [separator, field] = waiting;
      if (
        separator !== undefined &&
        (isCutOff(line) || (field === undefined ? isField(line) : isEmpty || isField(line, true)))
      ) {
        waiting.push(line);
      } else {
        waiting = mayBegin && isSeparator(line) ? [line] : [];
      }
      if (separator !== undefined && field !== undefined && waiting.length === 3) {
        if (open !== null) {
          yield envelope(open, separator.start);
        }
        open = { line: separator.number, start: separator.end, header: new HeaderReader() };
        open.header.push(field.bytes);
        waiting = [];
      } else if (open === null && waiting.length === 0 && !isEmpty) {
        open = { line: line.number, start: line.start, header: new HeaderReader() };
      }
      if (open?.header.isOpen === true && waiting.length === 0) {
        open.header.push(line.bytes);
      }
      mayBegin = isEmpty;
      end = line.end;
    }
  }
  const [last, field] = waiting;
  if (last !== undefined && (open === null || isDated(last) || (field !== undefined && isField(field)))) {
    if (open !== null) {
      yield envelope(open, last.start);
    }
    open = { line: last.number, start: last.end, header: new HeaderReader() };
    open.header.push(field?.bytes ?? null);
  }
  if (open !== null) {
    yield envelope(open, end);
  }
}

/** Reports whether a line is a separator even if the file ends after it. */
function isDated(line: Line): boolean {
  return isCutOff(line) || DATED.test(line.bytes?.toString('latin1') ?? '');
}

function isField({ bytes }: Line, orContinued = false): boolean {
  const text = bytes?.toString('latin1', 0, 1000) ?? '';
  return /^[!-9;-~]+[ \t]*:/.test(text) || (orContinued && /^[ \t]/.test(text));
}

function isSeparator(line: Line): boolean {
  const { bytes } = line;
  if (bytes === null || bytes.length === 0 || bytes.length > 1000 || bytes[0] !== 0x46) {
    return false;
  }
  const text = bytes.toString('latin1');
  return SEPARATOR.test(text) || (isCutOff(line) && (text.startsWith('From ') || 'From '.startsWith(text)));
}

/** Reports whether the file ends in the line. */
function isCutOff({ bytes, start, end }: Line): boolean {
  return end - start === bytes?.length;
}

/** A mail and its envelope. */
interface ReadMail {
  readonly envelope: Envelope;
  readonly mail: Mail;
}

async function* readThreads(
  input: FileInput,
  mails: readonly Envelope[],
  isEscaped: boolean,
  options: ReadOptions,
): AsyncGenerator<SourceRecord> {
  const longest = MAIL_FACTOR * (options.longest ?? MAX_LENGTH);
  for (const thread of threadsOf(mails)) {
    const read: ReadMail[] = [];
    let isRejected = false;
    for (const envelope of thread) {
      const mail = await readMail(input, envelope, isEscaped, longest);
      if ('problem' in mail) {
        isRejected = true;
        yield rejected(input.name, envelope.line, mail.problem);
      } else {
        read.push({ envelope, mail });
      }
    }
    if (read.length > 0 || !isRejected) {
      yield foundOf(input.name, thread, read, options.teamDomains ?? []);
    }
  }
}

async function readMail(input: FileInput, { start, end }: Envelope, isEscaped: boolean, longest: number) {
  if (end - start > longest) {
    return { problem: largerThan(longest) };
  }
  const bytes = Buffer.concat(await Array.fromAsync(input.open({ start, end })));
  return await mailOf(isEscaped ? withoutEscapes(bytes) : bytes);
}

/** Removes the escapes of mboxrd: a line `From ` inside a mail is preceded by one additional `>`. */
function withoutEscapes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  return text.includes('>From ') ? Buffer.from(text.replace(ESCAPED, '$1$2'), 'latin1') : bytes;
}

function foundOf(
  name: string,
  thread: readonly Envelope[],
  mails: readonly ReadMail[],
  teamDomains: readonly string[],
): SourceRecord {
  const key = `mail/${digest(rootName(thread, mails))}`;
  const own = mails.filter(({ mail }) => mail.skip === null);
  if (own.length === 0) {
    const reason = mails.find(({ mail }) => mail.skip !== null)?.mail.skip ?? 'empty';
    return { kind: 'skipped', key, reason, isOneOfMany: true };
  }
  const written = own.filter(({ mail }) => mail.words !== '');
  if (written.length === 0) {
    const place = `${name}:${thread[0]?.line ?? 1}`;
    return { kind: 'skipped', key, reason: 'empty', isOneOfMany: true, place };
  }
  const dates = own.flatMap(({ mail: { at } }) => (at === null ? [] : [at]));
  const ticket = {
    key,
    subject: own.find(({ mail }) => mail.subject !== '')?.mail.subject ?? '',
    createdAt: dates[0] === undefined ? null : new Date(dates[0]).toISOString(),
    settledAt: dates.at(-1) ?? null,
    url: null,
    attributes: { channel: 'email' },
    parts: written.map(({ mail: { from, words } }) => {
      return { role: isTeam(from, teamDomains) ? 'team-member' : 'user', body: words } as const;
    }),
    people: distinct(mails.flatMap(({ mail }) => mail.people)),
    completeness: null,
    mails: {
      ids: written.map(({ envelope, mail }) => ({ id: idOf(envelope, mail), at: mail.at })),
      links: linksOf(mails),
    },
  };
  return { kind: 'ticket', ticket };
}

/**
 * Returns the id of a thread: the Message-ID of its first mail, which may be in another file. A mail without one is
 * identified by its content.
 */
function rootName([first]: readonly Envelope[], mails: readonly ReadMail[]): string {
  const root = first?.threading.parents[0] ?? first?.threading.id ?? '';
  return root === '' ? JSON.stringify(mails.map(({ mail }) => contentOf(mail))) : root;
}

function contentOf({ from, at, subject, words }: Mail): readonly unknown[] {
  return [from, at, subject, words];
}

function idOf({ threading }: Envelope, mail: Mail): string {
  return digest(threading.id === '' ? JSON.stringify(contentOf(mail)) : threading.id);
}

/**
 * Returns hashes of the ids of these mails and of the mails that they refer to, by which mails of other files are
 * matched.
 */
function linksOf(mails: readonly ReadMail[]): readonly string[] {
  const ids = mails.flatMap(({ envelope, mail }) => [idOf(envelope, mail), ...envelope.threading.parents.map(digest)]);
  return [...new Set(ids)];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}

/** Reports whether an address belongs to one of the team's domains. */
function isTeam(from: string, teamDomains: readonly string[]): boolean {
  const domain = from.slice(from.lastIndexOf('@') + 1);
  return teamDomains.some((each) => domain === each.toLowerCase() || domain.endsWith(`.${each.toLowerCase()}`));
}

function distinct(people: readonly Person[]): Person[] {
  return [...new Map(people.map((person) => [JSON.stringify(person).toLowerCase(), person])).values()];
}

/** Position and threading of a mail in its file. */
interface Envelope {
  /** Number of its first line, from 1. */
  readonly line: number;
  /** In bytes. */
  readonly start: number;
  readonly end: number;
  readonly threading: MailThreading;
}

/**
 * Groups mails into threads by References, or else In-Reply-To; subjects do not count. References may be incomplete,
 * out of order or circular. Sorts each thread by date.
 */
function threadsOf(mails: readonly Envelope[]): Envelope[][] {
  const sets = new DisjointSets();
  mails.forEach(({ threading }, index) => {
    const own = setName(threading, index);
    for (const parent of threading.parents) {
      sets.join(own, shortDigest(parent));
    }
  });
  const threads = Map.groupBy(mails, ({ threading }, index) => sets.find(setName(threading, index)));
  return [...threads.values()].map((thread) => thread.toSorted(byDate));
}

function setName({ id }: MailThreading, index: number): string {
  return id === '' ? `#${index}` : shortDigest(id);
}

/** Hashes an id: ids may be long, and there are many. */
function shortDigest(id: string): string {
  return createHash('sha256').update(id).digest('base64').slice(0, 16);
}

/** Compares mails by date; those with equal dates, or without one, by id, so that their order in the file does not matter. */
function byDate(a: Envelope, b: Envelope): number {
  const [x, y] = [a.threading.at ?? Number.POSITIVE_INFINITY, b.threading.at ?? Number.POSITIVE_INFINITY];
  return (x === y ? 0 : x - y) || compareText(a.threading.id, b.threading.id) || a.start - b.start;
}

/** Union-find with path halving. */
class DisjointSets {
  readonly #parents = new Map<string, string>();

  find(name: string): string {
    let at = name;
    for (let up = this.#parents.get(at); up !== undefined; up = this.#parents.get(at)) {
      const above = this.#parents.get(up);
      if (above !== undefined) {
        this.#parents.set(at, above);
      }
      at = above ?? up;
    }
    return at;
  }

  join(a: string, b: string): void {
    const [x, y] = [this.find(a), this.find(b)];
    if (x !== y) {
      this.#parents.set(x, y);
    }
  }
}

/** Position of a mail in a thread, from its header only. */
interface MailThreading {
  /** Message-ID with its angle brackets; empty if it has none. */
  readonly id: string;
  /** Message ids of the earlier mails, oldest first. */
  readonly parents: readonly string[];
  /** Milliseconds since the epoch; null without a date. */
  readonly at: number | null;
}

/** Header fields that are read, and the maximum length of each. */
const WANTED = /^(message-id|references|in-reply-to|date):/i;
const MAX_VALUE_LENGTH = 64 * 1024;
/**
 * Maximum number of earlier mails to keep: the first one, which identifies the thread, and the latest, which connect
 * it.
 */
const MAX_PARENTS = 100;
const MESSAGE_ID = /<[^<>\s]{1,1000}>/g;

/** Reads a header line by line. */
class HeaderReader {
  readonly #values = new Map<string, string>();
  #name = '';
  /** False after the empty line. */
  isOpen = true;

  push(line: Buffer | null): void {
    if (line === null) {
      this.#name = '';
      return;
    }
    if (line.length === 0) {
      this.isOpen = false;
      return;
    }
    const text = line.toString('latin1', 0, Math.min(line.length, MAX_VALUE_LENGTH));
    if (/^[ \t]/.test(text)) {
      this.#add(this.#name, text);
      return;
    }
    this.#name = WANTED.exec(text)?.[1]?.toLowerCase() ?? '';
    // The first field of a name counts.
    this.#name = this.#values.has(this.#name) ? '' : this.#name;
    this.#add(this.#name, text.slice(this.#name.length + 1));
  }

  #add(name: string, text: string): void {
    const value = this.#values.get(name) ?? '';
    if (name !== '' && value.length < MAX_VALUE_LENGTH) {
      this.#values.set(name, `${value} ${text.trim()}`);
    }
  }

  /**
   * Returns the threading: References contains all earlier mails, In-Reply-To only the last (RFC 5322, section 3.6.4).
   */
  threading(): MailThreading {
    const ids = (name: string) => (this.#values.get(name)?.match(MESSAGE_ID) ?? []).map(copyOf);
    const references = ids('references');
    const kept =
      references.length > MAX_PARENTS ? [...references.slice(0, 1), ...references.slice(1 - MAX_PARENTS)] : references;
    return {
      id: ids('message-id')[0] ?? '',
      parents: references.length > 0 ? kept : ids('in-reply-to').slice(0, 1),
      at: parseTimestamp(this.#values.get('date')?.replace(/\([^()]*\)/g, '')),
    };
  }
}

/** Copies a string: a substring keeps the whole string in memory. */
function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
