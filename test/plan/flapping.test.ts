import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/core/change.ts';
import { describeFlapping, flappingPause, isFlapping, type Revert, updateReverts } from '../../src/plan/flapping.ts';
import { actual, planOf, short } from '../support/planning.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.parse('2026-06-01T00:00:00Z');

const { plan } = await planOf({
  manifests: 'teams: { a: { title: A } }',
  base: 'teams: { a: { title: A } }',
  ids: { 'team/a': 't1' },
  actuals: [actual('team', 't1', { title: 'B' })],
});
const [renamed] = plan.changes as [Change];
const found = (value: string): Change => ({ ...renamed, fields: [{ path: 'title', from: value, to: 'A' }] });

const revert = (over: Partial<Revert> = {}): Revert => ({
  address: 'team/a',
  kind: 'team',
  path: 'title',
  times: 3,
  at: NOW,
  seen: [{ at: NOW, value: 'B' }],
  ...over,
});

describe('a plan', () => {
  const manifests = 'teams: { a: { title: A } }';
  const input = {
    manifests,
    base: manifests,
    ids: { 'team/a': 't1' },
    actuals: [actual('team', 't1', { title: 'B' })],
  };

  test('pauses a field that was reverted three times, and shows the values seen there', async () => {
    const seen = [
      { at: NOW - 2, value: 'C' },
      { at: NOW - 1, value: 'B' },
    ];
    const planned = await planOf({ ...input, policy: { reverts: [revert({ seen })] } });
    expect(planned.plan.changes[0]?.paused).toEqual({
      reason: 'title is flapping: reverted 3 times and changed back each time, last to "B", before that to "C"',
      until: '2026-06-01T00:10Z',
    });
    expect(planned.plan.summary).toMatchObject({ paused: 1, update: 0 });
  });

  test.each<[string, Parameters<typeof planOf>[0], string]>([
    [
      'ends the cooldown when the clock was set back',
      { ...input, policy: { reverts: [revert({ at: NOW + DAY })] } },
      'update team/a title',
    ],
    [
      'reverts both fields when another one has drifted too',
      {
        manifests: 'sites: { s: { title: Aa, visibility: public } }',
        base: 'sites: { s: { title: Aa, visibility: public } }',
        ids: { 'site/s': 's1' },
        actuals: [actual('site', 's1', { title: 'Bb', visibility: 'unlisted' })],
        policy: { reverts: [revert({ address: 'site/s', kind: 'site' })] },
      },
      'update site/s title visibility',
    ],
  ])('%s', async (_name, planCase, expected) => {
    expect(short(await planOf(planCase)).map((line) => line.replace(',', ''))).toEqual([expected]);
  });
});

test('shows values shortened and without control characters', () => {
  const words = describeFlapping(revert({ seen: [{ at: 0, value: `\u001b[31m${'x'.repeat(100)}` }] }));
  expect(words).not.toContain('\u001b');
  expect(words.length).toBeLessThan(160);
});

/** Simulates passes every few minutes while something changes the field back after a delay, until it gives up. */
function simulate(
  every: number,
  answersAfter: number,
  givesUp: number,
): { reverted: number[]; left: readonly Revert[] } {
  const reverted: number[] = [];
  let known: readonly Revert[] = [];
  let changedAt = 0;
  for (let now = 0; now < givesUp + 3 * DAY; now += every) {
    const isChanged = now >= changedAt && changedAt < givesUp;
    const change = found(`by someone else, ${reverted.length}`);
    const drift = new Set(isChanged ? [change] : []);
    const acts = isChanged && flappingPause(change, known, now) === null;
    known = updateReverts(known, { drift, applied: acts ? [change] : [], now });
    if (acts) {
      reverted.push(now);
      changedAt = now + answersAfter;
    }
  }
  return { reverted, left: known };
}

test('reverts a flapping field less and less often, never stops, and forgets it once it is left alone', () => {
  const minutes = (min: number, max: number) => fc.integer({ min, max }).map((count) => count * MINUTE);
  fc.assert(
    fc.property(minutes(1, 30), minutes(1, 120), minutes(60, 5 * 24 * 60), (every, answersAfter, givesUp) => {
      const { reverted, left } = simulate(every, answersAfter, givesUp);
      const gaps = reverted.slice(1).map((at, index) => at - (reverted[index] ?? 0));
      // Never more than a cooldown, an interval of passes and the delay of the other side.
      expect(Math.max(0, ...gaps)).toBeLessThanOrEqual(6 * HOUR + answersAfter + every);
      // From the third on, every gap is at least its cooldown.
      for (const [index, gap] of gaps.entries()) {
        expect(gap).toBeGreaterThanOrEqual(index < 2 ? 0 : Math.min(10 * MINUTE * 2 ** (index - 2), 6 * HOUR));
      }
      expect(reverted.length).toBeLessThanOrEqual(9 + givesUp / (6 * HOUR));
      expect(left.filter(isFlapping)).toEqual([]);
    }),
  );
});
