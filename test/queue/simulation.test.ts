import { describe, expect, test } from 'vitest';
import { createRequestQueue } from '../../src/queue/request-queue.ts';
import {
  callOf,
  firstCallWindow,
  fixedWindow,
  type Scenario,
  seeded,
  simulate,
  simulatedServer,
  tokenBucket,
} from '../support/rate-simulator.ts';
import { createVirtualClock } from './virtual-clock.ts';

const MINUTE = 60_000;

const scenarios: readonly [string, Scenario, number][] = [
  ['60 a minute', { limiter: fixedWindow(60, MINUTE), calls: 570 }, 0],
  ['1000 a minute', { limiter: fixedWindow(1000, MINUTE), calls: 4500 }, 0],
  ['10 a second, 50 at once', { limiter: tokenBucket(10, 50), calls: 2000 }, 1],
  ['a clock 8 s fast', { limiter: fixedWindow(60, MINUTE), calls: 570, skew: -8000 }, 0],
  ['a clock 8 s slow', { limiter: fixedWindow(60, MINUTE), calls: 570, skew: 8000 }, 0],
  ['windows from the first call', { limiter: firstCallWindow(60, MINUTE), calls: 570 }, 0],
  [
    'windows from the first call, resets floored',
    { limiter: firstCallWindow(60, MINUTE), calls: 570, floored: true },
    1,
  ],
];

describe('a limit is used nearly in full, and hardly ever broken', () => {
  test.each(scenarios)('%s', async (_, scenario, refused) => {
    const report = await simulate(scenario);
    expect(report.ratio).toBeLessThanOrEqual(1.05);
    expect(report.refused).toBeLessThanOrEqual(refused);
  });

  test('with nothing but Retry-After', async () => {
    const report = await simulate({ limiter: fixedWindow(60, MINUTE), calls: 570, silent: true });
    expect(report.ratio).toBeLessThanOrEqual(1.05);
    expect(report.refused).toBeLessThanOrEqual(110);
  });

  test('with others on the same budget', async () => {
    const report = await simulate({ limiter: fixedWindow(600, MINUTE), calls: 3000, others: 3 });
    expect(report.refused).toBeLessThanOrEqual(5);
  });
});

test('a person who asks while the limit is used up by others hardly waits', async () => {
  const clock = createVirtualClock();
  const random = seeded(3);
  const queue = createRequestQueue({ clock, random, concurrency: 20, deadline: Number.MAX_SAFE_INTEGER });
  const attempt = simulatedServer({ limiter: fixedWindow(60, MINUTE), calls: 0 }, clock, random);
  const bulk = Promise.all(Array.from({ length: 300 }, (_, index) => queue.request(callOf(index, attempt))));
  const waits: number[] = [];
  for (let index = 0; index < 10; index += 1) {
    await clock.advance(21_000);
    const asked = clock.monotonic();
    await clock.run(queue.request(callOf(index, attempt, { priority: 'person' })));
    waits.push(clock.monotonic() - asked);
  }
  await clock.run(bulk);
  expect(Math.max(...waits)).toBeLessThan(5000);
});

test('two classes on one budget are joined', async () => {
  const clock = createVirtualClock();
  const random = seeded(4);
  const joined: string[] = [];
  const queue = createRequestQueue({
    clock,
    random,
    concurrency: 10,
    onEvent: (event) => event.kind === 'joined' && joined.push(event.classes.toSorted().join(' ')),
  });
  const attempt = simulatedServer({ limiter: fixedWindow(100, MINUTE), calls: 0 }, clock, random);
  const classes = ['read', 'write'] as const;
  const calls = Array.from({ length: 300 }, (_, index) =>
    queue.request(callOf(index, attempt, { class: classes[index % 2] ?? 'read' })),
  );
  await clock.run(Promise.all(calls));
  expect(joined).toEqual(['read write']);
  expect(queue.snapshot().outcomes.refused).toBeLessThanOrEqual(1);
});

test('two classes with a budget each stay apart', async () => {
  const clock = createVirtualClock();
  const random = seeded(5);
  const joined: unknown[] = [];
  const onEvent = (event: { kind: string }) => event.kind === 'joined' && joined.push(event);
  const queue = createRequestQueue({ clock, random, concurrency: 10, onEvent });
  const reads = simulatedServer({ limiter: fixedWindow(100, MINUTE), calls: 0 }, clock, random);
  const writes = simulatedServer({ limiter: fixedWindow(100, MINUTE), calls: 0 }, clock, random);
  const calls = Array.from({ length: 300 }, (_, index) =>
    queue.request(index % 3 === 0 ? callOf(index, writes, { class: 'write' }) : callOf(index, reads)),
  );
  await clock.run(Promise.all(calls));
  expect(joined).toEqual([]);
  expect(queue.snapshot().outcomes.refused).toBe(0);
});
