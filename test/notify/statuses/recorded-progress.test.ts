import { expect, test } from 'vitest';
import { countApplied, recordedProgress } from '../../../src/notify/status-progress.ts';
import type { NewResourceChange, PassRecord } from '../../../src/store/history.ts';

const COMMIT = 'a'.repeat(40);

function passOf(counts: PassRecord['counts'], over: Partial<PassRecord> = {}): PassRecord {
  return {
    ...{ trigger: 'commit', commit: COMMIT, subject: '', author: null, outcome: 'done', checksum: null, counts },
    ...{ reads: 0, writes: 0, refused: 0, milliseconds: 0, error: null, endedAt: 0, firstEndedAt: 0 },
    ...{ number: 1, times: 1, hasPlan: false, ...over },
  };
}

const describePass = (pass: PassRecord, applied: number, changes: readonly NewResourceChange[] = []) =>
  recordedProgress({ pass, changes, plan: null }, applied);

test('changes of a commit are counted over its passes, without reverts of manual changes', () => {
  const passes = [
    passOf({ update: 1, applied: 1, reverted: 1 }),
    passOf({ create: 2, applied: 1, failed: 1 }),
    passOf({ create: 5, applied: 5 }, { commit: 'b'.repeat(40) }),
    passOf({ create: 3, applied: 3 }),
  ];
  expect(countApplied(passes, COMMIT)).toBe(4);
  expect(countApplied(passes, 'c'.repeat(40))).toBe(0);
});

test.each([
  ['is a success', passOf({ create: 1, applied: 1 }), 3, 'success: 3 changes applied'],
  ['without changes is a success', passOf({}), 0, 'success: nothing to do'],
  ['that waits for a window is open', passOf({ create: 1 }), 0, null],
  ['that waits for approval is open', passOf({ delete: 1, held: 1 }, { outcome: 'held' }), 0, null],
  ['that the platform interrupted is open', passOf({}, { outcome: 'failed', error: 'no answer' }), 0, null],
])('a commit whose last pass %s', (_name, pass, applied, expected) => {
  const progress = describePass(pass, applied);
  expect(progress === null ? null : `${progress.state}: ${progress.description}`).toBe(expected);
});

test('a commit whose last pass failed names the first change that failed', () => {
  const pass = passOf({ create: 2, applied: 1, failed: 1 }, { outcome: 'failed' });
  const changes = [
    { address: 'team/a', action: 'create', status: 'applied', error: null },
    { address: 'team/b', action: 'create', status: 'failed', error: 'too long' },
  ];
  expect(describePass(pass, 3, changes)).toEqual({
    state: 'failure',
    description: '1 of 4 changes failed: team/b: too long',
  });
});
