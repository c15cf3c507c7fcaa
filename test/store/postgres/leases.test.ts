// The lease table on a real server, with several connections at the same time.
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { LeaseLostError } from '../../../src/core/errors.ts';
import type { Json } from '../../../src/core/json.ts';
import type { ClaimedLease, OwnReplica } from '../../../src/store/leases.ts';
import { openPostgresDatabase, openPostgresPool, type PostgresDatabase } from '../../../src/store/postgres/database.ts';
import { openFleetStore, PostgresLeases } from '../../../src/store/postgres/store.ts';
import { openSqlStore } from '../../../src/store/store.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { hasPostgres, type PostgresCluster } from '../../support/postgres.ts';
import { shareCluster, shareDatabase } from '../../support/shared-cluster.ts';

const cluster = shareCluster();
const emptyDatabase = shareDatabase(cluster);

const TTL = 60_000;
const replica = (id: string, changes: Partial<OwnReplica> = {}): OwnReplica => ({
  ...{ id, version: '1.2.3', address: `host ${id}`, weight: 1, isDraining: false },
  ...changes,
});

const opened: PostgresDatabase[] = [];
afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));

/** Closes a database at the end of the test. */
function closing(database: PostgresDatabase): PostgresDatabase {
  opened.push(database);
  return database;
}

async function open() {
  const url = await emptyDatabase();
  const database = closing(await openPostgresDatabase({ url, pool: 10 }));
  // Holds transactions open, while others run on `database`.
  const blocking = closing(await openPostgresPool({ url, pool: 1 }));
  return { url, database, blocking, leases: new PostgresLeases(database) };
}

const run = (database: PostgresDatabase, statement: string) => database.write('test', (sql) => sql.run(statement));
/** Moves the time of the database past the end of a replica. */
const expire = (database: PostgresDatabase, id: string) =>
  database.write('test', (sql) =>
    sql.run("UPDATE replica SET expires_at = clock_timestamp() - interval '1 second' WHERE id = ?", id),
  );
const names = (claims: readonly ClaimedLease[]) => claims.map(({ name }) => name).sort();

describe.runIf(hasPostgres)('replicas', () => {
  test('join, renew and leave, with times of the database', async () => {
    const { database, leases } = await open();
    await leases.renew(replica('a', { weight: 2.5 }), TTL);
    const [first] = await leases.replicas();
    expect(first).toMatchObject({ ...replica('a', { weight: 2.5 }), isDraining: false });
    expect(first?.left).toBeGreaterThan(TTL - 5000);
    expect(first?.left).toBeLessThanOrEqual(TTL);
    await run(database, "UPDATE replica SET expires_at = clock_timestamp() + interval '1 second'");
    await leases.renew(replica('a', { isDraining: true }), TTL);
    const [renewed] = await leases.replicas();
    expect(renewed).toMatchObject({ startedAt: first?.startedAt, isDraining: true, weight: 1 });
    expect(renewed?.left).toBeGreaterThan(TTL - 5000);
    await leases.leave('a');
    expect(await leases.replicas()).toEqual([]);
  });

  test('only a replica that has expired is evicted, and its leases are free', async () => {
    const { database, leases } = await open();
    await leases.define(['x', 'y']);
    await leases.renew(replica('a'), TTL);
    await leases.renew(replica('b'), TTL);
    await leases.claim('a', ['x', 'y'], 2);
    expect(await leases.evict()).toBe(0);
    await expire(database, 'a');
    expect(await leases.evict()).toBe(1);
    expect((await leases.replicas()).map(({ id }) => id)).toEqual(['b']);
    expect((await leases.leases()).map(({ name, holder, epoch }) => [name, holder, epoch])).toEqual([
      ['x', null, 1],
      ['y', null, 1],
    ]);
    expect((await leases.leases())[0]?.age).toBeLessThan(5000);
  });

  test('a renewal gives up when another transaction of its replica keeps the lock', async () => {
    const { database, blocking, leases } = await open();
    await leases.renew(replica('a'), TTL);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: isLocked, resolve: onLocked } = Promise.withResolvers<void>();
    const lost = blocking.write('test', async (sql) => {
      await sql.run("UPDATE replica SET weight = 2 WHERE id = 'a'");
      onLocked();
      await promise;
    });
    await isLocked;
    await expect(leases.renew(replica('a'), TTL)).rejects.toThrow(/lock timeout/);
    // Its own timeout belongs to the renewal: other transactions wait.
    const waiting = run(database, "UPDATE replica SET weight = 3 WHERE id = 'a'");
    resolve();
    await Promise.all([lost, waiting]);
    expect(await leases.replicas()).toMatchObject([{ id: 'a', weight: 3 }]);
  });

  test('a shorter extension neither shortens the membership nor joins without time', async () => {
    const { database, leases } = await open();
    const left = async () => (await leases.replicas())[0]?.left ?? null;
    await leases.define(['x']);
    await leases.renew(replica('a'), TTL, 0);
    expect(await left()).toBeNull();
    await leases.renew(replica('a'), TTL, 20_000);
    expect(await left()).toBeLessThanOrEqual(20_000);
    await leases.claim('a', ['x'], 1);
    await leases.renew(replica('a'), TTL);
    expect(await leases.renew(replica('a'), TTL, 20_000)).toEqual([{ name: 'x', epoch: 1 }]);
    expect(await left()).toBeGreaterThan(TTL - 15_000);
    expect(await leases.renew(replica('a'), TTL, 0)).toEqual([{ name: 'x', epoch: 1 }]);
    expect(await left()).toBeGreaterThan(TTL - 15_000);
    // The clock of the server was set back by an hour.
    await run(database, "UPDATE replica SET expires_at = clock_timestamp() + interval '1 hour'");
    await leases.renew(replica('a'), TTL, 20_000);
    expect(await left()).toBeLessThanOrEqual(TTL);
  });
});

describe.runIf(hasPostgres)('claims', () => {
  test('are limited, and take those that have been free longest first', async () => {
    const { database, leases } = await open();
    await leases.define(['a', 'b', 'c', 'd']);
    await run(database, "UPDATE lease SET since = clock_timestamp() - interval '1 hour' WHERE name IN ('c', 'd')");
    await leases.renew(replica('r'), TTL);
    expect(names(await leases.claim('r', ['a', 'b', 'c', 'unknown'], 1))).toEqual(['c']);
    expect(names(await leases.claim('r', ['a', 'b', 'c'], 5))).toEqual(['a', 'b']);
    expect(await leases.claim('r', [], 5)).toEqual([]);
    await leases.define(['d', 'e']);
    expect((await leases.leases()).map(({ name, epoch }) => `${name}${epoch}`)).toEqual(['a1', 'b1', 'c1', 'd0', 'e0']);
  });

  test('leave out a lease whose epoch another program has set too high', async () => {
    const { database, leases } = await open();
    await leases.define(['a', 'b', 'c']);
    await leases.renew(replica('r'), TTL);
    await leases.claim('r', ['c'], 1);
    await run(database, "UPDATE lease SET epoch = 9223372036854775807 WHERE name IN ('a', 'c')");
    expect(names(await leases.claim('r', ['a', 'b'], 2))).toEqual(['b']);
    expect(names(await leases.renew(replica('r'), TTL))).toEqual(['b', 'c']);
    expect((await leases.leases()).map(({ holder }) => holder)).toEqual([null, 'r', 'r']);
  });

  test.each([
    ['has not joined', () => Promise.resolve()],
    ['is draining', (leases: PostgresLeases) => leases.renew(replica('r', { isDraining: true }), TTL)],
    [
      'has expired',
      async (leases: PostgresLeases, database: PostgresDatabase) => {
        await leases.renew(replica('r'), TTL);
        await expire(database, 'r');
      },
    ],
  ])('a replica that %s gets none', async (_, prepare) => {
    const { database, leases } = await open();
    await leases.define(['a']);
    await prepare(leases, database);
    expect(await leases.claim('r', ['a'], 1)).toEqual([]);
  });

  test('releases only what it has, with the epoch that it has', async () => {
    const { leases } = await open();
    await leases.define(['x', 'y']);
    await leases.renew(replica('a'), TTL);
    await leases.renew(replica('b'), TTL);
    const [old] = await leases.claim('a', ['x'], 1);
    await leases.release('a', [old as ClaimedLease]);
    const [current] = await leases.claim('a', ['x'], 1);
    await leases.release('a', [old as ClaimedLease, { name: 'y', epoch: 0 }]);
    await leases.release('b', [current as ClaimedLease]);
    expect((await leases.leases())[0]).toMatchObject({ name: 'x', holder: 'a', epoch: 2 });
  });
});

describe.runIf(hasPostgres)('leases that nobody has', () => {
  const DAY = 24 * 3_600_000;
  const states = (database: PostgresDatabase) => openSqlStore(database, null).organizationStates();
  const age = (database: PostgresDatabase, days: number) =>
    run(database, `UPDATE lease SET since = clock_timestamp() - interval '${days} days'`);

  test('are removed after a time, with the states of their organizations; later epochs are greater', async () => {
    const { database, leases } = await open();
    const organizations = ['organization/old', 'organization/held', 'organization/new'];
    await leases.define([...organizations.slice(0, 2), 'token/old']);
    await leases.renew(replica('a'), TTL);
    for (let epoch = 1; epoch <= 3; epoch += 1) {
      await leases.release('a', await leases.claim('a', ['organization/old'], 1));
    }
    await leases.claim('a', ['organization/held'], 1);
    await age(database, 8);
    await leases.define(['organization/new']);
    const parts = [{ part: 'status', hash: '1', content: '{}' }];
    for (const organization of ['old', 'held', 'new']) {
      await states(database).write(organization, { epoch: 1, at: 1, parts, removed: [] });
    }
    await leases.removeUnused(9 * DAY);
    expect(await leases.leases()).toHaveLength(4);
    await leases.removeUnused(7 * DAY);
    expect((await leases.leases()).map(({ name }) => name)).toEqual(['organization/held', 'organization/new']);
    expect((await states(database).allVersions(['status'])).map(({ organization }) => organization)).toEqual([
      ...['held', 'new'],
    ]);
    // Nothing else to remove: the greatest epoch stays known.
    await leases.removeUnused(7 * DAY);
    await leases.define(['organization/old']);
    expect(await leases.claim('a', ['organization/old'], 1)).toEqual([{ name: 'organization/old', epoch: 4 }]);
  });

  test('are not removed while they are claimed', async () => {
    const { database, blocking, leases } = await open();
    await leases.define(['x']);
    await leases.renew(replica('a'), TTL);
    await age(database, 8);
    let removal: Promise<void> | undefined;
    await new PostgresLeases(blocking).claim('a', ['x'], 1);
    await blocking.write('test', async (sql) => {
      await sql.run("UPDATE lease SET since = clock_timestamp() WHERE name = 'x'");
      removal = leases.removeUnused(7 * DAY);
      await sql.all('SELECT pg_sleep(0.2)');
    });
    await removal;
    expect((await leases.leases()).map(({ name, holder }) => [name, holder])).toEqual([['x', 'a']]);
  });
});

describe.runIf(hasPostgres)('races', () => {
  test('a renewal during an eviction either keeps everything or learns that everything is lost', async () => {
    const { database, leases } = await open();
    const all = Array.from({ length: 20 }, (_, index) => `l${index}`);
    await leases.define(all);
    const outcomes = new Set<number>();
    for (let round = 0; round < 40; round += 1) {
      await leases.renew(replica('a'), TTL);
      await leases.claim('a', all, all.length);
      await expire(database, 'a');
      const [evicted, renewed] = await Promise.all(
        round % 2 === 0
          ? [leases.evict(), leases.renew(replica('a'), TTL)]
          : [leases.renew(replica('a'), TTL), leases.evict()].reverse(),
      );
      const kept = (renewed as readonly ClaimedLease[]).length;
      expect(kept).toBe(evicted === 1 ? 0 : all.length);
      expect((await leases.leases()).filter(({ holder }) => holder === 'a')).toHaveLength(kept);
      expect((await leases.replicas()).map(({ id }) => id)).toEqual(['a']);
      outcomes.add(kept);
    }
  });

  test('a renewal that waits for an eviction under way learns that everything is lost', async () => {
    const { leases, blocking } = await open();
    await leases.define(['x']);
    await leases.renew(replica('a'), TTL);
    await leases.claim('a', ['x'], 1);
    let renewal: Promise<readonly ClaimedLease[]> | undefined;
    await blocking.write('test', async (sql) => {
      await sql.get("SELECT id FROM replica WHERE id = 'a' FOR UPDATE");
      renewal = leases.renew(replica('a'), TTL);
      await untilWaiting(cluster(), 'INSERT INTO replica');
      await sql.run("UPDATE lease SET holder = NULL WHERE holder = 'a'");
      await sql.run("DELETE FROM replica WHERE id = 'a'");
    });
    expect(await renewal).toEqual([]);
    expect((await leases.replicas()).map(({ id }) => id)).toEqual(['a']);
  });

  test('random operations of several replicas at the same time: one holder, and epochs only grow', async () => {
    const { database, leases } = await open();
    const all = ['a', 'b', 'c', 'd', 'e'];
    await leases.define(all);
    const seen = new Map<string, string>();
    const epochs = new Map<string, number>();
    const operation = fc.record({
      kind: fc.constantFrom('claim', 'claim', 'renew', 'renew', 'release', 'expire', 'evict', 'leave'),
      id: fc.constantFrom('r1', 'r2', 'r3'),
      limit: fc.integer({ min: 1, max: 5 }),
    });
    const held = new Map<string, readonly ClaimedLease[]>();
    const act = async ({ kind, id, limit }: { kind: string; id: string; limit: number }) => {
      if (kind === 'claim') {
        for (const { name, epoch } of await leases.claim(id, all, limit)) {
          // No two claims return the same epoch of a lease.
          expect(seen.get(`${name} ${epoch}`)).toBeUndefined();
          seen.set(`${name} ${epoch}`, id);
        }
      } else if (kind === 'renew') {
        const mine = await leases.renew(replica(id), TTL);
        held.set(id, mine);
      } else if (kind === 'release') {
        await leases.release(id, (held.get(id) ?? []).slice(0, limit));
      } else if (kind === 'expire') {
        await expire(database, id);
      } else if (kind === 'evict') {
        await leases.evict();
      } else {
        await leases.leave(id);
      }
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 2, maxLength: 6 }), { maxLength: 6 }),
        async (batches) => {
          for (const batch of batches) {
            await Promise.all(batch.map(act));
            const ids = (await leases.replicas()).map(({ id }) => id);
            for (const { name, holder, epoch } of await leases.leases()) {
              expect(epoch).toBeGreaterThanOrEqual(epochs.get(name) ?? 0);
              epochs.set(name, epoch);
              expect([null, ...ids]).toContain(holder);
              expect(holder === null ? holder : seen.get(`${name} ${epoch}`)).toBe(holder);
            }
          }
        },
      ),
      { seed: SEED, numRuns: countCases({ sample: 30, ci: 100, full: 2000 }) },
    );
  });
});

test.runIf(hasPostgres)('shared state is changed by one replica after the other', async () => {
  const { url } = await open();
  const stores = await Promise.all([1, 2, 3].map(() => openFleetStore({ url, pool: 3 }, systemClock, Math.random)));
  let last: Json = null;
  const add = (value: Json) => {
    last = Number(value) + 1;
    return last;
  };
  const updates = stores.flatMap((store) => Array.from({ length: 20 }, () => store.update('counter', add)));
  await Promise.all(updates);
  expect(last).toBe(60);
  await Promise.all(stores.map((store) => store.close()));
});

describe.runIf(hasPostgres)('fencing', () => {
  const NAME = "o'1? \\' OR true --";
  async function holdLease(leases: PostgresLeases) {
    await leases.define([NAME]);
    await leases.renew(replica('a'), TTL);
    return (await leases.claim('a', [NAME], 1))[0] as ClaimedLease;
  }
  const write = (database: PostgresDatabase, lease: ClaimedLease) =>
    database
      .fenced(lease)
      .write('x', (sql) => sql.run("INSERT INTO note (topic, value) VALUES ('t', '1')"))
      .then(
        () => 'written',
        (error) => {
          expect(error).toBeInstanceOf(LeaseLostError);
          return 'lost';
        },
      );
  test('a write is possible with the epoch of the lease, and with no other one', async () => {
    const { database, leases } = await open();
    const lease = await holdLease(leases);
    expect(await write(database, { ...lease, epoch: lease.epoch + 1 })).toBe('lost');
    expect(await write(database, { ...lease, name: "' OR true --" })).toBe('lost');
    expect(await write(database, lease)).toBe('written');
    expect(await notes(database)).toHaveLength(1);
  });

  const notes = (database: PostgresDatabase) => database.read((sql) => sql.all('SELECT * FROM note'));

  test.each([
    [
      'another replica claimed it',
      async (leases: PostgresLeases, database: PostgresDatabase) => {
        await expire(database, 'a');
        await leases.evict();
        await leases.renew(replica('b'), TTL);
        await leases.claim('b', [NAME], 1);
      },
    ],
    ['it was released', async (leases: PostgresLeases) => leases.release('a', [{ name: NAME, epoch: 1 }])],
    [
      'its replica has expired',
      async (_: PostgresLeases, database: PostgresDatabase) => {
        await expire(database, 'a');
      },
    ],
  ])('a write is refused once %s', async (_, lose) => {
    const { database, leases } = await open();
    const lease = await holdLease(leases);
    await lose(leases, database);
    expect(await write(database, lease)).toBe('lost');
    expect(await notes(database)).toEqual([]);
  });

  test('a write under way delays the eviction and the next claim', async () => {
    const { database, leases, blocking } = await open();
    const lease = await holdLease(leases);
    await leases.renew(replica('b'), TTL);
    const order: string[] = [];
    let eviction: Promise<unknown> | undefined;
    await blocking.fenced(lease).write('x', async (sql) => {
      await sql.run("INSERT INTO note (topic, value) VALUES ('t', '1')");
      await expire(database, 'a');
      eviction = leases.evict().then(() => order.push('evicted'));
      await untilWaiting(cluster(), 'UPDATE lease');
      // A claim does not wait: the lease is not free.
      expect(await leases.claim('b', [NAME], 1)).toEqual([]);
      order.push('written');
    });
    await eviction;
    expect(order).toEqual(['written', 'evicted']);
    expect(await leases.claim('b', [NAME], 1)).toEqual([{ name: NAME, epoch: 2 }]);
    expect(await notes(database)).toHaveLength(1);
  });

  test('a write that waits for an eviction under way is refused', async () => {
    const { database, leases, blocking } = await open();
    const lease = await holdLease(leases);
    let result: Promise<string> | undefined;
    await blocking.write('other', async (sql) => {
      await sql.run("UPDATE lease SET holder = NULL WHERE holder = 'a'");
      result = write(database, lease);
      await untilWaiting(cluster(), 'FOR SHARE OF lease');
    });
    expect(await result).toBe('lost');
  });
});

/** Resolves when a statement with this text waits for a lock. */
async function untilWaiting(server: PostgresCluster, text: string): Promise<void> {
  const query = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${text}%' AND pid <> pg_backend_pid()`;
  while ((await server.query(query)).length === 0) {
    // Asked again at once.
  }
}
