// Replicas that divide organizations on a real server: start, draining, eviction and a restart of the database.
import { describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { SharedLeases } from '../../src/fleet/shared-leases.ts';
import type { Lease } from '../../src/store/leases.ts';
import { openPostgresDatabase } from '../../src/store/postgres/database.ts';
import { openFleetStore } from '../../src/store/postgres/store.ts';
import { hasPostgres } from '../support/postgres.ts';
import { shareCluster } from '../support/shared-cluster.ts';

const cluster = shareCluster();

const LIMIT = { timeout: 50_000, interval: 20 };

class TestReplica {
  readonly id: string;
  readonly leases: SharedLeases;
  readonly held = new Map<string, Lease>();
  readonly ends: string[] = [];
  readonly close: () => Promise<void>;

  private constructor(id: string, store: Awaited<ReturnType<typeof openFleetStore>>, ttl: number) {
    this.id = id;
    this.close = () => store.close();
    this.leases = new SharedLeases({
      isComplete: () => true,
      ...{ store, clock: systemClock, random: Math.random, ttl, split: 'token' },
      replica: { id, version: '1', address: id, weight: 1 },
      work: {
        begin: (lease) => {
          this.held.set(lease.name, lease);
        },
        end: async (lease) => {
          this.ends.push(`${lease.lost.aborted ? 'lost' : 'given away'} ${lease.name}`);
          this.held.delete(lease.name);
        },
      },
    });
  }

  static async open(url: string, id: string, count: number, ttl: number): Promise<TestReplica> {
    const replica = new TestReplica(id, await openFleetStore({ url, pool: 3 }, systemClock, Math.random), ttl);
    replica.leases.setOrganizations(
      Array.from({ length: count }, (_, index) => ({ id: `${index}`, shard: `${index}` })),
    );
    return replica;
  }

  get organizations(): number {
    return [...this.held.keys()].filter((name) => name !== 'fleet').length;
  }
}

async function startReplicas(count: number, ttl = 60_000): Promise<{ url: string; replicas: TestReplica[] }> {
  const url = await cluster().createDatabase();
  await (await openPostgresDatabase({ url, pool: 1 })).close();
  const replicas = await Promise.all(['a', 'b', 'c'].map((id) => TestReplica.open(url, id, count, ttl)));
  await Promise.all(replicas.map(({ leases }) => leases.start()));
  await untilAll(replicas, count);
  return { url, replicas };
}

/** Waits until the replicas have all organizations together, each once. */
async function untilAll(replicas: readonly TestReplica[], count: number): Promise<void> {
  await vi.waitFor(() => {
    const names = replicas.flatMap(({ held }) => [...held.keys()]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toHaveLength(count + 1);
  }, LIMIT);
}

describe.runIf(hasPostgres)('a fleet of three replicas', () => {
  test('divides 600 organizations within 1 %, and a draining replica gives all of its leases away', async () => {
    const { replicas } = await startReplicas(600);
    const [a, b, c] = replicas as [TestReplica, TestReplica, TestReplica];
    for (const { organizations } of replicas) {
      expect(Math.abs(organizations / 200 - 1)).toBeLessThanOrEqual(0.01);
    }
    await a.leases.drain(6000);
    expect(a.ends.filter((end) => end.startsWith('lost'))).toEqual([]);
    await untilAll([b, c], 600);
    expect(b.organizations).toBe(300);
    await Promise.all([b.leases.drain(6000), c.leases.drain(6000)]);
    await Promise.all(replicas.map(({ close }) => close()));
  });

  test('takes over from a replica that was evicted, which learns that and claims again', async () => {
    const { url, replicas } = await startReplicas(30, 8000);
    const before = new Map(replicas[0]?.held);
    await cluster().query("DELETE FROM octavo.replica WHERE id = 'a'", new URL(url).pathname.slice(1));
    await vi.waitFor(() => expect([...before.values()].every(({ lost }) => lost.aborted)).toBe(true), LIMIT);
    await untilAll(replicas, 30);
    const current = new Map(replicas.flatMap(({ held }) => [...held]));
    for (const [name, { epoch }] of before) {
      expect(current.get(name)?.epoch).toBeGreaterThan(epoch);
    }
    await Promise.all(replicas.map(({ leases }) => leases.drain(6000)));
    await Promise.all(replicas.map(({ close }) => close()));
  });

  test('goes on after the database was restarted, without losing a lease', async () => {
    const { replicas } = await startReplicas(30);
    await cluster().restart('immediate');
    await Promise.all(replicas.map(({ leases }) => leases.drain(6000)));
    expect(replicas.flatMap(({ ends }) => ends).filter((end) => end.startsWith('lost'))).toEqual([]);
    await Promise.all(replicas.map(({ close }) => close()));
  });
});
