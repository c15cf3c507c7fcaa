import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OrganizationReconciler } from '../../src/reconcile/organization.ts';
import { createSchedule, type Schedule } from '../../src/reconcile/schedule.ts';
import type { DesiredSource } from '../../src/reconcile/source.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const START = Date.parse('2026-06-01T12:00:00Z');

let clock: VirtualClock;
/** Times of the checks, in seconds since the start. */
let checks: number[];
let passes: number[];
let errors: string[];
let hasMoved: () => Promise<boolean>;
let atOnce: number;
let mostAtOnce: number;
let schedule: Schedule;

const seconds = () => (clock.now() - START) / SECOND;

beforeEach(async () => {
  clock = createVirtualClock(START - 1000);
  checks = [];
  passes = [];
  errors = [];
  atOnce = 0;
  mostAtOnce = 0;
  hasMoved = async () => false;
  const source = {
    poll: HOUR,
    watch: async () => undefined,
    close: async () => undefined,
    hasMoved: async () => {
      checks.push(seconds());
      atOnce += 1;
      mostAtOnce = Math.max(atOnce, mostAtOnce);
      return hasMoved().finally(() => {
        atOnce -= 1;
      });
    },
  } as unknown as DesiredSource;
  const reconciler = {
    trigger: async () => void passes.push(seconds()),
  } as unknown as OrganizationReconciler;
  const onError = (message: string) => void errors.push(message);
  schedule = createSchedule({ reconciler, source, drift: '0 0 1 1 *', clock, onError });
  await schedule.start();
});
afterEach(() => schedule.stop());

describe('a requested check', () => {
  test('comes at once, and runs a pass if there is a new commit', async () => {
    await clock.advance(10 * SECOND);
    hasMoved = async () => true;
    schedule.fetchNow();
    await clock.advance(0);
    expect([checks, passes]).toEqual([[10], [10]]);
  });

  test('that finds nothing is repeated once after 5 s', async () => {
    schedule.fetchNow();
    await clock.advance(HOUR);
    expect(checks).toEqual([0, 5]);
    expect(passes).toEqual([]);
  });

  test('a lost webhook costs no more than the poll interval', async () => {
    await clock.advance(SECOND);
    hasMoved = async () => true;
    await clock.advance(HOUR);
    expect(passes).toEqual([3600]);
  });

  test('many requests during a check become one more, and never two at a time', async () => {
    hasMoved = async () => {
      await clock.sleep(2 * SECOND);
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
    expect([errors, passes]).toEqual([['the repository is gone'], [0]]);
  });

  test('that keeps failing is reported ever less often, until one succeeds', async () => {
    hasMoved = () => Promise.reject(new Error('gone'));
    await clock.advance(20 * HOUR);
    expect(errors).toEqual(['gone', ...[2, 4, 8, 16].map((count) => `gone; failed ${count} times in a row`)]);
    expect(passes).toHaveLength(20);
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
