import { AppError, CancelledError, messageOf, SourceError } from '../../core/errors.ts';
import type { Intake } from '../intake/intake.ts';
import { fileInput } from '../sources/files/formats/input.ts';
import { MAX_BATCH_SIZE, type ReadOptions, sizeOf, type TicketRecord } from '../sources/files/formats/record.ts';
import { readTickets } from '../sources/files/read-tickets.ts';
import { appendRejects, rejectFileOf } from '../sources/files/reject-file.ts';

/** Counts of a pushed file. */
export interface PushedFile {
  readonly file: string;
  readonly records: number;
  readonly tickets: number;
  /** Tickets that are mail threads. */
  readonly threads: number;
  readonly skipped: number;
  readonly rejected: number;
  /** File that lists rejected and empty records, with lines and reasons; null: there are none. */
  readonly rejectFile: string | null;
}

export interface PushOptions {
  readonly read: ReadOptions;
  readonly intake: Intake;
  readonly signal: AbortSignal;
}

/** Records in one deposit. */
const BATCH = 100;
/** Length of their text, in UTF-16 units. */
const MAX_SIZE = MAX_BATCH_SIZE / 2;
/** Deposits that are redacted or stored at a time: with fewer, the redaction threads wait for this one, or it for them. */
const IN_PROGRESS = 4;

/**
 * Ingests a file. Content that is unchanged since an earlier push is not sent again. Resolves when everything is
 * durable. Throws SourceError, StoreError, and CancelledError after the signal aborts.
 */
export async function pushFile(path: string, { read, intake, signal }: PushOptions): Promise<PushedFile> {
  const counts = { ticket: 0, skipped: 0, gone: 0, rejected: 0 };
  let batch: TicketRecord[] = [];
  let size = 0;
  let listed = 0;
  let threads = 0;
  // Stored in the order in which they were read: while one is stored, the next are redacted, and one more is read.
  const deposits: Promise<unknown>[] = [];
  const rejectFile = rejectFileOf(path);
  const flush = async () => {
    try {
      listed += await appendRejects(rejectFile, batch);
    } catch (error) {
      throw new SourceError(`cannot write the reject file ${rejectFile}: ${messageOf(error)}`, {
        cause: error,
      });
    }
    const found = batch.map((record) => record.found);
    batch = [];
    size = 0;
    if (deposits.length >= IN_PROGRESS) {
      await deposits.shift();
    }
    const deposit = intake.take(found, {}, signal, { after: deposits.at(-1) });
    deposit.catch(() => {});
    deposits.push(deposit);
  };
  try {
    for await (const record of readTickets(fileInput(path, signal), read)) {
      signal.throwIfAborted();
      counts[record.found.kind] += 1;
      threads += record.found.kind === 'ticket' && record.found.ticket.mails !== undefined ? 1 : 0;
      batch.push(record);
      size += sizeOf(record.found);
      if (batch.length === BATCH || size >= MAX_SIZE) {
        await flush();
      }
    }
    if (batch.length > 0) {
      await flush();
    }
    await Promise.all(deposits);
  } catch (error) {
    await Promise.allSettled(deposits);
    throw signal.aborted ? stopped(signal.reason) : error;
  }
  return {
    file: path,
    records: counts.ticket + counts.skipped + counts.gone + counts.rejected,
    tickets: counts.ticket,
    threads,
    skipped: counts.skipped + counts.gone,
    rejected: counts.rejected,
    rejectFile: listed === 0 ? null : rejectFile,
  };
}

function stopped(reason: unknown): AppError {
  const words =
    'interrupted; the conversations read so far are stored; push again to continue, unchanged ones are not sent twice';
  return reason instanceof AppError ? reason : new CancelledError(words);
}
