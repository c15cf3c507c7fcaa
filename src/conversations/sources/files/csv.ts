/** Reads CSV, in which each row is a message. */

import { isUtf8 } from 'node:buffer';
import { CsvError, parse } from 'csv-parse/sync';
import {
  type AuthorRole,
  isOfParticipant,
  PeopleCollector,
  type Person,
  type SourceRecord,
  ticketOrSkipped,
} from '../../model/ticket.ts';
import { type DateOrder, isAmbiguous, NOT_A_TIME, parseTimestamp, provenOrder } from '../dates.ts';
import {
  asUtf8,
  type FileInput,
  type Line,
  largerThan,
  linesOf,
  MAX_LENGTH,
  placed,
  type ReadOptions,
  rejected,
} from './input.ts';

/** Maximum size of the incomplete tickets that one pass holds in memory, in UTF-16 units. */
const MEMORY_LIMIT = 32 * 1024 * 1024;
/** Maximum number of tickets in one file: each takes some hundred bytes of memory while it is read. */
const MAX_TICKETS = 1_000_000;
/** Maximum number of passes over a file for tickets with distant rows. */
const MAX_PASSES = 100;
/**
 * First line by which a spreadsheet names the separator; it may be quoted, or filled up with separators. White space is no
 * separator, except for the tab, so that each part of the pattern matches other characters.
 */
const SEPARATOR_LINE = /^"?sep=([^" \r\n])"?\1*[ \r]*$/i;
const SETTLED = new Set(['', 'solved', 'closed', 'resolved', 'done']);

/**
 * Reads CSV: each row is a message, and the rows of a ticket need not be adjacent. The first pass counts the rows of
 * each ticket. Later passes hold a ticket until its last row; tickets that do not fit into memory wait for the next
 * pass. Nothing is written to disk, because nothing is redacted yet.
 */
export async function* readCsv(
  input: FileInput,
  options: ReadOptions,
  limits = { held: MEMORY_LIMIT, tickets: MAX_TICKETS, passes: MAX_PASSES },
): AsyncGenerator<SourceRecord> {
  const longest = options.longest ?? MAX_LENGTH;
  const delimiter = await delimiterOf(input, longest);
  const reader = new CsvReader(input, options, delimiter, longest);
  const counts = new Map<string, number>();
  for await (const each of reader.messages(true)) {
    if ('kind' in each) {
      yield each;
    } else {
      counts.set(each.ticket, (counts.get(each.ticket) ?? 0) + 1);
      if (counts.size > limits.tickets) {
        yield rejected(input.name, 1, `has more than ${limits.tickets} tickets; split the file (nothing was read)`);
        return;
      }
    }
  }
  for (let pass = 1; counts.size > 0; pass++) {
    if (pass > limits.passes) {
      yield rejected(
        input.name,
        1,
        `has ${counts.size} tickets whose rows are too far apart; sort the file by ticket_id`,
      );
      return;
    }
    yield* onePass(reader, counts, limits.held);
  }
}

/** Yields the tickets that fit into memory, and removes them from the counts. */
async function* onePass(reader: CsvReader, counts: Map<string, number>, most: number): AsyncGenerator<SourceRecord> {
  const open = new Map<string, { messages: Message[]; line: number; size: number }>();
  const later = new Set<string>();
  let held = 0;
  for await (const each of reader.messages(false)) {
    if ('kind' in each || !counts.has(each.ticket) || later.has(each.ticket)) {
      continue;
    }
    const ticket = open.get(each.ticket) ?? { messages: [], line: each.line, size: 0 };
    const size = each.body.length + each.subject.length + 200;
    if (held + size > most && open.size > (open.has(each.ticket) ? 1 : 0)) {
      later.add(each.ticket);
      open.delete(each.ticket);
      held -= ticket.size;
      continue;
    }
    open.set(each.ticket, ticket);
    ticket.size += size;
    held += size;
    ticket.messages.push(each);
    const isTooLarge = ticket.size > reader.longest;
    if (isTooLarge || ticket.messages.length === counts.get(each.ticket)) {
      open.delete(each.ticket);
      counts.delete(each.ticket);
      held -= ticket.size;
      yield isTooLarge
        ? reader.rejected(ticket.line, largerThan(reader.longest))
        : reader.found(ticket.messages, ticket.line);
    }
  }
  // If the file changes during the read, some tickets may never be complete.
  for (const [id, { line }] of open) {
    counts.delete(id);
    yield reader.rejected(line, 'has rows that went away while the file was read');
  }
  if (later.size === 0) {
    counts.clear();
  }
}

class CsvReader {
  readonly longest: number;
  readonly #input: FileInput;
  readonly #options: ReadOptions;
  readonly #delimiter: string;
  /** Order of day and month; undefined until a date depends on it. */
  #order: DateOrder | null | undefined;

  constructor(input: FileInput, options: ReadOptions, delimiter: string, longest: number) {
    this.#input = input;
    this.#options = options;
    this.#delimiter = delimiter;
    this.longest = longest;
  }

  rejected(line: number, reason: string): SourceRecord {
    return rejected(this.#input.name, line, reason);
  }

  /** Yields every row as a message, and errors if requested. */
  async *messages(problems: boolean): AsyncGenerator<(Message & { readonly line: number }) | SourceRecord> {
    for await (const { row, columns, width } of this.#rows()) {
      if ('fields' in row && this.#order === undefined && isAmbiguous(row.fields[columns.created_at ?? -1] ?? '')) {
        this.#order = await this.#learnOrder();
      }
      const said = 'problem' in row ? row : messageOf(row.fields, columns, width, this.#order ?? null);
      if (!('problem' in said)) {
        yield { ...said, line: row.line };
      } else if (problems) {
        yield this.rejected(row.line, said.problem);
      }
    }
  }

  /** Reads the file for dates that prove their order of day and month. Null if none does, or if they contradict. */
  async #learnOrder(): Promise<DateOrder | null> {
    const proven = new Set<DateOrder>();
    for await (const { row, columns } of this.#rows()) {
      const order = 'fields' in row ? provenOrder(row.fields[columns.created_at ?? -1] ?? '') : null;
      if (order !== null) {
        proven.add(order);
      }
    }
    return proven.size === 1 ? ([...proven][0] ?? null) : null;
  }

  /** Yields the rows after the header row. If there is no valid header row, its problem is the only row. */
  async *#rows(): AsyncGenerator<{ readonly row: Row; readonly columns: Columns; readonly width: number }> {
    let columns: Columns | null = null;
    let width = 0;
    let isFirst = true;
    for await (const rows of rowsOf(this.#input, this.#delimiter, this.longest)) {
      for (const row of rows) {
        if (columns !== null) {
          yield { row, columns, width };
        } else if ('problem' in row) {
          yield { row, columns: {}, width };
          return;
        } else if (!(isFirst && SEPARATOR_LINE.test(row.fields.join(this.#delimiter)))) {
          const header = columnsOf(row.fields, this.#options.columns ?? {});
          if ('problem' in header) {
            yield { row: { line: row.line, problem: header.problem as string }, columns: {}, width };
            return;
          }
          columns = header;
          width = row.fields.length;
        }
        isFirst = false;
      }
    }
  }

  found(messages: readonly Message[], line: number): SourceRecord {
    return placed(foundOf(messages, this.#options.account), this.#input.name, line);
  }
}

/** Builds a ticket from its rows, ordered by date if all rows have one, otherwise in file order. */
function foundOf(rows: readonly Message[], account: string): SourceRecord {
  const isDated = rows.every(({ at }) => at !== null);
  const messages = isDated ? rows.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0)) : rows;
  const key = `file/${account}/${messages[0]?.ticket}`;
  const people = peopleOf(messages);
  const status = messages.map((each) => each.status).findLast((each) => each !== '') ?? '';
  if (!SETTLED.has(status)) {
    return { kind: 'skipped', key, reason: 'open', people };
  }
  const shown = messages.filter(({ isPublic, body }) => isPublic && body.trim() !== '');
  const first = messages.find(({ at }) => at !== null)?.at ?? null;
  const found = ticketOrSkipped(
    {
      key,
      subject: messages.find(({ subject }) => subject !== '')?.subject ?? '',
      createdAt: first === null ? null : new Date(first).toISOString(),
      settledAt: null,
      url: messages.find(({ url }) => url !== '')?.url ?? null,
      attributes: status === '' ? {} : { status },
      parts: shown.map(({ role, body }) => ({ role, body })),
      people,
      completeness: null,
    },
    messages.some(({ isPublic }) => !isPublic) ? 'private' : 'empty',
  );
  return found.kind === 'skipped' ? { ...found, people } : found;
}

function peopleOf(messages: readonly Message[]): Person[] {
  const people = new PeopleCollector();
  for (const { name, email, others } of messages) {
    people.add([name], [email]);
    for (const other of others) {
      people.addField(other);
    }
  }
  return people.all();
}

/**
 * Detects the delimiter: the one that a `sep=` line names, or else the most frequent of comma, semicolon and tab in the
 * first line that is not empty, outside quotes.
 */
async function delimiterOf(input: FileInput, longest: number): Promise<string> {
  for await (const lines of linesOf(asUtf8(input.open()), longest)) {
    for (const { bytes } of lines) {
      const line = bytes?.toString('utf8') ?? '';
      const named = SEPARATOR_LINE.exec(line)?.[1];
      if (named !== undefined) {
        return named;
      }
      if (line.trim() !== '') {
        const plain = line.replace(/"[^"]*"/g, '');
        const count = (delimiter: string) => plain.split(delimiter).length;
        return [';', '\t'].reduce((best, each) => (count(each) > count(best) ? each : best), ',');
      }
    }
  }
  return ',';
}

const REQUIRED = ['ticket_id', 'author_role', 'body'] as const;
const OPTIONAL = ['subject', 'created_at', 'public', 'status', 'url', 'author_name', 'author_email'] as const;
type Column = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number];

/** Index of each column in a row. */
type Columns = Readonly<Partial<Record<Column, number>>> & {
  /** Other columns with names or addresses of participants. */
  readonly people?: readonly number[];
};

const plain = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

/** Finds the columns in the first line, or returns a description of the expected and actual columns. */
function columnsOf(
  header: readonly string[],
  renamed: NonNullable<ReadOptions['columns']>,
): Columns | { readonly problem: string } {
  const there = header.map(plain);
  const columns: Partial<Record<Column, number>> = {};
  const people = header.flatMap((name, at) => (isOfParticipant(name) ? [at] : []));
  const missing: string[] = [];
  for (const column of [...REQUIRED, ...OPTIONAL]) {
    const configured = renamed[column];
    const at = there.indexOf(plain(configured ?? column));
    if (at >= 0) {
      columns[column] = at;
    } else if (configured !== undefined || (REQUIRED as readonly string[]).includes(column)) {
      missing.push(configured ?? column);
    }
  }
  if (missing.length === 0) {
    const used = new Set(Object.values(columns));
    return { ...columns, people: people.filter((at) => !used.has(at)) };
  }
  // Without a header, the first line contains a customer's text and names, which must not be quoted.
  const isHeader = Object.keys(columns).length > 0;
  const names = header.map((name) => name.trim()).filter((name) => /^[\p{L}][\p{L}\d _.-]{0,39}$/u.test(name));
  const has = isHeader ? names.slice(0, 30).join(', ') : 'no column names';
  return { problem: `has no column ${missing.join(', ')}; the header row has: ${has}` };
}

const SYNONYMS: Readonly<Record<AuthorRole, readonly string[]>> = {
  user: ['user', 'customer', 'end_user', 'requester', 'contact', 'client', 'visitor'],
  'team-member': ['team_member', 'agent', 'admin', 'staff', 'support', 'team', 'operator'],
  assistant: ['assistant', 'bot', 'ai'],
};
const ROLES = new Map(
  Object.entries(SYNONYMS).flatMap(([role, names]) => names.map((name) => [name, role as AuthorRole])),
);
const AMBIGUOUS =
  'may be day-first or month-first, which the other dates of the file do not show; write it as 2026-02-12';
/** Content of one row. */
interface Message {
  readonly ticket: string;
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly at: number | null;
  readonly role: AuthorRole;
  readonly body: string;
  readonly isPublic: boolean;
  readonly status: string;
  readonly url: string;
  readonly name: string;
  readonly email: string;
  /** Texts of other columns with participants. */
  readonly others: readonly string[];
}

const PUBLIC = new Set(['', 'true', 'yes', 'y', '1', 'public']);

/**
 * Reads a row as a message, or returns its problem. Only rows that are explicitly marked as public are public. `order`
 * is the one that the dates of the file prove, if they prove one.
 */
function messageOf(
  fields: readonly string[],
  columns: Columns,
  width: number,
  order: DateOrder | null,
): Message | { readonly problem: string } {
  if (fields.length !== width) {
    return { problem: `has ${fields.length} columns; the header row has ${width}` };
  }
  const field = (column: Column) => fields[columns[column] ?? -1] ?? '';
  const ticket = field('ticket_id').trim();
  if (ticket === '') {
    return { problem: 'has no ticket_id' };
  }
  const role = ROLES.get(plain(field('author_role')));
  if (role === undefined) {
    return { problem: 'has an author_role other than user, team-member, assistant or a synonym' };
  }
  const date = field('created_at');
  const at = parseTimestamp(date, order);
  if (at === null && date.trim() !== '') {
    return { problem: `has a created_at that ${isAmbiguous(date) ? AMBIGUOUS : NOT_A_TIME}` };
  }
  return {
    ticket,
    subject: field('subject').trim(),
    at,
    role,
    body: field('body'),
    isPublic: PUBLIC.has(field('public').trim().toLowerCase()),
    status: field('status').trim().toLowerCase(),
    url: field('url').trim(),
    name: field('author_name').trim(),
    email: field('author_email').trim(),
    others: (columns.people ?? []).map((at) => fields[at] ?? ''),
  };
}

/** A row or its error; `line` is the number of its first line, from 1. */
export type Row =
  | { readonly line: number; readonly fields: readonly string[] }
  | { readonly line: number; readonly problem: string };

/** Maximum number of lines in one row. An unclosed quote costs one row, not the rest of the file. */
const MAX_LINES = 10_000;
/** Number of bytes that are parsed at once, unless a row is longer. */
const BLOCK = 256 * 1024;

const NEWLINE = Buffer.from('\n');
const NOT_CLOSED = 'has a quote that is not closed';
const NOT_RFC = 'has quotes that are not as in RFC 4180';
/** Messages for the errors of the parser, whose own messages quote the row. */
const PROBLEMS = {
  CSV_QUOTE_NOT_CLOSED: NOT_CLOSED,
  CSV_MAX_RECORD_SIZE: NOT_CLOSED,
  CSV_INVALID_CLOSING_QUOTE: NOT_RFC,
  INVALID_OPENING_QUOTE: NOT_RFC,
} as const;

/**
 * Yields the rows of CSV (RFC 4180) in order, including the first line, in blocks as they were parsed; empty rows are
 * omitted. After an invalid row, reading continues with the line after its first one. `longest` and `block` are in
 * bytes; `block` only affects the speed.
 */
export async function* rowsOf(
  input: FileInput,
  delimiter: string,
  longest: number,
  block = BLOCK,
): AsyncGenerator<readonly Row[]> {
  const waiting: Waiting = { lines: [], size: 0, enough: block };
  for await (const lines of linesOf(asUtf8(input.open()), longest)) {
    for (const line of lines) {
      if (line.bytes === null) {
        yield* drain(true);
        yield [{ line: line.number, problem: largerThan(longest) }];
      } else {
        waiting.lines.push(line);
        waiting.size += sizeOf(line);
      }
    }
    yield* drain(false);
  }
  yield* drain(true);

  /** Parses full blocks; `isEnd`: all lines. A row that is still open at the end is rejected. */
  function* drain(isEnd: boolean): Generator<readonly Row[]> {
    while (waiting.size >= waiting.enough || waiting.lines.length >= (isEnd ? 1 : MAX_LINES)) {
      const lines = nextBlock(waiting);
      const isAll = lines.length === MAX_LINES || (isEnd && lines.length === waiting.lines.length);
      const { rows, done } = parseBlock(lines, delimiter, longest);
      const [open] = lines;
      const isOpen = open !== undefined && done === 0 && isAll;
      const count = isOpen ? 1 : done;
      for (const line of waiting.lines.splice(0, count)) {
        waiting.size -= sizeOf(line);
      }
      waiting.enough = count === 0 ? waiting.enough * 2 : block;
      yield isOpen ? [...rows, { line: open.number, problem: NOT_CLOSED }] : rows;
    }
  }
}

/**
 * Lines that are parsed in blocks of whole lines. A row that does not end in a block starts the next one. Each block is a
 * complete document for the parser, whose stream ends at the first error. Blocks are large, because starting a parse
 * costs as much as some hundred rows.
 */
interface Waiting {
  readonly lines: Line[];
  size: number;
  /** Size of the next block in bytes, doubled each time a row does not end in it. */
  enough: number;
}

function nextBlock({ lines, enough }: Waiting): readonly Line[] {
  let size = 0;
  let count = 0;
  for (; size < enough && count < Math.min(MAX_LINES, lines.length); count++) {
    size += sizeOf(lines[count] as Line);
  }
  return lines.slice(0, count);
}

/** Returns the size with the newline. */
function sizeOf({ bytes }: Line): number {
  return (bytes?.length ?? 0) + 1;
}

/**
 * Parses a block. Returns its rows and their number of lines, which is smaller than that of the block if the last row is
 * incomplete.
 */
function parseBlock(lines: readonly Line[], delimiter: string, longest: number) {
  const bytes = Buffer.concat(lines.flatMap((line) => (line.bytes === null ? [] : [line.bytes, NEWLINE])));
  const isText = isUtf8(bytes);
  const rows: Row[] = [];
  /** Lines that were read, and the position of the next one. */
  let done = 0;
  let at = 0;
  const lineNumber = () => lines[done]?.number ?? 0;
  // Counts lines, because the parser also counts a single carriage return.
  const skipTo = (end: number) => {
    for (; at < end; done++) {
      at += sizeOf(lines[done] as Line);
    }
  };
  const take = (fields: readonly string[], end: number) => {
    const line = lineNumber();
    const start = at;
    skipTo(end);
    if (!(isText || isUtf8(bytes.subarray(start, end)))) {
      rows.push({ line, problem: 'is not UTF-8' });
    } else if (fields.some((field) => field.trim() !== '')) {
      rows.push({ line, fields });
    }
    return null;
  };
  for (;;) {
    const start = at;
    try {
      parse(bytes.subarray(start), {
        delimiter,
        record_delimiter: '\n',
        relax_column_count: true,
        max_record_size: longest,
        on_record: (fields: string[], { bytes: read }) => take(fields, start + read),
      });
      return { rows, done };
    } catch (error) {
      if (!(error instanceof CsvError && error.code in PROBLEMS)) {
        throw error;
      }
      if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
        return { rows, done };
      }
      rows.push({ line: lineNumber(), problem: PROBLEMS[error.code as keyof typeof PROBLEMS] });
      skipTo(at + 1);
    }
  }
}
