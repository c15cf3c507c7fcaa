/**
 * Limits of every HTTP listener: `server.listen`, the web page and the control socket. Nothing that a client sends takes
 * more memory than these constants allow. See docs/security.md#http-listeners.
 */
import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { type FastifyInstance, type FastifyRequest, type FastifyServerOptions, fastify } from 'fastify';
import { ConfigError, messageOf } from '../core/errors.ts';

/** Default time for receiving a whole request, in milliseconds. */
const SLOWEST = 10_000;
/** Time for receiving the headers, in milliseconds. */
const SLOWEST_HEADERS = 5000;
/** Connections that may wait to be accepted. All of them can arrive in one turn of the event loop. */
const BACKLOG = 200;
/** Open connections of a listener: as many as arrive in three turns, so that none is closed before it is read. */
const MAX_CONNECTIONS = 600;
/** Size of the headers of a request, in bytes. */
const MAX_HEADERS = 16 * 1024;
/** Size of a body in bytes, unless its route has another limit. */
const MAX_BODY = 65_536;
/** Size of all bodies of a listener that are being received or handled, in bytes. */
const MAX_BODIES = 16 * 1024 * 1024;
/** Milliseconds that requests in flight may take after `closeListener`. */
const CLOSING = 900;
/** Milliseconds in which a client can read the answer to a request that was not read to its end. */
const LINGER = 500;

/** Connections of a listener. The newest is always accepted, so a health check is answered during a flood. */
class Connections {
  /** Connections without a complete request, the oldest first. */
  readonly #waiting = new Set<Socket>();
  readonly #answering = new Set<Socket>();
  readonly #requested = new WeakSet<Socket>();

  add(socket: Socket): void {
    this.#waiting.add(socket);
    socket.once('close', () => {
      this.#waiting.delete(socket);
      this.#answering.delete(socket);
    });
    if (this.#waiting.size + this.#answering.size > MAX_CONNECTIONS) {
      // The new connection itself is the last of those that wait.
      const [oldest] = this.#waiting.size > 1 ? this.#waiting : this.#answering;
      oldest?.destroy();
      // The close event comes later.
      this.#waiting.delete(oldest as Socket);
      this.#answering.delete(oldest as Socket);
    }
  }

  /** Returns false if the connection sends requests without waiting for answers, which would take memory for each. */
  begin(socket: Socket): boolean {
    const isFirst = !this.#requested.has(socket) && !socket.destroyed;
    this.#requested.add(socket);
    return isFirst;
  }

  /** A whole request was received. */
  received(socket: Socket): void {
    if (this.#waiting.delete(socket)) {
      this.#answering.add(socket);
    }
  }

  answered(socket: Socket): void {
    this.#requested.delete(socket);
    if (this.#answering.delete(socket)) {
      this.#waiting.add(socket);
    }
  }
}

/** Returns the error for a request that is refused while its body is received. */
function bodyError(statusCode: 400 | 413 | 503, message: string): Error {
  return Object.assign(new Error(message), { statusCode });
}

/** Body that is being received or handled. */
interface Body {
  readonly socket: Socket;
  /** Size of its buffer in bytes. */
  size: number;
  isReceived: boolean;
}

/**
 * Bodies of a listener. Each is copied into one buffer, so that small pieces take no more memory than large ones. When all
 * together take too much, the oldest that are still being received are given up: a slow sender keeps nobody out.
 */
class Bodies {
  /** Oldest first. */
  readonly #bodies = new Set<Body>();
  #size = 0;

  async read(request: IncomingMessage, limit: number, onEnd: (release: () => void) => void): Promise<Buffer> {
    const body: Body = { socket: request.socket, size: 0, isReceived: false };
    let buffer = Buffer.alloc(0);
    let length = 0;
    this.#bodies.add(body);
    onEnd(() => {
      this.#release(body);
      buffer = Buffer.alloc(0);
    });
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > limit) {
      throw tooLarge(limit);
    }
    return new Promise((resolve, reject) => {
      const finish = (error: Error | null) => {
        request.off('data', take).off('end', end).off('error', fail).off('close', fail);
        body.isReceived = true;
        if (error === null) {
          resolve(buffer.subarray(0, length));
        } else {
          reject(error);
        }
      };
      const take = (piece: Buffer) => {
        const needed = length + piece.length;
        if (needed > limit) {
          finish(tooLarge(limit));
          return;
        }
        if (needed > buffer.length) {
          const size = Math.min(limit, Math.max(needed, 2 * buffer.length, 1024));
          if (!this.#reserve(body, size)) {
            finish(bodyError(503, 'too many requests are waiting; retry later'));
            return;
          }
          const larger = Buffer.allocUnsafeSlow(size);
          buffer.copy(larger, 0, 0, length);
          buffer = larger;
        }
        piece.copy(buffer, length);
        length = needed;
      };
      const end = () => finish(null);
      const fail = () => finish(bodyError(400, 'the request ended before its body'));
      request.on('data', take).on('end', end).on('error', fail).on('close', fail);
    });
  }

  /** Sets the size of a body, at the cost of older ones that are not received yet. Returns false if there is no room. */
  #reserve(body: Body, size: number): boolean {
    for (const other of this.#bodies) {
      if (this.#size + size - body.size <= MAX_BODIES) {
        break;
      }
      if (other !== body && !other.isReceived) {
        this.#release(other);
        other.socket.destroy();
      }
    }
    if (this.#size + size - body.size > MAX_BODIES) {
      return false;
    }
    this.#size += size - body.size;
    body.size = size;
    return true;
  }

  #release(body: Body): void {
    if (this.#bodies.delete(body)) {
      this.#size -= body.size;
    }
  }
}

function tooLarge(limit: number): Error {
  return bodyError(413, `the body is larger than ${limit} bytes`);
}

/** Creates an application with all limits. A request that is not received after `slowest` milliseconds gets 408. */
export function createListener(options: FastifyServerOptions, slowest = SLOWEST): FastifyInstance {
  const connections = new Connections();
  const bodies = new Bodies();
  const app = fastify({
    logger: false,
    forceCloseConnections: 'idle',
    bodyLimit: MAX_BODY,
    serverFactory: (handler) => serve(connections, handler, slowest),
    ...options,
  });
  app.addHook('preParsing', async (request, reply) => {
    if (hasNoBody(request.raw)) {
      return undefined;
    }
    const limit = request.routeOptions.bodyLimit ?? MAX_BODY;
    const body = await bodies.read(request.raw, limit, (release) => {
      reply.raw.once('close', release).once('finish', release);
    });
    connections.received(request.raw.socket);
    return Object.assign(Readable.from([body]), { receivedEncodedLength: body.length });
  });
  app.addHook('onResponse', async (request) => closeUnread(request));
  return app;
}

/** Listens on one address, and returns its URL. `setting` is the name of the setting. Throws ConfigError. */
export async function listenOn(
  app: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Promise<string> {
  try {
    // Fastify would open a second server, without these limits, for the other address of `localhost`.
    const address = host === 'localhost' ? (await lookup(host)).address : host;
    return await app.listen({ host: address, port, backlog: BACKLOG });
  } catch (error) {
    throw new ConfigError(`cannot listen on ${host}:${port}: ${messageOf(error)}; set ${setting} to a free address`, {
      cause: error,
    });
  }
}

/** Completes requests in flight for a moment, and stops. */
export async function closeListener(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), CLOSING);
  await app.close();
  clearTimeout(late);
}

function serve(connections: Connections, handler: RequestListener, slowest: number): Server {
  const settings = {
    maxHeaderSize: MAX_HEADERS,
    requestTimeout: slowest,
    headersTimeout: Math.min(slowest, SLOWEST_HEADERS),
    connectionsCheckingInterval: Math.min(slowest, SLOWEST_HEADERS) / 4,
  };
  const server = createServer(settings, (request, response) => {
    const { socket } = request;
    if (!connections.begin(socket)) {
      socket.destroy();
      return;
    }
    if (hasNoBody(request)) {
      connections.received(socket);
    }
    response.once('close', () => connections.answered(socket));
    handler(request, response);
  });
  return server.on('connection', (socket) => connections.add(socket));
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** Closes a connection whose request was answered before it ended. The client has a moment to read the answer. */
function closeUnread({ raw }: FastifyRequest): void {
  if (!raw.complete && raw.socket?.destroyed === false) {
    raw.pause();
    raw.socket.end();
    const late = setTimeout(() => raw.socket.destroy(), LINGER);
    raw.socket.once('close', () => clearTimeout(late));
  }
}
