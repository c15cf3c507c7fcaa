import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasUrlSecrets, maskUrls, maskUrlsIn } from '../../src/core/text/safe-url.ts';

const S = 's3cr3t-Value-0123';
const mark = () => '***';

describe('maskUrls', () => {
  test.each([
    [`https://ana:${S}@acme.example/openapi.json`, 'https://***@acme.example/openapi.json'],
    [`https://${S}@acme.example`, 'https://***@acme.example'],
    [`https://ana:pa@ss${S}@acme.example/x`, 'https://***@acme.example/x'],
    [`https://ana:a ${S} b@acme.example/x`, 'https://***@acme.example/x'],
    [`HTTPS://ana:${S}@acme.example\\x`, 'HTTPS://***@acme.example\\x'],
    [`https://git.example/api?private_token=${S}&ref=main`, 'https://git.example/api?private_token=***&ref=main'],
    [`https://x.example/?a=1&access_token=${S}#top`, 'https://x.example/?a=1&access_token=***#top'],
    [`https://x.example/?accessToken=${S}`, 'https://x.example/?accessToken=***'],
    [`https://x.example/?private%5Ftoken=${S}`, 'https://x.example/?private%5Ftoken=***'],
    [`https://x.example/?token%5B%5D=${S}`, 'https://x.example/?token%5B%5D=***'],
    [`https://x.example/?key=${S}`, 'https://x.example/?key=***'],
    [`https://x.example/?api-key=${S}`, 'https://x.example/?api-key=***'],
    [
      `https://a.blob.core.windows.net/c/f?sv=2024&se=2026-01-01&sig=${S}`,
      'https://a.blob.core.windows.net/c/f?sv=2024&se=2026-01-01&sig=***',
    ],
    [
      `https://b.s3.amazonaws.com/f?X-Amz-Date=20260101&X-Amz-Signature=${S}&X-Amz-Security-Token=${S}`,
      'https://b.s3.amazonaws.com/f?X-Amz-Date=20260101&X-Amz-Signature=***&X-Amz-Security-Token=***',
    ],
    [
      `https://storage.googleapis.com/b/f?X-Goog-Signature=${S}`,
      'https://storage.googleapis.com/b/f?X-Goog-Signature=***',
    ],
    [`https://app.example/#access_token=${S}&state=1`, 'https://app.example/#access_token=***&state=1'],
    [`https://x.example/;jsessionid=${S}/a`, 'https://x.example/;jsessionid=***/a'],
    [
      `https://acme.zendesk.com/attachments/token/${S}/?name=a.png`,
      'https://acme.zendesk.com/attachments/token/***/?name=a.png',
    ],
    ['https://hooks.slack.com/services/T0/B0/abcdef', 'https://hooks.slack.com/services/T0/B0/***'],
    ['https://x.example/a/ghp_abcdefghijklmnop/b', 'https://x.example/a/***/b'],
    ['https://x.example/?q=eyJhbGciOi.eyJzdWIiOi.abc', 'https://x.example/?q=***'],
    ['https://x.example/?u=Ab3dEf6hIj9kLm2nOp5q', 'https://x.example/?u=***'],
    [`https://x.example/?next=https%3A%2F%2Fana%3A${S}%40y.example`, 'https://x.example/?next=***'],
    [`https://x.example/?tok\nen=${S}`, 'https://x.example/?token=***'],
    [`postgres://ana:${S}@db.example/x`, 'postgres://***@db.example/x'],
    [
      `see https://x.example/?token=${S}, and "https://u:${S}@y.example" too`,
      'see https://x.example/?token=*** and "https://***@y.example" too',
    ],
  ])('masks the secret in %s', (url, shown) => {
    expect(maskUrls(url, mark)).toBe(shown);
    expect(hasUrlSecrets(url)).toBe(true);
    expect(maskUrls(url)).not.toContain(S);
    expect(maskUrls(maskUrls(url))).toBe(maskUrls(url));
  });

  test.each([
    'https://acme.example/openapi.json?version=3&format=yaml#section',
    'https://raw.example/acme/docs/0123456789abcdef0123456789abcdef01234567/openapi.json',
    'https://git.example/raw?ref=0123456789abcdef0123456789abcdef01234567',
    'https://accounts.example/o/saml2/idp?idpid=C03az79cb',
    'https://login.example/7f3c1b0e-9a4d-4c1e-8a39-0f1c2d3e4f5a/saml2',
    'https://acme.example/getting-started-with-api-version-2-of-the-docs?page=the-long-name-of-a-page',
    'https://x.example/?token={{token}}&key=<key>&secret=$SECRET&sig=&password=****',
    'https://acme.example/@ana/mail:bob@acme.example',
    'write to ana@acme.example: a://b',
    'a text of 1 :// 2',
    '',
  ])('returns %s unchanged', (url) => {
    expect(maskUrls(url)).toBe(url);
    expect(hasUrlSecrets(url)).toBe(false);
  });

  test('distinguishes secrets at any depth, and returns other values unchanged', () => {
    const value = { a: [`https://x.example/?token=${S}`, { b: 'plain' }], c: 1, d: null };
    const shown = maskUrlsIn(value);
    expect(shown).toEqual({
      a: [expect.stringMatching(/\?token=sha256-[0-9a-f]{12}$/), { b: 'plain' }],
      c: 1,
      d: null,
    });
    expect(shown).not.toEqual(maskUrlsIn({ ...value, a: ['https://x.example/?token=another', { b: 'plain' }] }));
    const plain = { a: ['https://x.example/?page=2'] };
    expect(maskUrlsIn(plain)).toBe(plain);
  });

  const secret = fc.stringMatching(/^[A-Za-z0-9._~-]{8,40}$/).map((text) => `Q9z${text}`);
  const name = fc.constantFrom(
    'token',
    'private_token',
    'ACCESS-TOKEN',
    'apiKey',
    'sig',
    'X-Amz-Signature',
    'password',
    'key',
    'client_secret',
    'auth',
  );
  const noise = fc.string({ unit: fc.constantFrom(...'ab1/?&=#:@;.% \n"<'), maxLength: 12 });

  test('masks a secret in any surrounding text', () => {
    fc.assert(
      fc.property(secret, name, noise, noise, (value, parameter, before, after) => {
        const url = `https://acme.example/${before.replaceAll(/[\s"<]/g, '')}?${parameter}=${value}&x=1`;
        expect(maskUrls(`${url} ${after}`)).not.toContain(value);
        expect(maskUrls(`${after} ${url}`)).not.toContain(value);
        expect(maskUrls(`https://ana:${value}@acme.example/${before}`)).not.toContain(value);
      }),
      { numRuns: 1000 },
    );
  });

  test('masking is idempotent and accepts any text', () => {
    const text = fc
      .array(fc.oneof(noise, secret, name, fc.constantFrom('https://', '://', '@', '?token=', '&', ';')))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (each) => {
        expect(maskUrls(maskUrls(each))).toBe(maskUrls(each));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('masking takes linear time', () => {
  const shapes: readonly (readonly [name: string, text: (length: number) => string])[] = [
    ['letters', (n) => 'a'.repeat(n)],
    ['signs of URLs', (n) => '://'.repeat(n / 3)],
    ['schemes', (n) => 'https://'.repeat(n / 8)],
    ['user infos', (n) => `https://${'a@'.repeat(n / 2)}`],
    ['a user info without its sign', (n) => `https://${'a:'.repeat(n / 2)}`],
    ['parameters', (n) => `https://x.example/?${'a=1&'.repeat(n / 4)}`],
    ['secrets', (n) => `https://x.example/?${'sig=1a&'.repeat(n / 7)}`],
    ['parts of a path', (n) => `https://x.example${'/a;b'.repeat(n / 4)}`],
    ['URLs in URLs', (n) => `https://x.example/?u=${encodeURIComponent('https://y/?u=').repeat(n / 20)}`],
    ['spaces', (n) => `https://x.example/${' a'.repeat(n / 2)}`],
    ['dots', (n) => `https://x.example/eyJ${'a.'.repeat(n / 2)}!`],
    ['percent signs', (n) => `https://x.example/?a=${'%'.repeat(n)}`],
  ];

  // With quadratic work, a megabyte would take hours.
  test.each(shapes)('masks a megabyte of %s', { timeout: 20_000 }, (_name, text) => {
    const given = text(1_000_000);
    expect(maskUrls(given, mark).length).toBeGreaterThan(0);
  });
});
