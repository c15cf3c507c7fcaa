/**
 * HTTP listener thread: forwards requests to the main thread, and repeats the last response for health, readiness and
 * metrics while the main thread is busy. Health checks respond in time even during long parsing or planning.
 */
import { lookup } from 'node:dns/promises';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Forwarded, ForwardedAnswer, ListenerOptions } from './listener.ts';

/** Milliseconds to wait for the main thread before the last response is repeated. */
const REPEAT_AFTER = 60;
/** Milliseconds between requests of this thread to the main thread, which detect that the main thread is busy. */
const HEARTBEAT = 10_000;
/** Maximum size of all request bodies that are being received or wait for the main thread, in bytes; more are refused. */
const MAX_WAITING = 64 * 1024 * 1024;
/** Size of a small body in bytes. As much again is for small ones, so that slow senders of large ones do not block them. */
const SMALL = 64 * 1024;

interface Repeatable {
  readonly answer: ForwardedAnswer;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** Forwards requests to the main thread. */
class MainThread {
  readonly #port: MessagePort;
  readonly #waiting = new Map<
    number,
    { readonly since: number; readonly resolve: (answer: ForwardedAnswer) => void }
  >();
  #lastResponse = performance.now();
  #next = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (message: { readonly id?: number; readonly answer?: ForwardedAnswer }) => {
      this.#lastResponse = performance.now();
      if (message.id !== undefined && message.answer !== undefined) {
        this.#waiting.get(message.id)?.resolve(message.answer);
        this.#waiting.delete(message.id);
      }
    });
  }

  /** Milliseconds since the main thread last responded, while a request waits. */
  get silence(): number {
    const [oldest] = this.#waiting.values();
    return oldest === undefined ? 0 : performance.now() - Math.max(this.#lastResponse, oldest.since);
  }

  ask(request: Omit<Forwarded, 'id'>): Promise<ForwardedAnswer> {
    this.#next += 1;
    const id = this.#next;
    return new Promise((resolve) => {
      this.#waiting.set(id, { since: performance.now(), resolve });
      this.#port.postMessage({ id, ...request });
    });
  }
}

class RequestHandler {
  readonly #options: ListenerOptions;
  readonly #main: MainThread;
  readonly #last = new Map<string, Repeatable>();
  readonly #asked = new Map<string, Promise<ForwardedAnswer>>();
  #waitingBytes = 0;

  constructor(options: ListenerOptions, main: MainThread) {
    this.#options = options;
    this.#main = main;
  }

  /** Refreshes the responses that can be repeatedPaths. */
  async refresh(): Promise<void> {
    await Promise.all(this.#options.repeatedPaths.map((path) => this.#ask(path)));
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    const path = url.split('?', 1)[0] ?? '';
    if (this.#last.has(path) && (method === 'GET' || method === 'HEAD')) {
      request.resume();
      send(response, await this.#inTime(path));
      return;
    }
    const body = await this.#bodyOf(request);
    if (typeof body === 'number') {
      send(response, refusal(body));
      return;
    }
    try {
      send(response, await this.#main.ask({ method, url, headers, body }));
    } finally {
      this.#waitingBytes -= body.length;
    }
  }

  /** Returns a fresh response, or the last one with its age while the main thread is busy. */
  async #inTime(path: string): Promise<ForwardedAnswer> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, REPEAT_AFTER, null);
    });
    const asked = this.#ask(path);
    const fresh = this.#main.silence > REPEAT_AFTER ? null : await Promise.race([asked, late]);
    clearTimeout(timer);
    return fresh ?? this.#repeat(path);
  }

  #repeat(path: string): ForwardedAnswer {
    const { silence } = this.#main;
    const { livenessPath, busyMetric, longestSilence } = this.#options;
    if (path === livenessPath && silence > longestSilence) {
      const reasons = [`the main thread has not answered for ${Math.floor(silence / 1000)} s`];
      return json(503, { healthy: false, reasons });
    }
    const last = this.#last.get(path);
    if (last === undefined) {
      return refusal(503);
    }
    const age = Math.floor((performance.now() - last.at) / 1000);
    const body = withMetric(last.answer.body, busyMetric, silence / 1000);
    return { ...last.answer, headers: { ...last.answer.headers, age: String(age) }, body };
  }

  /** Sends one request per path at a time to the main thread, which all callers share. */
  #ask(path: string): Promise<ForwardedAnswer> {
    const asked =
      this.#asked.get(path) ??
      this.#main.ask({ method: 'GET', url: path, headers: {}, body: null }).then((answer) => {
        this.#asked.delete(path);
        this.#last.set(path, { answer: withoutLength(answer), at: performance.now() });
        return withoutLength(answer);
      });
    this.#asked.set(path, asked);
    return asked;
  }

  /** Reads the whole body; returns a status if the request must be refused. */
  async #bodyOf(request: IncomingMessage): Promise<Uint8Array | number> {
    const pieces: Buffer[] = [];
    let size = 0;
    let status: 413 | 503 | null = null;
    try {
      // A request that is refused is read to its end, because clients often read no response before that.
      for await (const piece of request as AsyncIterable<Buffer>) {
        size += piece.length;
        status ??= this.#refusalOf(size, piece.length);
        if (status === null) {
          pieces.push(piece);
          this.#waitingBytes += piece.length;
        } else {
          this.#release(pieces.splice(0));
        }
      }
    } catch (error) {
      this.#release(pieces);
      throw error;
    }
    return status ?? Buffer.concat(pieces);
  }

  /** Returns the status that refuses a body of this size so far; null if it is accepted. */
  #refusalOf(size: number, more: number): 413 | 503 | null {
    if (size > this.#options.largestBody) {
      return 413;
    }
    return this.#waitingBytes + more > (size > SMALL ? MAX_WAITING : 2 * MAX_WAITING) ? 503 : null;
  }

  #release(pieces: readonly Buffer[]): void {
    this.#waitingBytes -= pieces.reduce((sum, { length }) => sum + length, 0);
  }
}

/** Sets the value of a metric without labels in the text of a scrape. */
function withMetric(scrape: Uint8Array, name: string, value: number): Uint8Array {
  const text = Buffer.from(scrape).toString('utf8');
  const at = text.indexOf(`\n${name} `);
  if (at === -1) {
    return scrape;
  }
  const start = at + name.length + 2;
  const end = text.indexOf('\n', start);
  return Buffer.from(`${text.slice(0, start)}${value}${end === -1 ? '' : text.slice(end)}`);
}

function withoutLength(answer: ForwardedAnswer): ForwardedAnswer {
  const { 'content-length': _, ...headers } = answer.headers;
  return { ...answer, headers };
}

function json(status: number, body: object): ForwardedAnswer {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
}

function refusal(status: number): ForwardedAnswer {
  return json(status, { error: status === 413 ? 'Request body is too large' : 'too many requests are waiting' });
}

function send(response: ServerResponse, { status, headers, body }: ForwardedAnswer): void {
  response.writeHead(status, { ...(headers as OutgoingHttpHeaders), 'content-length': body.length });
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

function serve(options: ListenerOptions, handler: RequestHandler): Server {
  const { slowest } = options;
  const server = createServer({
    requestTimeout: slowest,
    headersTimeout: slowest,
    connectionsCheckingInterval: slowest / 4,
  });
  return server.on('request', (request, response) => {
    handler.handle(request, response).catch(() => response.destroy());
  });
}

async function run(port: MessagePort, options: ListenerOptions): Promise<void> {
  const handler = new RequestHandler(options, new MainThread(port));
  const server = serve(options, handler);
  await handler.refresh();
  const heartbeat = setInterval(() => void handler.refresh(), HEARTBEAT);
  // `localhost` may resolve to IPv4 or IPv6.
  const host = options.host === 'localhost' ? (await lookup('localhost')).address : options.host;
  server.on('error', (error: NodeJS.ErrnoException) => port.postMessage({ failed: error.message }));
  server.listen({ host, port: options.port }, () => port.postMessage({ listening: server.address() as AddressInfo }));
  port.on('message', (message: { readonly close?: true }) => {
    if (message.close === true) {
      clearInterval(heartbeat);
      server.close(() => port.close());
      server.closeIdleConnections();
    }
  });
}

if (parentPort !== null) {
  void run(parentPort, workerData as ListenerOptions);
}
