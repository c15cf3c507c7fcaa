import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createState, emptyOrganization } from '../../src/emulator/emulator.ts';
import { type Fixture, fixture, start, temporaryFolder } from './fixture.ts';

/* The emulator's interface: seeds, files, features, latency, the request log and control over HTTP. */

test('starts with one organization and three people', async () => {
  const { emulator, org } = await start();
  expect(emulator.organization).toBe('org_acme');
  expect(await org('GET', '')).toMatchObject({ title: 'Acme' });
  expect((await org('GET', '/members?order=asc')).items).toMatchObject([
    { role: 'admin', user: { email: 'ana@acme.example', displayName: 'Ana' } },
    { role: 'edit' },
    { role: 'read' },
  ]);
});

test('a seed creates organizations, with one user per email', async () => {
  const member = (role: 'admin' | null) => ({ email: 'Ana@acme.example', role });
  const { emulator, call } = await start({
    seed: createState({
      organizations: [
        emptyOrganization({ id: 'o1', title: 'One', members: [member('admin')], settings: { sso: true } }),
        emptyOrganization({ id: 'o2', title: 'Two', members: [member(null)] }),
      ],
    }),
  });
  expect(emulator.organization).toBe('o1');
  expect((await call('GET', '/orgs')).body.items).toMatchObject([
    { id: 'o1', sso: true },
    { id: 'o2', sso: false },
  ]);
  const [one, two] = [await call('GET', '/orgs/o1/members'), await call('GET', '/orgs/o2/members')];
  expect(one.body.items[0].id).toBe(two.body.items[0].id);
});

test('the same calls return the same ids', async () => {
  const ids = async () => (await (await start()).org('PUT', '/teams', { title: 'T' })).id;
  const first = await ids();
  expect(first).toMatch(/^team_\w+$/);
  expect(await ids()).toBe(first);
});

test('continues from its file, including background work', async () => {
  const file = join(await temporaryFolder(), 'state.json');
  const first = await fixture({ file });
  const { id } = await first.org('PUT', '/teams', { title: 'Kept' });
  await first.org('PUT', '/openapi/spec', { source: { url: 'https://a.example' } });
  await first.emulator.close();
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ format: 'octavo.emulator/1' });
  expect(await readdir(join(file, '..'))).toEqual(['state.json']);

  const second = await start({ file, seed: createState({ organizations: [] }) });
  expect(await second.org('GET', `/teams/${id}`)).toMatchObject({ title: 'Kept' });
  expect((await second.org('PUT', '/teams', { title: 'New' })).id).not.toBe(id);
  second.clock.advance(300);
  expect(await second.org('GET', '/openapi/spec')).toMatchObject({
    processingState: 'complete',
    lastVersion: expect.any(String),
  });
});

test('refuses a state of another format', async () => {
  const { emulator } = await start();
  const other = { ...emulator.state(), format: 'other/1' } as never;
  expect(() => emulator.restore(other)).toThrow('not a state of the emulator');
  await expect(fixture({ seed: other })).rejects.toThrow('other/1');
});

test('returns a state as a copy that can be restored', async () => {
  const { emulator, org } = await start();
  const before = emulator.state();
  await org('PUT', '/teams', { title: 'T' });
  expect(before.teams).toEqual([]);
  expect(emulator.state().teams).toHaveLength(1);
  emulator.restore(before);
  expect((await org('GET', '/teams')).count).toBe(0);
  expect(emulator.state()).toEqual(before);
});

test.each([
  ['publish', 'POST', '/sites/{site}/publish', undefined],
  ['publish', 'POST', '/sites/{site}/unpublish', undefined],
  ['structure', 'GET', '/sites/{site}/structure', undefined],
  ['structure', 'PATCH', '/sites/{site}/structure/sort', {}],
  ['spaceCreation', 'POST', '/spaces', {}],
] as const)('without %s responds 404 to %s %s', async (feature, method, path, body) => {
  const { call, org } = await start({ features: { [feature]: false } });
  const site = (await org('POST', '/sites')).id;
  const reply = await call(method, `/orgs/org_acme${path.replace('{site}', site)}`, body);
  expect(reply).toMatchObject({ status: 404, body: { error: { code: 404 } } });
});

test('without openapiText refuses a specification as text', async () => {
  const { call } = await start({ features: { openapiText: false } });
  const put = (source: unknown) => call('PUT', '/orgs/org_acme/openapi/x', { source });
  expect(await put({ text: 'openapi: 3.1.0' })).toMatchObject({
    status: 400,
    body: { error: { message: 'body.source.text: unknown field' } },
  });
  expect((await put({ url: 'https://a.example' })).status).toBe(201);
});

async function delays(made: Fixture, times: number): Promise<number[]> {
  const seen: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const pending = made.call('GET', '/orgs');
    while (made.clock.sleeping.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    seen.push(...made.clock.sleeping);
    made.clock.advance(1000);
    await pending;
  }
  return seen;
}

test('adds a fixed or random latency to every response', async () => {
  const made = await start({ latency: 20 });
  expect(await delays(made, 2)).toEqual([20, 20]);
  made.emulator.setLatency({ min: 100, max: 200 });
  const [a = 0, b = 0] = await delays(made, 2);
  expect(Math.min(a, b)).toBeGreaterThanOrEqual(100);
  expect(Math.max(a, b)).toBeLessThan(200);
  expect(a).not.toBe(b);
});

test('logs every request, and counts by operation and method', async () => {
  const { emulator, call, org } = await start();
  await org('GET', '/teams?limit=1');
  await org('GET', '/teams');
  await call('DELETE', '/nothing', undefined, { Authorization: 'Bearer wrong', 'User-Agent': 'octavo/1' });
  const { requests } = emulator;
  expect(requests.entries).toMatchObject([
    { n: 1, method: 'GET', operation: 'listTeams', path: '/v1/orgs/org_acme/teams?limit=1', status: 200 },
    { n: 2, user: 'ana@acme.example' },
    { n: 3, method: 'DELETE', operation: 'unknown', path: '/v1/nothing', status: 401, user: null, agent: 'octavo/1' },
  ]);
  expect(requests.byMethod).toEqual({ GET: 2, DELETE: 1 });
  expect(requests.byOperation).toEqual({ listTeams: 2, unknown: 1 });
  expect(requests.count('listTeams')).toBe(2);
  requests.reset();
  expect([requests.total, requests.entries, requests.count('listTeams')]).toEqual([0, [], 0]);
});

test('the control API over HTTP equals the object API, and is not logged, limited or delayed', async () => {
  const { emulator, call, org, clock } = await start({
    limits: { all: { kind: 'fixed', limit: 2, window: 60_000 } },
    tokens: { other: { user: 'bo@acme.example', permission: 'admin' } },
  });
  const { id, revision } = await org('POST', '/spaces', {});
  const revised = await call('POST', `/_emulator/revise/${id}`);
  expect(revised.body.revision).not.toBe(revision);
  expect((await call('POST', '/_emulator/revise/none')).status).toBe(404);
  expect((await call('GET', '/_emulator/requests')).body).toMatchObject({ total: 1, byOperation: { createSpace: 1 } });
  expect((await call('GET', '/_emulator/state')).body).toEqual(emulator.state());
  expect((await call('POST', '/_emulator/requests/reset')).status).toBe(204);
  expect((await call('POST', '/_emulator/limits', {})).status).toBe(204);
  const faults = [{ times: 1, fault: { kind: 'status', status: 502 } }];
  expect((await call('POST', '/_emulator/faults', faults)).status).toBe(204);
  expect((await call('GET', '/orgs')).status).toBe(502);
  expect((await call('GET', '/orgs')).headers.get('x-ratelimit-limit')).toBeNull();
  expect((await call('POST', '/_emulator/latency', 5)).status).toBe(204);
  expect((await call('GET', '/_emulator/requests')).body.total).toBe(2);
  expect(clock.sleeping).toEqual([]);

  expect((await call('POST', '/_emulator/faults', [{ fault: { kind: 'hook' } }])).status).toBe(400);
  expect((await call('POST', '/_emulator/latency', -1)).status).toBe(400);
  expect((await call('GET', '/_emulator/nothing')).status).toBe(404);
  expect((await call('GET', '/_emulator/state', undefined, { Authorization: 'Bearer other' })).status).toBe(401);
});

test('two emulators are independent, and a closed one stops responding', async () => {
  const [one, two] = [await start(), await fixture()];
  await one.org('PUT', '/teams', { title: 'T' });
  expect((await two.org('GET', '/teams')).count).toBe(0);
  await two.emulator.close();
  await expect(two.call('GET', '/orgs')).rejects.toThrow();
});

test('distinguishes operations of the platform that are not emulated from paths that do not exist', async () => {
  const documented = [
    { method: 'GET', path: '/orgs/{organizationId}/fonts/{fontId}' },
    { method: 'GET', path: '/orgs/{organizationId}/teams' },
  ] as const;
  const { call } = await fixture({ documented });
  const said = 'The platform has this operation, but the embedded platform does not';
  expect(await call('GET', '/orgs/org_acme/fonts/f1')).toMatchObject({
    status: 501,
    body: { error: { code: 501, message: said } },
  });
  expect((await call('DELETE', '/orgs/org_acme/fonts/f1')).status).toBe(404);
  expect((await call('GET', '/orgs/org_acme/fonts')).status).toBe(404);
  expect((await call('GET', '/orgs/org_acme/teams')).status).toBe(200);
  expect((await call('GET', '/orgs/org_acme/fonts/f1', undefined, { Authorization: '' })).status).toBe(401);
});

test('reports a port in use', async () => {
  const { emulator } = await start();
  await expect(fixture({ port: Number(new URL(emulator.url).port) })).rejects.toThrow('EADDRINUSE');
});

test('a restart drops requests in flight, and keeps address and data', async () => {
  const { emulator, clock, call, org } = await start();
  await call('PUT', '/orgs/org_acme/teams', { title: 'Kept' });
  emulator.setLatency(1000);
  const dropped = expect(org('GET', '/teams')).rejects.toThrow();
  while (clock.sleeping.length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { url } = emulator;
  const restarted = emulator.restart(5000);
  await dropped;
  emulator.setLatency(0);
  await expect(org('GET', '/teams')).rejects.toThrow();
  while (!clock.sleeping.includes(5000)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  clock.advance(5000);
  await restarted;
  expect(emulator.url).toBe(url);
  expect((await org('GET', '/teams')).items).toMatchObject([{ title: 'Kept' }]);
});

test('the header of emulator.ts lists every file with decisions of the emulator', async () => {
  const folder = new URL('../../src/emulator/', import.meta.url);
  const [head = ''] = /^\/\*\*[\s\S]*?\*\//.exec(await readFile(new URL('emulator.ts', folder), 'utf8')) ?? [];
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ts')).toSorted();
  const deciding = await Promise.all(
    files.map(async (file) =>
      /decisions? of this\s+(?:\*\s+)?emulator/i.test(await readFile(new URL(file, folder), 'utf8')),
    ),
  );
  const named = (file: string) => file === 'emulator.ts' || head.includes(`\`${file}\``);
  expect(files.filter((file, at) => deciding[at] === true && !named(file))).toEqual([]);
  const listed = [...head.matchAll(/`([\w/-]+\.ts)`/g)].map((match) => match[1] ?? '');
  expect(listed.filter((file) => !files.includes(file))).toEqual([]);
});
