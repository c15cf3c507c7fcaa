/** Charts: their shapes, sentences and tables. */
import { expect, test } from 'vitest';
import { type RunResult, runStrip, spark, stepLine } from '../../../src/web/html/charts.ts';
import type { Html } from '../../../src/web/model/page.ts';

const AT = Date.parse('2026-11-21T12:00:00Z');
const textOf = async (chart: Html) => String(await chart);
const count = (text: string, part: string) => text.split(part).length - 1;

/** Heights of the bars. */
const heightsOf = async (chart: Html) =>
  [...(await textOf(chart)).matchAll(/<rect[^>]* height="([\d.]+)"/g)].map(([, height]) => Number(height));

const runs = (count: number): RunResult[] =>
  Array.from({ length: count }, (_, index) => ({
    outcome: (['done', 'held', 'failed'] as const)[index % 3] ?? 'done',
    times: 1,
  }));

test('the strip of runs has a bar for each, and says what they are', async () => {
  const text = await textOf(runStrip(runs(60)));
  expect(text).toContain('aria-label="Last 60 runs: 20 done, 20 held, 20 failed."');
  expect(count(text, '<rect')).toBe(60 + 3);
  expect(text).toContain('20 held</li>');
  expect(text).toContain('the newest at the right:');
  const folded = await textOf(runStrip([{ outcome: 'held', times: 4 }]));
  expect(folded).toContain('Last 4 runs, the newest at the right; equal ones in a row are one bar:');
});

test('results of runs differ in height, not only in color, and the bars of a trend are as high as their numbers', async () => {
  expect(await heightsOf(runStrip(runs(3)))).toEqual([8, 14, 20, 10, 10, 10]);
  expect(await heightsOf(spark([0, 1, 2, 4], 'busy', null))).toEqual([1, 5, 10, 20]);
  expect(await heightsOf(spark([-3, 0, 1, 1000], 'busy', null))).toEqual([1, 1, 3, 20]);
});

test('the step line holds a value until the next one, leaves gaps for unknown ones and marks refusals', async () => {
  const steps = [100, 50, null, 25].map((value, index) => ({
    at: AT + index * 60_000,
    value,
    marks: index === 1 ? 4 : 0,
  }));
  const text = await textOf(
    stepLine({ id: 'b', sentence: '25 remain.', steps, top: 100, names: ['remaining', 'refused'] }),
  );
  expect(text).toContain('d="M0 2H200V60H400M600 89"');
  expect(count(text, 'height="30"')).toBe(1);
  expect(text).toContain('<td>unknown</td>');
  expect(text).toContain('12:03 UTC');
});

test('a small chart is an image with a name, or hidden where words say the same', async () => {
  expect(await textOf(spark([1], 'ok', '<b>"'))).toMatch(/ role="img" aria-label="&lt;b&gt;&quot;">/);
  expect(await textOf(spark([1], 'ok', null))).toContain('aria-hidden="true"');
});
