import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { ConfigError, NotThePlatformError, TransientError } from '../../src/core/errors.ts';
import { openTransport } from '../../src/platform/http/transport.ts';
import { FORGES } from '../forge/samples.ts';
import { NAMES } from '../support/certificates.ts';
import { FakeForge } from '../support/fake-forge.ts';
import { OctavoProcess, octavo, TOKEN } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';

const servers: Server[] = [];
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'NO_PROXY', 'no_proxy']) {
    vi.stubEnv(name, undefined);
  }
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(closing.splice(0).map((close) => close()));
  for (const server of servers.splice(0)) {
    server.close();
    (server as Server & { closeAllConnections?: () => void }).closeAllConnections?.();
  }
});

async function listen<S extends Server>(server: S): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function tls(listener: RequestListener): Promise<number> {
  const { key, cert } = NAMES;
  return listen(createTlsServer({ ...(key && cert ? { key, cert } : {}) }, listener));
}

/** A proxy that directs every host to a port of this machine, and records its requests. */
async function openProxy(port: number, options: { readonly status?: number } = {}) {
  const seen: string[] = [];
  const note = ({ method, url, headers }: IncomingMessage) => {
    seen.push(`${method} ${url} ${JSON.stringify(headers)}`);
  };
  const server = createServer((request, response) => {
    note(request);
    const { pathname, search } = new URL(request.url ?? '');
    const { method, headers } = request;
    const onward = httpRequest({ host: '127.0.0.1', port, method, path: pathname + search, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request, socket) => {
    note(request);
    if (options.status !== undefined) {
      socket.end(`HTTP/1.1 ${options.status} No\r\n\r\n`);
      return;
    }
    const onward = connectTcp(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

function open(base: string, timeouts = {}) {
  const transport = openTransport({
    base: new URL(base),
    token: TOKEN,
    userAgent: 'octavo/0',
    connections: 2,
    timeouts: { connect: 2000, headers: 5000, body: 5000, ...timeouts },
    clock: systemClock,
  });
  closing.push(() => transport.close());
  return () => transport.send({ method: 'GET', path: '/v1/x', body: null }, new AbortController().signal);
}

const answer: RequestListener = (request, response) => {
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ host: request.headers.host }));
};

describe('a proxy from the environment', () => {
  beforeEach(() => vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'));

  test.each(['HTTPS_PROXY', 'https_proxy'])('%s is used for https hosts and does not see the token', async (name) => {
    const proxy = await openProxy(await tls(answer));
    vi.stubEnv(name, proxy.url.replace('//', '//ana:pass%40word@'));
    const send = open('https://platform.example');
    expect(await send()).toMatchObject({ status: 200, body: '{"host":"platform.example"}' });
    expect(await send()).toMatchObject({ status: 200 });
    expect(proxy.seen.map((line) => line.split(' {')[0])).toContain('CONNECT platform.example:443');
    expect(proxy.seen.join()).toContain(`Basic ${Buffer.from('ana:pass@word').toString('base64')}`);
    expect(proxy.seen.join()).not.toContain(TOKEN);
  });

  test('HTTP_PROXY is used for http hosts', async () => {
    const proxy = await openProxy(await listen(createServer(answer)));
    vi.stubEnv('HTTP_PROXY', proxy.url);
    expect(await open('http://platform.example')()).toMatchObject({ status: 200, body: '{"host":"platform.example"}' });
    expect(proxy.seen).toHaveLength(1);
  });

  test('is not used for NO_PROXY and addresses of this machine', async () => {
    const port = await listen(createServer(answer));
    const proxy = await openProxy(port);
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    for (const host of ['127.0.0.1', 'localhost']) {
      expect(await open(`http://${host}:${port}`)()).toMatchObject({ status: 200 });
    }
    vi.stubEnv('NO_PROXY', 'other.example,.invalid');
    await expect(open('http://platform.invalid')()).rejects.toThrow(/^cannot reach http:\/\/platform\.invalid: /);
    expect(proxy.seen).toEqual([]);
  });

  test('keeps the timeouts', async () => {
    const proxy = await openProxy(await tls(() => {}));
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    await expect(open('https://platform.example', { headers: 50 })()).rejects.toThrow('did not answer in time');
  });

  test.each([407, 403, 502])('is named if it refuses with %i', async (status) => {
    const proxy = await openProxy(1, { status });
    vi.stubEnv('HTTPS_PROXY', proxy.url.replace('//', '//ana:wrong@'));
    const failed = open('https://platform.example')();
    await expect(failed).rejects.toThrow(
      `cannot reach https://platform.example: the proxy refuses the connection (${status}; HTTPS_PROXY, HTTP_PROXY)`,
    );
    await expect(failed).rejects.toBeInstanceOf(TransientError);
  });

  test.each(['proxy:3128', 'ftp://proxy', 'http://a:%zz@proxy:1', 'not a url'])(
    'is refused if it is %s',
    async (value) => {
      vi.stubEnv('HTTPS_PROXY', value);
      expect(() => open('https://platform.example')).toThrow(ConfigError);
      expect(() => open('https://platform.example')).not.toThrow(value);
    },
  );

  test('serves a command and its forge without seeing their tokens', { timeout: 30_000 }, async () => {
    await using work = await openWorkspace();
    await using fake = await (FORGES[0] as (typeof FORGES)[number]).open();
    const forward: RequestListener = (request, response) => {
      const { url = '', method, headers } = request;
      const { port } = new URL(headers.host === 'forge.example' ? fake.url : work.emulator.url);
      const options = { host: '127.0.0.1', port, path: url, method, headers };
      request.pipe(
        httpRequest(options, (from) => {
          response.writeHead(from.statusCode ?? 500, from.headers);
          from.pipe(response);
        }),
      );
    };
    const proxy = await openProxy(await tls(forward));
    const env = {
      ...work.env,
      OCTAVO_BASE_URL: 'https://platform.example',
      HTTPS_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: NAMES.path,
    };
    const doctor = await octavo(['doctor'], { cwd: work.folder, env });
    expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining('accepted, for Acme') });
    expect(proxy.seen.length).toBeGreaterThan(0);
    expect(proxy.seen.every((line) => line.startsWith('CONNECT platform.example:443 '))).toBe(true);
    const head = work.repository.commit('Teams', { 'teams.yaml': 'teams: { writers: { title: Writers } }\n' });
    const event = join(work.folder, 'event.json');
    writeFileSync(event, JSON.stringify({ pull_request: { number: 12, head: { sha: head }, base: { sha: head } } }));
    const forge = {
      GITHUB_ACTIONS: 'true',
      GITHUB_API_URL: fake.apiUrl.replace(fake.url, 'https://forge.example'),
      GITHUB_REPOSITORY: 'acme/docs',
      GITHUB_EVENT_PATH: event,
      GITHUB_TOKEN: FakeForge.token,
    };
    const plan = ['plan', '.', '--comment'];
    const commented = await octavo(plan, { cwd: work.repository.directory, env: { ...env, ...forge } });
    expect(commented).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('pull request 12 at GitHub was created'),
    });
    expect(proxy.seen.some((line) => line.startsWith('CONNECT forge.example:443 '))).toBe(true);
    expect(proxy.seen.join()).not.toContain(FakeForge.token);
    const bad = await octavo(['doctor'], { cwd: work.folder, env: { ...env, HTTPS_PROXY: 'nonsense' } });
    expect(bad).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('octavo: HTTPS_PROXY is not the URL of a proxy'),
    });
  });
});

test('people sign in to the web page with a provider behind a proxy, with a certificate of its own', async () => {
  const issuer = 'https://forge.example';
  const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
  const proxy = await openProxy(
    await tls((_request, response) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata)),
    ),
  );
  await using work = await openWorkspace();
  const start = async (certificates: Readonly<Record<string, string>>) => {
    const oidc = { issuer, clientId: 'octavo' };
    const ui = { listen: '127.0.0.1:0', publicUrl: 'https://octavo.example', oidc };
    const config = work.configure({ top: { ui }, organization: { source: { directory: work.repository.directory } } });
    const env = { ...work.env, HTTPS_PROXY: proxy.url, ...certificates };
    const daemon = new OctavoProcess(['run', '--config', config], { cwd: work.folder, env });
    const { address } = await daemon.waitForLog('web page is served');
    const answer = await fetch(`${address}/oidc/start`, { redirect: 'manual' });
    const text = await answer.text();
    await daemon.stop();
    return { status: answer.status, location: answer.headers.get('location'), text };
  };
  expect(await start({ NODE_EXTRA_CA_CERTS: NAMES.path })).toMatchObject({
    status: 303,
    location: expect.stringMatching(/^https:\/\/forge\.example\/auth\?/),
  });
  expect(proxy.seen.map((line) => line.split(' {')[0])).toEqual(['CONNECT forge.example:443']);
  expect(await start({})).toMatchObject({
    status: 502,
    text: expect.stringContaining('cannot be used now (DEPTH_ZERO_SELF_SIGNED_CERT)'),
  });
});

describe('an address with another protocol', () => {
  test('is reported for TLS to a port of plain HTTP', async () => {
    const failed = open(`https://127.0.0.1:${await listen(createServer(answer))}`)();
    await expect(failed).rejects.toThrow(/does not speak TLS on this port/);
    await expect(failed).rejects.toBeInstanceOf(NotThePlatformError);
  });

  test('is reported for plain HTTP to a port of TLS', async () => {
    const failed = open(`http://127.0.0.1:${await tls(answer)}`)();
    await expect(failed).rejects.toThrow(/write https:\/\//);
  });

  test('is reported for a server without HTTP', async () => {
    const port = await listen(createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n')));
    const failed = open(`http://127.0.0.1:${port}`)();
    await expect(failed).rejects.toThrow(/does not respond with HTTP/);
    await expect(failed).rejects.toBeInstanceOf(NotThePlatformError);
  });
});
