/** Worker thread that reads files with tickets for the main thread. */
import { parentPort } from 'node:worker_threads';
import { messageOf, SourceError } from '../../../core/errors.ts';
import { MAX_BATCH_SIZE, sizeOf, type TicketRecord } from './input.ts';
import { type FileAnswer, type FileQuestion, readTickets } from './read-tickets.ts';

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
