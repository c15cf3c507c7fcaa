/** TCP proxy between a client and a server, whose faults are switched on and off while connections are open. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export type Direction = 'to server' | 'to client';

const BOTH: readonly Direction[] = ['to server', 'to client'];

/** Server behind the proxy: a port of 127.0.0.1, or the path of a Unix socket. */
export type ProxyTarget = { readonly port: number } | { readonly path: string };

/** Faults of one direction. */
interface Faults {
  isStalled: boolean;
  /** Milliseconds that each piece of data is held back. */
  delay: number;
  /** A connection is abandoned in this direction when it carries this text; null: none is. */
  lastText: string | null;
}

/**
 * Proxy on a port of 127.0.0.1. A stalled direction looks like a network that loses all packets: both sides keep their
 * connection and learn nothing, not even that the other side has closed it. What was held back arrives once it passes again.
 */
export class TcpProxy implements AsyncDisposable {
  /** Connections that were accepted so far. */
  accepted = 0;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #faults: Record<Direction, Faults> = {
    'to server': { isStalled: false, delay: 0, lastText: null },
    'to client': { isStalled: false, delay: 0, lastText: null },
  };
  #refuses = false;

  private constructor(target: ProxyTarget) {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      this.accepted += 1;
      if (this.#refuses) {
        client.on('error', () => {});
        client.resetAndDestroy();
        return;
      }
      const link = new Link(client, target, this.#faults, () => this.#links.delete(link));
      this.#links.add(link);
    });
  }

  static async open(target: ProxyTarget): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Holds back everything in these directions, also of new connections. */
  stall(directions: readonly Direction[] = BOTH): void {
    for (const direction of directions) {
      this.#faults[direction].isStalled = true;
    }
  }

  /** Delays everything in these directions by milliseconds. */
  delay(milliseconds: number, directions: readonly Direction[] = BOTH): void {
    for (const direction of directions) {
      this.#faults[direction].delay = milliseconds;
    }
  }

  /** Resets all connections, also those that are stalled. Returns how many. */
  reset(): number {
    const links = [...this.#links];
    for (const link of links) {
      link.reset();
    }
    return links.length;
  }

  /**
   * Holds back everything of the connections that are open now, for ever: like a firewall that has forgotten them. New
   * ones pass.
   */
  abandon(): void {
    for (const link of this.#links) {
      link.abandon();
    }
  }

  /** Holds back for ever what a connection carries in this direction from the first piece of data with this text. */
  abandonAt(text: string, direction: Direction): void {
    this.#faults[direction].lastText = text;
  }

  /** Resets new connections at once. */
  refuse(): void {
    this.#refuses = true;
  }

  /** Ends all faults; what was held back arrives, except on abandoned connections. */
  pass(): void {
    this.#refuses = false;
    for (const direction of BOTH) {
      Object.assign(this.#faults[direction], { isStalled: false, delay: 0, lastText: null });
    }
    for (const link of this.#links) {
      link.flush();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.reset();
    await closed;
  }
}

/** A connection of a client, and the one to the server. */
class Link {
  readonly #streams: readonly Stream[];
  readonly #sockets: readonly Socket[];
  #isOver = false;
  readonly #onOver: () => void;

  constructor(client: Socket, target: ProxyTarget, faults: Readonly<Record<Direction, Faults>>, onOver: () => void) {
    this.#onOver = onOver;
    const server = connect({ host: '127.0.0.1', allowHalfOpen: true, noDelay: true, ...target });
    this.#sockets = [client, server];
    this.#streams = [
      new Stream(client, server, faults['to server'], () => this.#check()),
      new Stream(server, client, faults['to client'], () => this.#check()),
    ];
  }

  flush(): void {
    for (const stream of this.#streams) {
      stream.flush();
    }
  }

  abandon(): void {
    for (const stream of this.#streams) {
      stream.isAbandoned = true;
    }
  }

  reset(): void {
    for (const stream of this.#streams) {
      stream.drop();
    }
    for (const socket of this.#sockets) {
      socket.resetAndDestroy();
    }
    this.#end();
  }

  #check(): void {
    if (this.#sockets.every((socket) => socket.destroyed)) {
      this.#end();
    }
  }

  #end(): void {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#onOver();
    }
  }
}

/** Data, the end of it, or a reset. */
type Piece = Buffer | 'end' | 'reset';

/** One direction of a connection. */
class Stream {
  isAbandoned = false;
  readonly #to: Socket;
  readonly #faults: Faults;
  readonly #onChange: () => void;
  readonly #held: { readonly piece: Piece; readonly due: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(from: Socket, to: Socket, faults: Faults, onChange: () => void) {
    this.#to = to;
    this.#faults = faults;
    this.#onChange = onChange;
    let isEnded = false;
    from.on('data', (data) => this.#hold(data));
    from.on('end', () => {
      isEnded = true;
      this.#hold('end');
    });
    // A connection that was reset has an error; `close` follows.
    from.on('error', () => {});
    from.on('close', (hadError) => {
      if (hadError || !isEnded) {
        this.#hold('reset');
      }
      onChange();
    });
  }

  /** Passes on what is due, in order. */
  flush(): void {
    clearTimeout(this.#timer);
    while (!this.#faults.isStalled && !this.isAbandoned) {
      const [first] = this.#held;
      if (first === undefined) {
        return;
      }
      const wait = this.#faults.delay === 0 ? 0 : first.due - performance.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.flush(), wait);
        return;
      }
      this.#held.shift();
      this.#send(first.piece);
    }
  }

  /** Forgets what is held back. */
  drop(): void {
    clearTimeout(this.#timer);
    this.#held.length = 0;
  }

  #hold(piece: Piece): void {
    const { lastText } = this.#faults;
    this.isAbandoned ||= lastText !== null && Buffer.isBuffer(piece) && piece.includes(lastText);
    this.#held.push({ piece, due: performance.now() + this.#faults.delay });
    this.flush();
  }

  #send(piece: Piece): void {
    if (piece === 'end') {
      this.#to.end();
    } else if (piece === 'reset') {
      this.#to.resetAndDestroy();
      this.#onChange();
    } else if (this.#to.writable) {
      this.#to.write(piece);
    }
  }
}
