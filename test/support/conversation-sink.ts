/** Fake platform that accepts conversations. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Conversation } from '../../src/conversations/model/ticket.ts';
import { TransientError } from '../../src/core/errors.ts';
import { openWriter, type Writer } from '../../src/platform/client.ts';
import type { Connection } from '../../src/platform/connection.ts';
import type { HttpAnswer } from '../../src/platform/http/transport.ts';
import { RequestQueue } from '../../src/queue/dispatcher.ts';
import { toAbortSignal } from '../../src/queue/request.ts';
import type { VirtualClock } from '../queue/virtual-clock.ts';
import { noStreams } from './no-streams.ts';

/**
 * Fault of a request: a status without accepting it, no answer before it is processed, or no answer after it is
 * processed.
 */
export type SinkFault = number | 'drop-before' | 'drop-after';

/** Statuses that reject the content of a body. */
const CONTENT: readonly SinkFault[] = [400, 413, 422];

/** One accepted body. */
export interface Accepted {
  readonly body: string;
  readonly conversations: readonly Conversation[];
  /** True if the answer did not arrive, or the sender was killed when it did. */
  lost: boolean;
}

/** One request, accepted or not. */
export interface Attempt {
  readonly body: string;
  readonly ids: readonly string[];
  readonly outcome: SinkFault;
}

/**
 * Fake platform that accepts conversations and records all of them. A later one with the same id replaces the earlier.
 */
export class ConversationSink {
  readonly accepted: Accepted[] = [];
  readonly attempts: Attempt[] = [];
  fault: (attempt: { readonly number: number; readonly ids: readonly string[] }) => SinkFault | null = () => null;
  /** Reason why a conversation is rejected; null: it is accepted. */
  refuses: (conversation: Conversation) => string | null = () => null;
  takesLists = true;
  /** Connections from before the sender was killed; nobody receives their answers. */
  #orphans = new WeakSet<Socket>();
  #connections = new Set<Socket>();

  /** Current content on the platform, by id. */
  get contents(): ReadonlyMap<string, Conversation> {
    return new Map(this.accepted.flatMap(({ conversations }) => conversations.map((one) => [one.id, one] as const)));
  }

  receive(body: string): { readonly status: number; readonly message: string } | 'no answer' {
    const parsed = JSON.parse(body) as Conversation | Conversation[];
    const conversations = Array.isArray(parsed) ? parsed : [parsed];
    const ids = conversations.map(({ id }) => id);
    const fault = this.fault({ number: this.attempts.length + 1, ids });
    const reason =
      Array.isArray(parsed) && !this.takesLists
        ? 'must be object'
        : (conversations.map((one) => this.refuses(one)).find((why) => why !== null) ?? null);
    const refusal = fault !== 'drop-after' ? fault : null;
    const outcome = refusal ?? (reason === null ? (fault ?? 204) : 400);
    this.attempts.push({ body, ids, outcome });
    if (outcome === 204 || outcome === 'drop-after') {
      this.accepted.push({ body, conversations, lost: outcome === 'drop-after' });
    }
    return typeof outcome === 'string' ? 'no answer' : { status: outcome, message: reason ?? `fault ${outcome}` };
  }

  /**
   * Conversations that were sent again although the first answer was not lost, or with another body although the first
   * one was not rejected.
   */
  needless(): string[] {
    const last = new Map<string, { readonly text: string; readonly from: Accepted }>();
    const found: string[] = [];
    const refused = new Set(this.attempts.filter(({ outcome }) => CONTENT.includes(outcome)).map(({ body }) => body));
    for (const from of this.accepted) {
      for (const one of from.conversations) {
        const text = JSON.stringify(one);
        const before = last.get(one.id);
        const isRepeated = before?.from.body === from.body || refused.has(before?.from.body ?? '');
        if (before?.text === text && !(before.from.lost && isRepeated)) {
          found.push(`${one.id} again, lost: ${before.from.lost}: ${before.from.body} and ${from.body}`);
        }
        last.set(one.id, { text, from });
      }
    }
    return found;
  }

  /** Writer of ingestion, over `connect`. */
  write(clock: VirtualClock, isDead?: () => boolean): Writer {
    return openWriter(this.connect(clock, isDead), { organization: 'org_1', priority: 'ingestion' });
  }

  /** Transport without sockets, in virtual time. `isDead` reports whether the receiver of the answer was killed. */
  connect(clock: VirtualClock, isDead: () => boolean = () => false): Connection {
    return {
      baseUrl: 'http://platform.example',
      origin: 'http://platform.example',
      queue: new RequestQueue({ clock, random: () => 0.5, concurrency: 10 }),
      transport: {
        ...noStreams,
        send: ({ body }, signal) => this.#send(body ?? '', toAbortSignal(signal), clock, isDead),
      },
      clock,
      close: async () => undefined,
    };
  }

  async #send(body: string, signal: AbortSignal, clock: VirtualClock, isDead: () => boolean): Promise<HttpAnswer> {
    await clock.sleep(50, signal);
    if (isDead()) {
      throw new TransientError('dead', true);
    }
    const result = this.receive(body);
    const accepted = this.accepted.at(-1);
    try {
      await clock.sleep(result === 'no answer' ? 1000 : 50, signal);
    } catch (error) {
      this.#lose(result, accepted);
      throw error;
    }
    if (isDead()) {
      this.#lose(result, accepted);
    }
    if (result === 'no answer' || isDead()) {
      throw new TransientError('the connection was closed', true);
    }
    const text =
      result.status === 204 ? '' : JSON.stringify({ error: { code: result.status, message: result.message } });
    const headers = { 'content-type': 'application/json', 'retry-after': result.status === 429 ? '1' : undefined };
    return { status: result.status, headers, receivedAt: clock.monotonic(), body: text };
  }

  /**
   * Kills the sender: it has not recorded the answers for these conversations, and nobody receives the answers that are
   * still in flight.
   */
  orphan(unrecorded: readonly string[]): void {
    for (const socket of this.#connections) {
      this.#orphans.add(socket);
    }
    this.#connections.clear();
    for (const key of unrecorded) {
      const last = this.accepted.findLast(({ conversations }) => conversations.some(({ id }) => id === key));
      if (last !== undefined) {
        last.lost = true;
      }
    }
  }

  #lose(result: ReturnType<ConversationSink['receive']>, accepted: Accepted | undefined): void {
    if (result !== 'no answer' && result.status === 204 && accepted !== undefined) {
      accepted.lost = true;
    }
  }

  /** The same transport over HTTP. */
  async listen(): Promise<{ readonly url: string; close(): Promise<void> }> {
    const server = createServer((request, response) => void this.#answer(request, response));
    server.on('connection', (socket) => this.#connections.add(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) {
        chunks.push(chunk as Buffer);
      }
    } catch {
      // The sender was killed during the request.
      return;
    }
    const result = this.receive(Buffer.concat(chunks).toString('utf8'));
    if (this.#orphans.has(request.socket)) {
      this.#lose(result, this.accepted.at(-1));
    }
    if (result === 'no answer') {
      request.socket.destroy();
      return;
    }
    const text =
      result.status === 204 ? undefined : JSON.stringify({ error: { code: result.status, message: result.message } });
    response.writeHead(result.status, { 'content-type': 'application/json' }).end(text);
  }
}
