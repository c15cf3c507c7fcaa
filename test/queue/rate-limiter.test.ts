import { describe, expect, test } from 'vitest';
import { type Permit, RateLimiter } from '../../src/queue/limiter.ts';
import { NO_RATE_HEADERS, type RateHeaders, readRateHeaders } from '../../src/queue/request.ts';
import { createServerClock } from '../../src/queue/server-clock.ts';

/** Server clock minus local clock: the server reads 2_000_000_000 s when the local clock reads 0. */
const OFFSET = 2_000_000_000_000;
const EPOCH = OFFSET / 1000;

const read = { class: 'read', name: 'listTeams' } as const;
const write = { class: 'write', name: 'createTeam' } as const;

function headersOf(remaining: number, reset: number, rest: Partial<RateHeaders> = {}): RateHeaders {
  return { ...NO_RATE_HEADERS, limit: 100, remaining, reset, ...rest };
}

/** Creates a rate limiter after one response: `remaining` of 100, in a window that ends at this second. */
function limiterWith(remaining: number, resetSecond = 60, receivedAt = 0): RateLimiter {
  const limiter = new RateLimiter(createServerClock(OFFSET));
  const probe = limiter.onSent(read, 0, true);
  limiter.onResponse(probe, headersOf(remaining, EPOCH + resetSecond), receivedAt);
  return limiter;
}

function send(limiter: RateLimiter, now: number, count = 1): Permit[] {
  return Array.from({ length: count }, () => limiter.onSent(read, now, false));
}

describe('decide', () => {
  const cases: readonly {
    readonly name: string;
    readonly left: number;
    readonly inFlight?: number;
    readonly now: number;
    readonly waiting: number;
    readonly urgent?: boolean;
    readonly expected: string | number;
  }[] = [
    { name: 'enough for all waiting requests', left: 50, now: 1000, waiting: 50, expected: 'send' },
    { name: 'one waiting request too many, at the start', left: 50, now: 1000, waiting: 51, expected: 27_540 },
    { name: 'more waiting than remaining, in the last tenth', left: 50, now: 54_000, waiting: 500, expected: 'send' },
    { name: 'more waiting than remaining, urgent', left: 50, now: 1000, waiting: 500, urgent: true, expected: 'send' },
    { name: 'full budget', left: 100, now: 0, waiting: 500, expected: 540 },
    { name: 'used up', left: 0, now: 1000, waiting: 1, urgent: true, expected: 60_000 },
    {
      name: 'all remaining requests are in flight',
      left: 3,
      inFlight: 3,
      now: 1000,
      waiting: 1,
      urgent: true,
      expected: 60_000,
    },
    { name: 'more remaining than in flight', left: 4, inFlight: 3, now: 1000, waiting: 1, expected: 'send' },
    { name: 'window ended', left: 0, now: 60_000, waiting: 1, expected: 'probe' },
  ];

  test.each(cases)('$name', ({ left, inFlight = 0, now, waiting, urgent = false, expected }) => {
    const limiter = limiterWith(left);
    send(limiter, 1, inFlight);
    const decision = limiter.decide(read, now, waiting, urgent);
    if (typeof expected === 'string') {
      expect(decision.kind).toBe(expected);
    } else {
      expect(decision).toMatchObject({ kind: 'wait', until: expect.closeTo(expected, 0) });
    }
  });

  test('sends one probe at a time while the limit is unknown', () => {
    const limiter = new RateLimiter(createServerClock(OFFSET));
    expect(limiter.decide(read, 0, 9, true).kind).toBe('probe');
    limiter.onSent(read, 0, true);
    expect(limiter.decide(read, 10, 9, true)).toMatchObject({ kind: 'wait', until: 5000 });
    expect(limiter.decide(write, 10, 9, true).kind).toBe('probe');
  });

  test('sends without limit if responses have no rate-limit headers', () => {
    const limiter = new RateLimiter(createServerClock(OFFSET));
    limiter.onResponse(limiter.onSent(read, 0, true), NO_RATE_HEADERS, 100);
    send(limiter, 100, 500);
    expect(limiter.decide(read, 100, 9999, false).kind).toBe('send');
  });
});

describe('responses', () => {
  test('from a newer window replace the count, from this window only lower it, from an older one are ignored', () => {
    const limiter = limiterWith(50);
    const permits = send(limiter, 1000, 4);
    const left = () => limiter.budget(read).learned.remaining;
    const answer = (remaining: number, second: number) => {
      const permit = permits.pop();
      if (permit !== undefined) {
        limiter.onResponse(permit, headersOf(remaining, EPOCH + second), 1100);
      }
      return left();
    };
    expect(answer(48, 60)).toBe(48);
    expect(answer(49, 60)).toBe(48);
    expect(answer(10, 59)).toBe(48);
    expect(answer(99, 120)).toBe(99);
  });

  test('that never arrive count as requests', () => {
    const limiter = limiterWith(50);
    const [lost, unsent] = send(limiter, 1000, 2);
    limiter.onLost(lost as Permit);
    limiter.onUnsent(unsent as Permit);
    expect(limiter.budget(read)).toMatchObject({ learned: { remaining: 49 }, inFlight: 0 });
  });

  test('reveal the usage of other clients', () => {
    const limiter = limiterWith(100);
    let left = 100;
    for (let second = 1; second <= 10; second += 1) {
      left -= 6;
      const [permit] = send(limiter, second * 1000 - 100);
      limiter.onResponse(permit as Permit, headersOf(left, EPOCH + 60), second * 1000);
    }
    expect(limiter.budget(read).snapshot(10_000).otherClientsRate).toBeGreaterThan(4);
  });
});

describe('a 429', () => {
  const refuse = (limiter: RateLimiter, headers: RateHeaders, now: number) => {
    const [permit] = send(limiter, now - 100);
    limiter.onRefused(permit as Permit, headers, now, 0);
  };

  test.each([
    ['Retry-After, even when the reset is later', headersOf(0, EPOCH + 60, { retryAfter: 7000 }), 17_000],
    ['the reset', headersOf(0, EPOCH + 60), 60_000],
    ['a past reset plus its rounding of 1 s', headersOf(0, EPOCH + 9), 11_000],
    ['the backoff if there are no headers', NO_RATE_HEADERS, 10_500],
  ])('starts a cooldown until %s', (_, headers, until) => {
    const limiter = limiterWith(20, 9);
    refuse(limiter, headers, 10_000);
    expect(limiter.decide(read, 10_001, 1, true)).toMatchObject({ kind: 'wait', until });
    expect(limiter.decide(write, 10_001, 1, true).kind).toBe('probe');
    expect(limiter.decide(read, until, 1, true).kind).toBe('probe');
  });

  test('with requests remaining halves the in-flight limit', () => {
    const limiter = limiterWith(90);
    const permits = send(limiter, 1000, 8);
    limiter.onRefused(permits.pop() as Permit, headersOf(82, EPOCH + 60), 1100, 0);
    for (const permit of permits.splice(0, 3)) {
      limiter.onResponse(permit, headersOf(82, EPOCH + 60), 1200);
    }
    expect(limiter.decide(read, 2000, 1, true).kind).toBe('wait');
    limiter.onResponse(permits.pop() as Permit, headersOf(82, EPOCH + 60), 1300);
    expect(limiter.decide(read, 2000, 1, true).kind).toBe('send');
  });

  test('without headers waits ever longer, up to a minute', () => {
    const limiter = new RateLimiter(createServerClock(OFFSET));
    let now = 1000;
    const waits = Array.from({ length: 10 }, () => {
      limiter.onRefused(limiter.onSent(read, now, true), NO_RATE_HEADERS, now, 0);
      const decision = limiter.decide(read, now, 1, true);
      const until = decision.kind === 'wait' ? decision.until : now;
      const wait = until - now;
      now = until;
      return wait;
    });
    expect(waits[0]).toBeLessThanOrEqual(2000);
    expect(Math.min(...waits)).toBeGreaterThan(0);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(30_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(60_000);
  });
});

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

  test('uses up a window before its earliest possible end, once a request has checked the count', () => {
    const limiter = new RateLimiter(createServerClock(OFFSET));
    // The window ends at 2.0 s of the server, which may be at any time from 1.5 s to 2.5 s.
    limiter.onResponse(limiter.onSent(read, 500, true), headersOf(40, EPOCH + 2, { date: OFFSET }), 500);
    const check = limiter.onSent(read, 1500, false);
    expect(limiter.decide(read, 1500, 100, false)).toMatchObject({ kind: 'wait' });
    limiter.onResponse(check, headersOf(39, EPOCH + 2, { date: OFFSET + 1000 }), 1510);
    for (let left = 39; left > 0; left -= 1) {
      expect(limiter.decide(read, 1510, 100, false), `${left} left`).toEqual({ kind: 'send' });
      limiter.onSent(read, 1510, false);
    }
  });

  test('is not needed if resets are seconds from now', () => {
    const clock = createServerClock(OFFSET);
    const reset = clock.resetOf(headersOf(1, 12), 3000);
    expect(clock.toMonotonic(reset ?? 0)).toBe(15_000);
  });
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
