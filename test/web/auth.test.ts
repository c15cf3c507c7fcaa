import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { openWorkspace } from '../support/workspace.ts';
import { tokenEntry } from './page-app.ts';
import { startPage } from './page-daemon.ts';

const TOKENS = {
  tokens: [tokenEntry('ana@acme.example', 'ana-token'), tokenEntry('robot', 'robot-token')],
  roles: [{ role: 'viewer', people: ['ana@acme.example'], organizations: ['org_acme'] }],
};
const JSON_ONLY = { accept: 'application/json' };

test('without a token, a person is asked to sign in, and a program gets 401', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: TOKENS });
  const answer = await page.get('/?q=1');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sign-in?back=%2F%3Fq%3D1']);
  expect((await page.get('/', JSON_ONLY)).status).toBe(401);
  expect((await page.get('/assets/style.css')).status).toBe(200);
});

test('a token shows what its name may see, and nothing else', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: TOKENS });
  const as = (token: string, path: string) => page.get(path, { ...JSON_ONLY, authorization: `Bearer ${token}` });
  expect(await (await as('ana-token', '/')).text()).toContain('org_acme');
  expect(await (await as('robot-token', '/')).text()).not.toContain('org_acme');
  expect((await as('robot-token', '/o/org_acme')).status).toBe(404);
  const wrong = await as('other-token', '/');
  expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"']);
});

test('a session begins with a token, survives a restart of the browser only as long as its cookie, and ends', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: TOKENS });
  const answer = await page.post('/sign-in', { token: 'ana-token', back: '/o/org_acme' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/o/org_acme']);
  const [cookie = ''] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/^octavo=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/);
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  expect(await (await page.get('/', headers)).text()).toContain('ana@acme.example');
  const end = await page.post('/sign-out', {}, headers);
  expect(end.headers.get('location')).toBe('/sign-in');
  expect((await page.get('/', headers)).status).toBe(303);
});

test('the cookie of an https page is bound to its host', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: { ...TOKENS, publicUrl: 'https://octavo.acme.example' } });
  const [cookie = ''] = (await page.post('/sign-in', { token: 'ana-token' })).headers.getSetCookie();
  expect(cookie).toMatch(/^__Host-octavo=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
});

test('a form from elsewhere is refused, and one with the origin of the page is not', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: TOKENS });
  const from: readonly (readonly [Record<string, string>, number])[] = [
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{}, 403],
    [{ origin: page.url }, 303],
  ];
  for (const [headers, status] of from) {
    const body = new URLSearchParams({ token: 'ana-token' });
    const answer = await fetch(`${page.url}/sign-in`, { method: 'POST', headers, body, redirect: 'manual' });
    expect(answer.status, JSON.stringify(headers)).toBe(status);
    expect(answer.headers.getSetCookie()).toHaveLength(status === 303 ? 1 : 0);
  }
});

test('a link on another site is opened again, so that the strict cookie is sent', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: TOKENS });
  const answer = await page.get('/?q=1', { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain('<meta http-equiv="refresh" content="0; url=/?q=1">');
});

test('the user header of the proxy counts only from the proxy', async () => {
  await using work = await openWorkspace();
  const proxy = { userHeader: 'X-Forwarded-User', groupsHeader: 'x-forwarded-groups' };
  const roles = [{ role: 'viewer', groups: ['docs'] }];
  await using page = await startPage(work, { ui: { proxy: { ...proxy, from: ['127.0.0.0/8'] }, roles } });
  const user = { 'x-forwarded-user': 'ana@acme.example', 'x-forwarded-groups': 'staff, docs' };
  expect(await (await page.get('/', { ...user, ...JSON_ONLY })).text()).toContain('org_acme');
  expect((await page.get('/', { ...user, 'x-forwarded-user': 'eve, ana@acme.example' })).status).toBe(400);
  expect((await page.get('/', JSON_ONLY)).status).toBe(401);
});

test('a user header from elsewhere is refused and logged, whatever X-Forwarded-For says', async () => {
  await using work = await openWorkspace();
  const proxy = { userHeader: 'x-forwarded-user', from: ['10.0.0.0/8'] };
  await using page = await startPage(work, { ui: { proxy, roles: [{ role: 'approver', people: ['*'] }] } });
  const answer = await page.get('/', { 'x-forwarded-user': 'ana@acme.example', 'x-forwarded-for': '10.0.0.1' });
  expect(answer.status).toBe(400);
  const refusals = page.log.filter((line) => line.includes('refused a sign-in header that is not from the proxy'));
  expect(refusals).toHaveLength(1);
});

test('a proxy can be known by a secret', async () => {
  await using work = await openWorkspace();
  const proxy = { userHeader: 'x-forwarded-user', secretHeader: 'x-proxy-secret', secret: 'a-proxy-secret' };
  await using page = await startPage(work, { ui: { proxy, roles: [{ role: 'viewer', people: ['*'] }] } });
  const user = { 'x-forwarded-user': 'ana@acme.example', ...JSON_ONLY };
  expect((await page.get('/', { ...user, 'x-proxy-secret': 'a-proxy-secret' })).status).toBe(200);
  expect((await page.get('/', { ...user, 'x-proxy-secret': 'wrong' })).status).toBe(400);
});

test.each([
  ['127.0.0.1:8081', {}, null],
  [':8081', {}, 'nobody has to sign in'],
  ['0.0.0.0:8081', TOKENS, 'requires ui.publicUrl'],
  ['0.0.0.0:8081', { ...TOKENS, publicUrl: 'http://octavo.acme.example' }, 'unencrypted'],
  ['0.0.0.0:8081', { ...TOKENS, publicUrl: 'https://octavo.acme.example' }, null],
  ['127.0.0.1:8081', { proxy: { userHeader: 'x-user' } }, 'requires from'],
  ['127.0.0.1:8081', { roles: [{ role: 'viewer', organizations: ['org_acne'] }] }, '"org_acne" is not configured'],
])('the page on %s with %j is configured only if people have to sign in where they should', (listen, ui, problem) => {
  const text = JSON.stringify({
    platform: { token: 'a-token' },
    organizations: [{ id: 'org_acme' }],
    ui: { ...ui, listen },
  });
  const load = () => loadConfig({ text, file: 'config.yaml', env: {}, readFile: () => '', kinds });
  if (problem === null) {
    expect(load().ui.listen?.port).toBe(8081);
  } else {
    expect(load).toThrow(problem);
  }
});
