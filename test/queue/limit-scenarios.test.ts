// Random platforms without rate-limit headers: 429s and time over floor, for each kind of limit.
import { describe, expect, test } from 'vitest';
import { countCases, SIZE } from '../support/campaign.ts';
import { drawScenario, FAMILIES, type Family, judge, VARIANTS, type Variant } from '../support/limit-scenarios.ts';

interface Summary {
  readonly mean: number;
  readonly p95: number;
  readonly max: number;
}

const CASES = countCases({ sample: 40, ci: 100, full: 1000 });

function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  return { mean, p95: sorted[Math.floor(0.95 * sorted.length)] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** Simulates the scenarios of the first seeds. */
function judgeAll(family: Family, variant: Variant) {
  const figures = Array.from({ length: CASES }, (_, seed) => judge(drawScenario(seed, family, variant)) ?? []).flat();
  return {
    refused: summarize(figures.map((each) => each.refused)),
    ratio: summarize(figures.map((each) => each.ratio)),
  };
}

describe('a fixed window of any length is used in full, with few 429s', () => {
  test.each<[Family, Variant, number, number]>([
    ['clock', 'plain', 10, 1.06],
    ['clock', 'skew', 12, 1.08],
    ['clock', 'changed', 9, 1.1],
    ['first call', 'plain', 10, 1.12],
    ['first call', 'skew', 10, 1.12],
    ['first call', 'changed', 9, 1.15],
  ])('%s, %s', (family, variant, refused, ratio) => {
    const judged = judgeAll(family, variant);
    expect(judged.refused.mean).toBeLessThanOrEqual(refused);
    expect(judged.ratio.mean).toBeLessThanOrEqual(ratio);
  });
});

describe('another kind of limit is used in large part', () => {
  test.each<[Family, number]>([
    ['bucket', 1.15],
    ['sliding counter', 1.6],
    ['sliding log', 2],
  ])('%s', (family, ratio) => {
    expect(judgeAll(family, 'plain').ratio.mean).toBeLessThanOrEqual(ratio);
  });
});

test.runIf(SIZE === 'full')('the table of all kinds is printed', () => {
  const show = ({ mean, p95, max }: Summary) => [mean, p95, max].map((each) => each.toFixed(2).padStart(8)).join('');
  const rows = FAMILIES.flatMap((family) =>
    VARIANTS.map((variant) => {
      const { refused, ratio } = judgeAll(family, variant);
      return `${`${family}, ${variant}`.padEnd(30)}${show(refused)}   ${show(ratio)}`;
    }),
  );
  process.stdout.write(`${'429s; time over floor: mean, p95, max'.padEnd(30)}\n${rows.join('\n')}\n`);
  expect(rows.length).toBe(FAMILIES.length * VARIANTS.length);
});
