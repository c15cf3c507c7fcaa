/** Sign-in with a provider that answers wrongly, late or not at all. */
import { expect, test, vi } from 'vitest';
import { ANOTHER_KEY, type LyingProvider, startLyingProvider } from './lying-provider.ts';
import { cookiesOf, openProviderPage, type ProviderPage } from './page-with-provider.ts';

const JSON_ONLY = { accept: 'application/json' };
const past = () => Math.floor(Date.now() / 1000) - 3600;

/** Text of an error page: what happened, without parts of programs. */
function errorOf({ statusCode, body }: Awaited<ReturnType<ProviderPage['get']>>): readonly [number, string] {
  expect(body).not.toMatch(/node_modules|\bat .*\.[jt]s:|openid-client|secret-of/);
  const [, text = ''] = /<h1>[^<]*<\/h1>\s*<p>([^<]*)<\/p>/.exec(body) ?? [];
  return [statusCode, text];
}

/** Returns true if a person who has signed in may see the organization. */
async function canSee(page: ProviderPage, signedIn: Awaited<ReturnType<ProviderPage['get']>>): Promise<boolean> {
  const { statusCode } = await page.get('/o/acme/audit', { ...JSON_ONLY, cookie: cookiesOf(signedIn) });
  expect([200, 404]).toContain(statusCode);
  return statusCode === 200;
}

test('a right answer signs a person in', async () => {
  await using provider = await startLyingProvider();
  await using page = await openProviderPage(provider);
  const { answer: begun, sent } = await page.begin();
  expect(begun.headers['set-cookie']).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
  expect(Object.fromEntries(sent)).toMatchObject({
    ...{ response_type: 'code', client_id: 'octavo', code_challenge_method: 'S256' },
    ...{ scope: expect.stringContaining('openid'), redirect_uri: 'http://localhost/oidc/callback' },
  });
  const answer = await page.signIn();
  expect(answer.body).toContain('content="0; url=/o/acme"');
  expect(await canSee(page, answer)).toBe(true);
});

test.each<[string, LyingProvider['claims'], LyingProvider['tokens']]>([
  ['another nonce', { nonce: 'another' }, {}],
  ['no nonce', { nonce: undefined }, {}],
  ['another audience', { aud: 'another-client' }, {}],
  ['an additional audience', { aud: ['octavo', 'another-client'] }, {}],
  ['an additional audience and another authorized party', { aud: ['octavo', 'b'], azp: 'b' }, {}],
  ['another issuer', { iss: 'https://another.example' }, {}],
  ['an end in the past', { exp: past() }, {}],
  ['no end', { exp: undefined }, {}],
  ['no account', { sub: undefined }, {}],
  ['an account that is a number', { sub: 1 }, {}],
  ['no ID token', null, {}],
  ['an ID token that is no token', {}, { id_token: 'a.b.c' }],
  ['an ID token without a signature', {}, { id_token: `${btoa('{"alg":"none"}')}.${btoa('{}')}.` }],
  ['an email that is not verified as the account', { sub: 'ana@acme.example', email_verified: false }, {}],
])('%s is refused', async (_what, claims, tokens) => {
  await using provider = await startLyingProvider();
  await using page = await openProviderPage(provider);
  Object.assign(provider, { claims, tokens });
  const answer = await page.signIn();
  expect(answer.statusCode).toBe(403);
  expect(errorOf(answer)[1]).toMatch(
    /^(The sign-in was refused: OAUTH_\w+\. Sign in again\.|The provider has not verified your email\.)$/,
  );
  expect(cookiesOf(answer)).toBe('');
});

test.each<[string, Partial<Pick<LyingProvider, 'header' | 'key' | 'metadata'>>, number]>([
  ['another key', { key: ANOTHER_KEY }, 403],
  ['a key that the provider does not publish', { header: { kid: 'b' } }, 502],
  ['a key for encryption', { key: { use: 'enc' } }, 502],
  [
    'a shared secret',
    { header: { alg: 'HS256' }, metadata: { id_token_signing_alg_values_supported: ['HS256'] } },
    403,
  ],
  ['no key', { header: { alg: 'none' }, metadata: { id_token_signing_alg_values_supported: ['none'] } }, 403],
])('an ID token that is signed with %s is refused', async (_what, changes, status) => {
  await using provider = await startLyingProvider();
  await using page = await openProviderPage(provider);
  Object.assign(provider, changes);
  const answer = await page.signIn();
  expect([errorOf(answer)[0], cookiesOf(answer)]).toEqual([status, '']);
});

test('an email counts only if the provider says that it is verified', async () => {
  await using provider = await startLyingProvider();
  await using page = await openProviderPage(provider);
  for (const email_verified of [false, 'true', undefined]) {
    provider.claims = { email_verified };
    expect(await canSee(page, await page.signIn())).toBe(false);
  }
});

test('another state, no state, another browser, and an error of the provider are refused', async () => {
  await using provider = await startLyingProvider();
  await using page = await openProviderPage(provider);
  const { cookie, sent } = await page.begin();
  for (const query of ['code=c&state=another', 'code=c', '', `state=${sent.get('state')}`, 'error=access_denied']) {
    expect((await page.get(`/oidc/callback?${query}`, { cookie })).statusCode, query).toBe(403);
  }
  const { cookie: another } = await page.begin();
  for (const ofBrowser of ['', another]) {
    const answer = await page.get(`/oidc/callback?code=c&state=${sent.get('state')}`, { cookie: ofBrowser });
    expect([answer.statusCode, cookiesOf(answer)]).toEqual([403, '']);
  }
  const denied = await page.get(`/oidc/callback?error=access_denied&state=${sent.get('state')}`, { cookie });
  expect(errorOf(denied)).toEqual([403, 'The sign-in was refused: access_denied. Sign in again.']);
  const forged = `error=${encodeURIComponent('<b>Call 555-0100</b>')}&state=${sent.get('state')}`;
  expect(errorOf(await page.get(`/oidc/callback?${forged}`, { cookie }))[1]).toContain('OAUTH_AUTHORIZATION_RESPONSE');
  expect(provider.asked).not.toContain('/token');
});

const GROUPS = ['docs'];
test.each<[string, unknown, string, boolean]>([
  ['a list', GROUPS, 'groups', true],
  ['one text', 'docs', 'groups', true],
  ['another claim that is configured', GROUPS, 'roles', true],
  ['no such claim', undefined, 'groups', false],
  ['null', null, 'groups', false],
  ['a number', 7, 'groups', false],
  ['an object', { docs: true }, 'groups', false],
  ['lists of lists', [[GROUPS], 7, null, { docs: 'docs' }], 'groups', false],
  ['several in one text', 'docs,staff', 'groups', false],
  [
    '50,000 groups, the last of which has the role',
    [...Array.from({ length: 50_000 }, (_, index) => `g-${index}`), 'docs'],
    'groups',
    true,
  ],
])('groups that are %s', async (_what, claim, groupsClaim, expected) => {
  await using provider = await startLyingProvider();
  const ui = { oidc: { groupsClaim }, roles: [{ role: 'viewer', groups: GROUPS }] };
  await using page = await openProviderPage(provider, { ui });
  provider.claims = { groups: undefined, [groupsClaim]: claim };
  const signedIn = await page.signIn();
  expect(signedIn.statusCode).toBe(200);
  expect(await canSee(page, signedIn)).toBe(expected);
});

test.each<[string, { metadata?: object; instead?: { status: number; body: string; type?: string } }]>([
  ['is for another issuer', { metadata: { issuer: 'https://another.example' } }],
  ['is not JSON', { instead: { status: 200, body: '<html>', type: 'text/html' } }],
  ['is an error', { instead: { status: 500, body: '{"stack":"at main.js:1"}' } }],
  ['is a redirect', { instead: { status: 302, body: '' } }],
  ['is not complete', { metadata: { authorization_endpoint: undefined } }],
])(
  'a discovery document that %s is an error page, and is asked for again',
  async (_what, { metadata = {}, instead }) => {
    await using provider = await startLyingProvider();
    await using page = await openProviderPage(provider);
    provider.metadata = { ...metadata };
    if (instead !== undefined) {
      provider.instead.set('/.well-known/openid-configuration', instead);
    }
    const [status, text] = errorOf((await page.begin()).answer);
    expect(status).toBe(502);
    expect(text).toMatch(/^The sign-in provider cannot be used now \([\w.-]+\)\. Try again later\.$/);
    expect(page.log.at(-1)?.[2]).toBe('sign-in provider failed');
    provider.metadata = {};
    provider.instead.clear();
    expect((await page.signIn()).statusCode).toBe(200);
  },
);

test.each([
  ['token', { status: 500, body: 'oops' }, 502],
  ['token', { status: 200, body: 'oops', type: 'text/html' }, 502],
  ['token', { status: 429, body: '{"error":"slow_down"}' }, 502],
  ['token', { status: 400, body: '{"error":"invalid_grant"}' }, 403],
  ['token', { status: 401, body: '{"error":"invalid_client"}' }, 403],
  ['userinfo', { status: 503, body: '' }, 502],
  ['jwks', { status: 503, body: '' }, 502],
] as const)('a /%s that answers %j ends the sign-in with %i', async (path, instead, status) => {
  await using provider = await startLyingProvider();
  await using page = await openProviderPage(provider);
  provider.claims = { email: undefined };
  provider.instead.set(`/${path}`, instead);
  const answer = await page.signIn();
  expect([errorOf(answer)[0], cookiesOf(answer)]).toEqual([status, '']);
});

test('a provider that never answers is given up after ten seconds', async () => {
  await using provider = await startLyingProvider();
  await using page = await openProviderPage(provider);
  const { cookie, sent } = await page.begin();
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const spy = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(50));
  provider.instead.set('/token', 'hang').set('/.well-known/openid-configuration', 'hang');
  const answers = [await page.get(`/oidc/callback?code=c&state=${sent.get('state')}`, { cookie })];
  await using other = await openProviderPage(provider);
  answers.push((await other.begin()).answer);
  for (const answer of answers) {
    expect(errorOf(answer)).toEqual([502, 'The sign-in provider cannot be used now (OAUTH_TIMEOUT). Try again later.']);
  }
  expect(spy.mock.calls).toEqual([[10_000], [10_000]]);
  spy.mockRestore();
});

test('a provider that is down keeps no page from starting, and is reported at a sign-in', async () => {
  const provider = await startLyingProvider();
  await provider[Symbol.asyncDispose]();
  await using page = await openProviderPage(provider);
  expect((await page.get('/sign-in')).statusCode).toBe(200);
  const message = 'The sign-in provider cannot be used now (ECONNREFUSED). Try again later.';
  expect(errorOf((await page.begin()).answer)).toEqual([502, message]);
  const { issuer } = provider;
  expect(page.log).toEqual([['warn', { issuer, reason: 'ECONNREFUSED' }, 'sign-in provider failed']]);
});
