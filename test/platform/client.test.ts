/** Requests of the client; errors of networks and proxies are reported once, in a line without secrets. */
import type { RequestListener, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import {
  AuthError,
  CancelledError,
  NotThePlatformError,
  RejectedError,
  TransientError,
} from '../../src/core/errors.ts';
import { openWriter, type Writer } from '../../src/platform/client.ts';
import { type Connection, openConnection } from '../../src/platform/connection.ts';
import { readOnly, type Timeouts } from '../../src/platform/http/transport.ts';
import { operations } from '../../src/platform/operations/index.ts';
import { type LocalServer, serveLocally } from '../support/local-server.ts';

const BASE = 'https://api.example';
const TOKEN = 'secret-token';
const open: Connection[] = [];
const servers: LocalServer[] = [];

beforeEach(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close(0)));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  const unused = nock.pendingMocks();
  nock.cleanAll();
  nock.enableNetConnect();
  expect(unused).toEqual([]);
});

/** A connection on the machine's clock, with the shortest possible retry delays. */
function connect(baseUrl = BASE, timeouts: Partial<Timeouts> = {}): Connection {
  const connection = openConnection({
    ...{ baseUrl, token: TOKEN, userAgent: 'octavo/0.0.0', concurrency: 4, timeouts },
    ...{ clock: systemClock, random: () => 0 },
  });
  open.push(connection);
  return connection;
}

function client(baseUrl = BASE, timeouts = {}): Writer {
  return openWriter(connect(baseUrl, timeouts), { organization: 'org_1', priority: 'person' });
}

/** Answers each request with the next of the list, and repeats the last one. `times` counts them. */
async function serve(...turns: readonly ((response: ServerResponse) => void)[]) {
  const served = { base: '', times: 0 };
  const listener: RequestListener = (request, response) => {
    const turn = turns[Math.min(served.times, turns.length - 1)];
    served.times += 1;
    request.resume();
    request.on('end', () => turn?.(response));
  };
  const server = await serveLocally(listener);
  servers.push(server);
  served.base = server.url;
  return served;
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => expect.unreachable('should have failed'),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  const { message } = error as Error;
  expect(message).not.toContain(TOKEN);
  expect(message).not.toContain('\n');
  return error as Error;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const ORGANIZATION = { id: 'org_1', title: 'Acme' };
const text = JSON.stringify(ORGANIZATION);
const good = (response: ServerResponse) => response.writeHead(200, JSON_TYPE).end(text);
const reset = (response: ServerResponse) => response.socket?.resetAndDestroy();
const half = (response: ServerResponse) => {
  response.writeHead(200, { ...JSON_TYPE, 'content-length': String(text.length) });
  response.write(text.slice(0, 9), () => response.socket?.destroy());
};

const read = (writer: Writer) => writer.get(operations.getOrganization);
/** Idempotent: sending it twice has the same effect as once. */
const change = (writer: Writer) => writer.send(operations.updateOrganization, { body: { title: 'Acme' } });
/** Not idempotent: sending it twice has two effects. */
const create = (writer: Writer) => writer.send(operations.createTeam, { body: { title: 'Writers' } });

describe('requests', () => {
  test('carry the token, the user agent and the organization', async () => {
    nock(BASE, {
      reqheaders: { authorization: `Bearer ${TOKEN}`, 'user-agent': 'octavo/0.0.0', accept: 'application/json' },
    })
      .get('/v1/orgs/org_1/openapi/pets%2F1')
      .reply(200, { id: 'spec_1', slug: 'pets/1', surprise: { kept: true } });
    const spec = await client().get(operations.getOpenApiSpec, { path: { specSlug: 'pets/1' } });
    expect(spec).toEqual({ id: 'spec_1', slug: 'pets/1', surprise: { kept: true } });
  });

  test('are not repeated if the platform does not have the operation', async () => {
    nock(BASE)
      .get('/v1/orgs/org_1/conversations-clusters?limit=1')
      .reply(501, { error: { message: 'Not here' } });
    const read = client().get(operations.listConversationClusters, { query: { limit: 1 } });
    await expect(read).rejects.toThrow('(501): Not here; only platforms like 0.146 have this operation');
  });

  test('are relative to the path of the base URL', async () => {
    nock(BASE).get('/gateway/v1/orgs/org_1').reply(200, { id: 'org_1', title: 'Acme' });
    const reader = client(`${BASE}/gateway/`);
    expect((await reader.get(operations.getOrganization)).title).toBe('Acme');
  });

  test('send bodies as JSON', async () => {
    nock(BASE).put('/v1/orgs/org_1/teams', { title: 'Writers' }).reply(201, { id: 't', title: 'Writers' });
    const writer = client();
    expect((await writer.send(operations.createTeam, { body: { title: 'Writers' } })).id).toBe('t');
  });

  const section = '/v1/orgs/org_1/sites/s/sections/x';
  const update = { path: { siteId: 's', siteSectionId: 'x' }, body: { siteSectionGroupId: null } };

  test('accept a 204 without a body only where the platform documents it', async () => {
    const writer = client();
    nock(BASE).patch(section, { siteSectionGroupId: null }).reply(204, '', { 'Preference-Applied': 'return=minimal' });
    expect(await writer.send(operations.updateSection, update)).toBeUndefined();
    nock(BASE).patch(section).reply(200, '');
    expect(await failure(writer.send(operations.updateSection, update))).toBeInstanceOf(NotThePlatformError);
    nock(BASE).put('/v1/orgs/org_1/teams').reply(204);
    const team = writer.send(operations.createTeam, { body: { title: 'Writers' } });
    expect(await failure(team)).toBeInstanceOf(NotThePlatformError);
  });

  test('with invalid input are not sent', async () => {
    const writer = client();
    const long = await failure(writer.send(operations.createTeam, { body: { title: 'x'.repeat(65) } }));
    expect(long).toBeInstanceOf(RejectedError);
    expect(long.message).toBe('createTeam was not sent: body: title: must have 1 to 64 characters');
    const nowhere = await failure(writer.send(operations.deleteTeam, { path: { teamId: '..' } }));
    expect(nowhere.message).toBe('deleteTeam was not sent: teamId is not an id');
  });

  test('count lengths in code points', async () => {
    nock(BASE).put('/v1/orgs/org_1/teams').reply(201, { id: 't', title: '' });
    const writer = client();
    await writer.send(operations.createTeam, { body: { title: '🦄'.repeat(64) } });
  });

  test('that write are refused by a read-only client', async () => {
    const transport = readOnly(connect().transport);
    const request = { method: 'DELETE', path: '/v1/orgs/org_1', body: null } as const;
    expect(await failure(transport.send(request, new AbortController().signal))).toBeInstanceOf(RejectedError);
  });
});

describe('resets', () => {
  test.each([
    ['a reset before the response', reset, 'closed the connection without an answer'],
    ['a reset in the middle of the response', half, 'broke off in the middle of an answer'],
  ])('retries a repeatable write after %s, and reports another as possibly done', async (_, fail, message) => {
    const repeated = await serve(fail, good);
    expect((await change(client(repeated.base))).title).toBe('Acme');
    expect(repeated.times).toBe(2);
    const once = await serve(fail);
    const error = await failure(create(client(once.base)));
    expect(error).toMatchObject({ maybeDone: true, disposition: 'retry' });
    expect(error.message).toContain(message);
    expect(once.times).toBe(1);
  });

  test('reports a refused connection as not sent', async () => {
    const { base } = await serve(() => {});
    await servers.pop()?.stop();
    const { transport } = connect(base);
    const request = { method: 'GET', path: '/v1/', body: null } as const;
    const error = await failure(transport.send(request, new AbortController().signal));
    expect(error).toBeInstanceOf(TransientError);
    expect(error.message).toBe(`cannot reach ${base}: connection refused`);
    expect(error).toHaveProperty('maybeDone', false);
  });
});

describe('timeouts', () => {
  test('distinguishes timeouts from resets, and retries both', async () => {
    const begun = (response: ServerResponse) => response.writeHead(200, JSON_TYPE).write('{"id"');
    for (const silence of [() => {}, begun]) {
      const served = await serve(silence, good);
      expect(await read(client(served.base, { headers: 100, body: 100 }))).toEqual(ORGANIZATION);
      expect(served.times).toBe(2);
      const once = await serve(silence);
      const error = await failure(create(client(once.base, { headers: 100, body: 100 })));
      expect(error).toMatchObject({ code: 'timeout', maybeDone: true });
      expect(error.message).toBe(`${once.base} did not answer in time`);
    }
  });

  test('reports a call that is cancelled in the meantime', async () => {
    const abort = new AbortController();
    const served = await serve(() => abort.abort());
    const call = client(served.base).get(operations.getOrganization, {}, { signal: abort.signal });
    expect(await failure(call)).toBeInstanceOf(CancelledError);
    expect(served.times).toBe(1);
  });
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('does not follow %i, so that the token goes nowhere else', async (status) => {
    const elsewhere = await serve(good);
    const location = `${elsewhere.base}/v1/orgs/org_1?token=1`;
    const served = await serve((response) => response.writeHead(status, { location }).end());
    for (const call of [read, change, create]) {
      const error = await failure(call(client(served.base)));
      expect(error).toBeInstanceOf(NotThePlatformError);
      expect(error.message).toBe(
        `${served.base} redirects to ${elsewhere.base} (${status}); redirects are not followed; check the base URL`,
      );
    }
    expect([served.times, elsewhere.times]).toEqual([3, 0]);
  });

  test.each<[Record<string, string>]>([
    [{}],
    [{ location: '' }],
    [{ location: 'http://[' }],
    [{ location: '/v1/other' }],
  ])('reports a redirect with %j as not from the platform', async (headers) => {
    nock(BASE).get('/v1/orgs/org_1').reply(302, '', headers);
    expect((await failure(read(client()))).message).toContain(`${BASE} redirects elsewhere (302)`);
  });
});

describe('bodies', () => {
  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['GZIP', gzipSync],
  ])('compressed with %s are decompressed', async (encoding, pack) => {
    const served = await serve((response) =>
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': encoding }).end(pack(text)),
    );
    expect(await read(client(served.base))).toEqual(ORGANIZATION);
  });

  test.each([
    ['truncated compressed data', 'gzip', gzipSync(text).subarray(0, 20)],
    ['uncompressed data', 'gzip', Buffer.from(text)],
    ['uncompressed data', 'br', Buffer.from(text)],
  ])('of %s (%s) are reported as not from the platform', async (_, encoding, bytes) => {
    const served = await serve((response) =>
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': encoding }).end(bytes),
    );
    const error = await failure(read(client(served.base)));
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(error.message).toBe(`${served.base} answered with a body that cannot be decompressed`);
    expect(served.times).toBe(1);
  });

  test('are read up to 64 MiB, compressed or not', async () => {
    const length = 65 * 2 ** 20;
    const plain = await serve((response) => response.writeHead(200, JSON_TYPE).end(Buffer.alloc(length, 32)));
    const error = await failure(read(client(plain.base)));
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(error.message).toBe(`${plain.base} answered with more than 64 MiB`);
    const bomb = gzipSync(Buffer.alloc(length, 32));
    const packed = await serve((response) =>
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(bomb),
    );
    expect((await failure(read(client(packed.base)))).message).toContain('cannot be decompressed');
  });

  test.each([
    ['text/plain', 200],
    ['application/octet-stream', 200],
    ['application/vnd.api+json; charset=utf-8', 200],
    ['', 200],
  ])('of type %j are parsed by their content', async (type, status) => {
    nock(BASE)
      .get('/v1/orgs/org_1')
      .reply(status, text, type === '' ? {} : { 'content-type': type });
    expect(await read(client())).toEqual(ORGANIZATION);
  });

  test.each([
    ['HTML', 'application/json', '<!doctype html><h1>Sign in</h1>', 'with HTML, not JSON'],
    ['HTML by its type', 'text/html; charset=utf-8', 'Sign in', 'with HTML, not JSON'],
    ['empty', 'application/json', '', ''],
    ['plain text', 'text/plain', 'hi', 'with something that is not JSON'],
    ['half a text', 'application/json', '{"id":"org_1","ti', 'with something that is not JSON'],
    ['a text of another kind', 'application/json', '[]', 'the answer is not what the platform documents'],
    ['null', 'application/json', 'null', 'the answer is not what the platform documents'],
    ['another resource', 'application/json', '{"items":[]}', 'id: '],
  ])('that are %s are reported as not from the platform', async (_, type, body, message) => {
    nock(BASE).get('/v1/orgs/org_1').reply(200, body, { 'content-type': type });
    const error = await failure(read(client()));
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(error.message).toContain(message);
  });
});

describe('errors', () => {
  const html = '<html><body>nginx</body></html>';
  const errorBody = (message: unknown) => JSON.stringify({ error: { code: 400, message } });

  test.each<readonly [number, string, string, new (...rest: never[]) => Error, string]>([
    [400, 'application/json', errorBody('title: too long'), RejectedError, '(400): title: too long'],
    [400, 'application/json', errorBody('one\nline\t only'), RejectedError, '(400): one line only'],
    [400, 'application/json', errorBody(undefined), RejectedError, 'the platform refused it (400)'],
    [400, 'application/json', errorBody({ not: 'a text' }), RejectedError, 'the platform refused it (400)'],
    [400, 'application/json', errorBody('x'.repeat(9999)), RejectedError, `${'x'.repeat(300)}…`],
    [400, 'application/json', '{"error":"short"}', RejectedError, '(400): short'],
    [404, 'application/json', errorBody('no'), RejectedError, 'createTeam: not found (404): no; does the organization'],
    [409, 'application/json', errorBody('no'), RejectedError, 'the platform refused it (409): no'],
    [422, 'application/json', errorBody('no'), RejectedError, 'the platform refused it (422): no'],
    [412, 'application/json', '', RejectedError, 'the platform refused it (412)'],
    [413, 'text/plain', 'too large', RejectedError, 'the platform refused it (413)'],
    [
      401,
      'application/json',
      errorBody('who?'),
      AuthError,
      'the platform does not accept the token (401): who?; replace it, see docs/token.md',
    ],
    [403, 'application/json', '', AuthError, 'the token has no permission for createTeam (403)'],
    [400, 'text/html', html, NotThePlatformError, 'answered with HTML, not JSON (400)'],
    [404, 'text/html', html, NotThePlatformError, 'answered with HTML, not JSON (404)'],
    [403, 'text/html', html, NotThePlatformError, 'answered with HTML, not JSON (403)'],
    [408, 'text/html', html, TransientError, 'createTeam: the platform failed (408)'],
    [500, 'application/json', errorBody('boom'), TransientError, 'createTeam: the platform failed (500): boom'],
    [502, 'text/html', html, TransientError, 'createTeam: the platform failed (502)'],
    [503, 'text/html', html, TransientError, 'createTeam: the platform failed (503)'],
  ])('reports %i as %s with the error class that determines retries', async (status, type, body, kind, message) => {
    nock(BASE).put('/v1/orgs/org_1/teams').reply(status, body, { 'content-type': type });
    const error = await failure(create(client()));
    expect(error).toBeInstanceOf(kind);
    expect(error.message).toContain(message);
    if (kind === TransientError) {
      expect(error).toHaveProperty('maybeDone', true);
    } else if (kind !== NotThePlatformError) {
      expect(error).toHaveProperty('status', status);
    }
  });

  test('reports a 404 below the organization as a refusal', async () => {
    nock(BASE).patch('/v1/orgs/org_1/teams/t').reply(404, errorBody('no\n way'), JSON_TYPE);
    const error = await failure(client().send(operations.updateTeam, { path: { teamId: 't' }, body: { title: 'x' } }));
    expect(error).toMatchObject({ message: 'updateTeam: the platform refused it (404): no way', status: 404 });
  });

  test('retries after a 429 in HTML, even a request that must not be repeated', async () => {
    nock(BASE)
      .put('/v1/orgs/org_1/teams')
      .reply(429, html, { 'content-type': 'text/html', 'retry-after': '0' })
      .put('/v1/orgs/org_1/teams')
      .reply(201, { id: 't', title: 'Writers' });
    expect((await create(client())).id).toBe('t');
  });

  test('accepts any 2xx for a deletion', async () => {
    for (const status of [200, 202, 204, 205]) {
      nock(BASE).delete('/v1/orgs/org_1/teams/t').reply(status);
      expect(await client().send(operations.deleteTeam, { path: { teamId: 't' } })).toBeUndefined();
    }
  });

  test('does not take a page of HTML for a deletion, whatever its status', async () => {
    nock(BASE).delete('/v1/orgs/org_1/teams/t').reply(200, '<!doctype html><p>hi', { 'content-type': 'text/html' });
    const error = await failure(client().send(operations.deleteTeam, { path: { teamId: 't' } }));
    expect(error).toBeInstanceOf(NotThePlatformError);
  });

  test.each([201, 202, 206])('accepts %i for a write, documented or not', async (status) => {
    nock(BASE).patch('/v1/orgs/org_1').reply(status, ORGANIZATION);
    expect(await change(client())).toEqual(ORGANIZATION);
  });

  test.each([202, 204, 206])('rejects %i for a read', async (status) => {
    nock(BASE)
      .get('/v1/orgs/org_1')
      .reply(status, status === 204 ? '' : text, JSON_TYPE);
    expect(await failure(read(client()))).toBeInstanceOf(RejectedError);
  });
});

describe('pages', () => {
  const page = (query: Record<string, string>, items: readonly string[], next?: unknown) =>
    nock(BASE)
      .get('/v1/orgs/org_1/spaces')
      .query({ limit: '1000', ...query })
      .reply(200, { items: items.map((id) => ({ id })), ...(next === undefined ? {} : { next }) });
  const ids = async () => (await Array.fromAsync(client().pages(operations.listSpaces))).map((space) => space.id);

  test.each([[undefined], [null], [{}], [{ page: null }], [{ page: '' }]])('end if next is %j', async (next) => {
    page({}, ['a'], next);
    expect(await ids()).toEqual(['a']);
  });

  test('may be empty without being the last', async () => {
    page({}, [], { page: '2' });
    page({ page: '2' }, ['b']);
    expect(await ids()).toEqual(['b']);
  });

  test('fail instead of looping if a cursor repeats', async () => {
    page({}, ['a'], { page: '2' });
    page({ page: '2' }, ['b'], { page: '2' });
    const error = await failure(ids());
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(error.message).toBe('listSpaces: the list does not end: the platform names the same next page twice');
  });

  test.each([
    ['nested arrays', '['.repeat(1_000_000) + ']'.repeat(1_000_000), 'the answer is nested more than 500 levels deep'],
    ['too many values', `{"items":[${'0,'.repeat(1_000_000)}0]}`, 'the answer has more than 1000000 values'],
    ['a page with invalid items', `{"items":[${'0,'.repeat(900_000)}0]}`, 'items: Too big'],
  ])('with %s are an error in little memory', async (_, body, message) => {
    nock(BASE).get('/v1/orgs/org_1/spaces').query(true).reply(200, body, JSON_TYPE);
    const before = process.memoryUsage().heapUsed;
    const error = await failure(ids());
    expect(error).toBeInstanceOf(NotThePlatformError);
    expect(error.message).toContain(message);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(60e6);
  });

  test('are retried after a failure, without duplicate items', async () => {
    page({}, ['a'], { page: '2 &=' });
    nock(BASE).get('/v1/orgs/org_1/spaces').query({ limit: '1000', page: '2 &=' }).reply(502, '<html>');
    page({ page: '2 &=' }, ['b']);
    expect(await ids()).toEqual(['a', 'b']);
  });

  test('are requested as they are used', async () => {
    page({}, ['a'], { page: '2' });
    for await (const space of client().pages(operations.listSpaces)) {
      expect(space.id).toBe('a');
      break;
    }
  });

  test('keep their filters', async () => {
    const query = { space: 's', type: ['basic', 'premium'] as const, published: false };
    nock(BASE)
      .get('/v1/orgs/org_1/sites?space=s&published=false&type=basic&type=premium&limit=1000')
      .reply(200, { items: [], next: { page: 'p' } })
      .get('/v1/orgs/org_1/sites?space=s&published=false&type=basic&type=premium&page=p&limit=1000')
      .reply(200, { items: [] });
    const sites = client().pages(operations.listSites, { query: { ...query, type: [...query.type] } });
    expect(await Array.fromAsync(sites)).toEqual([]);
  });
});

test('sends identical concurrent reads once', async () => {
  nock(BASE).get('/v1/orgs/org_1').once().reply(200, { id: 'org_1', title: 'A' });
  const reader = client();
  const answers = await Promise.all([reader.get(operations.getOrganization), reader.get(operations.getOrganization)]);
  expect(answers.map((answer) => answer.id)).toEqual(['org_1', 'org_1']);
});
