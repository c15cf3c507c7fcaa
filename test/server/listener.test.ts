/** Limits of an HTTP listener, and its end. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ConfigError } from '../../src/core/errors.ts';
import { createServer, type Server } from '../../src/server/server.ts';
import { eventually } from '../support/octavo-process.ts';

let server: Server | null = null;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) {
    socket.destroy();
  }
  await server?.close();
  server = null;
});

async function listen(prepare: (app: Server['app']) => void = () => {}, slowest = 10_000): Promise<string> {
  server = createServer({
    registry: { contentType: 'text/plain', metrics: async () => 'octavo_scrapes 1\n' },
    ready: () => [],
    slowest,
  });
  prepare(server.app);
  return server.listen({ host: '127.0.0.1', port: 0 });
}

function open(address: string): Socket {
  const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  return socket;
}

/** Sends the text again and again until the connection closes; returns what was answered. */
async function sendForever(socket: Socket, head: string, text: string): Promise<string> {
  let answer = '';
  socket.on('data', (piece) => {
    answer += String(piece);
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const more = () => {
    let hasRoom = !socket.destroyed;
    while (hasRoom) {
      hasRoom = socket.writable && socket.write(text);
    }
  };
  socket.on('drain', more);
  socket.write(head);
  more();
  await closed;
  return answer;
}

const POST = 'POST /hooks/acme HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n';
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;

test('close aborts requests without a response', async () => {
  const address = await listen((app) => app.get('/slow', () => new Promise(() => {})));
  const waiting = fetch(`${address}/slow`).catch((error: Error) => error);
  await fetch(`${address}/healthz`);
  await server?.close();
  server = null;
  expect(await waiting).toBeInstanceOf(Error);
});

test('reports an address in use', async () => {
  const address = new URL(await listen());
  const other = createServer({
    ...{ registry: { contentType: 'text/plain', metrics: async () => '' }, ready: () => [] },
  });
  const listening = other.listen({ host: address.hostname, port: Number(address.port) });
  await expect(listening).rejects.toThrow(ConfigError);
  await expect(listening).rejects.toThrow(/cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*set server\.listen/);
});

test.each([
  ['an unlimited body', '/hooks/acme', 413],
  ['a body for a path that does not exist', '/nothing', 413],
])('closes %s past the limit at once', async (_name, path, status) => {
  // A body would be read for ten minutes.
  const address = await listen((app) => app.post('/hooks/acme', { bodyLimit: 100_000 }, async () => ({})), 600_000);
  const head = CHUNKED.replace('/hooks/acme', path);
  const answer = await sendForever(open(address), head, `2710\r\n${'a'.repeat(10_000)}\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

test('closes a connection that sends requests without waiting for answers', async () => {
  let handled = 0;
  const address = await listen((app) =>
    app.get('/slow', async () => {
      handled += 1;
      return new Promise(() => {});
    }),
  );
  const socket = open(address);
  socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000));
  await once(socket, 'close');
  expect(handled).toBe(1);
});

test('large bodies that do not end keep nobody out: the oldest of them are given up', async () => {
  // The bodies must not time out before all of them are there.
  const received: Socket[] = [];
  const address = await listen((app) => {
    app.addHook('onRequest', async ({ raw }) => {
      received.push(raw.socket);
    });
    app.post('/hooks/acme', { bodyLimit: 5_000_000 }, async () => ({}));
  }, 120_000);
  const post = (size: number) => fetch(`${address}/hooks/acme`, { method: 'POST', body: ' '.repeat(size) });
  const slow: Socket[] = [];
  for (let count = 0; count < 6; count += 1) {
    const socket = open(address);
    slow.push(socket);
    socket.write(`${POST}Content-Length: 5000000\r\n\r\n${' '.repeat(4_900_000)}`);
    // Bodies that grow side by side take room from each other.
    await eventually('the body', () => (received[count]?.bytesRead ?? 0) > 4_900_000);
  }
  // 16 MB are enough for three of them.
  await eventually('the end of the oldest', () => slow.filter(({ destroyed }) => destroyed).length === 3);
  expect(slow.map(({ destroyed }) => destroyed)).toEqual([true, true, true, false, false, false]);
  expect((await post(4_500_000)).status).toBe(200);
  expect((await post(60_000)).status).toBe(200);
});

test('bodies that are being handled are not given up for others', async () => {
  const handled: (() => void)[] = [];
  const address = await listen((app) =>
    app.post('/hooks/acme', { bodyLimit: 5_000_000 }, () => new Promise((resolve) => handled.push(() => resolve({})))),
  );
  const post = () => fetch(`${address}/hooks/acme`, { method: 'POST', body: ' '.repeat(4_900_000) });
  const kept = Array.from({ length: 3 }, post);
  await eventually('three requests', () => handled.length === 3);
  expect((await post()).status).toBe(503);
  for (const answer of handled) {
    answer();
  }
  expect((await Promise.all(kept)).map(({ status }) => status)).toEqual([200, 200, 200]);
});
