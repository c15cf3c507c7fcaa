/** Replicas that divide 2,000 organizations on a real server, and are all replaced while every organization has an owner. */
import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { SharedLeases } from '../../src/fleet/shared-leases.ts';
import { openPostgresDatabase } from '../../src/store/postgres/database.ts';
import { openFleetStore } from '../../src/store/postgres/store.ts';
import { hasPostgres } from '../support/postgres.ts';
import { shareCluster } from '../support/shared-cluster.ts';
import { LeaseLog } from './processes/lease-log.ts';

const cluster = shareCluster();

const ORGANIZATIONS = 2000;
/** Milliseconds without a holder, also on a busy machine: without a hand-over, it would be a lease of 60 s. */
const HAND_OVER = 20_000;

/** A replica that does nothing but keep its leases. */
async function openReplica(url: string, id: string) {
  const store = await openFleetStore({ url, pool: 3 }, systemClock, Math.random);
  const held = new Set<string>();
  const lost: string[] = [];
  const leases = new SharedLeases({
    isComplete: () => true,
    ...{ store, clock: systemClock, random: Math.random, ttl: 60_000, split: 'token' },
    replica: { id, version: '1', address: id, weight: 1 },
    work: {
      begin: ({ name }) => void held.add(name),
      end: async (lease) => {
        held.delete(lease.name);
        lost.push(...(lease.lost.aborted ? [lease.name] : []));
      },
    },
  });
  leases.setOrganizations(Array.from({ length: ORGANIZATIONS }, (_, index) => ({ id: `${index}`, shard: `${index}` })));
  const drain = async () => {
    await leases.drain(6000);
    await store.close();
  };
  return { leases, held, lost, drain };
}

type TestReplica = Awaited<ReturnType<typeof openReplica>>;

/** Starts three replicas at the same time. */
async function startReplicas() {
  const url = await cluster().createDatabase();
  await (await openPostgresDatabase({ url, pool: 1 })).close();
  const replicas = await Promise.all(['a', 'b', 'c'].map((id) => openReplica(url, id)));
  await Promise.all(replicas.map(({ leases }) => leases.start()));
  await untilShared(replicas);
  return { url, replicas };
}

/** Waits until the replicas have all organizations together, each once, and about as many each. */
async function untilShared(replicas: readonly TestReplica[]): Promise<void> {
  await vi.waitFor(
    () => {
      const names = replicas.flatMap(({ held }) => [...held]);
      expect(new Set(names).size).toBe(names.length);
      expect(names).toHaveLength(ORGANIZATIONS + 1);
    },
    { timeout: 50_000, interval: 20 },
  );
  for (const { held } of replicas) {
    expect(Math.abs((held.size * replicas.length) / ORGANIZATIONS - 1)).toBeLessThanOrEqual(0.1);
  }
}

describe.runIf(hasPostgres)('a fleet of three replicas', () => {
  test('has even shares, and a rolling restart leaves no organization without an owner', async () => {
    const { url, replicas } = await startReplicas();
    const log = await LeaseLog.open(cluster(), url);
    for (const id of ['d', 'e', 'f']) {
      const next = await openReplica(url, id);
      await next.leases.start();
      replicas.push(next);
      await replicas.shift()?.drain();
      await untilShared(replicas);
    }
    // Every organization was released and claimed at least once.
    expect(await log.count()).toBeGreaterThanOrEqual(2 * ORGANIZATIONS);
    expect(await log.longestFree()).toBeLessThan(HAND_OVER);
    await Promise.all(replicas.map(({ drain }) => drain()));
  }, 240_000);

  test('goes on after the database was restarted, without losing a lease', async () => {
    const { replicas } = await startReplicas();
    await cluster().restart('immediate');
    await Promise.all(replicas.map(({ drain }) => drain()));
    expect(replicas.flatMap(({ lost }) => lost)).toEqual([]);
  });
});
