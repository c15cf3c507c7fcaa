import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { type Listener, openListener } from '../../src/server/listener.ts';
import { createServer, type Server } from '../../src/server/server.ts';
import { eventually } from '../support/octavo-process.ts';

let server: Server | null = null;
let scrapes = 0;
const opened: Listener[] = [];
afterEach(async () => {
  await server?.close();
  server = null;
  await Promise.all(opened.splice(0).map((listener) => listener.close()));
});

async function listen(prepare: (app: Server['app']) => void = () => {}, slowest = 10_000): Promise<string> {
  scrapes = 0;
  server = createServer({
    registry: {
      contentType: 'text/plain',
      metrics: async () => {
        scrapes += 1;
        return `octavo_scrapes ${scrapes}\n`;
      },
    },
    health: () => [],
    ready: () => [],
    slowest,
  });
  prepare(server.app);
  return server.listen({ host: '127.0.0.1', port: 0 });
}

/** Sends requests from a separate thread, like an external probe, and wakes the main thread when it is done. */
const PROBE = `
  const { workerData: { urls, shared }, parentPort } = require('node:worker_threads');
  const flag = new Int32Array(shared);
  (async () => {
    const answers = [];
    for (const url of urls) {
      const response = await fetch(url);
      answers.push([response.status, await response.text(), response.headers.get('age')]);
    }
    parentPort.postMessage(answers);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  })();
`;

test('serves health, readiness and metrics while the main thread is blocked', async () => {
  const address = await listen();
  const shared = new SharedArrayBuffer(4);
  const urls = ['/healthz', '/readyz', '/metrics'].map((path) => `${address}${path}`);
  const probe = new Worker(PROBE, { eval: true, workerData: { urls, shared } });
  const answers = new Promise((resolve) => probe.once('message', resolve));
  // Nothing else runs on this thread until the probe has all its answers.
  expect(Atomics.wait(new Int32Array(shared), 0, 0, 20_000)).not.toBe('timed-out');
  expect(await answers).toEqual([
    [200, '{"healthy":true,"reasons":[]}', expect.any(String)],
    [200, '{"ready":true,"reasons":[]}', expect.any(String)],
    [200, 'octavo_scrapes 1\n', expect.any(String)],
  ]);
});

test('serves current metrics while the main thread is responsive', async () => {
  const address = await listen();
  const first = await (await fetch(`${address}/metrics`)).text();
  const second = await (await fetch(`${address}/metrics`)).text();
  expect([first, second]).toEqual(['octavo_scrapes 2\n', 'octavo_scrapes 3\n']);
});

/** A separate listener, whose main thread returns the result of `answer`. */
async function openAlone(answer: (path: string) => Promise<string>, longestSilence = 60_000) {
  const listener = await openListener(
    {
      host: '127.0.0.1',
      port: 0,
      slowest: 1000,
      largestBody: 1000,
      repeatedPaths: ['/healthz', '/metrics'],
      livenessPath: '/healthz',
      longestSilence,
      busyMetric: 'octavo_main_thread_busy_seconds',
    },
    async ({ url }) => ({ status: 200, headers: {}, body: Buffer.from(await answer(url)) }),
  );
  opened.push(listener);
  const read = async (path: string) => {
    const response = await fetch(`${listener.address}${path}`);
    return [response.status, await response.text()] as const;
  };
  return { listener, read };
}

test('repeats the last metrics with the blocked time while the main thread is blocked, and then fails the health check', async () => {
  let isBusy = false;
  const scrape = 'a 1\nocto 2\noctavo_main_thread_busy_seconds 0\nb 3\n';
  const { read } = await openAlone(
    (path) => (isBusy ? new Promise(() => {}) : Promise.resolve(path === '/metrics' ? scrape : 'ok')),
    300,
  );
  expect(await read('/metrics')).toEqual([200, scrape]);
  isBusy = true;
  expect(await read('/healthz')).toEqual([200, 'ok']);
  const [status, text] = await read('/metrics');
  expect([status, text.replace(/ 0\.\d+\n/, ' SECONDS\n')]).toEqual([
    200,
    scrape.replace('seconds 0', 'seconds SECONDS'),
  ]);
  await expect.poll(async () => (await read('/healthz'))[0]).toBe(503);
  expect((await read('/healthz'))[1]).toContain('the main thread has not answered for');
});

test('does not treat the main thread as blocked while one request waits', async () => {
  const { read } = await openAlone(async (path) => (path === '/slow' ? new Promise(() => {}) : path), 600);
  void read('/slow').catch(() => {});
  for (let turn = 0; turn < 10; turn += 1) {
    expect(await read('/healthz?turn')).toEqual([200, '/healthz']);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
});

test('close aborts requests without a response', async () => {
  const { listener, read } = await openAlone(async (path) => (path === '/slow' ? new Promise(() => {}) : path));
  const waiting = read('/slow').catch((error: Error) => error);
  await read('/healthz');
  await listener.close();
  expect(await waiting).toBeInstanceOf(Error);
});

test('reports an address in use', async () => {
  const address = new URL(await listen());
  const options = {
    registry: { contentType: 'text/plain', metrics: async () => '' },
    health: () => [],
    ready: () => [],
  };
  await expect(createServer(options).listen({ host: address.hostname, port: Number(address.port) })).rejects.toThrow(
    /cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*set server\.listen/,
  );
});

test('forwards every other request to the main thread', async () => {
  const address = await listen((app) => {
    app.post('/echo', async (request, reply) => reply.header('x-seen', request.headers['x-sent']).send(request.body));
  });
  const headers = { 'content-type': 'application/json', 'x-sent': '1' };
  const echo = await fetch(`${address}/echo`, { method: 'POST', headers, body: '{"a":1}' });
  expect([echo.status, echo.headers.get('x-seen'), await echo.json()]).toEqual([200, '1', { a: 1 }]);
  expect((await fetch(`${address}/healthz`, { method: 'POST' })).status).toBe(404);
  expect((await fetch(`${address}/healthz`, { method: 'HEAD' })).status).toBe(200);
  expect((await fetch(`${address}/healthz?verbose=1`)).status).toBe(200);
  const large = await fetch(`${address}/echo`, { method: 'POST', body: new Uint8Array(6 * 1024 * 1024) });
  expect(large.status).toBe(413);
});

test('large bodies that do not end take no more than 64 MB, and block no small request', async () => {
  // The bodies must not time out before all of them are there.
  const address = await listen((app) => app.post('/hooks/acme', { bodyLimit: 5_000_000 }, async () => ({})), 120_000);
  const post = (size: number) => fetch(`${address}/hooks/acme`, { method: 'POST', body: ' '.repeat(size) });
  const head = 'POST /hooks/acme HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 5000000\r\n\r\n';
  const sockets = await Promise.all(
    Array.from({ length: 14 }, async () => {
      const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => undefined);
      await new Promise<void>((resolve) => socket.write(head + ' '.repeat(4_900_000), () => resolve()));
      return socket;
    }),
  );
  // 13 of the bodies fit, so there is room for 3.4 MB more.
  await eventually('a refusal', async () => (await post(4_500_000)).status === 503);
  expect((await post(60_000)).status).toBe(200);
  for (const socket of sockets) {
    socket.destroy();
  }
  await eventually('an answer', async () => (await post(4_500_000)).status === 200);
});

test('small bodies that do not end take no more than 128 MB, and block no request without a body', async () => {
  const address = await listen((app) => app.post('/hooks/acme', async () => ({})), 120_000);
  const post = () => fetch(`${address}/hooks/acme`, { method: 'POST', body: ' '.repeat(60_000) });
  const head = 'POST /hooks/acme HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 65536\r\n\r\n';
  const sockets: Socket[] = [];
  // 2,112 of the bodies fit.
  for (let batch = 0; batch < 22; batch += 1) {
    const added = Array.from({ length: 100 }, async () => {
      const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      await new Promise<void>((resolve) => socket.write(head + ' '.repeat(63_500), () => resolve()));
    });
    await Promise.all(added);
  }
  await eventually('a refusal', async () => (await post()).status === 503);
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  for (const socket of sockets) {
    socket.destroy();
  }
  await eventually('an answer', async () => (await post()).status === 200);
});
