/** Clocks that are set while changes are applied. */
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { teams } from './daemon-process.ts';
import { type InsideDaemon, startInside } from './inside.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MANY = Array.from({ length: 80 }, (_, index) => `T${index}`);
/** From 12:00 to 16:00. */
const WINDOW = { allow: '0 12 * * *', duration: '4h', timezone: 'UTC' };

/** A clock whose time of day can be set; it advances with the machine's. */
class SetClock implements Clock {
  readonly #start = systemClock.monotonic();
  #wall: number;

  constructor(wall: string) {
    this.#wall = Date.parse(wall);
  }

  now = () => Math.round(this.#wall + systemClock.monotonic() - this.#start);
  monotonic = () => systemClock.monotonic();
  sleep = (milliseconds: number, signal?: AbortSignal) => systemClock.sleep(milliseconds, signal);

  jump(milliseconds: number): void {
    this.#wall += milliseconds;
  }
}

/** Sets the clock when the platform has created this number of teams. */
function jumpAfter(work: Workspace, nth: number, clock: SetClock, milliseconds: number): void {
  work.emulator.setFaults([
    {
      match: { operation: 'createTeam', nth },
      fault: { kind: 'hook', when: 'after', run: () => clock.jump(milliseconds) },
    },
  ]);
}

/** Starts a daemon that has applied one team, and commits many. */
async function startBeforeMany(work: Workspace, clock: Clock): Promise<InsideDaemon> {
  work.repository.commit('First', { 'teams.yaml': teams('First') });
  const daemon = await startInside(work, { clock, organization: { syncWindows: [WINDOW] } });
  work.repository.commit('Many', { 'teams.yaml': teams('First', ...MANY) });
  return daemon;
}

test('finishes changes in progress when a sync window closes, and applies the rest in the next window', async () => {
  const clock = new SetClock('2026-06-01T15:00:00Z');
  await using work = await openWorkspace();
  await using daemon = await startBeforeMany(work, clock);
  jumpAfter(work, 10, clock, 2 * HOUR);
  const end = await daemon.pass();
  expect(end).toMatchObject({ outcome: 'done', error: null });
  const made = work.teams().length;
  expect(made).toBeGreaterThan(10);
  expect(made).toBeLessThan(MANY.length);
  expect(daemon.log.at(-2)).toMatchObject({ msg: 'plan not applied now', reason: 'outside every allow window' });
  // It asks for another pass when the window opens: at noon, 19 hours later.
  expect(Math.round((end?.retryIn ?? 0) / HOUR)).toBe(19);
  const closed = await daemon.pass();
  expect(closed).toMatchObject({ outcome: 'done', requests: { writes: 0 } });
  clock.jump(20 * HOUR);
  expect(await daemon.pass()).toMatchObject({ outcome: 'done', retryIn: null });
  expect(work.teams()).toHaveLength(MANY.length + 1);
  expect(work.emulator.requests.count('createTeam')).toBe(MANY.length + 1);
});

test.each([DAY, -DAY])('creates each resource once when the clock is set by %d ms during an apply', async (jump) => {
  const clock = new SetClock('2026-06-01T13:00:00Z');
  await using work = await openWorkspace();
  await using daemon = await startBeforeMany(work, clock);
  jumpAfter(work, 10, clock, jump);
  expect(await daemon.pass()).toMatchObject({ outcome: 'done', retryIn: null });
  expect(work.teams()).toHaveLength(MANY.length + 1);
  expect(work.emulator.requests.count('createTeam')).toBe(MANY.length + 1);
  // The base is used even if its apply time is in the future.
  work.repository.commit('One less', { 'teams.yaml': teams('First', ...MANY.slice(1)) });
  expect(await daemon.pass()).toMatchObject({ outcome: 'done', requests: { writes: 1 } });
  expect(await daemon.pass()).toMatchObject({ outcome: 'done', requests: { writes: 0 } });
});
