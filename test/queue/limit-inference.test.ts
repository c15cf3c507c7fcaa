// A platform that sends no rate-limit headers and no Retry-After: the limit is inferred from its 429s.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { firstCallWindow, fixedWindow, type Limiter, steps } from '../support/rate-limiters.ts';
import { type Report, type Scenario, SimulatedServer, START, simulate } from '../support/rate-simulator.ts';

const MINUTE = 60_000;
const SEEDS = [1, 2, 3, 4, 5, 6];

/** Simulates with several seeds, each starting at another point of a window. */
async function simulateAll(scenario: () => Scenario, window: number) {
  const reports: Report[] = [];
  for (const seed of SEEDS) {
    const delay = Math.floor((seed / SEEDS.length) * 0.8 * window);
    reports.push(await simulate({ ...scenario(), headers: 'none', seed, delay }));
  }
  const of = (key: 'laterRatio' | 'refusedLater' | 'ratio') => reports.map((report) => report[key]);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const later = of('laterRatio');
  return { later: mean(later), worst: Math.max(...later), refused: mean(of('refusedLater')), whole: mean(of('ratio')) };
}

describe('a limit without headers is learned within two windows', () => {
  // Nine windows and a half: the requests in flight at the first 429 apart, some 429s find the window, one confirms the
  // count, and two look for a higher limit.
  test.each<[string, () => Limiter, number, number, number]>([
    ['60 in 2 s by the clock', () => fixedWindow(60, 2000), 2000, 570, 20],
    ['60 in 2 s from the first request', () => firstCallWindow(60, 2000), 2000, 570, 20],
    ['60 a minute by the clock', () => fixedWindow(60, MINUTE), MINUTE, 570, 150],
    ['60 a minute from the first request', () => firstCallWindow(60, MINUTE), MINUTE, 570, 150],
    ['1000 a minute by the clock', () => fixedWindow(1000, MINUTE), MINUTE, 6500, 150],
    ['40 in 5 s by the clock', () => fixedWindow(40, 5000), 5000, 380, 50],
    ['40 in 5 s from the first request', () => firstCallWindow(40, 5000), 5000, 380, 20],
    ['30 in 15 s by the clock', () => fixedWindow(30, 15_000), 15_000, 285, 150],
  ])('%s', async (_, limiter, window, calls, rtt) => {
    const scenario = () => ({ limits: { all: limiter() }, calls, rtt });
    const { later, worst, refused } = await simulateAll(scenario, window);
    expect(later).toBeLessThanOrEqual(1.05);
    // The calls that the second window missed may need one more window at the end.
    expect(worst).toBeLessThanOrEqual(1.15);
    expect(refused).toBeLessThanOrEqual(9);
  });

  test.each([-8300, 8300])('with the server’s clock %i ms off', async (skew) => {
    const { later, refused } = await simulateAll(
      () => ({ limits: { all: fixedWindow(60, 2000) }, calls: 570, rtt: 20, skew }),
      2000,
    );
    expect(later).toBeLessThanOrEqual(1.05);
    expect(refused).toBeLessThanOrEqual(9);
  });

  test('429s become rare: at most six in the windows after the first twenty', async () => {
    const server = new SimulatedServer({ limits: { all: fixedWindow(60, 2000) }, rtt: 20, headers: 'none' });
    const queue = server.queue();
    const start = server.now;
    await server.clock.run(Promise.all(Array.from({ length: 60 * 100 }, () => queue.request(server.call()))));
    expect(server.refused.filter((at) => at > start + 20 * 2000).length).toBeLessThanOrEqual(6);
  });

  test('any window of a common length, at any phase, is used in full in the end', async () => {
    const scenario = fc.record({
      limit: fc.integer({ min: 20, max: 200 }),
      seconds: fc.constantFrom(2, 5, 10, 30, 60),
      isFixed: fc.boolean(),
      phase: fc.double({ min: 0, max: 1, noNaN: true }),
      seed: fc.integer(),
    });
    const shares: number[] = [];
    await fc.assert(
      fc.asyncProperty(scenario, async ({ limit, seconds, isFixed, phase, seed }) => {
        const window = seconds * 1000;
        const server = new SimulatedServer(
          { limits: { all: (isFixed ? fixedWindow : firstCallWindow)(limit, window) }, rtt: 20, headers: 'none' },
          seed,
        );
        const queue = server.queue();
        await server.clock.advance(phase * window);
        await server.clock.run(Promise.all(Array.from({ length: 16 * limit }, () => queue.request(server.call()))));
        const end = server.lastAccepted;
        // Six windows, without the learning at the beginning; neither limit of the time is near the start of a window.
        const used = server.accepted.filter((at) => at > end - 7.5 * window && at <= end - 1.5 * window).length;
        shares.push(used / (6 * limit));
        // An unlucky one tries a higher limit, and loses most of two windows.
        expect(used).toBeGreaterThanOrEqual(0.65 * 6 * limit);
      }),
      { numRuns: 25 },
    );
    expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThanOrEqual(0.92);
  });
});

test('the snapshot of a learned limit has its window, its rate and the remaining count', async () => {
  const server = new SimulatedServer({ limits: { all: fixedWindow(60, 2000) }, rtt: 20, headers: 'none' });
  const queue = server.queue();
  await server.clock.run(Promise.all(Array.from({ length: 620 }, () => queue.request(server.call()))));
  const [budget] = queue.snapshot().budgets;
  expect(budget).toMatchObject({ limit: 60, window: 2000, rate: 30 });
  const last = server.refused.at(-1) ?? 0;
  expect(budget?.inferredAge).toBeGreaterThan(server.now - last - 1000);
  expect(budget?.inferredAge).toBeLessThanOrEqual(server.now - last);
  expect(budget?.remaining).toBeGreaterThan(0);
  expect(budget?.resetIn).toBeLessThanOrEqual(2000);
});

describe('a limit without headers that changes', () => {
  test.each<[string, () => Limiter, number, number]>([
    ['lowered, 60 to 30 in 2 s', () => fixedWindow(steps(60, [START + 12_000, 30]), 2000), 2000, 900],
    ['raised, 30 to 60 in 2 s', () => fixedWindow(steps(30, [START + 12_000, 60]), 2000), 2000, 1500],
    ['lowered, 400 to 200 in 10 s', () => fixedWindow(steps(400, [START + 60_000, 200]), 10_000), 10_000, 4500],
  ])('is learned again: %s', async (_, limiter, window, calls) => {
    const { whole, refused } = await simulateAll(() => ({ limits: { all: limiter() }, calls, rtt: 20 }), window);
    expect(whole).toBeLessThanOrEqual(1.15);
    expect(refused).toBeLessThanOrEqual(16);
  });

  test.each<[string, () => Limiter, number]>([
    ['by the clock', () => fixedWindow(60, 2000), 8],
    ['from the first request', () => firstCallWindow(60, 2000), 8],
  ])('another client that takes a part, %s, costs at most three 429s a window', async (_, limiter, otherClient) => {
    const scenario = () => ({ limits: { all: limiter() }, calls: 900, rtt: 20, otherClient });
    const { worst, refused } = await simulateAll(scenario, 2000);
    expect(worst).toBeLessThanOrEqual(1.05);
    expect(refused).toBeLessThanOrEqual((3 * 900) / (60 - 2 * otherClient));
  });
});

test('a single 429 of a platform without a limit slows requests only for a while', async () => {
  let calls = 0;
  const once: Limiter = {
    take: (now) => {
      calls += 1;
      return { accepted: calls !== 100, limit: 0, remaining: 0, reset: now };
    },
    opening: (_, start) => ({ at: start, last: 1 }),
    resetAfter: (at) => at,
  };
  const server = new SimulatedServer({ limits: { all: once }, rtt: 20, headers: 'none' });
  const queue = server.queue();
  const start = server.now;
  await server.clock.run(Promise.all(Array.from({ length: 40_000 }, () => queue.request(server.call()))));
  // 40 s at full speed; the queue tries more and more in every window.
  expect(server.now - start).toBeLessThan(120_000);
});
