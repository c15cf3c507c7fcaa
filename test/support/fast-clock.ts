import { type Clock, systemClock } from '../../src/core/clock.ts';

/** The machine's clock, so many times as fast since `epoch` (milliseconds), for what runs in real processes. */
export function createFastClock(epoch: number, factor: number): Clock {
  return {
    now: () => epoch + (systemClock.now() - epoch) * factor,
    monotonic: () => systemClock.monotonic() * factor,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / factor, signal),
  };
}
