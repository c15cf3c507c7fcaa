/** Memory that a daemon releases once no pass has run for a while. */
import { expect, test } from 'vitest';
import { releaseWhenIdle } from '../../src/daemon/subscribe.ts';
import type { PassEnd } from '../../src/reconcile/pass.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

const END = {} as PassEnd;

test('memory is released once after the last pass of all organizations, unless the daemon stops', async () => {
  const clock = createVirtualClock();
  const stop = new AbortController();
  let released = 0;
  const memory = releaseWhenIdle(clock, stop.signal, () => {
    released += 1;
  });
  const [a, b] = [memory, memory];
  a.onPassStart?.('start');
  b.onPassStart?.('start');
  a.onPassEnd?.(END);
  await clock.advance(60_000);
  expect(released).toBe(0);
  // Another pass starts soon.
  b.onPassEnd?.(END);
  await clock.advance(1000);
  a.onPassStart?.('schedule');
  await clock.advance(60_000);
  expect(released).toBe(0);
  a.onPassEnd?.(END);
  await clock.advance(60_000);
  expect(released).toBe(1);

  a.onPassStart?.('schedule');
  a.onPassEnd?.(END);
  stop.abort();
  await clock.advance(60_000);
  expect(released).toBe(1);
});
