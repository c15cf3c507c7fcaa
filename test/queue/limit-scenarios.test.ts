// Random platforms without rate-limit headers: 429s and time over floor, for each kind of limit.
import { describe, expect, test } from 'vitest';
import { countCases, SEED, SIZE } from '../support/campaign.ts';
import { drawScenario, FAMILIES, type Family, judge, VARIANTS, type Variant } from '../support/limit-scenarios.ts';

interface Summary {
  readonly mean: number;
  readonly p90: number;
  readonly p95: number;
  readonly max: number;
}

const CASES = countCases({ sample: 40, ci: 100, full: 300 });

function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const quantile = (share: number) => sorted[Math.floor(share * sorted.length)] ?? 0;
  return { mean, p90: quantile(0.9), p95: quantile(0.95), max: sorted.at(-1) ?? 0 };
}

/** Simulates random scenarios, which change with the commit. */
function judgeAll(family: Family, variant: Variant) {
  const figures = Array.from(
    { length: CASES },
    (_, index) => judge(drawScenario(SEED + index, family, variant)) ?? [],
  ).flat();
  return {
    unforeseen: summarize(figures.map((each) => each.unforeseen)),
    learning: summarize(figures.map((each) => each.learning)),
    relearning: summarize(figures.flatMap((each) => each.relearning ?? [])),
    ratio: summarize(figures.map((each) => each.ratio)),
  };
}

// Goals: 5 own 429s and 1.05 of the floor on average; the tolerances are for the small sample.
describe('a fixed window of any length is used in full, with few 429s', () => {
  test.each<[Family, Variant, number]>([
    ['clock', 'plain', 1.08],
    ['clock', 'skew', 1.08],
    ['first call', 'plain', 1.14],
    ['first call', 'skew', 1.14],
  ])('%s, %s', (family, variant, ratio) => {
    const { learning, ...judged } = judgeAll(family, variant);
    expect(learning.mean).toBeLessThanOrEqual(10);
    expect(learning.p90).toBeLessThanOrEqual(14);
    expect(judged.ratio.mean).toBeLessThanOrEqual(ratio);
  });

  test.each<[Family, number]>([
    ['clock', 1.12],
    ['first call', 1.16],
  ])('%s, and learned again after a change', (family, ratio) => {
    const { learning, relearning, ...judged } = judgeAll(family, 'changed');
    expect(learning.p90).toBeLessThanOrEqual(14);
    expect(relearning.p90).toBeLessThanOrEqual(20);
    expect(judged.ratio.mean).toBeLessThanOrEqual(ratio);
  });

  test.each<Family>(['clock', 'first call'])('%s, with at most a few 429s if they have Retry-After', (family) => {
    const { learning, ratio } = judgeAll(family, 'retry-after');
    expect(learning.p90).toBeLessThanOrEqual(8);
    expect(ratio.mean).toBeLessThanOrEqual(1.1);
  });
});

describe('another kind of limit is used in large part', () => {
  test.each<[Family, Variant, number]>([
    ['bucket', 'plain', 1.15],
    ['sliding counter', 'plain', 1.5],
    ['sliding log', 'plain', 1.75],
    ['bucket', 'retry-after', 1.3],
    ['sliding counter', 'retry-after', 1.4],
    ['sliding log', 'retry-after', 1.5],
    ['concurrency', 'retry-after', 1.3],
  ])('%s, %s', (family, variant, ratio) => {
    expect(judgeAll(family, variant).ratio.mean).toBeLessThanOrEqual(ratio);
  });
});

test.runIf(SIZE === 'full')('the table of all kinds is printed', () => {
  const show = ({ mean, p95, max }: Summary) => [mean, p95, max].map((each) => each.toFixed(2).padStart(8)).join('');
  const rows = FAMILIES.flatMap((family) =>
    VARIANTS.map((variant) => {
      const { unforeseen, learning, relearning, ratio } = judgeAll(family, variant);
      const columns = [unforeseen, learning, relearning, ratio].map(show).join('  ');
      return `${`${family}, ${variant}`.padEnd(30)}${columns}`;
    }),
  );
  const header = '429s in flight at the first one, while learning, after a change; time over floor: mean, p95, max';
  process.stdout.write(`${header}\n${rows.join('\n')}\n`);
  expect(rows.length).toBe(FAMILIES.length * VARIANTS.length);
});
