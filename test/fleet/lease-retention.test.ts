/** Removal of unused leases and states, which waits until all organizations of the configuration are known. */
import { expect, test } from 'vitest';
import { LEASE_RETENTION, LeaseRetention } from '../../src/fleet/shared-leases.ts';

const HOUR = 3_600_000;

test('nothing is removed while an organization file is invalid, nor in the hour after', async () => {
  const removed: number[] = [];
  let now = 0;
  let isComplete = false;
  const table = { removeUnused: async (age: number) => void removed.push(age) };
  const retention = new LeaseRetention(table, { monotonic: () => now }, () => isComplete);
  for (; now < 10 * 24 * HOUR; now += HOUR) {
    await retention.apply(true);
  }
  await retention.apply(true);
  isComplete = true;
  await retention.apply(true);
  expect(removed).toEqual([]);
  now += HOUR;
  await retention.apply(false);
  expect(removed).toEqual([]);
  await retention.apply(true);
  expect(removed).toEqual([LEASE_RETENTION]);
});
