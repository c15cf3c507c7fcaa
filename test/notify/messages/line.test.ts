import { expect, test } from 'vitest';
import { messageLine } from '../../../src/notify/messages.ts';
import { createRedactor } from '../../../src/redact.ts';

const redact = createRedactor(['hunter2-canary']);

test.each([
  ['the token hunter2-canary was refused', 'the token [secret] was refused'],
  ['divided: hunter2-\u200bcan\u2060ary', 'divided: [secret]'],
  ['cut\nin two', 'cut in two'],
  ['see https://a.example/?token=abcdefghijklmnop', 'see https://a.example/?token=***'],
])('writes %j as %j', (text, expected) => {
  const line = messageLine(text, 100, redact);
  expect(line.replace(/token=.*/, 'token=***')).toBe(expected);
  expect(line).not.toContain('abcdefghijklmnop');
});

test('removes a secret before it is cut', () => {
  expect(messageLine('the password is hunter2-canary', 25, redact)).toBe('the password is [secret]');
});
