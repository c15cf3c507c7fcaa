import { expect, test } from 'vitest';
import { RateWindow } from '../../src/queue/pacing.ts';
import { createServerClock } from '../../src/queue/server-clock.ts';

/** Returns the response to the request that started a window; `seconds` is its reset. */
function opening(at: number, seconds: number) {
  const date = Math.floor(at / 1000) * 1000;
  return { resetAt: seconds * 1000, sentAt: at - 50, receivedAt: at, date, startsWindow: true };
}

test('a window longer than the learned length makes the reset authoritative again', () => {
  const window = new RateWindow(createServerClock(0));
  expect(window.end).toBe(Number.NEGATIVE_INFINITY);
  window.begin(opening(10_100, 13));
  expect(window.end).toBe(13_000);
  window.begin(opening(12_150, 15));
  expect(window).toMatchObject({ end: 14_150, length: 2000 });
  window.onOverrun();
  expect(window.end).toBe(15_000);
  window.begin(opening(14_900, 18));
  expect(window.end).toBe(18_000);
});
