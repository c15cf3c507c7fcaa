// Virtual clock for tests.
import TinyQueue from 'tinyqueue';
import type { Clock } from '../../src/core/clock.ts';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
  off: boolean;
}

/** Clock that jumps to the next timer as soon as no other work is left. */
export interface VirtualClock extends Clock {
  /** Runs until the promise settles; fails if no timer is left that could settle it. */
  run<T>(promise: Promise<T>): Promise<T>;
  /** Runs everything that is due within this time. Calls `onStep` after each timer. */
  advance(milliseconds: number, onStep?: () => void): Promise<void>;
  /** Lets promises settle without moving time. */
  settle(): Promise<void>;
}

/**
 * Starts at monotonic 1000; `wallOffset` is the wall clock minus that. Time does not advance until `quiet`
 * resolves; use it for work that takes real time.
 */
export function createVirtualClock(wallOffset = 1_750_000_000_000, quiet = async () => {}): VirtualClock {
  let time = 1000;
  let order = 0;
  const timers = new TinyQueue<Timer>([], (a, b) => a.at - b.at || a.order - b.order);
  const settle = async () => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    await quiet();
  };

  function next(): Timer | undefined {
    while (timers.peek()?.off) {
      timers.pop();
    }
    return timers.peek();
  }

  async function step(): Promise<void> {
    const timer = timers.pop();
    time = Math.max(time, timer?.at ?? time);
    timer?.fire();
    await settle();
  }

  return {
    now: () => time + wallOffset,
    monotonic: () => time,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const stop = () => {
          timer.off = true;
          reject(signal?.reason);
        };
        const fire = () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const timer: Timer = { at: time + milliseconds, order: order++, fire, off: false };
        timers.push(timer);
        signal?.addEventListener('abort', stop, { once: true });
      }),
    async run(promise) {
      let settled = false;
      const mark = () => {
        settled = true;
      };
      promise.then(mark, mark);
      await settle();
      while (!settled) {
        if (next() === undefined) {
          throw new Error('nothing is left to wait for, and the promise has not settled');
        }
        await step();
      }
      return promise;
    },
    async advance(milliseconds, onStep) {
      const until = time + milliseconds;
      await settle();
      for (let timer = next(); timer !== undefined && timer.at <= until; timer = next()) {
        await step();
        onStep?.();
      }
      time = until;
    },
    settle,
  };
}
