import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

/*
 * Faults that no other test notices if they do nothing. Tests of silent and cut connections need that a proxy stalls and
 * abandons.
 */

/** Server that answers each text with the text in capitals, behind a proxy. */
class Echo implements AsyncDisposable {
  readonly sockets: Socket[] = [];
  readonly #server = createServer({ allowHalfOpen: false }, (socket) => {
    this.sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => socket.write(String(data).toUpperCase()));
  });
  // biome-ignore lint/style/noNonNullAssertion: set by `open`
  proxy: TcpProxy = null!;

  static async open(): Promise<Echo> {
    const echo = new Echo();
    echo.#server.listen(0, '127.0.0.1');
    await once(echo.#server, 'listening');
    echo.proxy = await TcpProxy.open({ port: (echo.#server.address() as AddressInfo).port });
    return echo;
  }

  /** Opens a connection through the proxy. */
  async connect(): Promise<Client> {
    const client = new Client(this.proxy.port);
    await once(client.socket, 'connect');
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]();
    for (const socket of this.sockets) {
      socket.destroy();
    }
    this.#server.close();
  }
}

class Client {
  readonly socket: Socket;
  received = '';
  error = '';
  isEnded = false;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (data) => {
      this.received += String(data);
    });
    this.socket.on('end', () => {
      this.isEnded = true;
    });
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code ?? '';
    });
  }

  async until(text: string): Promise<void> {
    await eventually(text, () => this.received === text);
  }
}

/** Waits until the proxy holds something back. */
async function untilHeld(echo: Echo, pieces: number): Promise<void> {
  await eventually(`${pieces} pieces to be held back`, () => echo.proxy.held === pieces);
}

test('passes data and the end of a connection in both directions', async () => {
  await using echo = await Echo.open();
  const client = await echo.connect();
  client.socket.write('a');
  await client.until('A');
  client.socket.end();
  await eventually('the end', () => client.isEnded && echo.proxy.open === 0);
  expect(echo.proxy.accepted).toBe(1);
});

test('resets all connections, and refuses new ones', async () => {
  await using echo = await Echo.open();
  const client = await echo.connect();
  client.socket.write('a');
  await client.until('A');
  echo.proxy.stall();
  echo.proxy.refuse();
  expect(echo.proxy.reset()).toBe(1);
  await eventually('the reset', () => client.error === 'ECONNRESET' && echo.sockets[0]?.destroyed === true);
  const other = new Client(echo.proxy.port);
  await eventually('the refusal', () => other.socket.destroyed);
  echo.proxy.pass();
  const last = await echo.connect();
  last.socket.write('c');
  await last.until('C');
});

test('delays data, in order', async () => {
  await using echo = await Echo.open();
  const client = await echo.connect();
  echo.proxy.delay(40, ['to server']);
  const began = performance.now();
  client.socket.write('a');
  await untilHeld(echo, 1);
  client.socket.write('b');
  await client.until('AB');
  expect(performance.now() - began).toBeGreaterThanOrEqual(39);
  echo.proxy.pass();
  client.socket.write('c');
  await client.until('ABC');
});
