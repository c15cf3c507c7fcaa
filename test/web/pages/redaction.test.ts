/** The page on which operators try how a text is redacted. */
import { expect, test } from 'vitest';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';
import { openPageApp, tokenEntry } from '../page-app.ts';

const PATH = '/o/acme/conversations/redaction';
const UI = {
  tokens: ['viewer', 'operator'].map((name) => tokenEntry(`${name}@acme.example`, `${name}-token`)),
  roles: ['viewer', 'operator'].map((role) => ({ role, people: [`${role}@acme.example`] })),
};
const as = (name: string) => ({ authorization: `Bearer ${name}-token`, 'sec-fetch-site': 'same-origin' });
const TEXT = 'Hello,\nwrite to ana.lopez@shop.example or call +1 415 555 0132.';

test('an operator sees the text as it is sent, and each value with its line, type and placeholder', async () => {
  await using page = await openPageApp({ ui: UI });
  const empty = await page.get(PATH, as('operator'));
  expect(empty.body).toContain('<textarea id="text"');
  expect(empty.body).not.toContain('As it is sent');
  const answer = await page.post(PATH, { text: TEXT }, as('operator'));
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.body).toContain('Hello,\nwrite to [EMAIL_1] or call [PHONE_1].</pre>');
  expect(answer.body).toContain('2 values would be removed.');
  const json = await page.post(PATH, { text: TEXT }, { ...as('operator'), accept: 'application/json' });
  expect(json.json().found).toMatchObject([
    { line: 2, type: 'email', value: 'ana.lopez@shop.example', placeholder: '[EMAIL_1]' },
    { line: 2, type: 'phone', value: '+1 415 555 0132', placeholder: '[PHONE_1]' },
  ]);
  expect((await page.post(PATH, { text: 'Nothing here.' }, as('operator'))).body).toContain(
    'Nothing would be removed.',
  );
});

test('a text of a viewer, of another site, of nobody and of too many characters is not redacted', async () => {
  await using page = await openPageApp({ ui: UI });
  expect((await page.get(PATH, as('viewer'))).statusCode).toBe(403);
  const refused = await page.post(PATH, { text: TEXT }, as('viewer'));
  expect(refused.statusCode).toBe(403);
  expect(refused.body).toContain('Only operators can try redaction.');
  expect((await page.post(PATH, { text: TEXT }, {})).statusCode).toBe(401);
  const elsewhere = page.post(PATH.replace('acme', 'other'), { text: TEXT }, as('operator'));
  expect((await elsewhere).statusCode).toBe(404);
  const signedIn = await page.post('/sign-in', { token: 'operator-token' });
  const { cookies } = signedIn;
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  expect((await page.post(PATH, { text: TEXT }, { cookie, 'sec-fetch-site': 'same-origin' })).statusCode).toBe(200);
  expect((await page.post(PATH, { text: TEXT }, { cookie, 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403);
  const long = await page.post(PATH, { text: 'x'.repeat(20_001) }, as('operator'));
  expect(long.statusCode).toBe(413);
  expect(long.body).toContain('The text is longer than 20000 characters.');
  expect((await page.post(PATH, { text: '界'.repeat(20_000) }, as('operator'))).statusCode).toBe(200);
  expect((await page.post(PATH, { text: 'x'.repeat(900_000) }, as('operator'))).statusCode).toBe(413);
});

test('the text is neither in the log, nor in the audit, nor on another page, nor in an error', async () => {
  await using page = await openPageApp({ ui: UI });
  const text = `canary-7f3a ${TEXT}`;
  await page.post(PATH, { text }, as('operator'));
  const refused = await page.post(PATH, { text }, as('viewer'));
  const again = await page.get(PATH, as('operator'));
  const audit = await page.get('/o/acme/audit', as('operator'));
  const log = JSON.stringify(page.log);
  for (const place of [refused.body, again.body, audit.body, log, JSON.stringify(again.headers)]) {
    expect(place).not.toMatch(/canary-7f3a|ana\.lopez/);
  }
});

test('a hostile text is shown as text', async () => {
  await using page = await openPageApp({ ui: UI });
  const texts = [
    ...HOSTILE_TEXTS,
    '</textarea><script>alert(1)</script>',
    '"><img src=x onerror=alert(1)> x"><b>@example.com',
    'Password: <script>alert(1)</script>',
  ];
  for (const text of texts) {
    const { body, statusCode } = await page.post(PATH, { text }, as('operator'));
    expect(statusCode).toBe(200);
    expect(body).not.toMatch(/<script|<img|<b>| onerror=alert\(1\)>/);
    expect(body.match(/<\/textarea>/g)).toHaveLength(1);
    // The field has the text as it was sent, for another try.
    const visible = body.replace(/<textarea[\s\S]*<\/textarea>/, '');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in a page
    expect(visible).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  }
});
