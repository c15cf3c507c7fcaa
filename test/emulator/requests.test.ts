import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type Body, sharedFixture } from './fixture.ts';

/* Common behavior of all requests: tokens, bodies, queries, errors, pages. */

const { emulator, call, org, clock } = await sharedFixture({
  tokens: {
    reader: { user: 'cy@acme.example', permission: 'read' },
    nobody: { user: 'zoe@acme.example', permission: 'none' },
  },
  pageSize: 7,
});
const ORG = `/orgs/${emulator.organization}`;

test('responds 401 without a token, with another scheme, and to an unknown token', async () => {
  for (const header of ['', 'Basic abc', 'Bearer wrong', 'Bearer constructor', 'Bearer ']) {
    const reply = await call('GET', ORG, undefined, { Authorization: header });
    expect(reply).toMatchObject({ status: 401, body: { error: { code: 401, message: expect.any(String) } } });
  }
});

test('refuses writes of a read token, and shows its permissions', async () => {
  const reader = { Authorization: 'Bearer reader' };
  const read = await call('GET', ORG, undefined, reader);
  expect(read).toMatchObject({ status: 200, body: { permissions: { view: true, admin: false } } });
  expect(await call('PUT', `${ORG}/teams`, { title: 'T' }, reader)).toMatchObject({
    status: 403,
    body: { error: { code: 403 } },
  });
  const ping = await call('POST', `${ORG}/ping`, undefined, reader);
  expect(ping.body).toEqual({ serviceVisitorClaims: expect.any(String) });
  const seen = await org('GET', '/members?sort=lastSeenAt');
  expect(seen.items).toMatchObject([{ user: { email: 'cy@acme.example' }, lastSeenAt: '2026-03-01T12:00:00.000Z' }]);
});

test('refuses every request of a token without permissions', async () => {
  const reply = await call('GET', ORG, undefined, { Authorization: 'Bearer nobody' });
  expect(reply).toMatchObject({ status: 403, body: { error: { code: 403 } } });
});

test.each([
  ['GET', '/nothing'],
  ['POST', ORG],
  ['GET', `${ORG}/`],
  ['POST', `${ORG}/agent-instructions`],
  ['PUT', '/integrations'],
  ['GET', '/spaces/a/'],
  ['GET', '/spaces//search'],
  ['GET', '/Spaces/a'],
  ['GET', '/%73paces/a'],
])('responds 404 to an unknown operation: %s %s', async (method, path) => {
  expect(await call(method, path)).toMatchObject({
    status: 404,
    body: { error: { message: expect.stringContaining('No such operation') } },
  });
});

test.each([
  ['a%2Fb', 'a/b'],
  ['%2525', '%25'],
  ['%zz', '%zz'],
  [':spaceId', ':spaceId'],
  ['x'.repeat(9000), 'x'.repeat(9000)],
])('decodes the id in a path once: %s', async (encoded, id) => {
  const message = `Space "${id}" not found`;
  expect((await call('GET', `/spaces/${encoded}`)).body).toEqual({ error: { code: 404, message } });
});

test('responds 415 to another content type, and 400 to invalid JSON', async () => {
  const path = `${ORG}/teams`;
  const text = await call('PUT', path, '{"title":"T"}', { 'Content-Type': 'text/plain' });
  expect(text).toMatchObject({ status: 415, body: { error: { message: expect.stringContaining('Content-Type') } } });
  const broken = await call('PUT', path, '{"title":');
  expect(broken).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('not valid JSON') } },
  });
  const charset = await call('PUT', path, '{"title":"T"}', { 'Content-Type': 'application/json; charset=utf-8' });
  expect(charset.status).toBe(201);
});

test('responds 413 to a body of more than 10 MB', async () => {
  const text = 'x'.repeat(10 * 1024 * 1024);
  expect(await call('PUT', `${ORG}/openapi/big`, { source: { text } })).toMatchObject({
    status: 413,
    body: { error: { code: 413 } },
  });
});

test('refuses a repeated parameter that expects one value', async () => {
  const reply = await call('GET', `${ORG}/teams?title=a&title=b`);
  expect(reply).toMatchObject({ status: 400, body: { error: { message: expect.stringContaining('query.title') } } });
});

test('names every problem of a request at once', async () => {
  const reply = await call('POST', `${ORG}/saml`, { label: '', entityId: 'x', ssoURL: 5 });
  expect(reply.body.error.message).toBe(
    'body.label: must be 1-30 characters; body.ssoURL: expected string, received number; body.entityId: unknown field',
  );
});

test('counts lengths in code points', async () => {
  expect((await call('PUT', `${ORG}/teams`, { title: '📚'.repeat(64) })).status).toBe(201);
  expect((await call('PUT', `${ORG}/teams`, { title: '📚'.repeat(65) })).status).toBe(400);
  expect((await call('GET', `${ORG}/teams?__proto__=x`)).status).toBe(400);
});

test('every response has the date of the clock', async () => {
  const reply = await call('GET', '/nothing', undefined, { Authorization: '' });
  expect(reply.headers.get('date')).toBe(new Date(clock.now()).toUTCString());
});

test('a client that disconnects while sending does not affect others', async () => {
  const { hostname, port } = new URL(emulator.url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve) => {
    socket.write('PUT /v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf', () => resolve());
  });
  socket.destroy();
  expect((await call('GET', '/')).status).toBe(200);
});

async function pages(path: string, limit: number, between: () => Promise<void> = async () => {}): Promise<Body[][]> {
  const found: Body[][] = [];
  let page = '';
  do {
    const body = await org('GET', `${path}?limit=${limit}${page}`);
    found.push(body.items);
    page = body.next === undefined ? '' : `&page=${body.next.page}`;
    await between();
  } while (page !== '');
  return found;
}

test('a cursor continues after the last item, even if items are added or deleted', async () => {
  const { items: before } = await org('GET', '/teams?limit=1000');
  for (const team of before) {
    await org('DELETE', `/teams/${team.id}`);
  }
  const made: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    made.push((await org('PUT', '/teams', { title: `Team ${n}` })).id);
  }
  expect((await org('GET', '/teams')).items).toHaveLength(7);
  expect(await org('GET', '/teams?limit=0')).toEqual({ count: 20, items: [] });
  expect((await pages('/teams', 8)).map((page) => page.length)).toEqual([8, 8, 4]);
  expect((await pages('/teams', 10)).map((page) => page.length)).toEqual([10, 10]);

  let added = 0;
  const changing = await pages('/teams', 5, async () => {
    if (added < 2) {
      added += 1;
      await org('PUT', '/teams', { title: 'Late' });
      await org('DELETE', `/teams/${made[added]}`);
    }
  });
  const ids = changing.flat().map((team) => team.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.slice(0, 20)).toEqual(made);
  expect(ids).toHaveLength(22);
});

test.each(['abc', '', 'eyJhIjoxfQ'])('refuses an invalid cursor: "%s"', async (page) => {
  const reply = await call('GET', `${ORG}/teams?page=${page}`);
  expect(reply).toMatchObject({ status: 400, body: { error: { message: 'query.page: not a page of this list' } } });
});

test('refuses the cursor of another list, and returns an empty page for one at the end', async () => {
  const { next } = await org('GET', '/teams?limit=1');
  expect((await call('GET', `${ORG}/members?page=${next.page}`)).status).toBe(400);
  const { items } = await org('GET', '/teams?limit=1000');
  for (const team of items) {
    await org('DELETE', `/teams/${team.id}`);
  }
  expect(await org('GET', `/teams?page=${next.page}`)).toEqual({ count: 0, items: [] });
});

test.each(['-1', '1001', '1.5', 'ten', ''])('refuses limit=%s', async (limit) => {
  expect((await call('GET', `${ORG}/teams?limit=${limit}`)).status).toBe(400);
});
