/** The server's clock, the end of a window by it, and the headers that both are learned from. */
import { describe, expect, test } from 'vitest';
import { RateWindow } from '../../src/queue/pacing.ts';
import { NO_RATE_HEADERS, readRateHeaders } from '../../src/queue/request.ts';
import { createServerClock } from '../../src/queue/server-clock.ts';

/** Server clock minus local clock: the server reads 2_000_000_000 s when the local clock reads 0. */
const OFFSET = 2_000_000_000_000;

describe('the server’s clock', () => {
  test.each([-30_000, 0, 30_000])('is learned from Date, with the local clock %i ms off', (skew) => {
    const clock = createServerClock(OFFSET + skew);
    // The server reads 100.9 s and sends 100; then 102.0 s, which is the better bound.
    clock.observe({ ...NO_RATE_HEADERS, date: OFFSET + 100_000 }, 100_800, 101_000);
    clock.observe({ ...NO_RATE_HEADERS, date: OFFSET + 102_000 }, 101_950, 102_050);
    expect(clock.toMonotonic(OFFSET + 160_000)).toBe(160_050);
    // The server's clock was below 101 s when the first request was sent.
    expect(clock.toEarliest(OFFSET + 160_000)).toBe(159_800);
  });

  test('may be set back', () => {
    const clock = createServerClock(OFFSET);
    clock.observe({ ...NO_RATE_HEADERS, date: OFFSET + 50_000 }, 900, 1000);
    clock.observe({ ...NO_RATE_HEADERS, date: OFFSET + 2000 }, 1900, 2000);
    expect(clock.toMonotonic(OFFSET + 10_000)).toBe(10_000);
    expect(clock.toEarliest(OFFSET + 10_000)).toBe(8900);
  });

  test('may be set forward', () => {
    const clock = createServerClock(OFFSET);
    clock.observe({ ...NO_RATE_HEADERS, date: OFFSET + 2000 }, 900, 1000);
    clock.observe({ ...NO_RATE_HEADERS, date: OFFSET + 50_000 }, 1900, 2000);
    expect(clock.toMonotonic(OFFSET + 60_000)).toBe(12_000);
    expect(clock.toEarliest(OFFSET + 60_000)).toBe(10_900);
  });
});

/** Returns the response to the request that started a window; `seconds` is its reset. */
function opening(at: number, seconds: number) {
  const date = Math.floor(at / 1000) * 1000;
  return { resetAt: seconds * 1000, sentAt: at - 50, receivedAt: at, date, startsWindow: true };
}

test('a window longer than the learned length makes the reset authoritative again', () => {
  const window = new RateWindow(createServerClock(0));
  window.begin(opening(10_100, 13));
  expect(window.end).toBe(13_000);
  window.begin(opening(12_150, 15));
  expect(window).toMatchObject({ end: 14_150, length: 2000 });
  window.onOverrun();
  expect(window.end).toBe(15_000);
  window.begin(opening(14_900, 18));
  expect(window.end).toBe(18_000);
});

test.each([
  [{}, NO_RATE_HEADERS],
  [
    { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0' },
    { ...NO_RATE_HEADERS, limit: 60, remaining: 0 },
  ],
  [
    { 'x-ratelimit-reset': '1700000000.5', 'retry-after': '2' },
    { ...NO_RATE_HEADERS, reset: 1700000000.5, retryAfter: 2000 },
  ],
  [{ 'x-ratelimit-limit': 'many', 'retry-after': '-1', date: 'noon' }, NO_RATE_HEADERS],
  [
    { date: 'Thu, 01 Jan 1970 00:01:00 GMT', 'retry-after': 'Thu, 01 Jan 1970 00:01:09 GMT' },
    { ...NO_RATE_HEADERS, date: 60_000, retryAfter: 9000 },
  ],
])('headers %j are read as %j', (headers: Record<string, string>, expected) => {
  expect(readRateHeaders(headers)).toEqual(expected);
});
