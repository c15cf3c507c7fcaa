/** Requests that an adversary writes byte by byte. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPageApp, type PageApp, tokenEntry } from '../page-app.ts';
import { expectSafe, sendBytes } from './raw-request.ts';

const UI = { tokens: [tokenEntry('ana', 'ana-token')], roles: [{ role: 'approver', people: ['*'] }] };
const BEARER = 'Authorization: Bearer ana-token\r\n';
const ASK = `Host: localhost\r\nConnection: close\r\n${BEARER}`;
const FORM = `POST /o/acme/actions HTTP/1.1\r\n${ASK}Sec-Fetch-Site: same-origin\r\n`;

let page: PageApp;
let url = '';
beforeAll(async () => {
  page = await openPageApp({ ui: UI });
  url = await page.server.listen();
});
afterAll(() => page[Symbol.asyncDispose]());

test.each<[string, number, string]>([
  ['a page', 200, `GET /o/acme/audit HTTP/1.1\r\n${ASK}\r\n`],
  ['two Host headers, the first of which is wrong', 400, `GET / HTTP/1.1\r\nHost: evil.example\r\n${ASK}\r\n`],
  ['a whole URL', 400, `GET http://localhost/o/acme/audit HTTP/1.1\r\n${ASK}\r\n`],
  ['the URL of another host', 400, `GET http://evil.example/ HTTP/1.1\r\n${ASK}\r\n`],
  ['no path', 400, `OPTIONS * HTTP/1.1\r\n${ASK}\r\n`],
  ['HTTP/1.0 without a Host header', 421, `GET / HTTP/1.0\r\n${BEARER}\r\n`],
  ['a Host header with a user', 421, `GET / HTTP/1.1\r\nHost: localhost@evil.example\r\nConnection: close\r\n\r\n`],
  ['a Host header with a path', 421, `GET / HTTP/1.1\r\nHost: evil.example/localhost\r\nConnection: close\r\n\r\n`],
  ['a very long address', 431, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${ASK}\r\n`],
  ['a long address', 404, `GET /${'a'.repeat(10_000)} HTTP/1.1\r\n${ASK}\r\n`],
  ['a long name of an organization', 400, `GET /o/${'a'.repeat(10_000)} HTTP/1.1\r\n${ASK}\r\n`],
  ['an encoded slash', 404, `GET /o/acme%2Faudit HTTP/1.1\r\n${ASK}\r\n`],
  ['an encoded path', 404, `GET /o/acme/..%2f..%2f..%2fetc%2fpasswd HTTP/1.1\r\n${ASK}\r\n`],
  ['dots', 404, `GET /assets/../../package.json HTTP/1.1\r\n${ASK}\r\n`],
  ['encoded dots', 404, `GET /assets/%2e%2e%2fpage.ts HTTP/1.1\r\n${ASK}\r\n`],
  ['a NUL', 404, `GET /o/acme%00/audit HTTP/1.1\r\n${ASK}\r\n`],
  ['an address that cannot be decoded', 400, `GET /o/%E0%A4%A HTTP/1.1\r\n${ASK}\r\n`],
  ['a backslash', 404, `GET /\\evil.example HTTP/1.1\r\n${ASK}\r\n`],
  ['a length and chunks', 400, `${FORM}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a text as a form', 415, `${FORM}Content-Type: text/plain\r\nContent-Length: 16\r\n\r\naction=reconcile`],
  ['a multipart form', 415, `${FORM}Content-Type: multipart/form-data; boundary=a\r\nContent-Length: 5\r\n\r\n--a--`],
  ['broken JSON', 400, `${FORM}Content-Type: application/json\r\nContent-Length: 5\r\n\r\n{"a":`],
  [
    'JSON that changes prototypes',
    400,
    `${FORM}Content-Type: application/json\r\nContent-Length: 18\r\n\r\n{"__proto__":{}  }`,
  ],
  ['TRACE', 404, `TRACE / HTTP/1.1\r\n${ASK}\r\n`],
  [
    'OPTIONS of another site',
    404,
    `OPTIONS /o/acme/actions HTTP/1.1\r\n${ASK}Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
  ],
  ['another method in a header', 404, `GET /o/acme/actions HTTP/1.1\r\n${ASK}X-HTTP-Method-Override: POST\r\n\r\n`],
  [
    'another path in a header',
    200,
    `GET /o/acme/audit HTTP/1.1\r\n${ASK}X-Original-URL: /o/acme/actions\r\nX-Rewrite-URL: /x\r\n\r\n`,
  ],
  [
    'another host in a header',
    421,
    `GET / HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\nConnection: close\r\n\r\n`,
  ],
  ['a protocol that is not HTTP', 400, 'HELP\r\n\r\n'],
])('%s: %i', async (_what, status, bytes) => {
  const answer = await sendBytes(url, bytes);
  expectSafe(answer);
  expect(answer.status).toBe(status);
});

test.each([
  ['with its length', `Content-Length: ${10 * 1024 * 1024}\r\n\r\n`, (part: string) => part],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n', (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`],
])('a form of 10 MB %s is refused', async (_how, headers, encode) => {
  const form = `${FORM}Content-Type: application/x-www-form-urlencoded\r\n${headers}`;
  const answer = await sendBytes(url, form, ...Array.from({ length: 160 }, () => encode('a'.repeat(65_536))));
  expectSafe(answer);
  expect(answer.status).toBe(413);
});

test('of cookies with the same name the first counts, and none makes the server fail', async () => {
  const signedIn = await page.server.app.inject({
    ...{ method: 'POST', url: '/sign-in', payload: { token: 'ana-token' } },
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0];
  const statusFor = async (value: string) =>
    (await page.server.app.inject({ url: '/o/acme/audit', headers: { cookie: value } })).statusCode;
  expect(await statusFor(`${cookie}`)).toBe(200);
  expect(await statusFor(`octavo=other; ${cookie}`)).toBe(303);
  for (const value of [
    'octavo',
    'octavo=',
    '=x',
    '__proto__=x',
    'octavo="',
    `octavo=${'x'.repeat(8000)}`,
    'octavo=%',
    ';;;',
  ]) {
    expect(await statusFor(value), value).toBe(303);
  }
  for (const attempt of ['e30', 'bnVsbA', 'x', Buffer.from('{"state":1}').toString('base64url')]) {
    const callback = { url: '/oidc/callback?code=c', headers: { cookie: `octavo-sign-in=${attempt}` } };
    expect((await page.server.app.inject(callback)).statusCode).toBe(404);
  }
});
