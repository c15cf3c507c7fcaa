// The rate under a limit that no window explains.
import { expect, test } from 'vitest';
import { AdaptiveRate } from '../../src/queue/rate-limit/adaptive-rate.ts';

/** Sends requests as early as the rate permits, but not more often than every `gap` ms. All are accepted. */
function send(rate: AdaptiveRate, requests: number, gap: number, start: number): number {
  let now = start;
  for (let sent = 0; sent < requests; sent += 1) {
    for (let next = rate.decide(now, 0, false); next.kind === 'wait'; next = rate.decide(now, 0, false)) {
      now = next.until;
    }
    rate.onSent(now);
    rate.onAccepted();
    now += gap;
  }
  return now;
}

test('requests that are sent slowly do not raise the rate, so that it still holds up a later burst', () => {
  const quiet = new AdaptiveRate(1 / 100, 10);
  const end = send(quiet, 20_000, 1000, 0);
  expect(send(quiet, 20, 0, end) - end).toBeGreaterThan(100);
});

test('requests that use the rate raise it', () => {
  const used = new AdaptiveRate(1 / 100, 10);
  const first = send(used, 20, 0, 0);
  expect(send(used, 20, 0, first) - first).toBeLessThan(first / 2);
});
