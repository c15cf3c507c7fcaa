/** Work that exists once in a fleet, while the database cannot be used. */
import { expect, test } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { DaemonNotifications } from '../../../src/daemon/notifications.ts';
import { HeldLease } from '../../../src/fleet/own-leases.ts';
import type { Lease } from '../../../src/store/leases.ts';
import { createVirtualClock } from '../../queue/virtual-clock.ts';

function openWork(failures: number) {
  const clock = createVirtualClock();
  const events: string[] = [];
  let left = failures;
  const fenced = ({ epoch }: Lease) => ({
    notifications: () => ({
      retainReporters: async () => {
        left -= 1;
        if (left >= 0) {
          throw new StoreError('the database is gone');
        }
      },
      recover: async () => void events.push(`start ${epoch}`),
    }),
  });
  const context = {
    ...{ clock, dryRun: true, store: { fenced }, log: { error: () => undefined } },
    metrics: { channels: () => undefined, firing: () => void events.push('stop') },
  };
  const work = new DaemonNotifications(context as never, [], () => []);
  const claim = (epoch: number) => {
    const lease = new HeldLease({ name: 'fleet', epoch, sequence: epoch, claimedAt: 0 }, () => 60_000);
    work.begin(lease);
    return lease;
  };
  return { clock, events, work, claim };
}

test('starts again after the database could not be used', async () => {
  const { clock, events, work, claim } = openWork(3);
  await work.start();
  claim(1);
  await clock.advance(14_000);
  expect(events).toEqual([]);
  await clock.advance(60_000);
  expect(events).toEqual(['start 1']);
});

test('does not start again under a lease that ended meanwhile', async () => {
  const { clock, events, work, claim } = openWork(1);
  await work.start();
  const first = claim(1);
  await clock.advance(1000);
  first.end();
  await work.end();
  claim(2);
  await clock.advance(60_000);
  expect(events).toEqual(['stop', 'start 2']);
});
