import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LocalServer, serveLocally } from '../support/local-server.ts';
import { OctavoInside } from '../support/octavo-inside.ts';
import { eventually, TOKEN } from '../support/octavo-process.ts';
import { spawn } from '../support/programs.ts';

const BIN = fileURLToPath(new URL('../../bin/octavo.js', import.meta.url));

/** Milliseconds within which an interrupted process has to end; requests in flight may otherwise take 5 s. */
const AT_ONCE = 2500;

/** Behavior of the platform for a request, by the last part of its path. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  silent: () => undefined,
  broken: (response) => void response.writeHead(503).end(),
  limited: (response) => void response.writeHead(429, { 'retry-after': '60' }).end(),
  ask: (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-trace': 'stream-1' });
    response.write('data: {"n":1}\n\n');
  },
  refused: (response) => {
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code: 404, message: 'x'.repeat(300_000) } }));
  },
  found: (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ items: Array.from({ length: 5000 }, (_, id) => ({ id, text: 'x'.repeat(200) })) }));
  },
};

describe('octavo api as an interrupted process', () => {
  let server: LocalServer;
  let base: string;
  const seen: string[] = [];

  beforeAll(async () => {
    server = await serveLocally((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://x');
      const last = pathname.split('/').at(-1) ?? '';
      seen.push(last);
      ANSWERS[last]?.(response);
    });
    base = server.url;
  });
  afterAll(() => server.stop());

  const env = () => ({ OCTAVO_BASE_URL: base, OCTAVO_TOKEN: TOKEN, OCTAVO_ORGANIZATION: 'org1' });
  const begin = (...args: readonly string[]) =>
    new OctavoInside(['api', ...args], { cwd: tmpdir(), env: env(), secrets: [TOKEN] });
  const start = (...args: readonly string[]) => run('api', ...args);

  function run(...args: readonly string[]) {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, ...env() },
      stdio: 'pipe',
    });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
      });
    }
    return { child, output };
  }

  async function end(child: ChildProcess, signal: NodeJS.Signals) {
    const from = performance.now();
    const closed = once(child, 'close');
    child.kill(signal);
    const [code] = await closed;
    return { code, isAtOnce: performance.now() - from < AT_ONCE };
  }

  test.each([
    ['waiting for a response', ['GET', '/x/silent'], 'octavo: interrupted\n'],
    ['retrying', ['GET', '/x/broken'], 'octavo: interrupted\n'],
    ['waiting for the rate limit', ['GET', '/x/limited'], 'octavo: interrupted\n'],
    ['pages', ['GET', '/x/silent', '--paginate'], 'octavo: interrupted\n'],
    ['a write in flight', ['POST', '/x/silent', '--yes'], 'may have taken effect'],
    ['a stream', ['askSite', 's', '-f', 'question=q', '-f', 'scope[mode]=default'], 'octavo: interrupted\n'],
  ])('%s: Ctrl-C exits with 130 at once', async (_what, args, message) => {
    seen.length = 0;
    const call = begin(...args);
    await eventually('a request', () => (args[0] === 'askSite' ? call.stdout !== '' : seen.length > 0));
    const from = performance.now();
    expect(await call.stop()).toMatchObject({ code: 130, stderr: expect.stringContaining(message) });
    expect(performance.now() - from).toBeLessThan(AT_ONCE);
  });

  test('exits with 130 and sends nothing on Ctrl-C while reading standard input', async () => {
    seen.length = 0;
    const { child, output } = start('POST', '/x/found', '-d', '-', '--yes');
    child.stdin.write('{"title":');
    // The process is running once it has read its piped input; a pipe does not report that, so the test waits for the
    // start.
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await end(child, 'SIGINT')).toEqual({ code: 130, isAtOnce: true });
    expect({ seen, stderr: output.stderr }).toEqual({ seen: [], stderr: 'octavo: interrupted\n' });
  });

  test('exits with 143 on SIGTERM', async () => {
    seen.length = 0;
    const { child } = start('GET', '/x/silent');
    await eventually('a request', () => seen.length > 0);
    expect(await end(child, 'SIGTERM')).toEqual({ code: 143, isAtOnce: true });
  });

  test('exits on Ctrl-C even if the reader of its output is blocked', async () => {
    seen.length = 0;
    const { child } = start('GET', '/x/found');
    child.stdout.pause();
    await eventually('a request', () => seen.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const closed = once(child, 'exit');
    child.kill('SIGINT');
    const [code] = await closed;
    expect(code).toBe(130);
  });

  test.each([
    ['a call that fails', ['GET', '/x/refused'], 1],
    ['one that succeeds', ['GET', '/x/found'], 0],
  ])('%s exits with its own code after its output was closed', async (_what, args, code) => {
    const { child, output } = start(...args);
    child.stdout.destroy();
    const [exit] = await once(child, 'close');
    expect({ exit, stderr: output.stderr }).toEqual({
      exit: code,
      stderr: expect.stringMatching(code === 0 ? /; it is sent unchecked\n$/ : /the platform refused it \(404\)/),
    });
  });

  test('other commands keep their exit code after their output was closed', async () => {
    const { child, output } = run('validate', '/nowhere', '--format', 'json');
    child.stdout.destroy();
    const [exit] = await once(child, 'close');
    expect({ exit, stderr: output.stderr }).toEqual({ exit: 3, stderr: expect.stringContaining('/nowhere') });
  });

  test('prints status and headers of a stream before its events with -i', async () => {
    const call = begin('askSite', 's', '-i', '--yes', '-f', 'question=q', '-f', 'scope[mode]=default');
    await eventually('an event', () => call.stdout.includes('{"n":1}'));
    const { stdout } = await call.stop();
    expect(stdout).toMatch(/^HTTP 200 OK\n(.*\n)*x-trace: stream-1\n(.*\n)*\n\{"n":1\}\n$/);
  });
});
