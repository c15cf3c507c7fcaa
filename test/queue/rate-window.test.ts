import { expect, test } from 'vitest';
import { RateWindow } from '../../src/queue/pacing.ts';
import { createServerClock } from '../../src/queue/server-clock.ts';

/** Creates a window with a server clock equal to the local one. */
const rateWindow = () => new RateWindow(createServerClock(0));

/** Returns the response to the request that started a window; `seconds` is its reset. */
function opening(at: number, seconds: number) {
  const date = Math.floor(at / 1000) * 1000;
  return { resetAt: seconds * 1000, sentAt: at - 50, receivedAt: at, date, startsWindow: true };
}

test('a window ends at its reset', () => {
  const window = rateWindow();
  expect(window.end).toBe(Number.NEGATIVE_INFINITY);
  window.begin(opening(10_100, 13));
  expect(window.end).toBe(13_000);
  window.begin(opening(13_100, 16));
  expect(window.end).toBe(16_000);
});

test('a window that starts before the last reset reveals the window length', () => {
  const window = rateWindow();
  window.begin(opening(10_100, 13));
  window.begin(opening(12_150, 15));
  expect(window).toMatchObject({ end: 14_150, length: 2000 });
});

test('a window longer than the learned length makes the reset authoritative again', () => {
  const window = rateWindow();
  window.begin(opening(10_100, 13));
  window.begin(opening(12_150, 15));
  window.onOverrun();
  expect(window.end).toBe(15_000);
  window.begin(opening(14_900, 18));
  expect(window.end).toBe(18_000);
});

test('a window that outlasts its reset shows that resets are rounded down', () => {
  const window = rateWindow();
  window.begin(opening(10_900, 11));
  window.onOverrun();
  expect(window.end).toBe(12_000);
});
