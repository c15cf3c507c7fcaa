import type { RequestListener, ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import {
  AuthError,
  CancelledError,
  NotThePlatformError,
  RejectedError,
  TransientError,
} from '../../src/core/errors.ts';
import { type CallOptions, openWriter, type Writer } from '../../src/platform/client.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import { readOnly } from '../../src/platform/http/transport.ts';
import { operations } from '../../src/platform/operations/index.ts';
import { type LocalServer, serveLocally } from '../support/local-server.ts';

/* Event streams over real sockets: answers that begin, continue, pause and break off. */

const TOKEN = 'secret-token';
const open: Connection[] = [];
const servers: LocalServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close(0)));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** Recorded requests, with their number. */
interface Served {
  readonly base: string;
  readonly received: { readonly url: string; readonly headers: Readonly<Record<string, unknown>>; body: string }[];
}

async function serve(listener: (answer: ServerResponse, times: number) => void): Promise<Served> {
  const received: Served['received'] = [];
  const listen: RequestListener = (request, response) => {
    const entry = { url: request.url ?? '', headers: request.headers, body: '' };
    received.push(entry);
    request.on('data', (bytes) => {
      entry.body += String(bytes);
    });
    request.on('end', () => listener(response, received.length));
  };
  const server = await serveLocally(listen);
  servers.push(server);
  return { base: server.url, received };
}

function writer(baseUrl: string, timeouts = {}): Writer {
  const random = () => 0;
  const connection = openConnection({
    ...{
      baseUrl,
      token: TOKEN,
      userAgent: 'octavo/0.0.0',
      concurrency: 4,
      clock: systemClock,
      random,
      timeouts,
    },
  });
  open.push(connection);
  return openWriter(connection, { organization: 'org_1', priority: 'person' });
}

const input = {
  path: { siteId: 'site_1' },
  query: { format: 'markdown' },
  body: { question: 'How do I sign in?', scope: { mode: 'default' } },
} as const;

const ask = (to: Writer, options?: CallOptions) => to.stream(operations.askSite, input, options);

async function failure(events: AsyncIterable<unknown>): Promise<{ error: Error; seen: unknown[] }> {
  const seen: unknown[] = [];
  try {
    for await (const event of events) {
      seen.push(event);
    }
  } catch (error) {
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).not.toContain(TOKEN);
    return { error: error as Error, seen };
  }
  return expect.unreachable('should have failed');
}

const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };
const event = (markdown: string) => ({ type: 'answer', answer: { answer: { markdown }, followupQuestions: [] } });
const line = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const DONE = 'data: done\n\n';
const whole = `${line(event('Use'))}${line(event('Use **SSO** 🦄'))}${DONE}`;
const all = [event('Use'), event('Use **SSO** 🦄')];

describe('a stream', () => {
  test('sends the Accept header of streams and returns the events', async () => {
    const { base, received } = await serve((answer) => answer.writeHead(200, EVENTS).end(whole));
    expect(await Array.fromAsync(ask(writer(base)))).toEqual(all);
    expect(received).toMatchObject([
      {
        url: '/v1/orgs/org_1/sites/site_1/ask?format=markdown',
        headers: { accept: 'text/event-stream', 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      },
    ]);
    expect(JSON.parse(received[0]?.body ?? '')).toEqual(input.body);
  });

  test('returns each event as it arrives', async () => {
    let answer: ServerResponse | undefined;
    const { base } = await serve((response) => {
      answer = response;
      response.writeHead(200, EVENTS).write(line(event('Use')));
    });
    const events = ask(writer(base))[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual(event('Use'));
    answer?.end(`${line(event('Use **SSO** 🦄'))}${DONE}`);
    expect((await events.next()).value).toEqual(event('Use **SSO** 🦄'));
    expect((await events.next()).done).toBe(true);
  });

  test.each([
    ['single bytes', whole, 1],
    [
      'lines without a blank line between',
      `data: ${JSON.stringify(all[0])}\ndata: ${JSON.stringify(all[1])}\ndata: done\n`,
      0,
    ],
    ['no line break at the end', whole.trimEnd(), 0],
    ['carriage returns', whole.replaceAll('\n', '\r\n'), 0],
    ['comments, names and ids', `: ping\n\nevent: answer\nid: 7\n${line(all[0])}\n: ping\n\n${line(all[1])}${DONE}`, 0],
    ['no event after the last one, even if more is sent', `${whole}${line(event('never mind'))}`, 0],
  ])('may come as %s', async (_, text, step) => {
    const { base } = await serve((answer) => {
      answer.writeHead(200, EVENTS);
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += step || bytes.length) {
        answer.write(bytes.subarray(at, at + (step || bytes.length)));
      }
      answer.end();
    });
    expect(await Array.fromAsync(ask(writer(base)))).toEqual(all);
  });

  test('may be compressed without a request for it', async () => {
    const { base } = await serve((answer) =>
      answer.writeHead(200, { ...EVENTS, 'content-encoding': 'br' }).end(brotliCompressSync(whole)),
    );
    expect(await Array.fromAsync(ask(writer(base)))).toEqual(all);
  });

  test('may be done without events', async () => {
    const { base } = await serve((answer) => answer.writeHead(200, EVENTS).end(DONE));
    expect(await Array.fromAsync(ask(writer(base)))).toEqual([]);
  });

  test('is requested when its first event is read', async () => {
    const { base, received } = await serve((answer) => answer.end());
    ask(writer(base));
    const unused = writer(base).stream(operations.askSite, { ...input, body: { ...input.body, question: '' } });
    const { error } = await failure(unused);
    expect(error).toBeInstanceOf(RejectedError);
    expect(error.message).toBe('askSite was not sent: body: question: must have 1 to 512 characters');
    expect(received).toEqual([]);
  });

  test('is a POST, which a read-only client refuses', async () => {
    writer('http://127.0.0.1:1');
    const transport = readOnly((open[0] as Connection).transport);
    const request = { method: 'POST', path: '/v1/x', body: '{}' } as const;
    await expect(transport.open(request, new AbortController().signal)).rejects.toThrow(RejectedError);
  });
});

describe('a stream before its first event', () => {
  test.each([
    ['a 503', (answer: ServerResponse) => answer.writeHead(503).end('busy')],
    ['a 429', (answer: ServerResponse) => answer.writeHead(429, { 'retry-after': '0' }).end('{}')],
    ['a reset', (answer: ServerResponse) => answer.socket?.resetAndDestroy()],
  ])('is retried after %s', async (_, fail) => {
    const { base, received } = await serve((answer, times) =>
      times === 1 ? fail(answer) : answer.writeHead(200, EVENTS).end(whole),
    );
    expect(await Array.fromAsync(ask(writer(base)))).toEqual(all);
    expect(received).toHaveLength(2);
  });

  const json = { 'content-type': 'application/json' };
  test.each([
    ['401', 401, json, '{"error":{"code":401,"message":"who?"}}', AuthError, 'does not accept the token (401): who?'],
    ['404', 404, json, '{"error":{"code":404}}', RejectedError, 'askSite: the platform refused it (404)'],
    ['an error page', 404, { 'content-type': 'text/html' }, '<html>', NotThePlatformError, 'answered with HTML'],
    ['a page', 200, { 'content-type': 'text/html' }, '<html>', NotThePlatformError, 'answered with HTML, not a stream'],
    [
      'one JSON text',
      200,
      json,
      '{"type":"answer"}',
      NotThePlatformError,
      'something else, not a stream of events (200)',
    ],
    ['an empty response', 204, {}, '', NotThePlatformError, 'something else, not a stream of events (204)'],
    ['a redirect', 307, { location: 'https://login.example/x' }, '', NotThePlatformError, 'to https://login.example'],
  ])('is not retried after %s', async (_, status, headers, text, type, message) => {
    const { base, received } = await serve((answer) => answer.writeHead(status, headers).end(text));
    const { error } = await failure(ask(writer(base)));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toContain(message);
    expect(received).toHaveLength(1);
  });

  test('times out without data', async () => {
    const { base } = await serve(() => {});
    writer(base, { headers: 100 });
    const request = { method: 'POST', path: '/v1/x', body: '{}' } as const;
    const opened = (open[0] as Connection).transport.open(request, new AbortController().signal);
    await expect(opened).rejects.toMatchObject({ code: 'timeout', maybeDone: true });
  });

  test('can be cancelled', async () => {
    const abort = new AbortController();
    const { base } = await serve(() => abort.abort());
    const { error } = await failure(ask(writer(base), { signal: abort.signal }));
    expect(error).toBeInstanceOf(CancelledError);
    expect(error.message).toBe('askSite was given up: it was cancelled');
  });
});

describe('a stream after its first event', () => {
  const first = line(event('Use'));

  test.each<[string, (answer: ServerResponse) => void, typeof TransientError | typeof NotThePlatformError, string]>([
    [
      'an early end of the response',
      (a) => a.end(),
      TransientError,
      'askSite: the answer ended before it was complete',
    ],
    ['a reset', (a) => a.socket?.resetAndDestroy(), TransientError, 'broke off in the middle of an answer'],
    [
      'an event that is plain text',
      (a) => a.end('data: sorry\n\n'),
      NotThePlatformError,
      'askSite: the platform sent an event that is not JSON',
    ],
    [
      'an event that is not an object',
      (a) => a.end(line([1])),
      NotThePlatformError,
      'askSite: the answer is not what the platform documents',
    ],
  ])('fails without a retry after %s', async (_, end, type, message) => {
    const { base, received } = await serve((answer) => {
      answer.writeHead(200, EVENTS).write(first, () => end(answer));
    });
    const { error, seen } = await failure(ask(writer(base)));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('\n');
    expect(seen).toEqual([event('Use')].slice(0, seen.length));
    expect(received).toHaveLength(1);
  });

  test.each([
    ['truncated', gzipSync(whole).subarray(0, 40)],
    ['not compressed', Buffer.from(whole)],
  ])('is reported as not from the platform if it is declared compressed but %s', async (_, bytes) => {
    const { base } = await serve((answer) =>
      answer.writeHead(200, { ...EVENTS, 'content-encoding': 'gzip' }).end(bytes),
    );
    const { error } = await failure(ask(writer(base)));
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(error.message).toBe(`${base} answered with a body that cannot be decompressed`);
  });

  test('is read up to 64 MiB', async () => {
    const { base } = await serve((answer) => {
      const bytes = gzipSync(`${first}: ${'x'.repeat(65 * 2 ** 20)}\n\n`);
      answer.writeHead(200, { ...EVENTS, 'content-encoding': 'gzip' }).end(bytes);
    });
    const { error } = await failure(ask(writer(base)));
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(error.message).toBe(`${base} answered with more than 64 MiB`);
  });

  test('times out without data', async () => {
    const { base, received } = await serve((answer) => answer.writeHead(200, EVENTS).write(first));
    const { error, seen } = await failure(ask(writer(base, { body: 100 })));
    expect(error).toMatchObject({ code: 'timeout' });
    expect(seen).toEqual([event('Use')]);
    expect(received).toHaveLength(1);
  });

  test('can be cancelled', async () => {
    const abort = new AbortController();
    const { base } = await serve((answer) => answer.writeHead(200, EVENTS).write(first));
    const events = ask(writer(base), { signal: abort.signal })[Symbol.asyncIterator]();
    await events.next();
    const next = events.next();
    abort.abort();
    await expect(next).rejects.toThrow(CancelledError);
    await expect(next).rejects.toThrow('askSite was given up: it was cancelled');
  });

  test('does not block other requests', async () => {
    const { base, received } = await serve((answer, times) =>
      times <= 4 ? answer.writeHead(200, EVENTS).write(first) : answer.end('{"id":"org_1","title":"Acme"}'),
    );
    const to = writer(base);
    const streams = [1, 2, 3, 4].map(() => ask(to)[Symbol.asyncIterator]());
    await Promise.all(streams.map((events) => events.next()));
    expect((await to.get(operations.getOrganization)).title).toBe('Acme');
    expect(received).toHaveLength(5);
    await Promise.all(streams.map((events) => events.return?.()));
  });

  test('closes the connection when the loop is left', async () => {
    const { promise: hungUp, resolve } = Promise.withResolvers<void>();
    const { base } = await serve((answer) => {
      answer.on('close', resolve);
      answer.writeHead(200, EVENTS).write(first);
    });
    for await (const found of ask(writer(base))) {
      expect(found).toEqual(event('Use'));
      break;
    }
    await hungUp;
  });
});
