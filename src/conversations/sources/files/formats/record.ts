import { problemOfKey, type SourceRecord } from '../../../model/ticket.ts';

/** One record of a file. */
export interface TicketRecord {
  /** Index, from 0. The same bytes and options always give the same records in the same order. */
  readonly index: number;
  readonly found: SourceRecord;
}

export const FORMATS = ['json', 'ndjson', 'csv', 'eml', 'mbox'] as const;
export type Format = (typeof FORMATS)[number];

/** Options for CSV. */
export interface CsvOptions {
  /** One character. By default detected from the first line: comma, semicolon or tab. */
  readonly delimiter?: string;
  /** Names of columns in the file that differ from the default: `{ ticket_id: 'Case No.' }`. */
  readonly columns?: Readonly<Partial<Record<string, string>>>;
}

export interface ReadOptions {
  /** Account in keys: `file/ACCOUNT/ID`. Ids are unique in one account only. */
  readonly account: string;
  /** By default detected from the name, then from the first bytes. */
  readonly format?: Format;
  readonly csv?: CsvOptions;
  /** Domains of the team, including their subdomains. */
  readonly teamDomains?: readonly string[];
  /** Largest record that is read, in bytes: a ticket or a mail. */
  readonly longest?: number;
}

/** Default of `longest`: longer than any real ticket, and a few of them fit into memory. */
export const MAX_LENGTH = 16 * 1024 * 1024;

/** Maximum length of the text in one deposit, in UTF-16 units: memory holds it several times. */
export const MAX_BATCH_SIZE = 512 * 1024;

/** Returns the length of a record's text, in UTF-16 units. */
export function sizeOf(found: SourceRecord): number {
  return found.kind === 'ticket' ? found.ticket.parts.reduce((size, { body }) => size + body.length, 0) : 0;
}

/** Creates a rejected record; `line` counts from 1. The reason never quotes the record. */
export function rejected(name: string, line: number, reason: string): SourceRecord {
  return { kind: 'rejected', place: `${name}:${line}`, reason };
}

/**
 * Adds the position to an empty record; `line` counts from 1. A record whose id is too long can never be sent, and is
 * rejected, so that the reject file lists it.
 */
export function placed(found: SourceRecord, name: string, line: number): SourceRecord {
  const problem = found.kind === 'ticket' ? problemOfKey(found.ticket.key) : null;
  if (problem !== null) {
    return rejected(name, line, problem);
  }
  return found.kind === 'skipped' && found.reason === 'empty' ? { ...found, place: `${name}:${line}` } : found;
}

/** Returns the position and reason for the reject file; null if the record is not listed there. */
export function rejectionOf({ found }: TicketRecord): { readonly line: number; readonly reason: string } | null {
  if (found.kind !== 'rejected' && (found.kind !== 'skipped' || found.place === undefined)) {
    return null;
  }
  const line = Number(/:(\d+)$/.exec(found.place ?? '')?.[1] ?? 1);
  return { line, reason: found.kind === 'rejected' ? found.reason : 'skipped: no part has any text' };
}

/** Formats a limit as `larger than 16 MiB`, or in bytes below 1 MiB. */
export function largerThan(bytes: number): string {
  return `is larger than ${bytes < 2 ** 20 ? `${bytes} bytes` : `${Math.floor(bytes / 2 ** 20)} MiB`}`;
}
