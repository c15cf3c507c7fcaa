import { expect, test } from 'vitest';
import { createRedactor } from '../../src/conversations/redact/redactor.ts';
import { writableKey } from '../../src/conversations/writable-key.ts';

const redactor = createRedactor({ patterns: [{ name: 'customer', pattern: 'CUST-\\d+' }] });

test.each([
  'webhook/forms/kim@shop.example',
  'webhook/forms/thread of kim@shop.example, 2',
  'file/drop/+1 415 555 0132',
  'file/drop/4155550132',
  'file/push/CUST-17',
])('%s becomes a hash, the same every time', (key) => {
  const written = writableKey(key, redactor);
  expect(written).toMatch(/^(?:webhook|file)\/\w+\/sha256-[0-9a-f]{24}$/);
  expect(writableKey(key, redactor)).toBe(written);
  expect(writableKey(written, redactor)).toBe(written);
});

test.each([
  'webhook/forms/order-1234',
  'webhook/forms/9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  'file/drop/10032345',
  // Its own number, whatever it looks like.
  'zendesk/acme/4155550132',
  'github/I_kwDOabc',
  'mail/0123456789abcdef0123456789abcdef01234567',
])('%s stays', (key) => {
  expect(writableKey(key, redactor)).toBe(key);
});
