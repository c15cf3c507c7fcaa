import { expect, test } from 'vitest';
import { RateLimitedError, RejectedError } from '../../src/core/errors.ts';
import { upsertPull } from '../../src/forge/drift.ts';
import type { OpenPull, PullText } from '../../src/forge/forge.ts';
import type { Pulls } from '../../src/forge/open-forge.ts';
import { createInstantClock } from './samples.ts';

const BRANCHES = { from: 'octavo/drift/org_1', into: 'main' };
const TEXT = { title: 'Drift', body: 'What drifted' };

/** In-memory pull requests whose creation first fails with these errors. */
function pullsWith(errors: Error[]) {
  const open: OpenPull[] = [];
  const make = async (_branches: unknown, text: PullText) => {
    const error = errors.shift();
    if (error !== undefined) {
      throw error;
    }
    open.push({ number: open.length + 1, url: null, head: undefined, ...text });
    return open.at(-1) as OpenPull;
  };
  const pulls = {
    label: 'Memory',
    maxLength: 1000,
    findOpen: async () => open[0] ?? null,
    open: make,
  } as unknown as Pulls;
  return { pulls, open };
}

test('opens a pull request after a rate limit has passed', async () => {
  const { pulls, open } = pullsWith([new RateLimitedError('slow', 5000), new RateLimitedError('slow', null)]);
  const clock = createInstantClock();
  expect(await upsertPull(pulls, BRANCHES, TEXT, clock)).toMatchObject({ outcome: 'opened' });
  expect(clock.waits).toEqual([5000, 60_000]);
  expect(open).toHaveLength(1);
});

test('reports a refused pull request that does not exist', async () => {
  const { pulls, open } = pullsWith([new RejectedError('no', 422)]);
  await expect(upsertPull(pulls, BRANCHES, TEXT, createInstantClock())).rejects.toMatchObject({ status: 422 });
  expect(open).toEqual([]);
});
