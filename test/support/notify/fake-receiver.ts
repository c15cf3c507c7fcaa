/** Base class of the fake receivers of notifications, on a real socket and with faults. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { LocalServer, textOf } from '../local-server.ts';

/** Request as a receiver gets it. */
export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface ReceiverReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Fault of one request. A reply: nothing was processed. `dropped`: not processed, and the connection is closed. All
 * others happen after the request was processed. `lost`: the connection is closed. `silent`: no answer. `truncated`: half
 * of an answer. `endless`: an answer of 10 MB.
 */
export type ReceiverFault = ReceiverReply | 'dropped' | 'lost' | 'silent' | 'truncated' | 'endless';

/** Receiver of notifications. Subclasses keep what a real one keeps. */
export abstract class FakeReceiver extends LocalServer {
  /** All requests, with those that were refused. */
  readonly requests: ReceivedRequest[] = [];
  /** Faults of the next requests; null for none. */
  readonly faults: (ReceiverFault | null)[] = [];
  /** Called when a request will get no answer. */
  onSilence: () => void = () => undefined;

  constructor() {
    super((request, response) => void this.#serve(request, response));
  }

  protected abstract handle(request: ReceivedRequest): ReceiverReply;

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen = { path: request.url ?? '', headers: request.headers, body: await textOf(request) };
    this.requests.push(seen);
    const fault = this.faults.shift() ?? null;
    if (fault === 'dropped') {
      request.socket.destroy();
      return;
    }
    const isProcessed = fault === null || typeof fault === 'string';
    const { status, headers = {}, body = '' } = isProcessed ? this.handle(seen) : fault;
    if (fault === 'lost') {
      request.socket.destroy();
    } else if (fault === 'silent') {
      this.onSilence();
    } else if (fault === 'truncated') {
      response.writeHead(status, { ...headers, 'content-length': body.length + 10 });
      response.write(body, () => request.socket.destroy());
    } else {
      response.writeHead(status, headers).end(fault === 'endless' ? 'x'.repeat(10_000_000) : body);
    }
  }
}
