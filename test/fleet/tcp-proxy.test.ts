import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

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

test('holds data back in a stalled direction, and lets it arrive later', async () => {
  await using echo = await Echo.open();
  const client = await echo.connect();
  client.socket.write('a');
  await client.until('A');
  echo.proxy.stall(['to client']);
  client.socket.write('b');
  await untilHeld(echo, 1);
  expect(client.received).toBe('A');
  echo.proxy.pass();
  await client.until('AB');
});

test('keeps a stalled connection open at one side after the other side has closed it', async () => {
  await using echo = await Echo.open();
  const client = await echo.connect();
  client.socket.write('a');
  await client.until('A');
  echo.proxy.stall();
  client.socket.resetAndDestroy();
  await untilHeld(echo, 1);
  expect(echo.sockets[0]?.destroyed).toBe(false);
  echo.proxy.pass();
  await eventually('the server to learn it', () => echo.sockets[0]?.destroyed === true && echo.proxy.open === 0);
});

test('accepts a connection while it is stalled, which then gets no answer', async () => {
  await using echo = await Echo.open();
  echo.proxy.stall(['to server']);
  const client = await echo.connect();
  client.socket.write('a');
  await untilHeld(echo, 1);
  expect(client.received).toBe('');
  echo.proxy.pass();
  await client.until('A');
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

test('abandons the open connections for ever, and passes new ones', async () => {
  await using echo = await Echo.open();
  const client = await echo.connect();
  client.socket.write('a');
  await client.until('A');
  echo.proxy.abandon();
  client.socket.write('b');
  await untilHeld(echo, 1);
  const other = await echo.connect();
  other.socket.write('c');
  await other.until('C');
  echo.proxy.pass();
  expect(echo.proxy.held).toBe(1);
  echo.proxy.reset();
  await eventually('the reset', () => client.error === 'ECONNRESET');
});

test('abandons connections that carry a text in one direction, also new ones, until everything passes', async () => {
  await using echo = await Echo.open();
  echo.proxy.abandonAt('LOST', 'to client');
  for (const held of [0, 2]) {
    const client = await echo.connect();
    client.socket.write('a');
    await client.until('A');
    client.socket.write('lost');
    await untilHeld(echo, held + 1);
    client.socket.write('b');
    await untilHeld(echo, held + 2);
    expect(client.received).toBe('A');
  }
  echo.proxy.pass();
  expect(echo.proxy.held).toBe(4);
  const other = await echo.connect();
  other.socket.write('lost');
  await other.until('LOST');
});
