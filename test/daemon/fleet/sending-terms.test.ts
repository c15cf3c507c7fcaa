/** Requests of an organization whose lease may end. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CancelledError, LeaseLostError } from '../../../src/core/errors.ts';
import { sendingTerms, userAgent } from '../../../src/daemon/fleet/sending-terms.ts';
import { RequestQueue } from '../../../src/queue/dispatcher.ts';
import { NO_RATE_HEADERS, type QueuedRequest } from '../../../src/queue/request.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';
import { SEED } from '../../support/campaign.ts';

const TIMEOUT = 30_000;
const termsOf = (left: () => number, stopping = new AbortController().signal) =>
  sendingTerms({ name: 'organization/acme', left }, stopping, TIMEOUT, 'octavo/1');

describe('terms of an organization', () => {
  test.each([
    [Number.POSITIVE_INFINITY, true],
    [32_000, true],
    [31_999, false],
    [0, false],
    [-1, false],
  ])('with %d ms left, a write may be sent: %s', (left, isSent) => {
    const terms = termsOf(() => left);
    expect(terms.writeRefusal() === null).toBe(isSent);
    expect(terms.readRefusal()).toBeNull();
  });

  test('nothing is sent once it stops', () => {
    const terms = termsOf(() => 60_000, AbortSignal.abort());
    expect(terms.readRefusal()).toBeInstanceOf(CancelledError);
    expect(terms.writeRefusal()).toBeInstanceOf(CancelledError);
  });

  test('with any waits and any end of the lease, no write starts later than the margin allows', async () => {
    const arbitrary = fc.record({
      endsAt: fc.integer({ min: 0, max: 120_000 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      requests: fc.array(
        fc.record({
          isWrite: fc.boolean(),
          at: fc.integer({ min: 0, max: 90_000 }),
          takes: fc.integer({ min: 1, max: TIMEOUT }),
        }),
        { minLength: 1, maxLength: 20 },
      ),
    });
    const property = fc.asyncProperty(arbitrary, async ({ endsAt, concurrency, requests }) => {
      const clock = createVirtualClock();
      const start = clock.monotonic();
      const queue = new RequestQueue({ clock, random: () => 0.5, concurrency });
      const terms = termsOf(() => start + endsAt - clock.monotonic());
      const writes: number[] = [];
      const ends = requests.map(async ({ isWrite, at, takes }, index) => {
        await clock.sleep(at);
        const request: QueuedRequest<string> = {
          ...{ name: `request ${index}`, class: isWrite ? 'write' : 'read', priority: 'apply' },
          repeat: isWrite ? 'idempotent' : 'safe',
          refusal: isWrite ? terms.writeRefusal : terms.readRefusal,
          attempt: async () => {
            if (isWrite) {
              writes.push(clock.monotonic() - start);
            }
            await clock.sleep(takes);
            return { headers: NO_RATE_HEADERS, receivedAt: clock.monotonic(), result: { ok: true, value: 'done' } };
          },
        };
        return queue.request(request).catch((error: unknown) => error);
      });
      const results = await clock.run(Promise.all(ends));
      expect(writes.filter((at) => at > endsAt - TIMEOUT - 2000)).toEqual([]);
      for (const [index, { isWrite }] of requests.entries()) {
        // A read is always sent; a write is sent, or refused without having been sent.
        expect(results[index] === 'done' || (isWrite && results[index] instanceof LeaseLostError)).toBe(true);
      }
      expect(results.filter((result) => result === 'done')).toHaveLength(
        writes.length + requests.filter(({ isWrite }) => !isWrite).length,
      );
    });
    await fc.assert(property, { seed: SEED, numRuns: 60 });
  });
});

test('the user agent names replica and epoch only in a fleet, in ASCII', () => {
  expect(userAgent('1.2.3', null, { epoch: 0 })).toBe('octavo/1.2.3');
  expect(userAgent('1.2.3', 'höst-1a2b', { epoch: 7 })).toBe('octavo/1.2.3 (replica h_st-1a2b; epoch 7)');
});
