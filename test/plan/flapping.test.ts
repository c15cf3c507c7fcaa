import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/core/change.ts';
import {
  cooldownEnd,
  describeFlapping,
  flappingPause,
  isFlapping,
  type Revert,
  updateReverts,
} from '../../src/plan/identity/flapping.ts';
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

  test('lets a field that was undone three times rest, and says what was seen there', async () => {
    const seen = [
      { at: NOW - 2, value: 'C' },
      { at: NOW - 1, value: 'B' },
    ];
    const planned = await planOf({ ...input, policy: { reverts: [revert({ seen })] } });
    expect(planned.plan.changes[0]?.paused).toEqual({
      reason: 'a fight over title: undone 3 times, and changed back each time, last to "B", before that to "C"',
      until: '2026-06-01T00:10Z',
    });
    expect(planned.plan.summary).toMatchObject({ paused: 1, update: 0 });
  });

  test.each<[string, Parameters<typeof planOf>[0], string]>([
    ['twice is no fight', { ...input, policy: { reverts: [revert({ times: 2 })] } }, 'update team/a title'],
    [
      'after its rest it is undone',
      { ...input, policy: { reverts: [revert({ at: NOW - 10 * MINUTE })] } },
      'update team/a title',
    ],
    [
      'a clock that was set back ends the rest',
      { ...input, policy: { reverts: [revert({ at: NOW + DAY })] } },
      'update team/a title',
    ],
    [
      'what a commit asks for does not wait',
      { ...input, manifests: 'teams: { a: { title: D } }', policy: { reverts: [revert()] } },
      'update team/a title',
    ],
    [
      'drift of another field too: both are undone',
      {
        manifests: 'sites: { s: { title: Aa, visibility: public } }',
        base: 'sites: { s: { title: Aa, visibility: public } }',
        ids: { 'site/s': 's1' },
        actuals: [actual('site', 's1', { title: 'Bb', visibility: 'unlisted' })],
        policy: { reverts: [revert({ address: 'site/s', kind: 'site' })] },
      },
      'update site/s title visibility',
    ],
    [
      'a resource that is deleted again and again rests too',
      { ...input, actuals: [], policy: { reverts: [revert({ path: '' })] } },
      'create team/a paused',
    ],
  ])('%s', async (_name, planCase, expected) => {
    expect(short(await planOf(planCase)).map((line) => line.replace(',', ''))).toEqual([expected]);
  });
});

describe('updateReverts', () => {
  const news = (change: Change, applied: boolean, now = NOW) => ({
    drift: new Set([change]),
    applied: applied ? [change] : [],
    now,
  });

  test('counts what was undone, and keeps the last values', () => {
    let known: readonly Revert[] = [];
    for (const [index, value] of ['B', 'C', 'B', 'D', 'E', 'F', 'G'].entries()) {
      known = updateReverts(known, news(found(value), true, NOW + index));
    }
    expect(known).toMatchObject([{ address: 'team/a', path: 'title', times: 7, at: NOW + 6 }]);
    expect(known[0]?.seen.map(({ value }) => value)).toEqual(['B', 'D', 'E', 'F', 'G']);
  });

  test('drift that was not undone counts for nothing, but its value is kept', () => {
    expect(updateReverts([], news(found('B'), false))).toEqual([]);
    const after = updateReverts([revert()], news(found('C'), false, NOW + 5));
    expect(after).toMatchObject([{ times: 3, at: NOW }]);
    expect(after[0]?.seen.at(-1)).toEqual({ at: NOW + 5, value: 'C' });
  });

  test('what does not change is not written again', () => {
    const before = [revert()];
    expect(updateReverts(before, news(found('B'), false, NOW + 5))).toEqual(before);
  });

  test('a commit that changes the field is the end of it; one that changes another is not', () => {
    const applied = [found('B')];
    expect(updateReverts([revert()], { drift: new Set(), applied, now: NOW })).toEqual([]);
    const icon = { ...renamed, fields: [{ path: 'icon', from: 'x', to: 'y' }] };
    expect(updateReverts([revert()], { drift: new Set(), applied: [icon], now: NOW })).toHaveLength(1);
  });

  test.each([
    [3, DAY - 1, 1],
    [3, DAY, 0],
    [30, 12 * HOUR, 1],
  ])('undone %i times and left in peace for %i ms', (times, quiet, left) => {
    const nothing = { drift: new Set<Change>(), applied: [], now: NOW + quiet };
    expect(updateReverts([revert({ times })], nothing)).toHaveLength(left);
  });
});

test('the rests grow to six hours and no further', () => {
  const minutes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 50].map((times) => (cooldownEnd(revert({ times })) - NOW) / MINUTE);
  expect(minutes).toEqual([0, 0, 10, 20, 40, 80, 160, 320, 360, 360]);
});

test('what is shown of a value is short and inert', () => {
  const words = describeFlapping(revert({ seen: [{ at: 0, value: `\u001b[31m${'x'.repeat(100)}` }] }));
  expect(words).not.toContain('\u001b');
  expect(words.length).toBeLessThan(160);
});

/** Passes every few minutes against something that changes the field back after so long, until it gives up. */
function fight(every: number, answersAfter: number, givesUp: number): { undoings: number[]; left: readonly Revert[] } {
  const undoings: number[] = [];
  let known: readonly Revert[] = [];
  let changedAt = 0;
  for (let now = 0; now < givesUp + 3 * DAY; now += every) {
    const isChanged = now >= changedAt && changedAt < givesUp;
    const change = found(`by someone else, ${undoings.length}`);
    const drift = new Set(isChanged ? [change] : []);
    const acts = isChanged && flappingPause(change, known, now) === null;
    known = updateReverts(known, { drift, applied: acts ? [change] : [], now });
    if (acts) {
      undoings.push(now);
      changedAt = now + answersAfter;
    }
  }
  return { undoings, left: known };
}

test('whoever fights, and however long: undone ever more rarely, always again, and forgotten in peace', () => {
  const minutes = (min: number, max: number) => fc.integer({ min, max }).map((count) => count * MINUTE);
  fc.assert(
    fc.property(minutes(1, 30), minutes(1, 120), minutes(60, 5 * 24 * 60), (every, answersAfter, givesUp) => {
      const { undoings, left } = fight(every, answersAfter, givesUp);
      const gaps = undoings.slice(1).map((at, index) => at - (undoings[index] ?? 0));
      // Never more than a rest and what the passes and the other one take.
      expect(Math.max(0, ...gaps)).toBeLessThanOrEqual(6 * HOUR + answersAfter + every);
      // From the third on no gap is shorter than its rest.
      for (const [index, gap] of gaps.entries()) {
        expect(gap).toBeGreaterThanOrEqual(index < 2 ? 0 : Math.min(10 * MINUTE * 2 ** (index - 2), 6 * HOUR));
      }
      expect(undoings.length).toBeLessThanOrEqual(9 + givesUp / (6 * HOUR));
      expect(left.filter(isFlapping)).toEqual([]);
    }),
  );
});
