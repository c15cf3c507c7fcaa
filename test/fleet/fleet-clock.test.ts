/** Clock of a replica whose machine has the wrong time. */
import { expect, test } from 'vitest';
import { FleetClock } from '../../src/fleet/fleet-clock.ts';
import { createVirtualClock } from '../queue/virtual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Opens the clock of a machine that is ahead of the database by `ahead` milliseconds. */
async function open(ahead: number) {
  const clock = createVirtualClock();
  const { now } = clock;
  const state = { ahead, isGone: false, delay: 0, reported: [] as number[], reads: 0 };
  const shared = FleetClock.open({
    clock: { ...clock, now: () => now() + state.ahead },
    store: {
      time: async () => {
        state.reads += 1;
        await clock.sleep(state.delay / 2);
        const time = now();
        await clock.sleep(state.delay / 2);
        if (state.isGone) {
          throw new Error('the database is gone');
        }
        return time;
      },
    },
    onDifference: (milliseconds) => state.reported.push(milliseconds),
  });
  return { clock, now, state, shared: await clock.run(shared) };
}

test.each([0, 29_000, -29_000])('a clock that is %d ms ahead is used as it is', async (ahead) => {
  const { now, shared, state } = await open(ahead);
  expect(shared.now()).toBe(now() + ahead);
  expect(state.reported).toEqual([]);
});

test.each([31_000, -HOUR, HOUR])(
  'instead of a clock that is %d ms ahead, that of the database is used',
  async (ahead) => {
    const { clock, now, shared, state } = await open(ahead);
    expect(state.reported).toEqual([ahead]);
    await clock.advance(7 * MINUTE);
    expect(shared.now()).toBe(Math.floor(now()));
    expect(state.reported).toEqual([ahead]);
  },
);

test('does not jump when the clock of the machine is corrected, and uses it from the next comparison on', async () => {
  const { clock, now, shared, state } = await open(HOUR);
  await clock.advance(10_000);
  state.ahead = 100;
  expect(shared.now()).toBe(Math.floor(now()));
  await clock.advance(MINUTE);
  shared.now();
  await clock.advance(1000);
  expect(shared.now()).toBe(now() + 100);
  expect(state.reported).toEqual([HOUR, 0]);
});

test('finds within a minute that the clock of the machine was set; half of the round trip counts', async () => {
  const { clock, now, shared, state } = await open(0);
  Object.assign(state, { ahead: -HOUR, delay: 4000 });
  await clock.advance(MINUTE);
  shared.now();
  await clock.advance(5000);
  expect(shared.now()).toBe(Math.floor(now()));
  expect(state.reported).toEqual([-HOUR]);
});

test('keeps what it knows while the database is gone or slow, and compares once a minute', async () => {
  const { clock, now, shared, state } = await open(HOUR);
  state.isGone = true;
  for (let second = 0; second < 600; second += 1) {
    await clock.advance(1000);
    expect(shared.now()).toBe(Math.floor(now()));
  }
  expect(state.reads).toBe(11);
  await clock.advance(1000);
  Object.assign(state, { isGone: false, delay: 8000, ahead: 0 });
  await clock.advance(MINUTE);
  shared.now();
  await clock.advance(10_000);
  expect(state.reported).toEqual([HOUR]);
});
