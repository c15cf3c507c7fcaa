import { beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { IdleMemory } from '../../src/daemon/subscribe.ts';
import type { PassEnd } from '../../src/reconcile/pass.ts';

const END = {} as PassEnd;

let sleepers: (() => void)[];
let released: number;
let stop: AbortController;
let memory: IdleMemory;

/** Ends every sleep that was not aborted. */
async function wakeUp(): Promise<void> {
  for (const wake of sleepers.splice(0)) {
    wake();
  }
  await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(() => {
  sleepers = [];
  released = 0;
  stop = new AbortController();
  const clock: Clock = {
    now: () => 0,
    monotonic: () => 0,
    sleep: (_milliseconds, signal) =>
      new Promise((resolve, reject) => {
        sleepers.push(resolve);
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  };
  memory = new IdleMemory(clock, stop.signal, () => {
    released += 1;
  });
});

describe('IdleMemory', () => {
  test('releases memory once after the last pass', async () => {
    const { onPassStart, onPassEnd } = memory.events();
    onPassStart?.('start');
    onPassEnd?.(END);
    await wakeUp();
    await wakeUp();
    expect(released).toBe(1);
  });

  test('waits again if another pass starts meanwhile, or is still running', async () => {
    const [a, b] = [memory.events(), memory.events()];
    a.onPassStart?.('start');
    b.onPassStart?.('start');
    a.onPassEnd?.(END);
    await wakeUp();
    expect(released).toBe(0);
    b.onPassEnd?.(END);
    a.onPassStart?.('schedule');
    await wakeUp();
    expect(released).toBe(0);
    a.onPassEnd?.(END);
    await wakeUp();
    expect(released).toBe(1);
  });

  test('does nothing once the daemon stops', async () => {
    const { onPassStart, onPassEnd } = memory.events();
    onPassStart?.('start');
    onPassEnd?.(END);
    stop.abort();
    await wakeUp();
    expect(released).toBe(0);
  });
});
