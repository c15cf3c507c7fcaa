import { describe, expect, test } from 'vitest';
import type { RequestQueue } from '../../src/queue/dispatcher.ts';
import { isWorthSaving, type QueueMemory } from '../../src/queue/memory.ts';
import { fixedWindow, type Limiter, tokenBucket } from '../support/rate-limiters.ts';
import { SimulatedServer } from '../support/rate-simulator.ts';

const MINUTE = 60_000;
const OWNER = 'digest';

async function ask(server: SimulatedServer, queue: RequestQueue, count: number): Promise<void> {
  await server.clock.run(Promise.all(Array.from({ length: count }, () => queue.request(server.call()))));
}

/** Returns the saved state of a queue with `left` of 60 requests a minute remaining, on a server 8 s ahead. */
async function memoryOf(left: number, limits: Record<string, Limiter> = { all: fixedWindow(60, MINUTE) }) {
  const server = new SimulatedServer({ limits, skew: 8000 });
  const queue = server.queue({ owner: OWNER });
  await ask(server, queue, 60 - left);
  await server.clock.run(queue.drain(1000));
  const memory = queue.remember();
  return { server, limits, memory: JSON.parse(JSON.stringify(memory)) as QueueMemory };
}

/** Restarts the queue under load, and returns the requests made in the rest of the window and the number of 429s. */
async function restart(server: SimulatedServer, memory: unknown, owner: string | undefined = OWNER) {
  const queue = server.queue({ owner, memory });
  const before = server.counted.values().next().value ?? 0;
  const end = (Math.floor(server.now / MINUTE) + 1) * MINUTE;
  const all = Promise.all(Array.from({ length: 100 }, () => queue.request(server.call())));
  await server.clock.advance(end - server.now - 1);
  const made = (server.counted.values().next().value ?? 0) - before;
  await server.clock.run(all);
  return { made, refused: queue.snapshot().outcomes.refused };
}

describe('a queue with saved state', () => {
  test('sends only the remaining requests before the reset', async () => {
    const { server, memory } = await memoryOf(10);
    expect(memory.budgets).toMatchObject([{ classes: ['read'], limit: 60, remaining: 10, refill: null }]);
    const { made, refused } = await restart(server, memory);
    expect(made).toBeLessThanOrEqual(10);
    expect(made).toBeGreaterThan(0);
    expect(refused).toBe(0);
  });

  test('sends nothing before the reset if no requests remain', async () => {
    const { server, memory } = await memoryOf(0);
    expect(await restart(server, memory)).toEqual({ made: 0, refused: 0 });
    const withoutState = await memoryOf(0);
    expect((await restart(withoutState.server, undefined)).refused).toBe(1);
  });

  test('recognizes a token bucket immediately', async () => {
    const { server, memory } = await memoryOf(-400, { all: tokenBucket(10, 50) });
    const queue = server.queue({ owner: OWNER, memory });
    expect(queue.snapshot().budgets.find(({ classes }) => classes.includes('read'))?.refillRate).toBeCloseTo(10, 0);
    await ask(server, queue, 200);
    expect(queue.snapshot().outcomes.refused).toBe(0);
  });

  test('waits for the end of a saved cooldown', async () => {
    const { server, memory } = await memoryOf(20);
    const [budget] = memory.budgets;
    const closedUntil = server.now + 5000;
    const queue = server.queue({ owner: OWNER, memory: { ...memory, budgets: [{ ...budget, closedUntil }] } });
    await ask(server, queue, 1);
    expect(server.now).toBeGreaterThanOrEqual(closedUntil);
  });
});

describe('invalid or outdated saved state', () => {
  test.each<[string, (memory: QueueMemory) => unknown]>([
    ['another owner', (memory) => ({ ...memory, owner: 'other' })],
    ['a window that has ended', (memory) => ({ ...memory, budgets: withReset(memory, -1) })],
    ['a window longer than possible', (memory) => ({ ...memory, budgets: withReset(memory, 10 * MINUTE) })],
    ['a date in the future', (memory) => ({ ...memory, savedAt: memory.savedAt + 1000 })],
    ['another version', (memory) => ({ ...memory, version: 2 })],
    ['not an object', () => 'nonsense'],
  ])('is ignored: %s', async (_, change) => {
    const { server, memory } = await memoryOf(30);
    const queue = server.queue({ owner: OWNER, memory: change(memory) });
    expect(queue.snapshot()).toEqual(server.queue({ owner: OWNER }).snapshot());
    await ask(server, queue, 30);
    expect(queue.snapshot().outcomes.refused).toBe(0);
  });
});

test('saves no state without an owner, and no token', async () => {
  const { server, memory } = await memoryOf(10);
  expect(server.queue().remember()).toBeNull();
  expect(Object.keys(memory).toSorted()).toEqual(['ahead', 'budgets', 'owner', 'savedAt', 'version']);
});

function withReset({ budgets, savedAt, ahead }: QueueMemory, inMilliseconds: number) {
  return budgets.map((budget) => ({ ...budget, resetAt: savedAt + (ahead ?? 0) + inMilliseconds }));
}

describe('isWorthSaving', () => {
  /** Returns how often a queue is saved in `minutes`, every 10 s, while it sends nothing; and after one more request. */
  async function countSaves(limits: Record<string, Limiter>, minutes: number) {
    const server = new SimulatedServer({ limits });
    const queue = server.queue({ owner: OWNER });
    let saved: QueueMemory | null = null;
    let saves = 0;
    const save = () => {
      const memory = queue.remember();
      if (isWorthSaving(memory, saved)) {
        saved = memory;
        saves += 1;
      }
    };
    save();
    const counts = [saves];
    for (let round = 0; round < 2; round += 1) {
      await ask(server, queue, 3);
      for (let tick = 0; tick < minutes * 6; tick += 1) {
        save();
        await server.clock.advance(10_000);
      }
      counts.push(saves);
    }
    return counts;
  }

  test('saves after requests, and not while nothing is sent', async () => {
    expect(await countSaves({ all: fixedWindow(60, MINUTE) }, 5)).toEqual([0, 1, 2]);
    expect(await countSaves({}, 5)).toEqual([0, 0, 0]);
    const [before, first = 0, second = 0] = await countSaves({ all: tokenBucket(0.2, 10) }, 5);
    expect(before).toBe(0);
    expect(first).toBe(1);
    expect(second).toBe(2);
  });
});
