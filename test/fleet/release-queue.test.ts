// Releases in batches, also after one of them failed.
import { expect, test } from 'vitest';
import { ReleaseQueue } from '../../src/fleet/release-queue.ts';

test('what is added while a release runs is released together, next', async () => {
  const batches: string[][] = [];
  const queue = new ReleaseQueue<string>(async (items) => void batches.push([...items]));
  await Promise.all([queue.add(['a']), queue.add(['b', 'c']), Promise.resolve().then(() => queue.add(['d']))]);
  await queue.add(['e']);
  expect(batches.flat()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(batches[0]).toEqual(['a', 'b', 'c']);
});

test('a release that fails rejects for those who wait, and the next one is tried', async () => {
  const released: string[] = [];
  let isGone = true;
  const queue = new ReleaseQueue<string>(async (items) => {
    if (isGone) {
      throw new Error('the database is gone');
    }
    released.push(...items);
  });
  await expect(queue.add(['a'])).rejects.toThrow('the database is gone');
  isGone = false;
  await queue.add(['b']);
  expect(released).toEqual(['b']);
});
