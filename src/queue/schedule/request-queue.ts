// Entry point of the queue.
import { Dispatcher } from './dispatcher.ts';
import type { QueueOptions, RequestQueue } from './queue-contract.ts';

export type { QueueOptions, RequestQueue } from './queue-contract.ts';

/** Creates the queue for one token. */
export function createRequestQueue(options: QueueOptions): RequestQueue {
  return new Dispatcher(options);
}
