/** Sessions of people who signed in with a provider: what ends them, and what the provider is asked again. */
import { expect, test } from 'vitest';
import { openMemoryStore } from '../../../src/store/memory.ts';
import { type LyingProvider, startLyingProvider } from './lying-provider.ts';
import { cookiesOf, openProviderPage, type ProviderPage } from './page-with-provider.ts';

const MINUTE = 60_000;
const RECHECK = 16 * MINUTE;
const JSON_ONLY = { accept: 'application/json' };

/** Signs in; returns a function that asks for a page and returns the status: 401 without a session. */
async function session(page: ProviderPage): Promise<(path?: string) => Promise<number>> {
  const cookie = cookiesOf(await page.signIn());
  return async (path = '/o/acme/audit') => (await page.get(path, { ...JSON_ONLY, cookie })).statusCode;
}

/** A provider that gives refresh tokens. */
async function refreshing(): Promise<LyingProvider> {
  const provider = await startLyingProvider();
  provider.tokens = { refresh_token: 'a-refresh-token' };
  return provider;
}

const tokenRequests = ({ asked }: LyingProvider) => asked.filter((path) => path === '/token').length;

test('without a refresh token, the provider is never asked again, and the session ends after ui.session', async () => {
  await using provider = await startLyingProvider();
  await using page = await openProviderPage(provider, { ui: { session: '2h' } });
  const status = await session(page);
  page.advance(2 * 60 * MINUTE - 1);
  expect(await status()).toBe(200);
  page.advance(1);
  expect([await status(), tokenRequests(provider)]).toEqual([401, 1]);
});

test('use does not extend a session, and neither does the provider', async () => {
  await using provider = await refreshing();
  await using page = await openProviderPage(provider);
  const status = await session(page);
  for (let quarter = 1; quarter < 8 * 4; quarter += 1) {
    page.advance(15 * MINUTE);
    expect(await status()).toBe(200);
  }
  page.advance(15 * MINUTE);
  expect([await status(), tokenRequests(provider)]).toEqual([401, 32]);
});

test('the provider is asked every 15 minutes, once for requests at the same time', async () => {
  await using provider = await refreshing();
  await using page = await openProviderPage(provider);
  const status = await session(page);
  page.advance(15 * MINUTE - 1);
  expect([await status(), tokenRequests(provider)]).toEqual([200, 1]);
  page.advance(1);
  expect(await Promise.all([status(), status(), status()])).toEqual([200, 200, 200]);
  expect([await status(), tokenRequests(provider)]).toEqual([200, 2]);
});

test.each<[string, Partial<LyingProvider>]>([
  ['answers for another account', { claims: { sub: 'u-2' } }],
  ['answers with user info of another account', { claims: null, userInfo: { sub: 'u-2' } }],
  ['answers with an ID token for another client', { claims: { aud: 'another-client' } }],
  ['has not verified the email any more', { claims: { sub: 'u-1', email_verified: false } }],
])('a session does not count any more if the provider %s', async (_what, lie) => {
  await using provider = await refreshing();
  await using page = await openProviderPage(provider);
  const status = await session(page);
  Object.assign(provider, lie);
  page.advance(RECHECK);
  expect([401, 404]).toContain(await status());
});

test.each(['invalid_grant', 'access_denied', 'invalid_client'])('%s ends the session for good', async (error) => {
  await using provider = await refreshing();
  await using page = await openProviderPage(provider);
  const status = await session(page);
  provider.instead.set('/token', { status: 400, body: JSON.stringify({ error }) });
  page.advance(RECHECK);
  expect(await status()).toBe(401);
  provider.instead.clear();
  expect([await status(), tokenRequests(provider)]).toEqual([401, 2]);
});

test.each([
  ['/token', { status: 503, body: '' }],
  ['/token', { status: 429, body: '{"error":"slow_down"}' }],
  ['/userinfo', { status: 500, body: '' }],
] as const)(
  '%s that answers %j keeps people signed in for an hour, and is asked once a minute',
  async (path, instead) => {
    await using provider = await refreshing();
    await using page = await openProviderPage(provider);
    provider.claims = { email: undefined };
    provider.userInfo = { sub: 'u-1', email: 'ana@acme.example', email_verified: true };
    const status = await session(page);
    provider.instead.set(path, instead);
    page.advance(RECHECK);
    expect([await status(), await status(), tokenRequests(provider)]).toEqual([200, 200, 2]);
    page.advance(MINUTE);
    expect([await status(), tokenRequests(provider)]).toEqual([200, 3]);
    page.advance(60 * MINUTE - RECHECK);
    expect(await status()).toBe(502);
    provider.instead.clear();
    page.advance(MINUTE);
    expect(await status()).toBe(200);
  },
);

test('an answer without an ID token is completed by the user info, and without both, nothing changes', async () => {
  await using provider = await refreshing();
  await using page = await openProviderPage(provider, { ui: { roles: [{ role: 'viewer', groups: ['docs'] }] } });
  provider.claims = { groups: ['docs'] };
  const status = await session(page);
  provider.claims = null;
  provider.userInfo = { sub: 'u-1', groups: ['docs', 'staff'] };
  page.advance(RECHECK);
  expect(await status()).toBe(200);
  provider.userInfo = { sub: 'u-1', groups: [] };
  page.advance(RECHECK);
  expect(await status()).toBe(404);
  provider.metadata = { userinfo_endpoint: undefined };
  await using other = await openProviderPage(provider, { ui: { roles: [{ role: 'viewer', groups: ['docs'] }] } });
  provider.claims = { groups: ['docs'] };
  const inOther = await session(other);
  provider.claims = null;
  other.advance(RECHECK);
  expect(await inOther()).toBe(200);
});

test('after a restart, roles are those of the present configuration', async () => {
  await using provider = await startLyingProvider();
  const store = openMemoryStore();
  await using first = await openProviderPage(provider, { store });
  const cookie = cookiesOf(await first.signIn());
  for (const [roles, status] of [
    [[{ role: 'viewer', people: ['ana@acme.example'] }], 200],
    [[{ role: 'viewer', people: ['ben@acme.example'] }], 404],
    [[], 404],
  ] as const) {
    await using page = await openProviderPage(provider, { store, ui: { roles } });
    expect((await page.get('/o/acme/audit', { ...JSON_ONLY, cookie })).statusCode).toBe(status);
  }
});

test.each<[string, (provider: LyingProvider) => object]>([
  ['another client', () => ({ clientId: 'another-client' })],
  ['another provider', () => ({ issuer: 'https://login.acme.example' })],
])('a session with %s does not count', async (_what, oidc) => {
  await using provider = await startLyingProvider();
  const store = openMemoryStore();
  await using first = await openProviderPage(provider, { store });
  const cookie = cookiesOf(await first.signIn());
  await using page = await openProviderPage(provider, { store, ui: { oidc: oidc(provider) } });
  expect((await page.get('/', { ...JSON_ONLY, cookie })).statusCode).toBe(401);
});

test('a refresh token that another replica uses at the same time ends no session', async () => {
  await using provider = await refreshing();
  const store = openMemoryStore();
  await using other = await openProviderPage(provider, { store });
  const cookie = cookiesOf(await other.signIn());
  const inOther = () => other.get('/o/acme/audit', { ...JSON_ONLY, cookie });
  other.advance(RECHECK);
  const sessions = store.sessions();
  let reads = 0;
  const late = {
    ...sessions,
    get: async (...all: Parameters<typeof sessions.get>) => {
      reads += 1;
      if (reads === 2) {
        provider.instead.clear();
        expect((await inOther()).statusCode).toBe(200);
      }
      return sessions.get(...all);
    },
  };
  await using page = await openProviderPage(provider, { sessions: late });
  page.advance(RECHECK);
  provider.instead.set('/token', { status: 400, body: '{"error":"invalid_grant"}' });
  for (const again of [1, 2]) {
    expect((await page.get('/o/acme/audit', { ...JSON_ONLY, cookie })).statusCode, String(again)).toBe(200);
  }
});

test('a sign-out while the provider is asked again is not undone', async () => {
  await using provider = await refreshing();
  const sessions = openMemoryStore().sessions();
  const ended = {
    ...sessions,
    update: async (...all: Parameters<typeof sessions.update>) => {
      await sessions.remove(all[0]);
      return sessions.update(...all);
    },
  };
  await using page = await openProviderPage(provider, { sessions: ended });
  const status = await session(page);
  page.advance(RECHECK);
  expect([await status(), await status()]).toEqual([200, 401]);
});

test('the state file has neither the cookie nor the refresh token', async () => {
  await using provider = await refreshing();
  const stored: string[] = [];
  const sessions = openMemoryStore().sessions();
  const recording = {
    ...sessions,
    put: (...all: Parameters<typeof sessions.put>) => {
      stored.push(JSON.stringify(all));
      return sessions.put(...all);
    },
  };
  await using page = await openProviderPage(provider, { sessions: recording });
  const cookie = cookiesOf(await page.signIn());
  expect(cookie).toMatch(/^octavo=[\w-]{43}$/);
  expect(stored).toHaveLength(1);
  expect(stored.join()).not.toContain(cookie.slice('octavo='.length));
  expect(stored.join()).not.toMatch(/a-refresh-token|an-access-token/);
});
