/** Hand-over of an idle daemon that receives SIGTERM: the others learn of it by a message, and not by a regular check. */
import { describe, expect, test } from 'vitest';
import { eventually } from '../../support/octavo-process.ts';
import { hasPostgres, startPostgres } from '../../support/postgres.ts';
import { type FleetReplica, ProcessFleet } from '../process-fleet.ts';

const ORGANIZATIONS = 5;
/** Regular checks are a quarter of this apart. */
const HOURS = 8;
/** Milliseconds, also on a busy machine: without the message, it would take hours. */
const LIMIT = 20_000;

const claimsOf = ({ run }: FleetReplica) => run.logged('organization claimed');

describe.skipIf(!hasPostgres)('a daemon that receives SIGTERM while it is idle', () => {
  test('is replaced at once, hours before the next regular check', async () => {
    await using cluster = await startPostgres();
    await using fleet = await ProcessFleet.open({
      ...{ cluster, organizations: ORGANIZATIONS },
      fleet: { lease: `${HOURS}h` },
    });
    const owner = await fleet.start();
    await eventually('the passes', () => owner.run.logged('pass completed').length >= ORGANIZATIONS);
    // Its first check has ended, and found nothing to claim.
    const next = await fleet.start();
    expect(claimsOf(next)).toEqual([]);
    const signalled = Date.now();
    await owner.drain();
    await eventually('the take-over', () => claimsOf(next).length === ORGANIZATIONS);
    const begun = Math.max(...claimsOf(next).map(({ time }) => Date.parse(String(time))));
    expect(begun - signalled).toBeLessThan(LIMIT);
  }, 400_000);
});
