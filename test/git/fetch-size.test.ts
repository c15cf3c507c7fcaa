import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { SourceError } from '../../src/core/errors.ts';
import { Checkout, type FetchLimit, limitFetch } from '../../src/git/checkout.ts';
import { makeFolder, makeRepository, runGit, type TestRepository } from './repository.ts';

const MB = 2 ** 20;
const TOO_LARGE = 'the fetch writes more than 1 MiB; move the manifests to a separate repository';

/** Clock whose sleeps take one turn of the event loop. */
const hurried: Clock = {
  ...systemClock,
  sleep: async (_milliseconds, signal) => {
    await nextTurn();
    signal?.throwIfAborted();
  },
};

let folder: string;
let origin: TestRepository;
beforeEach(() => {
  folder = makeFolder();
  origin = makeRepository(join(folder, 'origin'));
  origin.write('teams.yaml', 'teams: {}\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

const tree = () => join(folder, 'checkout/tree');
const open = (fetchLimit: FetchLimit) =>
  new Checkout({
    url: origin.directory,
    ref: 'main',
    directory: join(folder, 'checkout'),
    path: '.',
    timeout: 20_000,
    fetchLimit,
  });
/** Kilobytes of objects, complete and incomplete. */
const stored = () => {
  const counts = new Map(
    runGit(tree(), ['count-objects', '-v'])
      .split('\n')
      .map((line) => line.split(': ') as [string, string]),
  );
  return ['size', 'size-pack', 'size-garbage'].reduce((sum, name) => sum + Number(counts.get(name)), 0);
};

describe.each([
  ['at its end', systemClock],
  ['while it runs', hurried],
])('a fetch that is checked %s', (_name, clock) => {
  test('is refused if it is too large, and leaves the last good commit and nothing else', async () => {
    const good = origin.commit('Small');
    const checkout = open({ clock, maxSize: MB });
    expect(await checkout.sync()).toMatchObject({ commit: good });
    const before = stored();
    origin.write('large.bin', randomBytes(8 * MB).toString('base64'));
    origin.commit('Large');
    await expect(checkout.sync()).rejects.toThrow(new SourceError(TOO_LARGE));
    await expect(checkout.sync()).rejects.toThrow(new SourceError(TOO_LARGE));
    expect(stored()).toBeLessThanOrEqual(before);
    expect(readFileSync(join(tree(), 'teams.yaml'), 'utf8')).toBe('teams: {}\n');
    expect(existsSync(join(tree(), 'large.bin'))).toBe(false);
    origin.git('reset', '--quiet', '--hard', good);
    origin.write('teams.yaml', 'teams: { a: {} }\n');
    const next = origin.commit('Small again');
    expect(await checkout.sync()).toMatchObject({ commit: next });
  });

  test('counts only what it writes itself', async () => {
    const checkout = open({ clock, maxSize: MB });
    for (let round = 0; round < 4; round += 1) {
      origin.write(`part-${round}.bin`, randomBytes(MB / 3).toString('base64'));
      const commit = origin.commit(`Part ${round}`);
      expect(await checkout.sync()).toMatchObject({ commit });
    }
  });
});

test('a fetch that ends with another error reports that error, and its files stay', async () => {
  const failing = limitFetch(folder, { clock: systemClock }, undefined, () => Promise.reject(new Error('no route')));
  await expect(failing).rejects.toThrow('no route');
});

test('a fetch stops when its caller does', async () => {
  const aborting = new AbortController();
  const reasons: unknown[] = [];
  await limitFetch(folder, { clock: systemClock }, aborting.signal, async (signal) => {
    aborting.abort('stopped');
    reasons.push(signal.reason);
  });
  expect(reasons).toEqual(['stopped']);
});
