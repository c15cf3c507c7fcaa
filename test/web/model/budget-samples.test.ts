/** Samples of queues. */
import { expect, test } from 'vitest';
import { BudgetSamples, SAMPLED_PERIOD, sampleInterval } from '../../../src/web/model/budget-samples.ts';
import { someBudget, someQueue } from '../some-backend.ts';

const refused = (count: number) => ({ outcomes: { ...someQueue().outcomes, refused: count } });

test('a sample has what waits, what remains, and the refusals since the sample before', () => {
  const samples = new BudgetSamples(10_000);
  expect(samples.add(0, someQueue(refused(5)))).toBe(true);
  expect(samples.add(10_000, someQueue({ ...refused(7), budgets: [someBudget({ remaining: null })] }))).toBe(true);
  expect(samples.read()).toEqual([
    { at: 0, waiting: 7, inFlight: 2, refused: 5, budgets: [{ name: 'read', limit: 100, remaining: 40 }] },
    { at: 10_000, waiting: 7, inFlight: 2, refused: 2, budgets: [{ name: 'read', limit: 100, remaining: null }] },
  ]);
});

test('takes no sample before the interval has passed, except after the clock was set back', () => {
  const samples = new BudgetSamples(10_000);
  samples.add(100_000, someQueue());
  expect(samples.add(104_000, someQueue())).toBe(false);
  expect(samples.add(109_500, someQueue())).toBe(true);
  expect(samples.add(50_000, someQueue())).toBe(true);
});

test('keeps six hours, and at most six budgets', () => {
  const samples = new BudgetSamples(10_000);
  const budgets = Array.from({ length: 9 }, (_, index) => someBudget({ operations: [`op${index}`] }));
  for (let at = 0; at < 2 * SAMPLED_PERIOD; at += 10_000) {
    samples.add(at, someQueue({ budgets }));
  }
  const kept = samples.read();
  expect(kept).toHaveLength(2160);
  expect(kept[0]?.at).toBe(SAMPLED_PERIOD);
  expect(kept[0]?.budgets).toHaveLength(6);
});

test('a budget that ended has no values in later samples', () => {
  const samples = new BudgetSamples(10_000);
  samples.add(0, someQueue({ budgets: [someBudget({ classes: ['read'] }), someBudget({ classes: ['write'] })] }));
  samples.add(10_000, someQueue({ budgets: [someBudget({ classes: ['read', 'write'] })] }));
  expect(samples.read()[1]?.budgets).toEqual([
    { name: 'read', limit: null, remaining: null },
    { name: 'write', limit: null, remaining: null },
    { name: 'read, write', limit: 100, remaining: 40 },
  ]);
});

test('the more queues, the rarer the samples, so that memory is bounded', () => {
  expect(sampleInterval(1)).toBe(10_000);
  expect(sampleInterval(69)).toBe(10_000);
  expect(sampleInterval(1000)).toBe(144_000);
});
