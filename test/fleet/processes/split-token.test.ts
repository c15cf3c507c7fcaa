/** Three daemons that divide the organizations of one token, and share its rate limit through the database. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callControl } from '../../../src/server/control-client.ts';
import type { BudgetPageView } from '../../../src/web/pages/budget.ts';
import { eventually, VERSION } from '../../support/octavo-process.ts';
import { hasPostgres, startPostgres } from '../../support/postgres.ts';
import { OwnerSampler } from '../owner-sampler.ts';
import { type FleetReplica, LEASE, ProcessFleet } from '../process-fleet.ts';
import { findEpochFaults } from '../stamps.ts';

const ORGANIZATIONS = 9;
/** Rate limit of the token. The work needs it several times. */
const LIMITS = { all: { kind: 'fixed', limit: 60, window: 2000 } } as const;
/** Teams that each of two changes adds to every organization. */
const ADDED = 30;

/** Titles of a number of teams. */
const titles = (count: number) => Array.from({ length: count }, (_, index) => `T${index}`);

/** Returns the number of replicas whose shares of the token the page of a replica shows; throws unless it has one token. */
async function sharesAt(fleet: ProcessFleet, index: number): Promise<number> {
  const socket = join(fleet.folder, `replica-${index}`, 'octavo.sock');
  const view = await callControl<BudgetPageView>(socket, { command: 'views', path: '/limits' }, VERSION);
  expect(view.queues.map(({ organizations }) => organizations.length)).toEqual([ORGANIZATIONS]);
  return view.queues[0]?.replicas.length ?? 0;
}

/** Returns true if the metrics of a replica have the limit of the token. */
async function exportsLimit({ address }: FleetReplica): Promise<boolean> {
  const response = await fetch(`${address}/metrics`);
  return /^octavo_budget_limit\{/m.test(await response.text());
}

describe.skipIf(!hasPostgres)('three daemons with one token', () => {
  test('share its limit, show it once, change everything once, and take over from one that is killed', async () => {
    await using cluster = await startPostgres();
    await using fleet = await ProcessFleet.open({
      ...{ cluster, organizations: ORGANIZATIONS, tokens: 1, limits: LIMITS },
      fleet: { split: 'organization' },
    });
    await Promise.all([fleet.start(), fleet.start(), fleet.start()]);
    await using owners = new OwnerSampler(fleet);
    await eventually('owners of all organizations', () => owners.owned === ORGANIZATIONS);
    expect(owners.counts.size).toBeGreaterThan(1);
    await fleet.change(titles(ADDED));
    for (const [index] of fleet.alive.entries()) {
      const hasAll = async () => (await sharesAt(fleet, index)) === owners.counts.size;
      await eventually(`the shares of all replicas on the page of replica ${index}`, hasAll);
    }
    await eventually('the limit in the metrics of one replica', async () => {
      const exporters = await Promise.all(fleet.alive.map(exportsLimit));
      return exporters.filter(Boolean).length === 1;
    });
    const changed = fleet.change(titles(2 * ADDED));
    // In the middle of the second change.
    const half = 1.5 * ORGANIZATIONS * ADDED;
    await eventually('half of the change', () => fleet.emulator.requests.count('createTeam') > half);
    const victim = fleet.alive.find(({ run }) => owners.counts.has(run.child.pid ?? 0)) as FleetReplica;
    await victim.kill();
    await changed;
    await eventually('owners of all organizations', () => owners.owned === ORGANIZATIONS, LEASE / 1000 + 20);
    const { entries } = fleet.emulator.requests;
    const refused = entries.filter(({ status }) => status === 429);
    expect(entries.length).toBeGreaterThan(500);
    expect(refused.length / entries.length, `${refused.length} of ${entries.length}`).toBeLessThanOrEqual(0.01);
    const created = entries.filter(({ operation, status }) => operation === 'createTeam' && status !== 429);
    expect(created).toHaveLength(ORGANIZATIONS * 2 * ADDED);
    expect(findEpochFaults(entries)).toEqual([]);
  }, 400_000);
});
