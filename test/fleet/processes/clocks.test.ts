/** Daemons whose clocks differ, and run faster or slower than that of the database, by libfaketime. */
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/octavo-process.ts';
import { hasPostgres, startPostgres } from '../../support/postgres.ts';
import { findProgram } from '../../support/programs.ts';
import { OwnerSampler } from '../owner-sampler.ts';
import { ProcessFleet } from '../process-fleet.ts';
import { findEpochFaults } from '../stamps.ts';

const ORGANIZATIONS = 6;
const LIBRARY = findProgram('faketime');
const isPossible = hasPostgres && LIBRARY !== null;

/** Milliseconds by which a clock is wrong. */
const AHEAD = 3_600_000;
/** All clocks of a process are changed, the monotonic one included. */
const CLOCKS = { slow: '+0 x0.9', fast: '+0 x1.1', ahead: `+${AHEAD / 1000}` } as const;

const clock = (setting: string) => ({ LD_PRELOAD: LIBRARY ?? '', FAKETIME: setting, FAKETIME_DONT_RESET: '1' });

describe.skipIf(!isPossible)('daemons whose clocks run 10 % apart, or are an hour off', () => {
  test('share the organizations, keep their leases, and take over from the slowest', async () => {
    await using cluster = await startPostgres();
    await using fleet = await ProcessFleet.open({ cluster, organizations: ORGANIZATIONS });
    // The first one has organizations, however long the others take to start.
    const slow = await fleet.start(clock(CLOCKS.slow));
    const [ahead, fast] = await Promise.all([fleet.start(clock(CLOCKS.ahead)), fleet.start(clock(CLOCKS.fast))]);
    expect(Date.parse(String(ahead.run.log.at(-1)?.time)) - Date.now()).toBeGreaterThan(AHEAD / 2);
    await using owners = new OwnerSampler(fleet);
    await eventually('owners of all organizations', () => owners.owned === ORGANIZATIONS);
    expect(owners.counts.get(slow.run.child.pid ?? 0)).toBeGreaterThan(1);
    await fleet.change(['T1']);
    slow.proxy.stall();
    slow.isAlive = false;
    await fleet.change(['T1', 'T2']);
    slow.proxy.pass();
    await slow.run.waitForLog('lease lost; the organization was stopped', 2);
    await fleet.change(['T1', 'T2', 'T3']);
    expect(fleet.emulator.requests.count('createTeam')).toBe(3 * ORGANIZATIONS);
    expect(findEpochFaults(fleet.writes())).toEqual([]);
    // Alone, the one whose clock is ahead sends webhooks whose signature the receiver accepts.
    await Promise.all([slow.drain(), fast.drain()]);
    const received = fleet.receiver.messages.size;
    await fleet.change(['T1', 'T2', 'T3', 'T4']);
    await eventually('a notification', () => fleet.receiver.messages.size > received);
  }, 400_000);
});
