/** Worker thread that reads files with tickets for the main thread. */
import { parentPort } from 'node:worker_threads';
import { messageOf, SourceError } from '../../../core/errors.ts';
import { MAX_BATCH_SIZE, type ReadOptions, sizeOf, type TicketRecord } from './formats/record.ts';
import { readTickets } from './read-tickets.ts';

/** Question to the thread: the first records of a file, or the next ones. */
export type FileQuestion = { readonly path: string; readonly options: ReadOptions } | 'next';

export interface FileAnswer {
  readonly records: readonly TicketRecord[];
  readonly isDone: boolean;
  /** Reason that reading failed after these records; null if it did not. */
  readonly failure: string | null;
}

/** Records in one answer. */
const MAX_RECORDS = 100;

let reading: AsyncGenerator<TicketRecord> | null = null;

parentPort?.on('message', async (question: FileQuestion) => {
  if (question !== 'next') {
    reading = readTickets(question.path, question.options);
  }
  parentPort?.postMessage({ answer: await nextRecords(reading) });
});
parentPort?.postMessage({ ready: true });

async function nextRecords(from: AsyncGenerator<TicketRecord> | null): Promise<FileAnswer> {
  const records: TicketRecord[] = [];
  try {
    for (let size = 0; records.length < MAX_RECORDS && size < MAX_BATCH_SIZE; ) {
      const next = (await from?.next()) ?? { done: true, value: undefined };
      if (next.done === true) {
        return { records, isDone: true, failure: null };
      }
      records.push(next.value);
      size += sizeOf(next.value.found);
    }
    return { records, isDone: false, failure: null };
  } catch (error) {
    if (!(error instanceof SourceError)) {
      throw error;
    }
    return { records, isDone: true, failure: messageOf(error) };
  }
}
