// A replica that reaches PostgreSQL, but gets no answers: until when the server keeps its leases.
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { LeaseKeeper } from '../../src/fleet/lease-keeper.ts';
import { openPostgresDatabase } from '../../src/store/postgres/database.ts';
import { PostgresLeases } from '../../src/store/postgres/store.ts';
import { eventually } from '../support/octavo-process.ts';
import { hasPostgres, startPostgres } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

/** Milliseconds of a lease. */
const TTL = 2000;
/** Milliseconds that a renewal may be under way. */
const DELIVERY = 2000;
const LIMITS = { connectTimeout: 500, statementTimeout: 1000 };

/** Faults by which answers are lost, also those of new connections. */
const FAULTS: Readonly<Record<string, (proxy: TcpProxy) => void>> = {
  'of all requests': (proxy) => proxy.stall(['to client']),
  // Everything else arrives, so each renewal is stored.
  'of commits': (proxy) => proxy.abandonAt('COMMIT', 'to client'),
};

test.runIf(hasPostgres).each(Object.entries(FAULTS))(
  'when the answers %s are lost, the server keeps leases no longer than for a killed replica',
  async (_answers, loseAnswers) => {
    await using cluster = await startPostgres();
    const url = new URL(await cluster.createDatabase());
    const name = url.pathname.slice(1);
    await using proxy = await TcpProxy.open({ port: cluster.port });
    await using cleanup = new AsyncDisposableStack();
    const open = async (port: number) => {
      url.port = String(port);
      const database = await openPostgresDatabase({ url: String(url), pool: 4, ...LIMITS });
      cleanup.defer(() => database.close());
      return new PostgresLeases(database);
    };
    const [table, other] = [await open(proxy.port), await open(cluster.port)];
    const lost: string[] = [];
    const keeper = new LeaseKeeper({
      ...{ table, clock: systemClock, ttl: TTL },
      self: () => ({ id: 'a', version: '1', address: 'a', weight: 1, isDraining: false }),
      onClaimed: () => undefined,
      onLost: (lease) => lost.push(lease.name),
      onFailure: () => undefined,
    });
    cleanup.defer(() => keeper.stop());
    const read = async (expression: string): Promise<number> => {
      const rows = await cluster.query(
        `SELECT max(extract(epoch FROM ${expression}))::float8 AS at FROM octavo.replica`,
        name,
      );
      return Number(rows[0]?.at ?? 0) * 1000;
    };
    await keeper.join();
    void keeper.run();
    const first = await read('expires_at');
    await eventually('a renewal', async () => (await read('expires_at')) > first);
    await other.define(['x']);
    await eventually(
      'the claim',
      async () => (await keeper.claim(['x'], 1).catch(() => 0)) === 1 || keeper.held.has('x'),
    );
    const cutAt = await read('clock_timestamp()');
    loseAnswers(proxy);
    let expiry = 0;
    await eventually('the eviction', async () => {
      expiry = Math.max(expiry, await read('expires_at'));
      return (await other.evict()) === 1;
    });
    await eventually('the loss of the lease', () => lost.includes('x'));
    expect(expiry - cutAt).toBeGreaterThan(0);
    expect(expiry - cutAt).toBeLessThan(TTL + DELIVERY);
    // What was sent before arrives, and the replica goes on.
    proxy.pass();
    await eventually('the replica to be back', async () => (await other.replicas()).length === 1);
    expect((await other.leases()).map(({ holder }) => holder)).toEqual([null]);
  },
  90_000,
);
