import { type Clock, systemClock } from '../../src/core/clock.ts';

/** The machine's clock, accelerated by a factor since `epoch` (milliseconds), for real processes. */
export function createFastClock(epoch: number, factor: number): Clock {
  return {
    now: () => epoch + (systemClock.now() - epoch) * factor,
    monotonic: () => systemClock.monotonic() * factor,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / factor, signal),
  };
}
