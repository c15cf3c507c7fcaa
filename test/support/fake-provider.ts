/** Base class of the fake provider APIs, with fault injection. */

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import { LocalServer, textOf } from './local-server.ts';

/** A request as a provider receives it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface ProviderReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Fault of an answer: another status, a truncated body, no answer, an HTML page, or another body. */
export type Fault = number | 'truncated' | 'dropped' | 'html' | { readonly body: unknown };

/** Applies a fault to the first answer of each path only. */
export function oncePerPath(fault: Fault): (request: SeenRequest) => Fault | null {
  const failed = new Set<string>();
  return ({ path }) => {
    const fails = !failed.has(path);
    failed.add(path);
    return fails ? fault : null;
  };
}

/** Clock that stops while a request of undici is in flight, and otherwise jumps to the next timer. */
export function createSocketClock(start: number): VirtualClock & Disposable {
  let open = 0;
  const opened = () => {
    open += 1;
  };
  const over = () => {
    open -= 1;
  };
  subscribe('undici:request:create', opened);
  subscribe('undici:request:trailers', over);
  subscribe('undici:request:error', over);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const quiet = async () => {
    for (let calm = 0; calm < 2; calm = open > 0 ? 0 : calm + 1) {
      await turn();
    }
  };
  return {
    ...createVirtualClock(start - 1000, quiet),
    [Symbol.dispose]() {
      unsubscribe('undici:request:create', opened);
      unsubscribe('undici:request:trailers', over);
      unsubscribe('undici:request:error', over);
    },
  };
}

/**
 * In-process API of a provider, on a real socket. Subclasses implement a provider; this class implements the faults
 * that all share.
 */
export abstract class FakeProvider extends LocalServer {
  readonly clock: VirtualClock;
  /** Every request received, rejected or not, with the status of its answer. */
  readonly requests: (SeenRequest & { status: number })[] = [];
  /** Returns the fault of a request; called after the request has had its effect. */
  fault: (request: SeenRequest) => Fault | null = () => null;
  /** Called before a request is processed, to change the helpdesk in the meantime. */
  meanwhile: (request: SeenRequest) => void = () => undefined;
  readonly #used = new Map<string, { window: number; calls: number }>();

  constructor(clock: VirtualClock) {
    super((request, response) => void this.#serve(request, response));
    this.clock = clock;
  }

  get baseUrl(): string {
    return this.url;
  }

  /** Seconds since the epoch. */
  get seconds(): number {
    return Math.floor(this.clock.now() / 1000);
  }

  /** Time in whole seconds, as most providers write it. */
  protected get time(): string {
    return `${new Date(this.clock.now()).toISOString().slice(0, 19)}Z`;
  }

  /** Returns the number of requests for a path. */
  count(path: RegExp, status?: number): number {
    return this.requests.filter((one) => path.test(one.path) && (status ?? one.status) === one.status).length;
  }

  /** Answers a request; a thrown reply is sent as the answer. */
  protected abstract handle(request: SeenRequest): ProviderReply;

  /** Headers of every answer to this request, or the rejection. */
  protected abstract admit(request: SeenRequest): ProviderReply;

  /** Counts a call in a window that is aligned with the clock. */
  protected use(budget: string, most: number, window: number) {
    const now = this.clock.now();
    const index = Math.floor(now / window);
    const used = this.#used.get(budget);
    const calls = used?.window === index ? used.calls : 0;
    const accepted = calls < most;
    this.#used.set(budget, { window: index, calls: accepted ? calls + 1 : calls });
    const resetsAt = (index + 1) * window;
    return {
      accepted,
      remaining: Math.max(0, most - calls - 1),
      /** Whole seconds from now. */
      resetsIn: Math.ceil((resetsAt - now) / 1000),
      /** Seconds since the epoch. */
      resetsAt: Math.ceil(resetsAt / 1000),
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://provider.example');
    const text = await textOf(request);
    const seen: SeenRequest = {
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text === '' ? null : JSON.parse(text),
      at: this.clock.now(),
    };
    this.meanwhile(seen);
    // GitHub refuses anonymous programs.
    const admitted = request.headers['user-agent']?.startsWith('octavo/') ? this.admit(seen) : { status: 403 };
    const reply = admitted.status === 200 ? this.replyTo(seen) : admitted;
    const fault = admitted.status === 200 ? this.fault(seen) : null;
    const isReplaced = fault !== null && typeof fault === 'object';
    const status = typeof fault === 'number' ? fault : isReplaced ? 200 : reply.status;
    this.requests.push({ ...seen, status });
    const body = Buffer.from(
      fault === 'html'
        ? '<html><body>Back soon</body></html>'
        : JSON.stringify((isReplaced ? fault.body : reply.body) ?? {}),
    );
    const headers = { ...admitted.headers, ...reply.headers, date: new Date(this.clock.now()).toUTCString() };
    if (fault === 'dropped') {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': body.length });
    if (fault === 'truncated') {
      response.write(body.subarray(0, body.length >> 1), () => request.socket.destroy());
      return;
    }
    response.end(body);
  }

  /** Answers a request, also if that is refused. */
  protected replyTo(seen: SeenRequest): ProviderReply {
    try {
      return this.handle(seen);
    } catch (error) {
      if (error instanceof Refusal) {
        return error.reply;
      }
      throw error;
    }
  }
}

/** Thrown to answer immediately. */
export class Refusal extends Error {
  readonly reply: ProviderReply;

  constructor(status: number, body: unknown) {
    super(String(status));
    this.reply = { status, body };
  }
}

/** Rejects unknown parameters, so that a misspelled parameter does not appear to work. */
export function onlyParameters(query: URLSearchParams, known: Readonly<Record<string, RegExp>>): void {
  for (const [name, value] of query) {
    if (known[name]?.test(value) !== true) {
      throw new Refusal(400, { error: 'InvalidParameter', description: `${name}=${value}` });
    }
  }
}
