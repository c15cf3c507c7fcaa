/** Attempts of people with some rights, or with none. */
import { expect, test } from 'vitest';
import { queryOf } from '../../../src/web/html/elements.ts';
import { startHostilePage, TOKEN } from '../chromium/hostile-page.ts';
import { openPageApp, type PageApp, tokenEntry } from '../page-app.ts';

const people = (names: readonly string[]) => names.map((name) => tokenEntry(name, `${name}-token`));
const JSON_ONLY = { accept: 'application/json' };

/** Sends a request with a token. */
function ask({ server }: PageApp, person: string, url: string, more: Readonly<Record<string, string>> = {}) {
  return server.app.inject({ url, headers: { authorization: `Bearer ${person}-token`, ...more } });
}

function act({ server }: PageApp, person: string, organization: string, fields: object) {
  return server.app.inject({
    ...{ method: 'POST', url: `/o/${encodeURIComponent(organization)}/actions`, payload: fields },
    headers: { authorization: `Bearer ${person}-token`, ...JSON_ONLY },
  });
}

/** Signs in from an address. Returns the status, the cookie and where the answer leads. */
async function signIn(
  { server }: PageApp,
  token: string,
  options: { peer?: string; cookie?: string; back?: string } = {},
) {
  const { peer = '127.0.0.1', cookie = '', back = '/' } = options;
  const { statusCode, headers } = await server.app.inject({
    ...{ method: 'POST', url: '/sign-in', remoteAddress: peer, payload: { token, back } },
    headers: { 'sec-fetch-site': 'same-origin', ...(cookie === '' ? {} : { cookie }) },
  });
  const [set = ''] = [headers['set-cookie'] ?? []].flat();
  return { status: statusCode, cookie: set.split(';')[0] ?? '', location: headers.location, headers };
}

test('an approver of one organization neither sees another one nor acts on it', async () => {
  const roles = [
    { role: 'approver', people: ['ana'], organizations: ['one'] },
    { role: 'viewer', people: ['ana'], organizations: ['three'] },
  ];
  await using page = await openPageApp({
    ui: { tokens: people(['ana']), roles },
    organizations: ['one', 'three', 'two'],
  });
  expect((await ask(page, 'ana', '/o/one/audit')).statusCode).toBe(200);
  const unknown = await ask(page, 'ana', '/o/nothing/audit', JSON_ONLY);
  const hidden = await ask(page, 'ana', '/o/two/audit', JSON_ONLY);
  expect([hidden.statusCode, hidden.body]).toEqual([404, unknown.body]);
  for (const action of ['approve', 'reject', 'pause', 'resume', 'reconcile', 'dead-retry', 'cluster-mute']) {
    const fields = { action, reason: 'x', checksum: 'c', cluster: 'c', organization: 'one' };
    expect((await act(page, 'ana', 'two', fields)).body).toBe((await act(page, 'ana', 'nothing', fields)).body);
    expect((await act(page, 'ana', 'three', fields)).statusCode).toBe(403);
  }
});

test('names of organizations and people are never names of something else', async () => {
  const organizations = ['../x', '__proto__', 'a/b', 'actions', 'constructor', '<script>alert(1)</script>', 'ä%2F'];
  const roles = [{ role: 'approver', people: ['ana'] }];
  const tokens = people(['ana', '__proto__', 'constructor', '*']);
  await using page = await openPageApp({ ui: { tokens, roles }, organizations: organizations.toSorted() });
  for (const id of organizations) {
    const path = `/o/${encodeURIComponent(id)}/audit`;
    const answer = await ask(page, 'ana', path, JSON_ONLY);
    expect([answer.statusCode, answer.headers['x-content-type-options']], id).toEqual([200, 'nosniff']);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const shown = await ask(page, 'ana', path);
    expect(shown.body).not.toContain('<script>alert');
    for (const person of ['__proto__', 'constructor', '*']) {
      expect((await ask(page, person, path)).statusCode, person).toBe(404);
    }
  }
  for (const id of ['toString', 'hasOwnProperty', 'prototype']) {
    expect((await ask(page, 'ana', `/o/${id}/audit`)).statusCode).toBe(404);
  }
});

test('an ETag of one person is not one of another, and no answer may be kept', async () => {
  const roles = [
    { role: 'viewer', people: ['*'] },
    { role: 'operator', people: ['ben'] },
  ];
  await using page = await openPageApp({ ui: { tokens: people(['ana', 'ben']), roles } });
  for (const path of ['/o/acme/questions', '/o/acme/conversations', '/audit', '/log', '/limits']) {
    const [ofAna, ofBen] = await Promise.all(['ana', 'ben'].map((name) => ask(page, name, path)));
    for (const answer of [ofAna, ofBen]) {
      expect(answer?.headers['cache-control']).toBe('no-store');
      expect(answer?.headers.vary).toBe('accept, cookie, authorization');
    }
    const etag = String(ofBen?.headers.etag);
    const again = await ask(page, 'ana', path, { 'if-none-match': etag });
    // The content is the same, or it is sent.
    expect(again.statusCode === 304 ? ofAna?.headers.etag : again.headers.etag).toBe(ofAna?.headers.etag);
    const signedOut = await page.server.app.inject({ url: path, headers: { 'if-none-match': etag } });
    expect([signedOut.statusCode, signedOut.headers['cache-control']]).toEqual([303, 'no-store']);
  }
});

test('a session that somebody else chose is not the one of the person who signs in', async () => {
  await using page = await openPageApp({
    ui: { tokens: people(['ana', 'eve']), roles: [{ role: 'viewer', people: ['*'] }] },
  });
  const chosen = await signIn(page, 'ana-token', { cookie: 'octavo=chosen-by-eve' });
  expect(chosen.cookie).toMatch(/^octavo=[\w-]{43}$/);
  const isSignedIn = async (cookie: string) =>
    (await page.server.app.inject({ url: '/audit', headers: { cookie } })).statusCode === 200;
  expect([await isSignedIn('octavo=chosen-by-eve'), await isSignedIn(chosen.cookie)]).toEqual([false, true]);
  const ofEve = await signIn(page, 'eve-token');
  const ofAna = await signIn(page, 'ana-token', { cookie: ofEve.cookie });
  expect([await isSignedIn(ofEve.cookie), await isSignedIn(ofAna.cookie)]).toEqual([false, true]);
});

test.each([
  '/..//evil.example',
  '/.//evil.example',
  '/%2e%2e//evil.example',
  '/a/..//evil.example',
  '/\u00a0/evil.example',
  '///evil.example',
  '/\\/evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'https://evil.example',
  'javascript:alert(1)',
])('neither a sign-in nor an action leads to another host by %j', async (back) => {
  await using page = await openPageApp({
    ui: { tokens: people(['ana']), roles: [{ role: 'approver', people: ['*'] }] },
  });
  const locations = [(await signIn(page, 'ana-token', { back })).location];
  const acted = await page.server.app.inject({
    ...{ method: 'POST', url: '/o/acme/actions', payload: { action: 'reconcile', back } },
    headers: { authorization: 'Bearer ana-token' },
  });
  locations.push(acted.headers.location);
  const opened = await page.server.app.inject({ url: `/sign-in${queryOf({ back })}` });
  locations.push(/name="back" value="([^"]*)"/.exec(opened.body)?.[1]);
  for (const location of locations) {
    expect(new URL(String(location), 'https://octavo.example/o/acme').host).toBe('octavo.example');
    expect(String(location)).toMatch(/^\/(o\/acme\?done=reconcile)?$/);
  }
});

test('ten wrong tokens from an address and 300 from all are the limit, which is logged once', async () => {
  await using page = await openPageApp({ ui: { tokens: people(['ana', 'ben']), roles: [] } });
  expect((await signIn(page, 'ana-token', { peer: '10.1.0.1' })).status).toBe(303);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 310; attempt += 1) {
    const peer = `10.0.0.${attempt % 62}`;
    statuses.push((await signIn(page, `guess-${attempt}`, { peer })).status);
  }
  expect(statuses.filter((status) => status === 401)).toHaveLength(300);
  const refused = await signIn(page, 'guess', { peer: '10.2.0.1' });
  expect([refused.status, refused.headers['retry-after'], refused.cookie]).toEqual([429, '60', '']);
  // A token from an address that it did not come from before has to wait.
  expect((await signIn(page, 'ben-token', { peer: '10.1.0.1' })).status).toBe(429);
  expect((await signIn(page, 'ana-token', { peer: '10.2.0.1' })).status).toBe(429);
  expect((await signIn(page, 'ana-token', { peer: '10.1.0.1' })).status).toBe(303);
  expect(page.log).toEqual([
    ['warn', { peer: '*', attempts: 300 }, 'too many wrong tokens; new ones are refused for a minute'],
  ]);
  page.advance(60_000);
  expect((await signIn(page, 'ben-token', { peer: '10.1.0.1' })).status).toBe(303);
  for (let attempt = 0; attempt < 12; attempt += 1) {
    const headers = { authorization: `Bearer guess-${attempt}`, ...JSON_ONLY };
    const answer = await page.server.app.inject({ url: '/', headers, remoteAddress: '10.3.0.1' });
    expect(answer.statusCode).toBe(attempt < 10 ? 401 : 429);
  }
  expect(page.log).toHaveLength(2);
  expect(page.guesses).toEqual([
    [null, 300],
    ['10.3.0.1', 10],
  ]);
});

test('a query can neither add a notice nor make a page fail', async () => {
  await using hostile = await startHostilePage();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const names = ['q', 'state', 'kind', 'after', 'before', 'start', 'from', 'source', 'level', 'organization', 'done'];
  const values = ['constructor', '__proto__', '-1', '1e999', 'NaN', '9'.repeat(400), '\u0000', "' OR 1=1 --", '%'];
  values.push('x'.repeat(1000), '"><script>evil()</script>', "' onmouseover=evil() x='");
  for (const [name, path] of hostile.paths) {
    const plain = await (await fetch(`${hostile.url}${path}`, { headers })).text();
    for (const value of values) {
      const query = queryOf(Object.fromEntries([...names, 'format'].map((each) => [each, value])));
      const answer = await fetch(`${hostile.url}${path}${query}&q=a&q[]=b&before=1&before=2`, { headers });
      expect([200, 404], `${name} ${value}`).toContain(answer.status);
      expect(await answer.text()).not.toMatch(/notice done|<script>|<[^>"]* onmouseover=/);
    }
    expect(plain).not.toContain('notice done');
  }
});

test('a link or a form elsewhere can neither do something nor make a page say that it was done', async () => {
  await using page = await openPageApp({
    ui: { tokens: people(['ana']), roles: [{ role: 'approver', people: ['*'] }] },
  });
  const path = '/o/acme/audit?done=approve&before=9';
  const noticeFrom = async (site: string) =>
    (await ask(page, 'ana', path, { 'sec-fetch-site': site })).body.includes('Approved.');
  expect(await noticeFrom('same-origin')).toBe(true);
  for (const site of ['none', 'cross-site', 'same-site']) {
    expect(await noticeFrom(site), site).toBe(false);
  }
  expect((await signIn(page, 'ana-token', { back: path })).location).toBe('/o/acme/audit?before=9');
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' };
  const reopened = await page.server.app.inject({ url: path, headers });
  expect(reopened.body).toContain('content="0; url=/o/acme/audit?before=9"');
  const { cookie } = await signIn(page, 'ana-token');
  const form = { action: 'reconcile', back: '/o/acme?q=a' };
  const post = (site: string) => page.post('/o/acme/actions', form, { cookie, 'sec-fetch-site': site });
  expect((await post('same-origin')).headers.location).toBe('/o/acme?q=a&done=reconcile');
  const { statusCode, body } = await post('cross-site');
  expect([statusCode, body]).toEqual([403, expect.stringContaining('does not come from a page of this server')]);
});

test('a plan is downloaded, as a file with a harmless name', async () => {
  await using hostile = await startHostilePage();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const answer = await fetch(`${hostile.url}${hostile.paths.get('plan')}/plan.json`, { headers });
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="plan-[\w.-]+\.json"$/);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
});
