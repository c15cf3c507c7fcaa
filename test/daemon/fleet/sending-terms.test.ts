/** Requests of an organization whose lease may end. The queue asks again when it sends: test/queue/request-queue.test.ts. */
import { expect, test } from 'vitest';
import { CancelledError } from '../../../src/core/errors.ts';
import { sendingTerms, userAgent } from '../../../src/daemon/open-organization.ts';

const TIMEOUT = 30_000;
const termsOf = (left: number, stopping = new AbortController().signal) =>
  sendingTerms({ name: 'organization/acme', left: () => left }, stopping, TIMEOUT, 'octavo/1');

test.each([
  [Number.POSITIVE_INFINITY, true],
  [32_000, true],
  [31_999, false],
  [0, false],
  [-1, false],
])('with %d ms left, a write may be sent: %s', (left, isSent) => {
  const terms = termsOf(left);
  expect(terms.writeRefusal() === null).toBe(isSent);
  expect(terms.readRefusal()).toBeNull();
});

test('nothing is sent once the organization stops', () => {
  const terms = termsOf(60_000, AbortSignal.abort());
  expect(terms.readRefusal()).toBeInstanceOf(CancelledError);
  expect(terms.writeRefusal()).toBeInstanceOf(CancelledError);
});

test('the user agent names replica and epoch only in a fleet, in ASCII', () => {
  expect(userAgent('1.2.3', null, { epoch: 0 })).toBe('octavo/1.2.3');
  expect(userAgent('1.2.3', 'höst-1a2b', { epoch: 7 })).toBe('octavo/1.2.3 (replica h_st-1a2b; epoch 7)');
});
