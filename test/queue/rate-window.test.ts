import { expect, test } from 'vitest';
import { RateWindow } from '../../src/queue/rate-limit/rate-window.ts';
import { createServerClock } from '../../src/queue/rate-limit/server-clock.ts';

/** The server's clock is ours. */
const rateWindow = () => new RateWindow(createServerClock(0));

/** Seen by the call that opened it, at a time; `seconds` is its reset. */
function opening(at: number, seconds: number) {
  const date = Math.floor(at / 1000) * 1000;
  return { resetAt: seconds * 1000, sentAt: at - 50, receivedAt: at, date, opened: true };
}

test('a window ends at its reset', () => {
  const window = rateWindow();
  expect(window.end).toBe(Number.NEGATIVE_INFINITY);
  window.begin(opening(10_100, 13));
  expect(window.end).toBe(13_000);
  window.begin(opening(13_100, 16));
  expect(window.end).toBe(16_000);
});

test('one that began before the last reset shows how long they are', () => {
  const window = rateWindow();
  window.begin(opening(10_100, 13));
  window.begin(opening(12_150, 15));
  expect(window).toMatchObject({ end: 14_150, length: 2000 });
});

test('one that outlasts what was learned ends at its reset, and so do all after it', () => {
  const window = rateWindow();
  window.begin(opening(10_100, 13));
  window.begin(opening(12_150, 15));
  window.outlast();
  expect(window.end).toBe(15_000);
  window.begin(opening(14_900, 18));
  expect(window.end).toBe(18_000);
});

test('a reset that was over before its window was is a second early', () => {
  const window = rateWindow();
  window.begin(opening(10_900, 11));
  window.outlast();
  expect(window.end).toBe(12_000);
});
