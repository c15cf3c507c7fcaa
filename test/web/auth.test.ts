/** Ways to sign in. */
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { openPageApp, tokenEntry } from './page-app.ts';

const TOKENS = {
  tokens: [tokenEntry('ana@acme.example', 'ana-token'), tokenEntry('robot', 'robot-token')],
  roles: [{ role: 'viewer', people: ['ana@acme.example'], organizations: ['org_acme'] }],
};
const JSON_ONLY = { accept: 'application/json' };

const open = (ui: object = TOKENS) => openPageApp({ ui: { ...ui }, organizations: ['org_acme'] });

test('without a token, a person is asked to sign in, and a program gets 401', async () => {
  await using page = await open();
  const answer = await page.get('/?q=1');
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/sign-in?back=%2F%3Fq%3D1']);
  expect((await page.get('/', JSON_ONLY)).statusCode).toBe(401);
  expect((await page.get('/assets/style.css')).statusCode).toBe(200);
});

test('a token shows what its name may see, and nothing else', async () => {
  await using page = await open();
  const as = (token: string, path: string) => page.get(path, { ...JSON_ONLY, authorization: `Bearer ${token}` });
  expect((await as('ana-token', '/')).body).toContain('org_acme');
  expect((await as('robot-token', '/')).body).not.toContain('org_acme');
  expect((await as('robot-token', '/o/org_acme')).statusCode).toBe(404);
  const wrong = await as('other-token', '/');
  expect([wrong.statusCode, wrong.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"']);
});

test('a session begins with a token, survives a restart of the browser only as long as its cookie, and ends', async () => {
  await using page = await open();
  const answer = await page.post('/sign-in', { token: 'ana-token', back: '/o/org_acme' });
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/o/org_acme']);
  const cookie = String(answer.headers['set-cookie']);
  expect(cookie).toMatch(/^octavo=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/);
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  expect((await page.get('/', headers)).body).toContain('ana@acme.example');
  const end = await page.post('/sign-out', {}, { ...headers, 'sec-fetch-site': 'same-origin' });
  expect(end.headers.location).toBe('/sign-in');
  expect((await page.get('/', headers)).statusCode).toBe(303);
});

test('the sign-in page says which token it asks for, and that a wrong one is not known', async () => {
  await using page = await open();
  const textOf = (body: string) => body.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
  const asked = textOf((await page.get('/sign-in')).body);
  expect(asked).toContain('one of ui.tokens in its configuration.');
  expect(asked).toContain('A token of the platform does not work here');
  const refused = await page.post('/sign-in', { token: 'a-token', back: '/"><b>' });
  expect(refused.statusCode).toBe(401);
  expect(textOf(refused.body)).toContain('This token is not known.');
  expect(refused.body).not.toContain('a-token');
  expect(refused.body).not.toContain('"><b>');
});

test('the cookie of an https page is bound to its host', async () => {
  await using page = await open({ ...TOKENS, publicUrl: 'https://octavo.acme.example' });
  const answer = await page.post('/sign-in', { token: 'ana-token' });
  expect(answer.headers['set-cookie']).toMatch(/^__Host-octavo=.*; Path=\/; HttpOnly; Secure; SameSite=Strict$/);
});

test.each<[Record<string, string>, number]>([
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{}, 403],
  [{ origin: 'http://localhost:8081' }, 303],
])(
  'a form from elsewhere is refused, and one with the origin of the page is not: %j is %i',
  async (headers, status) => {
    await using page = await open();
    const answer = await page.post('/sign-in', { token: 'ana-token' }, { host: 'localhost:8081', ...headers });
    expect([answer.statusCode, 'set-cookie' in answer.headers]).toEqual([status, status === 303]);
  },
);

test('the user header of the proxy counts only from the proxy', async () => {
  const proxy = { userHeader: 'X-Forwarded-User', groupsHeader: 'x-forwarded-groups' };
  const roles = [{ role: 'viewer', groups: ['docs'] }];
  await using page = await open({ proxy: { ...proxy, from: ['127.0.0.0/8'] }, roles });
  const user = { 'x-forwarded-user': 'ana@acme.example', 'x-forwarded-groups': 'staff, docs' };
  expect((await page.get('/', { ...user, ...JSON_ONLY })).body).toContain('org_acme');
  expect((await page.get('/', { ...user, 'x-forwarded-user': 'eve, ana@acme.example' })).statusCode).toBe(400);
  expect((await page.get('/', JSON_ONLY)).statusCode).toBe(401);
});

test('a user header from elsewhere is refused and logged, whatever X-Forwarded-For says', async () => {
  const proxy = { userHeader: 'x-forwarded-user', from: ['10.0.0.0/8'] };
  await using page = await open({ proxy, roles: [{ role: 'approver', people: ['*'] }] });
  const answer = await page.get('/', { 'x-forwarded-user': 'ana@acme.example', 'x-forwarded-for': '10.0.0.1' });
  expect(answer.statusCode).toBe(400);
  const refusal = 'refused a sign-in header that is not from the proxy';
  expect(page.log.filter(([, , message]) => message.includes(refusal))).toHaveLength(1);
});

test('a proxy can be known by a secret', async () => {
  const proxy = { userHeader: 'x-forwarded-user', secretHeader: 'x-proxy-secret', secret: 'a-proxy-secret' };
  await using page = await open({ proxy, roles: [{ role: 'viewer', people: ['*'] }] });
  const user = { 'x-forwarded-user': 'ana@acme.example', ...JSON_ONLY };
  expect((await page.get('/', { ...user, 'x-proxy-secret': 'a-proxy-secret' })).statusCode).toBe(200);
  expect((await page.get('/', { ...user, 'x-proxy-secret': 'wrong' })).statusCode).toBe(400);
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
