/** When passes are triggered: on the drift schedule, after delays, and by requested checks, while the clock is set. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OrganizationReconciler } from '../../src/reconcile/organization.ts';
import { createSchedule, type Schedule } from '../../src/reconcile/schedule.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';
import { sourceOf } from './reconciler-options.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Shortly after a five-minute boundary. */
const START = Date.parse('2026-06-01T12:01:00Z');

let clock: VirtualClock;
/** Milliseconds by which the wall clock was set. */
let jumped: number;
/** Causes of passes, with their times. */
let triggers: string[];
/** Times of the checks of the source, in seconds since the start. */
let checks: number[];
let errors: string[];
let hasMoved: () => Promise<boolean>;
let schedule: Schedule;

const seconds = () => (clock.now() - START) / SECOND;

/** Opens a schedule. `poll`: milliseconds between two checks of the source; null: none. */
function scheduleOf(drift: string, poll: number | null): Schedule {
  const wall = {
    now: () => clock.now() + jumped,
    monotonic: () => clock.monotonic(),
    sleep: (milliseconds: number, signal?: AbortSignal) => clock.sleep(milliseconds, signal),
  };
  const reconciler = {
    trigger: async (trigger: string) => {
      triggers.push(`${trigger} ${new Date(wall.now()).toISOString().slice(5, 16)}`);
    },
  } as unknown as OrganizationReconciler;
  const check = async () => {
    checks.push(seconds());
    return hasMoved();
  };
  const source = { ...sourceOf(() => ''), poll, hasMoved: check };
  return createSchedule(reconciler, source, drift, wall, (message) => void errors.push(message));
}

beforeEach(() => {
  clock = createVirtualClock(START - 1000);
  jumped = 0;
  triggers = [];
  checks = [];
  errors = [];
  hasMoved = async () => false;
  schedule = scheduleOf('*/5 * * * *', null);
});
afterEach(() => schedule.stop());

describe('the drift schedule', () => {
  test.each([
    ['fires at the scheduled times', '*/5 * * * *', 0, ['06-01T12:05', '06-01T12:10']],
    [
      'fires once for all times that a jump of a day skips, then at the scheduled times',
      '*/5 * * * *',
      DAY,
      ['06-02T12:01', '06-02T12:05', '06-02T12:10'],
    ],
    ['does not fire after a jump that skips no scheduled time', '0 0 1 1 *', DAY, []],
  ])('%s', async (_name, drift, jump, times) => {
    schedule = scheduleOf(drift, null);
    await schedule.start();
    jumped = jump;
    await clock.advance(10 * MINUTE);
    expect(triggers).toEqual(times.map((time) => `schedule ${time}`));
  });

  test('continues within five minutes after a jump back of a day', async () => {
    await schedule.start();
    await clock.advance(MINUTE);
    jumped = -DAY;
    await clock.advance(9 * MINUTE);
    expect(triggers).toEqual(['schedule 05-31T12:05', 'schedule 05-31T12:10']);
  });

  test('does not loop when the clock is set repeatedly', async () => {
    await schedule.start();
    for (let minute = 0; minute < 60; minute += 1) {
      jumped = minute % 2 === 0 ? DAY : -DAY;
      await clock.advance(MINUTE);
    }
    expect(triggers.length).toBeLessThanOrEqual(60);
    expect(triggers.length).toBeGreaterThan(0);
  });
});

describe('a retry', () => {
  test('runs after its delay', async () => {
    schedule.retryIn(2 * HOUR);
    await clock.advance(2 * HOUR - SECOND);
    expect(triggers).toEqual([]);
    await clock.advance(SECOND);
    expect(triggers).toEqual(['retry 06-01T14:01']);
  });

  test('does not miss the apply window when the clock is set forward', async () => {
    // A window that opens at 14:00.
    schedule.retryIn(Date.parse('2026-06-01T14:00:00Z') - START);
    await clock.advance(MINUTE);
    jumped = 2 * HOUR;
    await clock.advance(MINUTE);
    expect(triggers).toEqual(['retry 06-01T14:03']);
  });

  test('does not wait longer when the clock is set back', async () => {
    schedule.retryIn(5 * MINUTE);
    await clock.advance(MINUTE);
    jumped = -DAY;
    await clock.advance(4 * MINUTE);
    expect(triggers).toEqual(['retry 05-31T12:06']);
    await clock.advance(3 * DAY);
    expect(triggers).toHaveLength(1);
  });

  test('replaces an earlier retry', async () => {
    schedule.retryIn(MINUTE);
    schedule.retryIn(3 * MINUTE);
    await clock.advance(HOUR);
    expect(triggers).toEqual(['retry 06-01T12:04']);
  });
});

describe('a requested check', () => {
  beforeEach(async () => {
    schedule = scheduleOf('0 0 1 1 *', HOUR);
    await schedule.start();
  });

  test('comes at once, and runs a pass if there is a new commit', async () => {
    await clock.advance(10 * SECOND);
    hasMoved = async () => true;
    schedule.fetchNow();
    await clock.advance(0);
    expect([checks, triggers]).toEqual([[10], ['commit 06-01T12:01']]);
  });

  test('that finds nothing is repeated once after 5 s', async () => {
    schedule.fetchNow();
    await clock.advance(HOUR);
    expect(checks).toEqual([0, 5]);
    expect(triggers).toEqual([]);
  });

  test('a lost webhook costs no more than the poll interval', async () => {
    await clock.advance(SECOND);
    hasMoved = async () => true;
    await clock.advance(HOUR);
    expect(triggers).toEqual(['commit 06-01T13:01']);
  });

  test('many requests during a check become one more, and never two at a time', async () => {
    let atOnce = 0;
    let mostAtOnce = 0;
    hasMoved = async () => {
      atOnce += 1;
      mostAtOnce = Math.max(atOnce, mostAtOnce);
      await clock.sleep(2 * SECOND);
      atOnce -= 1;
      return true;
    };
    schedule.fetchNow();
    await clock.advance(SECOND);
    for (let index = 0; index < 100; index += 1) {
      schedule.fetchNow();
    }
    await clock.advance(60 * SECOND);
    expect(checks).toEqual([0, 2]);
    expect(mostAtOnce).toBe(1);
  });

  test('that fails runs a pass, which reports the error and is retried', async () => {
    hasMoved = () => Promise.reject(new Error('the repository is gone'));
    schedule.fetchNow();
    await clock.advance(0);
    expect([errors, triggers]).toEqual([['the repository is gone'], ['commit 06-01T12:01']]);
  });

  test('that keeps failing is reported ever less often, until one succeeds', async () => {
    hasMoved = () => Promise.reject(new Error('gone'));
    await clock.advance(20 * HOUR);
    expect(errors).toEqual(['gone', ...[2, 4, 8, 16].map((count) => `gone; failed ${count} times in a row`)]);
    expect(triggers).toHaveLength(20);
    hasMoved = async () => false;
    await clock.advance(HOUR);
    hasMoved = () => Promise.reject(new Error('gone again'));
    await clock.advance(HOUR);
    expect(errors.at(-1)).toBe('gone again');
  });

  test('does nothing after the stop', async () => {
    await schedule.stop();
    schedule.fetchNow();
    await clock.advance(HOUR);
    expect(checks).toEqual([]);
  });
});
