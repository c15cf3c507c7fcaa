/** Sign-in with a provider in a process of its own: codes that belong to somebody else, and a provider that is down. */
import { expect, test } from 'vitest';
import { findFreePort } from '../../support/free-port.ts';
import { CookieBrowser } from '../browser.ts';
import { openPageApp, type PageApp } from '../page-app.ts';
import { type IdentityProvider, startIdentityProvider } from './identity-provider.ts';

interface Setup extends AsyncDisposable {
  readonly provider: IdentityProvider;
  readonly page: PageApp;
  readonly url: string;
}

/** Starts a provider with one account, and a page that people sign in to with it. */
async function setUp(): Promise<Setup> {
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const provider = await startIdentityProvider({
    octavo: `${publicUrl}/oidc/callback`,
    other: `${publicUrl}/callback-of-another-client`,
  });
  await provider.setAccount('u-1', { email: 'ana@acme.example', email_verified: true });
  const oidc = { issuer: provider.issuer, clientId: 'octavo', clientSecret: 'secret-of-octavo' };
  const roles = [{ role: 'viewer', people: ['ana@acme.example'] }];
  const page = await openPageApp({ ui: { listen: `127.0.0.1:${port}`, publicUrl, oidc, roles } });
  const url = await page.server.listen();
  return {
    ...{ provider, page, url },
    [Symbol.asyncDispose]: async () => {
      await page.server.close();
      await provider.stop();
    },
  };
}

/** Signs in at the provider. Returns the address that the provider leads to, which the browser could not use. */
async function authorize(address: string): Promise<URL> {
  const browser = new CookieBrowser();
  const form = await browser.open(address);
  const consent = await browser.submit(form, { login: 'u-1', password: 'any' });
  await browser.submit(consent, {});
  return new URL(browser.visited.find((each) => new URL(each).pathname.includes('callback')) ?? '');
}

/** Begins a sign-in. Returns the cookie of the browser and the address at the provider. */
async function begin({ url }: Setup): Promise<{ readonly cookie: string; readonly location: string }> {
  const answer = await fetch(`${url}/oidc/start`, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  const [cookie = ''] = answer.headers.getSetCookie();
  return { cookie: cookie.split(';')[0] ?? '', location: answer.headers.get('location') ?? '' };
}

/** Opens the callback. Returns the status and whether a session has begun. */
async function complete(address: string | URL, cookie: string): Promise<readonly [number, boolean, string]> {
  const answer = await fetch(address, { redirect: 'manual', headers: { cookie } });
  const text = await answer.text();
  expect(text).not.toMatch(/node_modules|\bat .*\.[jt]s:|secret-of-octavo/);
  const hasSession = answer.headers.getSetCookie().some((each) => /^octavo=[\w-]{43};/.test(each));
  return [answer.status, hasSession, /<p>([^<]*)<\/p>\s*<p><a/.exec(text)?.[1] ?? ''];
}

test('a code signs in once, only in the browser that began, and only with its own proof', async () => {
  await using setup = await setUp();
  const { cookie, location } = await begin(setup);
  const sent = new URL(location).searchParams;
  expect([sent.get('code_challenge_method'), sent.get('response_type')]).toEqual(['S256', 'code']);
  const callback = await authorize(location);
  expect((await complete(callback, '')).slice(0, 2)).toEqual([403, false]);
  const ofAnother = await begin(setup);
  expect((await complete(callback, ofAnother.cookie)).slice(0, 2)).toEqual([403, false]);
  expect((await complete(callback, cookie)).slice(0, 2)).toEqual([200, true]);
  expect(await complete(callback, cookie)).toEqual([
    403,
    false,
    'The sign-in was refused: invalid_grant. Sign in again.',
  ]);
});

test('a code is refused with the proof key of another sign-in', async () => {
  await using setup = await setUp();
  const { cookie, location } = await begin(setup);
  const callback = await authorize(location);
  const [name, text = ''] = cookie.split('=');
  const attempt = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  const changed = Buffer.from(JSON.stringify({ ...attempt, verifier: 'v'.repeat(43) })).toString('base64url');
  expect(await complete(callback, `${name}=${changed}`)).toEqual([
    403,
    false,
    'The sign-in was refused: invalid_grant. Sign in again.',
  ]);
});

test('a code that the provider gave to another client is refused', async () => {
  await using setup = await setUp();
  const { cookie, location } = await begin(setup);
  const own = new URL(location);
  const address = new URL(location);
  address.searchParams.set('client_id', 'other');
  address.searchParams.set('redirect_uri', `${setup.url}/callback-of-another-client`);
  const stolen = await authorize(address.href);
  expect(stolen.pathname).toBe('/callback-of-another-client');
  const callback = new URL(`${setup.url}/oidc/callback${stolen.search}`);
  expect(callback.searchParams.get('state')).toBe(own.searchParams.get('state'));
  expect(await complete(callback, cookie)).toEqual([
    403,
    false,
    'The sign-in was refused: invalid_grant. Sign in again.',
  ]);
});

test('a provider that is down does not keep the page from starting, and is reported at a sign-in', async () => {
  await using setup = await setUp();
  const { cookie, location } = await begin(setup);
  const callback = await authorize(location);
  await setup.provider.stop();
  const message = 'The sign-in provider cannot be used now (ECONNREFUSED). Try again later.';
  expect(await complete(callback, cookie)).toEqual([502, false, message]);
  const oidc = { issuer: setup.provider.issuer, clientId: 'octavo' };
  await using late = await openPageApp({ ui: { publicUrl: 'http://localhost', oidc } });
  const url = await late.server.listen();
  expect((await fetch(`${url}/sign-in`)).status).toBe(200);
  expect(await complete(`${url}/oidc/start`, '')).toEqual([502, false, message]);
  expect(late.log).toEqual([
    ['warn', { issuer: setup.provider.issuer, reason: 'ECONNREFUSED' }, 'sign-in provider failed'],
  ]);
});
