/**
 * Size and seed of the campaigns: tests of very many cases, such as a kill at every write. `npm test` runs a sample of
 * each campaign, `.ci/run` a larger one (CAMPAIGN=ci), and `npm run test:campaigns` all of it (CAMPAIGN=full).
 */
import fc from 'fast-check';
import { execFileSync } from './programs.ts';

const SIZES = ['sample', 'ci', 'full'] as const;
type Size = (typeof SIZES)[number];

/** Size of the campaigns in this run. */
export const SIZE: Size = SIZES.find((size) => size === process.env.CAMPAIGN) ?? 'sample';

/** Seed of the samples: changes with the commit, so that many commits cover the campaign. OCTAVO_SEED repeats a run. */
export const SEED = Number(process.env.OCTAVO_SEED ?? seedOfCommit());

/** Number of cases in this run. */
export function countCases(counts: Readonly<Record<Size, number>>): number {
  return counts[SIZE];
}

/** Sample of a list, in its order: `sample` items in `npm test`, `ci` items in CI (by default all), otherwise all. */
export function pickCases<T>(all: readonly T[], sample: number, ci = all.length): readonly T[] {
  const length = Math.min(all.length, countCases({ sample, ci, full: all.length }));
  const picked = fc.shuffledSubarray([...all.keys()], { minLength: length, maxLength: length });
  const indexes = fc.sample(picked, { seed: SEED, numRuns: 1 })[0] ?? [];
  return indexes.toSorted((a, b) => a - b).map((index) => all[index] as T);
}

function seedOfCommit(): number {
  try {
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return Number.parseInt(head.slice(0, 7), 16);
  } catch {
    // An archive of the source has no commits.
    return 1;
  }
}
