import { expect, test } from 'vitest';
import { formatProblem } from '../../src/core/errors.ts';
import { ADDRESSES, NAMES } from '../support/certificates.ts';
import { problemsIn } from './problems.ts';

async function problemsOf(certificate: string, written = '{ file: okta.pem }'): Promise<readonly string[]> {
  const files = { 'm.yaml': `saml:\n  a: { label: A, certificate: ${written} }\n`, 'okta.pem': certificate };
  return (await problemsIn(files)).map(formatProblem);
}

const { cert, key } = NAMES;
const bare = cert.replaceAll(/-----.*-----\n/g, '');
const damaged = cert.replace(/\n.{40}/, '\n');

test.each([
  ['a certificate', cert],
  ['line breaks of Windows', cert.replaceAll('\n', '\r\n')],
  ['no line break at the end', cert.trim()],
  ['a chain', cert + ADDRESSES.cert],
  ['text around it', `subject=okta\n${cert}More\n`],
])('accepts %s', async (_what, text) => {
  expect(await problemsOf(text)).toEqual([]);
  expect(await problemsOf(text, JSON.stringify(text))).toEqual([]);
});

test.each([
  ['a word', 'hello', /is not a certificate in PEM/],
  ['nothing', '', /is not a certificate in PEM/],
  ['a hash', `sha256:${'1'.repeat(64)}`, /is not a certificate in PEM/],
  ['base64 without lines', bare, /without its first and last line; add the BEGIN and END lines/],
  ['base64 on one line', bare.replaceAll('\n', ''), /add the BEGIN and END lines/],
  ['a damaged certificate', damaged, /between its BEGIN and END lines is damaged/],
  ['a damaged certificate in a chain', cert + damaged, /is damaged/],
  ['a cut certificate', cert.slice(0, -30), /is not a certificate in PEM/],
  ['a private key', key, /contains a private key; remove it/],
  ['a certificate and its key', cert + key, /contains a private key; remove it/],
  ['a request', cert.replaceAll('CERTIFICATE', 'CERTIFICATE REQUEST'), /is not a certificate in PEM/],
])('refuses %s', async (_what, text, message) => {
  for (const written of [undefined, JSON.stringify(text)]) {
    const problems = await problemsOf(text, written);
    expect(problems).toEqual([expect.stringMatching(message)]);
    expect(problems[0]).toMatch(/^m\.yaml:2:\d+: saml\/a: certificate /);
    // A key or a certificate is not repeated.
    expect(problems[0]).not.toContain(text.slice(30, 60) || '\0');
  }
});

test('refuses markers without end in time', async () => {
  const before = performance.now();
  await problemsOf('-----BEGIN CERTIFICATE-----'.repeat(370));
  expect(performance.now() - before).toBeLessThan(2000);
});
