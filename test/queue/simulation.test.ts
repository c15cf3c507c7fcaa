import { describe, expect, test } from 'vitest';
import { PRIORITIES, type Priority } from '../../src/queue/request.ts';
import { pickCases } from '../support/campaign.ts';
import { firstCallWindow, fixedWindow, type Limiter, steps, tokenBucket } from '../support/rate-limiters.ts';
import { type Report, type Scenario, SimulatedServer, START, simulate } from '../support/rate-simulator.ts';

const MINUTE = 60_000;
const ALL_SEEDS = [1, 2, 3, 4, 5];
const SEEDS = pickCases(ALL_SEEDS, 1, 3);

const perMinute = (limit: number) => ({ all: fixedWindow(limit, MINUTE) });
const bucket = () => ({ all: tokenBucket(10, 50) });
const fromFirstCall = () => ({ all: firstCallWindow(60, MINUTE) });

/** Runs a scenario with several seeds. Limiters have state, so each run creates its own. */
async function simulateAll(
  scenario: () => Scenario,
  seeds = SEEDS,
): Promise<{ worst: number; refused: number; reports: Report[] }> {
  const reports: Report[] = [];
  for (const seed of seeds) {
    reports.push(await simulate({ ...scenario(), seed }));
  }
  return {
    reports,
    worst: Math.max(...reports.map(({ ratio }) => ratio)),
    refused: Math.max(...reports.map(({ refused }) => refused)),
  };
}

describe('a limit is used in full and never exceeded', () => {
  const scenarios: Record<string, () => Scenario> = {
    '60 a minute': () => ({ limits: perMinute(60), calls: 570 }),
    '1000 a minute': () => ({ limits: perMinute(1000), calls: 4500 }),
    '60 in 2 s': () => ({ limits: { all: fixedWindow(60, 2000) }, calls: 570, rtt: 20 }),
    'a bucket': () => ({ limits: bucket(), calls: 2000 }),
    'a minute, the server 8 s behind': () => ({ limits: perMinute(60), calls: 570, skew: -8000 }),
    'a minute, the server 8 s ahead': () => ({ limits: perMinute(60), calls: 570, skew: 8000 }),
    'a bucket, the server 8 s behind': () => ({ limits: bucket(), calls: 2000, skew: -8000 }),
    'a bucket, the server 8 s ahead': () => ({ limits: bucket(), calls: 2000, skew: 8000 }),
    'resets as seconds from now': () => ({ limits: perMinute(60), calls: 570, reset: 'delta' }),
    'a bucket, resets as seconds from now': () => ({ limits: bucket(), calls: 2000, reset: 'delta' }),
    'a bucket, resets floored': () => ({ limits: bucket(), calls: 2000, reset: 'floored' }),
    '3 % faults': () => ({ limits: perMinute(1000), calls: 4500, faults: 0.03 }),
    'a bucket, 3 % faults': () => ({ limits: bucket(), calls: 2000, faults: 0.03 }),
    'windows from the first request': () => ({ limits: fromFirstCall(), calls: 570 }),
  };

  test.each(Object.entries(scenarios))('%s', async (_, scenario) => {
    const { worst, refused } = await simulateAll(scenario);
    expect(worst).toBeLessThanOrEqual(1.02);
    expect(refused).toBe(0);
  });

  test.each([
    ['100 a second, 50 at once', 100, 50, 5000],
    ['20 a second, 20 at once', 20, 20, 1000],
    ['40 a second, 100 at once', 40, 100, 2000],
  ])('a bucket that fills quickly, %s, is recognized within seconds', async (_, rate, burst, calls) => {
    const { worst, refused } = await simulateAll(() => ({ limits: { all: tokenBucket(rate, burst) }, calls }));
    expect(worst).toBeLessThanOrEqual(1.05);
    expect(refused).toBe(0);
  });

  test('windows from the first request, resets rounded down, cost at most one 429', async () => {
    const { worst, refused } = await simulateAll(() => ({ limits: fromFirstCall(), calls: 570, reset: 'floored' }));
    expect(worst).toBeLessThanOrEqual(1.02);
    expect(refused).toBeLessThanOrEqual(1);
  });

  test('the length of short windows from the first request is learned', async () => {
    const scenario = () => ({ limits: { all: firstCallWindow(60, 2000) }, calls: 600, rtt: 20 });
    const { worst, refused } = await simulateAll(scenario);
    expect(worst).toBeLessThanOrEqual(1.15);
    expect(refused).toBe(0);
  });

  test('classes with separate limits do not block each other', async () => {
    for (const seed of SEEDS) {
      const limits = { read: fixedWindow(600, MINUTE), write: fixedWindow(60, MINUTE) };
      const server = new SimulatedServer({ limits }, seed);
      const queue = server.queue();
      const start = server.now;
      const ends: Record<string, number> = {};
      const all = (['write', 'read'] as const).map(async (name) => {
        const calls = Array.from({ length: name === 'read' ? 2900 : 290 }, () =>
          queue.request(server.call({ class: name })),
        );
        await Promise.all(calls);
        ends[name] = server.now - start;
      });
      await server.clock.run(Promise.all(all));
      expect(queue.snapshot().outcomes.refused).toBe(0);
      // Both fill four windows, and end in the fifth; the first has 19 s left.
      const floor = limits.read.opening(2900, start, 0).at - start;
      expect(ends.read).toBeLessThan(1.02 * floor + 20 * 150 + 1000);
      expect(ends.write).toBeLessThan(1.02 * floor + 20 * 150 + 1000);
    }
  });
});

describe('a limit shared with other clients', () => {
  test.each<[string, () => Scenario]>([
    ['1000 a minute', () => ({ limits: perMinute(1000), calls: 4500, sharers: 4 })],
    ['600 a minute', () => ({ limits: perMinute(600), calls: 4500, sharers: 4 })],
    ['200 a minute', () => ({ limits: perMinute(200), calls: 900, sharers: 4 })],
    ['60 a minute', () => ({ limits: perMinute(60), calls: 570, sharers: 4 })],
    ['60 a minute, for a short time', () => ({ limits: perMinute(60), calls: 270, sharers: 4 })],
    ['a bucket', () => ({ limits: bucket(), calls: 2000, sharers: 4 })],
  ])('four independent Octavo queues, %s', async (_, scenario) => {
    // The share of all runs is limited: a single run may have two.
    const { worst, reports } = await simulateAll(scenario, ALL_SEEDS);
    const refused = reports.reduce((sum, report) => sum + report.refused, 0);
    expect(worst).toBeLessThanOrEqual(1.02);
    expect(refused / (scenario().calls * reports.length)).toBeLessThanOrEqual(0.003);
  });

  test('another client that uses 30 % can keep most of it', async () => {
    const { worst, refused, reports } = await simulateAll(() => ({
      limits: perMinute(600),
      calls: 3000,
      otherClient: 3,
    }));
    expect(worst).toBeLessThanOrEqual(1.02);
    expect(refused).toBeLessThanOrEqual(4);
    expect(Math.max(...reports.map(({ denied }) => denied))).toBeLessThanOrEqual(0.1);
  });
});

describe('without complete headers, 429s limit the rate', () => {
  test('only Retry-After', async () => {
    const { worst, refused } = await simulateAll(() => ({
      limits: perMinute(60),
      calls: 570,
      headers: 'retry-after',
    }));
    expect(worst).toBeLessThanOrEqual(1.02);
    expect(refused).toBeLessThanOrEqual(92);
  });

  test.each<[string, () => Scenario]>([
    ['windows', () => ({ limits: perMinute(60), calls: 570, headers: 'none' })],
    ['a bucket', () => ({ limits: bucket(), calls: 2000, headers: 'none' })],
  ])('no headers at all, %s', async (_, scenario) => {
    const { worst, refused } = await simulateAll(scenario);
    expect(worst).toBeLessThanOrEqual(1.1);
    expect(refused).toBeLessThanOrEqual(0.2 * scenario().calls);
  });

  test('a limit that is lowered within a window causes few 429s', async () => {
    const cut = (): Limiter => fixedWindow(steps(1000, [START + 50_000, 400]), MINUTE);
    const { worst, refused } = await simulateAll(() => ({ limits: { all: cut() }, calls: 3000 }));
    // The reserve of that window is lost: at most one window of five.
    expect(worst).toBeLessThanOrEqual(1.31);
    expect(refused).toBeLessThanOrEqual(5);
  });

  test('a limit on concurrent requests', async () => {
    const server = new SimulatedServer({ limits: {}, mostAtOnce: 5 });
    const queue = server.queue();
    const start = server.now;
    await server.clock.run(Promise.all(Array.from({ length: 1000 }, () => queue.request(server.call()))));
    expect(queue.snapshot().outcomes.refused).toBeLessThan(40);
    expect(server.now - start).toBeLessThan(1.4 * (1000 / 5) * 150);
  });
});

describe('under saturation', () => {
  const waitsOf = async (limit: number, calls: number, every: number, seed: number) => {
    const server = new SimulatedServer({ limits: perMinute(limit) }, seed);
    const queue = server.queue();
    let isOver = false;
    const bulk = Promise.all(Array.from({ length: calls }, () => queue.request(server.call()))).then(() => {
      isOver = true;
    });
    const waits: number[] = [];
    const asked: Promise<unknown>[] = [];
    const ask = async () => {
      const from = server.now;
      await queue.request(server.call({ priority: 'person' }));
      waits.push(server.now - from);
    };
    const people = async () => {
      while (!isOver) {
        await server.clock.sleep(2 * every * server.random());
        asked.push(ask());
      }
      await Promise.all(asked);
    };
    await server.clock.run(Promise.all([bulk, people()]));
    expect(queue.snapshot().outcomes.refused).toBe(0);
    return waits.toSorted((a, b) => a - b);
  };

  test.each([
    ['1000 a minute', 1000, 4500, 3000],
    ['60 a minute', 60, 570, 20_000],
  ])('95 % of interactive requests wait at most 5 s, %s', async (_, limit, calls, every) => {
    const waits: number[] = [];
    for (const seed of ALL_SEEDS) {
      waits.push(...(await waitsOf(limit, calls, every, seed)));
    }
    waits.sort((a, b) => a - b);
    expect(waits.length).toBeGreaterThan(100);
    expect(waits[Math.floor(0.95 * waits.length)]).toBeLessThanOrEqual(5000);
  });

  test('no priority starves', async () => {
    const server = new SimulatedServer({ limits: perMinute(60) });
    const queue = server.queue();
    const longest: Record<Priority, number> = { person: 0, apply: 0, clusters: 0, ingestion: 0, drift: 0 };
    const until = server.now + 30 * MINUTE;
    const asked: Promise<unknown>[] = [];
    const ask = async (priority: Priority) => {
      const from = server.now;
      await queue.request(server.call({ priority }));
      longest[priority] = Math.max(longest[priority], server.now - from);
    };
    // 90 % of the limit in total, mostly interactive.
    const stream = async (priority: Priority, every: number) => {
      while (server.now < until) {
        await server.clock.sleep(2 * every * server.random());
        asked.push(ask(priority));
      }
    };
    const streams = PRIORITIES.map((priority) => stream(priority, priority === 'person' ? 1500 : 17_000));
    await server.clock.run(Promise.all(streams).then(() => Promise.all(asked)));
    // 120 s for the steps in priority, and two windows.
    expect(Math.max(...Object.values(longest))).toBeLessThan(240_000);
  });

  test('interactive requests above the limit leave a fifth to other priorities', async () => {
    const server = new SimulatedServer({ limits: perMinute(60) });
    const queue = server.queue();
    const until = server.now + 10 * MINUTE;
    const controller = new AbortController();
    const { signal } = controller;
    const ignore = () => {};
    let answered = 0;
    const low = Array.from({ length: 300 }, () =>
      queue.request(server.call({ priority: 'drift', signal })).then(() => {
        answered += 1;
      }, ignore),
    );
    const flood = async () => {
      while (server.now < until) {
        await server.clock.sleep(500);
        queue.request(server.call({ priority: 'person', signal })).catch(ignore);
      }
      controller.abort();
    };
    await server.clock.run(Promise.all([flood(), ...low]));
    expect(answered).toBeGreaterThanOrEqual(100);
  });

  test('no class starves', async () => {
    const server = new SimulatedServer({ limits: { write: fixedWindow(30, MINUTE) } });
    const queue = server.queue({ concurrency: 4 });
    const reads: number[] = [];
    const start = server.now;
    const calls = Array.from({ length: 300 }, (_, index) =>
      index % 3 === 0
        ? queue.request(server.call({ priority: 'drift' })).then(() => reads.push(server.now - start))
        : queue.request(server.call({ class: 'write', priority: 'person' })),
    );
    await server.clock.run(Promise.all(calls));
    expect(Math.max(...reads)).toBeLessThan(20_000);
  });
});

describe('budgets are detected', () => {
  test('two classes with a shared limit are joined', async () => {
    const joined: string[] = [];
    const server = new SimulatedServer({ limits: perMinute(100) });
    const queue = server.queue({
      onEvent: (event) => event.kind === 'joined' && joined.push(event.classes.toSorted().join(' ')),
    });
    const calls = Array.from({ length: 300 }, (_, index) =>
      queue.request(server.call({ class: index % 2 === 0 ? 'read' : 'write' })),
    );
    await server.clock.run(Promise.all(calls));
    expect(joined).toEqual(['read write']);
    expect(queue.snapshot().outcomes.refused).toBeLessThanOrEqual(1);
  });

  test('two classes with separate limits are not joined', async () => {
    const events: unknown[] = [];
    const server = new SimulatedServer({
      limits: { read: fixedWindow(100, MINUTE), write: fixedWindow(100, MINUTE) },
    });
    const queue = server.queue({ onEvent: (event) => event.kind !== 'attempt' && events.push(event) });
    const calls = Array.from({ length: 300 }, (_, index) =>
      queue.request(server.call({ class: index % 3 === 0 ? 'write' : 'read' })),
    );
    await server.clock.run(Promise.all(calls));
    expect(events).toEqual([]);
    expect(queue.snapshot().outcomes.refused).toBe(0);
  });

  test.each([
    ['different limits', 600],
    ['the same limit', 60],
  ])('a class whose operations have %s is split', async (_, most) => {
    const events: unknown[] = [];
    const limits = { export: fixedWindow(60, MINUTE), list: fixedWindow(most, MINUTE) };
    const server = new SimulatedServer({ limits });
    const queue = server.queue({ onEvent: (event) => event.kind !== 'attempt' && events.push(event) });
    const start = server.now;
    const ends: Record<string, number> = {};
    const calls = Array.from({ length: 600 }, async (_, index) => {
      const name = index % 4 === 0 ? 'export' : 'list';
      await queue.request(server.call({ name }));
      ends[name] = server.now - start;
    });
    await server.clock.run(Promise.all(calls));
    expect(events).toEqual([{ kind: 'split', class: 'read' }]);
    expect(queue.snapshot().outcomes.refused).toBeLessThanOrEqual(3);
    expect(
      queue
        .snapshot()
        .budgets.flatMap(({ operations }) => operations)
        .toSorted(),
    ).toEqual(['export', 'list']);
    // 150 at 60 a minute end in the third window.
    expect(ends.export).toBeLessThan(3 * MINUTE);
  });

  test.each<[string, () => Limiter, number]>([
    [
      'a limit that is changed',
      () => fixedWindow(steps(600, [START + 30_000, 300], [START + 90_000, 900]), MINUTE),
      1500,
    ],
    ['windows from the first request', () => firstCallWindow(60, 2000), 600],
    ['a bucket', () => tokenBucket(10, 50), 600],
    ['a fast bucket', () => tokenBucket(40, 100), 2000],
  ])('%s does not cause a split', async (_, limiter, count) => {
    for (const seed of SEEDS) {
      const events: unknown[] = [];
      const server = new SimulatedServer({ limits: { all: limiter() } }, seed);
      const queue = server.queue({ onEvent: (event) => event.kind !== 'attempt' && events.push(event) });
      const calls = Array.from({ length: count }, (_, index) => queue.request(server.call({ name: `op${index % 7}` })));
      await server.clock.run(Promise.all(calls));
      expect(events).toEqual([]);
    }
  });
});

describe('an estimate is accurate to 10 % under a known limit', () => {
  const cases: readonly [string, () => { limits: Record<string, Limiter>; rtt?: number }, number, number][] = [
    ['windows', () => ({ limits: perMinute(60) }), 65, 500],
    ['wide windows', () => ({ limits: perMinute(1000) }), 1010, 3500],
    ['windows, after few requests', () => ({ limits: perMinute(60) }), 10, 500],
    ['short windows', () => ({ limits: { all: fixedWindow(60, 2000) }, rtt: 20 }), 70, 400],
    ['windows from the first request', () => ({ limits: fromFirstCall() }), 65, 500],
    ['short windows from the first request', () => ({ limits: { all: firstCallWindow(60, 2000) }, rtt: 20 }), 165, 500],
    ['a bucket', () => ({ limits: bucket() }), 150, 1000],
    ['no limit', () => ({ limits: {} }), 50, 1000],
    ['no limit, slow', () => ({ limits: {}, rtt: 1500 }), 50, 1000],
  ];

  test.each(cases)('%s', async (_, behaviour, before, calls) => {
    for (const seed of SEEDS) {
      const server = new SimulatedServer(behaviour(), seed);
      const queue = server.queue();
      await server.clock.run(Promise.all(Array.from({ length: before }, () => queue.request(server.call()))));
      // Estimates writes although only reads were sent so far, as in a plan.
      const estimate = 1000 * queue.estimate(Array.from({ length: calls }, () => ({ writes: 1, reads: 0, after: [] })));
      const start = server.now;
      const writes = Array.from({ length: calls }, () => queue.request(server.call({ class: 'write' })));
      await server.clock.run(Promise.all(writes));
      const took = server.now - start;
      expect(estimate / took).toBeGreaterThan(0.9);
      expect(estimate / took).toBeLessThan(1.1);
    }
  });
});
