import { describe, expect, test } from 'vitest';
import type { QueueMemory } from '../../src/queue/rate-limit/memory.ts';
import type { RequestQueue } from '../../src/queue/schedule/request-queue.ts';
import { fixedWindow, type Limiter, tokenBucket } from '../support/rate-limiters.ts';
import { SimulatedServer } from '../support/rate-simulator.ts';

const MINUTE = 60_000;
const OWNER = 'digest';

async function ask(server: SimulatedServer, queue: RequestQueue, count: number): Promise<void> {
  await server.clock.run(Promise.all(Array.from({ length: count }, () => queue.request(server.call()))));
}

/** What a queue remembers that used all but so many of 60 calls a minute, on a server 8 s ahead. */
async function memoryOf(left: number, limits: Record<string, Limiter> = { all: fixedWindow(60, MINUTE) }) {
  const server = new SimulatedServer({ limits, skew: 8000 });
  const queue = server.queue({ owner: OWNER });
  await ask(server, queue, 60 - left);
  await server.clock.run(queue.drain(1000));
  const memory = queue.remember();
  return { server, limits, memory: JSON.parse(JSON.stringify(memory)) as QueueMemory };
}

/** Calls that are made in what is left of the window, if more wait than it allows, and how many were refused. */
async function goOn(server: SimulatedServer, memory: unknown, owner: string | undefined = OWNER) {
  const queue = server.queue({ owner, memory });
  const before = server.counted.values().next().value ?? 0;
  const end = (Math.floor(server.now / MINUTE) + 1) * MINUTE;
  const all = Promise.all(Array.from({ length: 100 }, () => queue.request(server.call())));
  await server.clock.advance(end - server.now - 1);
  const made = (server.counted.values().next().value ?? 0) - before;
  await server.clock.run(all);
  return { made, refused: queue.snapshot().outcomes.refused };
}

describe('a queue that remembers', () => {
  test('what is left of the window is all that it sends before the reset', async () => {
    const { server, memory } = await memoryOf(10);
    expect(memory.budgets).toMatchObject([{ classes: ['read'], limit: 60, remaining: 10, refill: null }]);
    const { made, refused } = await goOn(server, memory);
    expect(made).toBeLessThanOrEqual(10);
    expect(made).toBeGreaterThan(0);
    expect(refused).toBe(0);
  });

  test('that nothing is left asks for nothing before the reset', async () => {
    const { server, memory } = await memoryOf(0);
    expect(await goOn(server, memory)).toEqual({ made: 0, refused: 0 });
    const forgetful = await memoryOf(0);
    expect((await goOn(forgetful.server, undefined)).refused).toBe(1);
  });

  test('a bucket knows it at once for one', async () => {
    const { server, memory } = await memoryOf(-400, { all: tokenBucket(10, 50) });
    const queue = server.queue({ owner: OWNER, memory });
    expect(queue.snapshot().budgets.find(({ classes }) => classes.includes('read'))?.refill).toBeCloseTo(10, 0);
    await ask(server, queue, 200);
    expect(queue.snapshot().outcomes.refused).toBe(0);
  });

  test('a refusal is not tried again before its time', async () => {
    const { server, memory } = await memoryOf(20);
    const [budget] = memory.budgets;
    const closedUntil = server.now + 5000;
    const queue = server.queue({ owner: OWNER, memory: { ...memory, budgets: [{ ...budget, closedUntil }] } });
    await ask(server, queue, 1);
    expect(server.now).toBeGreaterThanOrEqual(closedUntil);
  });
});

describe('does no harm', () => {
  test.each<[string, (memory: QueueMemory) => unknown]>([
    ['of another owner', (memory) => ({ ...memory, owner: 'other' })],
    ['of a window that is over', (memory) => ({ ...memory, budgets: withReset(memory, -1) })],
    ['of a window that cannot be so long', (memory) => ({ ...memory, budgets: withReset(memory, 10 * MINUTE) })],
    ['of a time to come', (memory) => ({ ...memory, savedAt: memory.savedAt + 1000 })],
    ['of another version', (memory) => ({ ...memory, version: 2 })],
    ['that is none', () => 'nonsense'],
  ])('a memory %s', async (_, change) => {
    const { server, memory } = await memoryOf(30);
    const queue = server.queue({ owner: OWNER, memory: change(memory) });
    expect(queue.snapshot()).toEqual(server.queue({ owner: OWNER }).snapshot());
    await ask(server, queue, 30);
    expect(queue.snapshot().outcomes.refused).toBe(0);
  });

  test('a memory of less than there is: the first answer corrects it', async () => {
    const { server, memory } = await memoryOf(40);
    const queue = server.queue({
      owner: OWNER,
      memory: { ...memory, budgets: memory.budgets.map((budget) => ({ ...budget, remaining: 2 })) },
    });
    const start = server.now;
    await ask(server, queue, 40);
    expect(server.now - start).toBeLessThan(2000);
  });

  test('a memory of more than there is: what was refused goes out after the reset', async () => {
    const { server, memory } = await memoryOf(5);
    const queue = server.queue({
      owner: OWNER,
      memory: { ...memory, budgets: memory.budgets.map((budget) => ({ ...budget, remaining: 60 })) },
    });
    await ask(server, queue, 60);
    expect(queue.snapshot().outcomes.answered).toBe(60);
    expect(queue.snapshot().outcomes.refused).toBeLessThanOrEqual(20);
  });
});

test('without an owner nothing is remembered, and a token is nowhere in what is', async () => {
  const { server, memory } = await memoryOf(10);
  expect(server.queue().remember()).toBeNull();
  expect(Object.keys(memory).toSorted()).toEqual(['ahead', 'budgets', 'owner', 'savedAt', 'version']);
});

function withReset({ budgets, savedAt, ahead }: QueueMemory, inMilliseconds: number) {
  return budgets.map((budget) => ({ ...budget, resetAt: savedAt + (ahead ?? 0) + inMilliseconds }));
}
