import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  AuthError,
  NotThePlatformError,
  RateLimitedError,
  RejectedError,
  TransientError,
} from '../../src/core/errors.ts';
import { type ClientOptions, openReader, openWriter } from '../../src/platform/client.ts';
import type { Connection } from '../../src/platform/connection.ts';
import { readOnly } from '../../src/platform/http/transport.ts';
import { operations } from '../../src/platform/operations/index.ts';
import { connectTo, TOKEN } from './connect.ts';

const BASE = 'https://api.example';
const caller: ClientOptions = { organization: 'org_1', priority: 'person' };
const open: Connection[] = [];
const servers: Server[] = [];

function connect(baseUrl = BASE, timeouts = {}): Connection {
  const connection = connectTo(baseUrl, timeouts);
  open.push(connection);
  return connection;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.unreachable('should have failed'),
    (error: Error) => {
      expect(error.message).not.toContain(TOKEN);
      return error;
    },
  );
}

beforeEach(() => {
  nock.disableNetConnect();
  nock.enableNetConnect('127.0.0.1');
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.close(0)));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  nock.cleanAll();
  nock.enableNetConnect();
});

describe('requests', () => {
  test('carry the token, the user agent and the organization', async () => {
    nock(BASE, {
      reqheaders: { authorization: `Bearer ${TOKEN}`, 'user-agent': 'octavo/0.0.0', accept: 'application/json' },
    })
      .get('/v1/orgs/org_1/teams/team%2F1')
      .reply(200, { id: 'team/1', title: 'Writers', surprise: { kept: true } });
    const team = await openReader(connect(), caller).get(operations.getTeam, { path: { teamId: 'team/1' } });
    expect(team).toEqual({ id: 'team/1', title: 'Writers', surprise: { kept: true } });
  });

  test('are relative to the path of the base URL', async () => {
    nock(BASE).get('/gateway/v1/orgs/org_1').reply(200, { id: 'org_1', title: 'Acme' });
    const reader = openReader(connect(`${BASE}/gateway/`), caller);
    expect((await reader.get(operations.getOrganization)).title).toBe('Acme');
  });

  test('send bodies as JSON', async () => {
    nock(BASE).put('/v1/orgs/org_1/teams', { title: 'Writers' }).reply(201, { id: 't', title: 'Writers' });
    const writer = openWriter(connect(), caller);
    expect((await writer.send(operations.createTeam, { body: { title: 'Writers' } })).id).toBe('t');
  });

  test.each([204, 205])('accept %i for a deletion', async (status) => {
    nock(BASE).delete('/v1/orgs/org_1/teams/t').reply(status);
    const writer = openWriter(connect(), caller);
    expect(await writer.send(operations.deleteTeam, { path: { teamId: 't' } })).toBeUndefined();
  });

  const section = '/v1/orgs/org_1/sites/s/sections/x';
  const update = { path: { siteId: 's', siteSectionId: 'x' }, body: { siteSectionGroupId: null } };

  test('accept a 204 without a body only where the platform documents it', async () => {
    const writer = openWriter(connect(), caller);
    nock(BASE).patch(section, { siteSectionGroupId: null }).reply(204, '', { 'Preference-Applied': 'return=minimal' });
    expect(await writer.send(operations.updateSection, update)).toBeUndefined();
    nock(BASE).patch(section).reply(200, '');
    expect(await failure(writer.send(operations.updateSection, update))).toBeInstanceOf(NotThePlatformError);
    nock(BASE).put('/v1/orgs/org_1/teams').reply(204);
    const team = writer.send(operations.createTeam, { body: { title: 'Writers' } });
    expect(await failure(team)).toBeInstanceOf(NotThePlatformError);
  });

  test('with invalid input are not sent', async () => {
    const writer = openWriter(connect(), caller);
    const long = await failure(writer.send(operations.createTeam, { body: { title: 'x'.repeat(65) } }));
    expect(long).toBeInstanceOf(RejectedError);
    expect(long.message).toBe('createTeam was not sent: body: title: must have 1 to 64 characters');
    const nowhere = await failure(writer.send(operations.deleteTeam, { path: { teamId: '..' } }));
    expect(nowhere.message).toBe('deleteTeam was not sent: teamId is not an id');
  });

  test('count lengths in code points', async () => {
    nock(BASE).put('/v1/orgs/org_1/teams').reply(201, { id: 't', title: '' });
    const writer = openWriter(connect(), caller);
    await writer.send(operations.createTeam, { body: { title: '🦄'.repeat(64) } });
  });

  test('that write are refused by a read-only client', async () => {
    const transport = readOnly(connect().transport);
    const request = { method: 'DELETE', path: '/v1/orgs/org_1', body: null } as const;
    expect(await failure(transport.send(request, new AbortController().signal))).toBeInstanceOf(RejectedError);
  });
});

describe('pages', () => {
  test('follow the cursor to the end', async () => {
    const first = { items: [{ id: 'a' }], next: { page: 'two=' }, count: 2 };
    nock(BASE).get('/v1/orgs/org_1/spaces').query({ limit: '1000' }).reply(200, first);
    nock(BASE)
      .get('/v1/orgs/org_1/spaces')
      .query({ limit: '1000', page: 'two=' })
      .reply(200, { items: [{ id: 'b' }] });
    const ids: string[] = [];
    for await (const space of openReader(connect(), caller).pages(operations.listSpaces)) {
      ids.push(space.id);
    }
    expect(ids).toEqual(['a', 'b']);
  });

  test('fail if a cursor repeats', async () => {
    nock(BASE)
      .get('/v1/orgs/org_1/spaces')
      .query(true)
      .times(2)
      .reply(200, { items: [], next: { page: 'again' } });
    const all = Array.fromAsync(openReader(connect(), caller).pages(operations.listSpaces));
    expect(await failure(all)).toBeInstanceOf(NotThePlatformError);
  });
});

describe('failures', () => {
  const body = (code: number) => ({ error: { code, message: 'no\n way' } });

  test.each([
    [401, AuthError, 'the platform does not accept the token (401): no way; replace it, see docs/token.md'],
    [403, AuthError, 'the token has no permission for updateTeam (403): no way'],
    [404, RejectedError, 'updateTeam: the platform refused it (404): no way'],
    [409, RejectedError, 'updateTeam: the platform refused it (409): no way'],
    [422, RejectedError, 'updateTeam: the platform refused it (422): no way'],
  ])('reports %i with its error class', async (status, type, message) => {
    nock(BASE).patch('/v1/orgs/org_1/teams/t').reply(status, body(status));
    const call = openWriter(connect(), caller).send(operations.updateTeam, {
      path: { teamId: 't' },
      body: { title: 'x' },
    });
    const error = await failure(call);
    expect(error).toBeInstanceOf(type);
    expect(error.message).toBe(message);
    expect(error).toHaveProperty('status', status);
  });

  test('does not retry a create', async () => {
    nock(BASE).put('/v1/orgs/org_1/teams').reply(503, 'busy');
    const error = await failure(openWriter(connect(), caller).send(operations.createTeam, { body: { title: 'x' } }));
    expect(error).toBeInstanceOf(TransientError);
    expect(error).toHaveProperty('maybeDone', true);
  });

  test('retries a read', async () => {
    nock(BASE).get('/v1/orgs/org_1').reply(502, '<html>').get('/v1/orgs/org_1').reply(200, { id: 'org_1', title: 'A' });
    expect((await openReader(connect(), caller).get(operations.getOrganization)).id).toBe('org_1');
  });

  test('waits after a 429', async () => {
    nock(BASE)
      .get('/v1/orgs/org_1')
      .reply(429, body(429), { 'retry-after': '0' })
      .get('/v1/orgs/org_1')
      .reply(200, { id: 'org_1', title: 'A' });
    expect((await openReader(connect(), caller).get(operations.getOrganization)).id).toBe('org_1');
  });

  test.each([
    ['a page of HTML', 200, { 'content-type': 'text/html' }, '<!doctype html><p>hi'],
    ['an error page', 404, { 'content-type': 'text/html' }, '<html></html>'],
    ['plain text', 200, { 'content-type': 'text/plain' }, 'hi'],
    ['an empty response', 200, {}, ''],
    ['other JSON', 200, {}, '{"items":3}'],
    ['a redirect to another host', 302, { location: 'https://login.example/x?token=1' }, ''],
    ['a redirect to the same host', 308, { location: '/v1/orgs/' }, ''],
  ])('reports %s as not from the platform', async (_, status, headers, text) => {
    nock(BASE).get('/v1/orgs/org_1').reply(status, text, headers);
    const error = await failure(openReader(connect(), caller).get(operations.getOrganization));
    expect(error).toBeInstanceOf(NotThePlatformError);
    if (status === 302) {
      expect(error.message).toContain('to https://login.example (302)');
    }
  });

  test('does not take a page of HTML for a deletion, whatever its status', async () => {
    nock(BASE).delete('/v1/orgs/org_1/teams/t').reply(200, '<!doctype html><p>hi', { 'content-type': 'text/html' });
    const error = await failure(openWriter(connect(), caller).send(operations.deleteTeam, { path: { teamId: 't' } }));
    expect(error).toBeInstanceOf(NotThePlatformError);
  });

  test('reports a refused connection as not sent', async () => {
    const base = await serve(() => {});
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const { transport } = connect(base);
    const request = { method: 'GET', path: '/v1/', body: null } as const;
    const error = await failure(transport.send(request, new AbortController().signal));
    expect(error).toBeInstanceOf(TransientError);
    expect(error.message).toBe(`cannot reach ${base}: connection refused`);
    expect(error).toHaveProperty('maybeDone', false);
  });

  test('reports a broken connection as possibly done', async () => {
    const base = await serve((request) => request.socket.destroy());
    const call = openWriter(connect(base), caller).send(operations.createTeam, { body: { title: 'x' } });
    expect(await failure(call)).toHaveProperty('maybeDone', true);
  });

  test('reports a truncated response as possibly done', async () => {
    const base = await serve((_, response) => {
      response.writeHead(201, { 'content-length': '100' });
      response.write('{"id":', () => response.destroy());
    });
    const error = await failure(
      openWriter(connect(base), caller).send(operations.createTeam, { body: { title: 'x' } }),
    );
    expect(error).toBeInstanceOf(TransientError);
    expect(error).toHaveProperty('maybeDone', true);
    expect(error.message).toContain('in the middle of an answer');
  });

  test('times out without data', async () => {
    const base = await serve(() => {});
    const { transport } = connect(base, { headers: 200 });
    const request = { method: 'POST', path: '/v1/', body: '{}' } as const;
    const error = await failure(transport.send(request, new AbortController().signal));
    expect(error).toHaveProperty('code', 'timeout');
    expect(error).toHaveProperty('maybeDone', true);
  });
});

test('decompresses responses', async () => {
  const base = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"id":"org_1","title":"A"}'));
  });
  expect((await openReader(connect(base), caller).get(operations.getOrganization)).title).toBe('A');
});

test('sends identical concurrent reads once', async () => {
  nock(BASE).get('/v1/orgs/org_1').once().reply(200, { id: 'org_1', title: 'A' });
  const reader = openReader(connect(), caller);
  const answers = await Promise.all([reader.get(operations.getOrganization), reader.get(operations.getOrganization)]);
  expect(answers.map((answer) => answer.id)).toEqual(['org_1', 'org_1']);
});

test('reports how long to wait after a 429', async () => {
  nock(BASE).get('/v1/').reply(429, '', { 'retry-after': '7' });
  const answer = await connect().transport.send(
    { method: 'GET', path: '/v1/', body: null },
    new AbortController().signal,
  );
  const { responseError } = await import('../../src/platform/http/answers.ts');
  const error = responseError('getVersion', answer, BASE, 7000);
  expect(error).toBeInstanceOf(RateLimitedError);
  expect(error).toHaveProperty('after', 7000);
});

test('every operation is listed under its unique name', () => {
  for (const [name, operation] of Object.entries(operations)) {
    expect(operation.name).toBe(name);
    expect(operation.path).toMatch(/^\/v1\//);
  }
});
