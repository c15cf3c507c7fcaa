import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock } from '../../src/core/clock.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { findFreePort } from '../support/free-port.ts';
import { openWorkspace } from '../support/workspace.ts';
import { CookieBrowser } from './browser.ts';
import { startIdentityProvider } from './oidc/identity-provider.ts';
import { startPage } from './page-daemon.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const TOKENS = {
  tokens: [
    { name: 'ana@acme.example', sha256: sha256('ana-token') },
    { name: 'robot', sha256: sha256('robot-token') },
  ],
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

test('a session ends when it is too old', async () => {
  await using work = await openWorkspace();
  let late = 0;
  const clock = { ...systemClock, now: () => Date.now() + late };
  await using page = await startPage(work, { ui: TOKENS, clock });
  const [cookie = ''] = (await page.post('/sign-in', { token: 'ana-token' })).headers.getSetCookie();
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  late = 8 * 3_600_000 - 60_000;
  expect((await page.get('/', headers)).status).toBe(200);
  late = 8 * 3_600_000 + 60_000;
  expect((await page.get('/', headers)).status).toBe(303);
});

test('after ten wrong tokens, the address has to wait, also with the right one', async () => {
  await using work = await openWorkspace();
  let late = 0;
  const clock = { ...systemClock, monotonic: () => performance.now() + late };
  await using page = await startPage(work, { ui: TOKENS, clock });
  for (let attempt = 0; attempt < 10; attempt += 1) {
    expect((await page.post('/sign-in', { token: `guess-${attempt}` })).status).toBe(401);
  }
  const refused = await page.post('/sign-in', { token: 'ana-token' });
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
  late = 60_000;
  expect((await page.post('/sign-in', { token: 'ana-token' })).status).toBe(303);
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another host of the site', { 'sec-fetch-site': 'same-site' }],
  ['another origin', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
  ['nowhere', { 'sec-fetch-site': '' }],
])('a form from %s is refused', async (_from, headers) => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: TOKENS });
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
  const answer = await fetch(`${page.url}/sign-in`, {
    method: 'POST',
    headers: given,
    body: new URLSearchParams({ token: 'ana-token' }),
    redirect: 'manual',
  });
  expect(answer.status).toBe(403);
  expect(answer.headers.getSetCookie()).toEqual([]);
});

test('a browser without Sec-Fetch-Site is known by its origin', async () => {
  await using work = await openWorkspace();
  await using page = await startPage(work, { ui: TOKENS });
  const body = new URLSearchParams({ token: 'ana-token' });
  const answer = await fetch(`${page.url}/sign-in`, {
    ...{ method: 'POST', body, redirect: 'manual' },
    headers: { origin: page.url },
  });
  expect(answer.status).toBe(303);
});

test.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/\t/evil.example'])(
  'the sign-in does not lead to %j',
  async (back) => {
    await using work = await openWorkspace();
    await using page = await startPage(work, { ui: TOKENS });
    expect((await page.post('/sign-in', { token: 'ana-token', back })).headers.get('location')).toBe('/');
  },
);

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

test('people sign in with a provider, get roles by verified email and group, and sign out', async () => {
  await using work = await openWorkspace();
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  await using provider = await startIdentityProvider({ octavo: `${publicUrl}/oidc/callback` });
  await provider.setAccount('u-1', { email: 'ana@acme.example', email_verified: true, groups: ['docs'] });
  await provider.setAccount('u-2', { email: 'ana@acme.example', email_verified: false });
  let late = 0;
  const clock = { ...systemClock, now: () => Date.now() + late };
  const oidc = { issuer: provider.issuer, clientId: 'octavo', clientSecret: 'secret-of-octavo' };
  await using page = await startPage(work, {
    clock,
    ui: {
      listen: `127.0.0.1:${port}`,
      publicUrl,
      oidc: { ...oidc, scopes: ['openid', 'email', 'groups', 'offline_access'] },
      roles: [
        { role: 'viewer', groups: ['docs'] },
        { role: 'approver', people: ['ana@acme.example'] },
      ],
    },
  });
  const signIn = async (login: string) => {
    const browser = new CookieBrowser();
    await browser.open(`${page.url}/o/org_other`);
    const form = await browser.open(`${page.url}/oidc/start?back=/`);
    const consent = await browser.submit(form, { login, password: 'any' });
    return { browser, end: await browser.submit(consent, {}) };
  };
  const ana = await signIn('u-1');
  expect(ana.end.url).toBe(`${publicUrl}/`);
  expect(ana.end.text).toContain('org_acme');
  expect(ana.end.text).toContain('ana@acme.example');
  expect(ana.browser.cookies(publicUrl)).toEqual(['octavo']);
  expect(page.log.join('')).not.toContain('secret-of-octavo');

  const other = await signIn('u-2');
  expect(other.end.text).not.toContain('ana@acme.example');
  expect(other.end.text).not.toContain('org_acme');

  await provider.setAccount('u-1', { email: 'ana@acme.example', email_verified: true, groups: [] });
  late = 16 * 60_000;
  expect((await ana.browser.open(page.url)).text).toContain('org_acme');
  await provider.setAccount('u-1', null);
  late = 32 * 60_000;
  expect((await ana.browser.open(page.url)).url).toContain('/sign-in');
});

test('a callback that this browser did not begin is refused', async () => {
  await using work = await openWorkspace();
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  await using provider = await startIdentityProvider({ octavo: `${publicUrl}/oidc/callback` });
  const oidc = { issuer: provider.issuer, clientId: 'octavo', clientSecret: 'secret-of-octavo' };
  await using page = await startPage(work, { ui: { listen: `127.0.0.1:${port}`, publicUrl, oidc } });
  expect((await page.get('/oidc/callback?code=x&state=y')).status).toBe(403);
  const start = await page.get('/oidc/start');
  const cookie = start.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect(start.headers.getSetCookie()[0]).toMatch(/HttpOnly; SameSite=Lax$/);
  const forged = await page.get('/oidc/callback?code=x&state=y', { cookie });
  expect(forged.status).toBe(403);
  expect(await forged.text()).toContain('The sign-in was refused');
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
