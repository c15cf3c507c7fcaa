// Releases in batches, also after one of them failed.
import { expect, test } from 'vitest';
import { ReleaseQueue } from '../../src/fleet/shared-leases.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

test('what is added within 20 ms, or while a release runs, is released together', async () => {
  const clock = createVirtualClock();
  const batches: string[][] = [];
  const queue = new ReleaseQueue<string>(clock, async (items) => {
    batches.push([...items]);
    await clock.sleep(50);
  });
  const added = [queue.add(['a'])];
  for (const item of ['b', 'c', 'd', 'e', 'f', 'g']) {
    await clock.advance(10);
    added.push(queue.add([item]));
  }
  await clock.run(Promise.all(added));
  expect(batches).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e', 'f', 'g'],
  ]);
  await clock.run(queue.add(['h']));
  expect(batches.at(-1)).toEqual(['h']);
});

test('a release that fails rejects for those who wait, and the next one is tried', async () => {
  const clock = createVirtualClock();
  const released: string[] = [];
  let isGone = true;
  const queue = new ReleaseQueue<string>(clock, async (items) => {
    if (isGone) {
      throw new Error('the database is gone');
    }
    released.push(...items);
  });
  await expect(clock.run(queue.add(['a']))).rejects.toThrow('the database is gone');
  isGone = false;
  await clock.run(queue.add(['b']));
  expect(released).toEqual(['b']);
});

test('nothing to release holds back no later release', async () => {
  const clock = createVirtualClock();
  const released: string[] = [];
  const queue = new ReleaseQueue<string>(clock, async (items) => void released.push(...items));
  await clock.run(queue.add([]));
  await clock.run(queue.add(['a']));
  expect(released).toEqual(['a']);
});
