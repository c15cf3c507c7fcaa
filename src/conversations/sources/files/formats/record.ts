import { problemOfKey, type SourceRecord } from '../../../model/ticket.ts';

/** One record of a file. */
export interface TicketRecord {
  /** Counts from 0; the same bytes read with the same options give the same records in the same order. */
  readonly index: number;
  readonly found: SourceRecord;
}

export const FORMATS = ['json', 'ndjson', 'csv', 'eml', 'mbox'] as const;
export type Format = (typeof FORMATS)[number];

/** How CSV says what a ticket is. */
export interface CsvOptions {
  /** One character; found out from the first line by default: a comma, a semicolon or a tab. */
  readonly delimiter?: string;
  /** What the columns are called in the file, where that differs: `{ ticket_id: 'Case No.' }`. */
  readonly columns?: Readonly<Partial<Record<string, string>>>;
}

export interface ReadOptions {
  /** What keys carry besides the ticket's own id: `file/ACCOUNT/ID`, as ids are unique in one account only. */
  readonly account: string;
  /** SourceRecord out from the name, then from the first bytes, by default. */
  readonly format?: Format;
  readonly csv?: CsvOptions;
  /** Mail from these domains, and those below them, is the team's. */
  readonly teamDomains?: readonly string[];
  /** The largest record that is read, in bytes: a ticket, a row's ticket or a mail. */
  readonly longest?: number;
}

/** 16 MiB: no person's ticket is as long, and a few of them fit in memory. */
export const LONGEST = 16 * 1024 * 1024;

/** Words of records that become durable together, in UTF-16 units: they are in memory several times by then. */
export const LARGEST_BATCH = 1024 * 1024;

/** How much a record says, in UTF-16 units. */
export function sizeOf(found: SourceRecord): number {
  return found.kind === 'ticket' ? found.ticket.parts.reduce((size, { body }) => size + body.length, 0) : 0;
}

/** A record that cannot be read; `line` counts from 1. Reasons never quote what the record says. */
export function rejected(name: string, line: number, reason: string): SourceRecord {
  return { kind: 'rejected', place: `${name}:${line}`, reason };
}

/**
 * What a file's records came to, with its place where it has nothing to say; `line` counts from 1. One that can never be
 * sent, as its id is too long, is rejected: so that it stands in the reject file.
 */
export function placed(found: SourceRecord, name: string, line: number): SourceRecord {
  const problem = found.kind === 'ticket' ? problemOfKey(found.ticket.key) : null;
  if (problem !== null) {
    return rejected(name, line, problem);
  }
  return found.kind === 'skipped' && found.reason === 'empty' ? { ...found, place: `${name}:${line}` } : found;
}

/** Why a record's line stands in the reject file, and which; null: it does not. */
export function rejectionOf({ found }: TicketRecord): { readonly line: number; readonly reason: string } | null {
  if (found.kind !== 'rejected' && (found.kind !== 'skipped' || found.place === undefined)) {
    return null;
  }
  const line = Number(/:(\d+)$/.exec(found.place ?? '')?.[1] ?? 1);
  return { line, reason: found.kind === 'rejected' ? found.reason : 'skipped: no part has any text' };
}

/** `larger than 16 MiB`, or bytes where it is less than one. */
export function largerThan(bytes: number): string {
  return `is larger than ${bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.floor(bytes / 2 ** 20)} MiB`}`;
}
