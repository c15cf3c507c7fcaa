import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OrganizationReconciler } from '../../src/reconcile/organization.ts';
import { createSchedule, type Schedule } from '../../src/reconcile/schedule.ts';
import type { DesiredSource } from '../../src/reconcile/source.ts';
import { createVirtualClock, type VirtualClock } from '../queue/virtual-clock.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Shortly after a five-minute boundary. */
const START = Date.parse('2026-06-01T12:01:00Z');

const source: DesiredSource = {
  read: async () => {
    throw new Error('nothing is read here');
  },
  peek: async () => {
    throw new Error('nothing is read here');
  },
  head: null,
  hasMoved: async () => false,
  authors: async () => null,
  scope: '.',
  applied: null,
  watch: async () => undefined,
  poll: null,
  close: async () => undefined,
};

let virtual: VirtualClock;
let jumped: number;
let triggers: string[];
let schedule: Schedule;

function scheduleOf(drift: string): Schedule {
  const clock = {
    now: () => virtual.now() + jumped,
    monotonic: () => virtual.monotonic(),
    sleep: (milliseconds: number, signal?: AbortSignal) => virtual.sleep(milliseconds, signal),
  };
  const reconciler = {
    trigger: async (trigger: string) => {
      triggers.push(`${trigger} ${new Date(clock.now()).toISOString().slice(5, 16)}`);
    },
  } as unknown as OrganizationReconciler;
  return createSchedule({
    reconciler,
    source,
    drift,
    clock,
    onError: (message) => {
      throw new Error(message);
    },
  });
}

beforeEach(async () => {
  virtual = createVirtualClock(START - 1000);
  jumped = 0;
  triggers = [];
  schedule = scheduleOf('*/5 * * * *');
});
afterEach(() => schedule.stop());

describe('the drift schedule', () => {
  test('fires at the scheduled times', async () => {
    await schedule.start();
    await virtual.advance(10 * MINUTE);
    expect(triggers).toEqual(['schedule 06-01T12:05', 'schedule 06-01T12:10']);
  });

  test('fires once for all skipped times after a jump of a day, then at the scheduled times', async () => {
    await schedule.start();
    jumped = DAY;
    await virtual.advance(10 * MINUTE);
    expect(triggers).toEqual(['schedule 06-02T12:01', 'schedule 06-02T12:05', 'schedule 06-02T12:10']);
  });

  test('does not fire after a jump that skips no scheduled time', async () => {
    schedule = scheduleOf('0 0 1 1 *');
    await schedule.start();
    jumped = DAY;
    await virtual.advance(10 * MINUTE);
    expect(triggers).toEqual([]);
  });

  test('continues within five minutes after a jump back of a day', async () => {
    await schedule.start();
    await virtual.advance(MINUTE);
    jumped = -DAY;
    await virtual.advance(9 * MINUTE);
    expect(triggers).toEqual(['schedule 05-31T12:05', 'schedule 05-31T12:10']);
  });

  test('does not loop when the clock is set repeatedly', async () => {
    await schedule.start();
    for (let minute = 0; minute < 60; minute += 1) {
      jumped = minute % 2 === 0 ? DAY : -DAY;
      await virtual.advance(MINUTE);
    }
    expect(triggers.length).toBeLessThanOrEqual(60);
    expect(triggers.length).toBeGreaterThan(0);
  });
});

describe('a retry', () => {
  test('runs after its delay', async () => {
    schedule.retryIn(2 * HOUR);
    await virtual.advance(2 * HOUR - SECOND);
    expect(triggers).toEqual([]);
    await virtual.advance(SECOND);
    expect(triggers).toEqual(['retry 06-01T14:01']);
  });

  test('does not miss the apply window when the clock is set forward', async () => {
    // A window that opens at 14:00.
    schedule.retryIn(Date.parse('2026-06-01T14:00:00Z') - START);
    await virtual.advance(MINUTE);
    jumped = 2 * HOUR;
    await virtual.advance(MINUTE);
    expect(triggers).toEqual(['retry 06-01T14:03']);
  });

  test('does not wait longer when the clock is set back', async () => {
    schedule.retryIn(5 * MINUTE);
    await virtual.advance(MINUTE);
    jumped = -DAY;
    await virtual.advance(4 * MINUTE);
    expect(triggers).toEqual(['retry 05-31T12:06']);
    await virtual.advance(3 * DAY);
    expect(triggers).toHaveLength(1);
  });

  test('replaces an earlier retry', async () => {
    schedule.retryIn(MINUTE);
    schedule.retryIn(3 * MINUTE);
    await virtual.advance(HOUR);
    expect(triggers).toEqual(['retry 06-01T12:04']);
  });
});
