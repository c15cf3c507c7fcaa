/** Proxy between a client and PostgreSQL that counts statements, and knows whether one is under way. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Checks in a row that find nothing under way: what was sent may not have arrived yet. */
const CHECKS = 5;

export class StatementCounter implements AsyncDisposable {
  /** Statements that have ended, also those that begin, set up and end transactions. */
  ended = 0;
  readonly #isCounted: (text: string) => boolean;
  readonly #server = createServer((client) => this.#link(client));
  readonly #target: number;
  readonly #texts = new Map<string, number>();
  readonly #open = new Set<Link>();

  private constructor(target: number, isCounted: (text: string) => boolean) {
    this.#target = target;
    this.#isCounted = isCounted;
  }

  /** Opens a proxy for a port of 127.0.0.1. `isCounted` decides about a connection by its first message. */
  static async open(target: number, isCounted: (text: string) => boolean): Promise<StatementCounter> {
    const counter = new StatementCounter(target, isCounted);
    counter.#server.listen(0, '127.0.0.1');
    await once(counter.#server, 'listening');
    return counter;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Forgets what was counted. */
  reset(): void {
    this.ended = 0;
    this.#texts.clear();
  }

  /** Texts of different messages, which pg_stat_statements counts separately unless they are queries. */
  get texts(): readonly string[] {
    return [...this.#texts.keys()];
  }

  /** Returns the most frequent messages with the number of times that each was sent. */
  frequent(most = 12): string {
    const sorted = [...this.#texts].sort(([, a], [, b]) => b - a).slice(0, most);
    return sorted.map(([text, count]) => `${count} × ${text.replaceAll(/\s+/g, ' ').slice(0, 120)}`).join('\n');
  }

  /** Resolves when no statement is under way, and `isBusy` is false. */
  async quiet(isBusy: () => boolean): Promise<void> {
    for (let checks = 0; checks < CHECKS; checks += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isBusy() || [...this.#open].some(({ unanswered }) => unanswered > 0)) {
        checks = -1;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client, upstream } of this.#open) {
      client.destroy();
      upstream.destroy();
    }
    this.#server.close();
    await once(this.#server, 'close');
  }

  #link(client: Socket): void {
    const upstream = connect(this.#target, '127.0.0.1');
    const link: Link = { client, upstream, unanswered: 1, isCounted: null };
    this.#open.add(link);
    const sent = new MessageReader(true, (type, body) => {
      link.unanswered += type === 'Q' || type === 'S' ? 1 : 0;
      if (type === 'Q' || type === 'P') {
        this.#addText(link, type === 'P' ? (body.split('\0')[1] ?? '') : body.replace('\0', ''));
      }
    });
    const received = new MessageReader(false, (type) => {
      this.ended += link.isCounted === true && (type === 'C' || type === 'E') ? 1 : 0;
      link.unanswered -= type === 'Z' ? 1 : 0;
    });
    relay(client, upstream, sent);
    relay(upstream, client, received);
    const end = () => {
      this.#open.delete(link);
      client.destroy();
      upstream.destroy();
    };
    client.on('close', end);
    upstream.on('close', end);
  }

  #addText(link: Link, text: string): void {
    link.isCounted ??= this.#isCounted(text);
    if (link.isCounted) {
      this.#texts.set(text, (this.#texts.get(text) ?? 0) + 1);
    }
  }
}

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Requests that the server has not answered, the start of the connection included. */
  unanswered: number;
  /** Null before the first message. */
  isCounted: boolean | null;
}

function relay(from: Socket, to: Socket, reader: MessageReader): void {
  from.on('error', () => undefined);
  from.on('data', (data: Buffer) => {
    reader.add(data);
    to.write(data);
  });
}

/** Length of the start of a connection, which has no type, and of a request for TLS before it. */
const TLS_REQUEST = 8;

/** Divides a stream into messages: a type, the length of the rest, and the content. */
class MessageReader {
  #rest = Buffer.alloc(0);
  #isStart: boolean;
  readonly #onMessage: (type: string, body: string) => void;

  /** `hasStart`: the first message has no type. */
  constructor(hasStart: boolean, onMessage: (type: string, body: string) => void) {
    this.#isStart = hasStart;
    this.#onMessage = onMessage;
  }

  add(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (let length = this.#next(); length > 0; length = this.#next()) {
      if (this.#isStart) {
        this.#isStart = length === TLS_REQUEST;
      } else {
        this.#onMessage(this.#rest.toString('latin1', 0, 1), this.#rest.toString('utf8', 5, length));
      }
      this.#rest = this.#rest.subarray(length);
    }
  }

  /** Returns the length of the next message; 0 if it is not complete. */
  #next(): number {
    const typed = this.#isStart ? 0 : 1;
    const length = this.#rest.length < typed + 4 ? Number.POSITIVE_INFINITY : typed + this.#rest.readInt32BE(typed);
    return this.#rest.length >= length ? length : 0;
  }
}
