import type { RequestQueue } from '../queue/request-queue.ts';

/** A token's way to the platform. */
export interface Connection {
  /** Without credentials; for messages. */
  readonly baseUrl: string;
  readonly queue: RequestQueue;
  /** Gives up what waits and closes the sockets. */
  close(): Promise<void>;
}
