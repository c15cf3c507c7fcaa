/** HTTP server of a test, on a free port of this machine. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export class LocalServer implements AsyncDisposable {
  readonly #server: Server;

  constructor(listener: RequestListener) {
    this.#server = createServer(listener);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

export const serveLocally = (listener: RequestListener): Promise<LocalServer> => new LocalServer(listener).listen();

/** Text that a client sends. */
export const textOf = async (request: IncomingMessage): Promise<string> =>
  Buffer.concat(await request.toArray()).toString();
