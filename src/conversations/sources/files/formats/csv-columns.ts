import type { AuthorRole } from '../../../model/ticket.ts';
import { type DateOrder, isAmbiguous, NOT_A_TIME, parseTimestamp } from './dates.ts';
import type { CsvOptions } from './record.ts';

const REQUIRED = ['ticket_id', 'author_role', 'body'] as const;
const OPTIONAL = ['subject', 'created_at', 'public', 'status', 'url', 'author_name', 'author_email'] as const;
type Column = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number];

/** Index of each column in a row. */
export type Columns = Readonly<Partial<Record<Column, number>>>;

/** Content of one row. */
export interface Message {
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
}

const plain = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');

/** Finds the columns in the first line, or returns a description of the expected and actual columns. */
export function columnsOf(header: readonly string[], options: CsvOptions): Columns | { readonly problem: string } {
  const there = header.map(plain);
  const columns: Partial<Record<Column, number>> = {};
  const missing: string[] = [];
  for (const column of [...REQUIRED, ...OPTIONAL]) {
    const configured = options.columns?.[column];
    const at = there.indexOf(plain(configured ?? column));
    if (at >= 0) {
      columns[column] = at;
    } else if (configured !== undefined || (REQUIRED as readonly string[]).includes(column)) {
      missing.push(configured ?? column);
    }
  }
  if (missing.length === 0) {
    return columns;
  }
  // Without a header, the first line contains a customer's text and names, which must not be quoted.
  const isHeader = Object.keys(columns).length > 0;
  const names = header.map((name) => name.trim()).filter((name) => /^[\p{L}][\p{L}\d _.-]{0,39}$/u.test(name));
  const has = isHeader ? names.slice(0, 30).join(', ') : 'no column names';
  return { problem: `has no column ${missing.join(', ')}; the header row has: ${has}` };
}

const ROLES = new Map<string, AuthorRole>([
  ...['user', 'customer', 'end_user', 'requester', 'contact', 'client', 'visitor'].map(
    (name) => [name, 'user'] as const,
  ),
  ...['team_member', 'agent', 'admin', 'staff', 'support', 'team', 'operator'].map(
    (name) => [name, 'team-member'] as const,
  ),
  ...['assistant', 'bot', 'ai'].map((name) => [name, 'assistant'] as const),
]);
const AMBIGUOUS =
  'may be day-first or month-first, which the other dates of the file do not show; write it as 2026-02-12';
const PUBLIC = new Set(['', 'true', 'yes', 'y', '1', 'public']);

/**
 * Reads a row as a message, or returns its problem. Only rows that are explicitly marked as public are public. `order`
 * is the one that the dates of the file prove, if they prove one.
 */
export function messageOf(
  fields: readonly string[],
  columns: Columns,
  width: number,
  order: DateOrder | null,
): Message | { problem: string } {
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
  };
}
