/** Base class of the fake receivers of notifications, on a real socket and with faults. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
export abstract class FakeReceiver implements AsyncDisposable {
  /** All requests, with those that were refused. */
  readonly requests: ReceivedRequest[] = [];
  /** Faults of the next requests; null for none. */
  readonly faults: (ReceiverFault | null)[] = [];
  /** Called when a request will get no answer. */
  onSilence: () => void = () => undefined;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  protected abstract handle(request: ReceivedRequest): ReceiverReply;

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    const seen = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
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
