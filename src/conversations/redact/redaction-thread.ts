/** Worker thread that redacts tickets for the main thread. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Ticket } from '../model/ticket.ts';
import { redactOrFail } from './redaction-work.ts';
import { createConversationRedactor, type RedactionOptions } from './redactor.ts';

const redactor = createConversationRedactor(workerData as RedactionOptions);

parentPort?.on('message', (tickets: readonly Ticket[]) => {
  parentPort?.postMessage({ answer: tickets.map((ticket) => redactOrFail(redactor, ticket)) });
});
parentPort?.postMessage({ ready: true });
