/** A daemon that cannot renew its lease in the middle of an apply: it stops in time, and the next owner continues. */
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { SEND_MARGIN } from '../../../src/config/store.ts';
import { eventually } from '../../support/octavo-process.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../../support/postgres.ts';
import { type FleetReplica, ProcessFleet } from '../process-fleet.ts';
import { findEpochFaults, readStamp } from '../stamps.ts';

const ORGANIZATION = 'org_0000';
const TITLES = Array.from({ length: 80 }, (_, index) => `T${String(index).padStart(2, '0')}`);
/** Milliseconds of a response: the apply takes longer than the lease. */
const LATENCY = 100;

/** Transaction that blocks every renewal of a replica, and nothing else. */
class BlockedReplica implements AsyncDisposable {
  /** Time at which the database evicts the replica, in milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly #client: pg.Client;
  readonly #id: string;

  private constructor(client: pg.Client, id: string, expiresAt: number) {
    this.#client = client;
    this.#id = id;
    this.expiresAt = expiresAt;
  }

  /** Begins right after a renewal. */
  static async begin(cluster: PostgresCluster, fleet: ProcessFleet, { run }: FleetReplica): Promise<BlockedReplica> {
    const own = `FROM octavo.replica WHERE address LIKE '% ${run.child.pid}'`;
    const renewedAt = async () => (await fleet.query(`SELECT seen_at::text AS at ${own}`))[0]?.at;
    const before = await renewedAt();
    await eventually('a renewal', async () => (await renewedAt()) !== before);
    const client = new pg.Client({ connectionString: cluster.url(new URL(fleet.database).pathname.slice(1)) });
    await client.connect();
    await client.query('BEGIN');
    const { rows } = await client.query(
      `SELECT id, extract(epoch FROM expires_at) * 1000 AS expires_at ${own} FOR UPDATE`,
    );
    return new BlockedReplica(client, rows[0].id, Number(rows[0].expires_at));
  }

  /** Evicts the replica, as another one does after its expiry, and ends the transaction. */
  async evict(): Promise<void> {
    await this.#client.query('UPDATE octavo.lease SET holder = NULL, since = clock_timestamp() WHERE holder = $1', [
      this.#id,
    ]);
    await this.#client.query('DELETE FROM octavo.replica WHERE id = $1 AND expires_at < clock_timestamp()', [this.#id]);
    await this.#client.query('COMMIT');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#client.end();
  }
}

const epochsOf = (fleet: ProcessFleet) => [...new Set(fleet.writes().map((entry) => readStamp(entry)?.epoch ?? 0))];

describe.skipIf(!hasPostgres)('a daemon that cannot renew its lease in the middle of an apply', () => {
  test('sends nothing after the margin, says why, and another one continues without a duplicate', async () => {
    await using cluster = await startPostgres();
    await using fleet = await ProcessFleet.open({ cluster, organizations: 1, top: { queue: { concurrency: 1 } } });
    const victim = await fleet.start();
    await victim.run.waitForLog('pass completed');
    const next = await fleet.start();
    fleet.emulator.setLatency(LATENCY);
    fleet.declare(ORGANIZATION, ...TITLES);
    await eventually('an apply', () => fleet.writes().length > 2);
    await using blocked = await BlockedReplica.begin(cluster, fleet, victim);
    const blockedAt = Date.now();
    const { reason } = await victim.run.waitForLog('pass failed');
    expect(reason).toContain(
      `the lease organization/${ORGANIZATION} was not renewed in time; the request was not sent`,
    );
    const sent = fleet.writes();
    expect(sent.length).toBeLessThan(TITLES.length);
    expect(epochsOf(fleet)).toHaveLength(1);
    // The apply went on while the lease was long enough, and no longer.
    const last = Math.max(...sent.map(({ at }) => at));
    expect(last).toBeGreaterThan(blockedAt);
    expect(last).toBeLessThan(blocked.expiresAt - SEND_MARGIN);
    await victim.run.waitForLog('lease lost; the organization was stopped');
    await eventually('the expiry', () => Date.now() > blocked.expiresAt);
    expect(fleet.writes()).toHaveLength(sent.length);
    // The victim does not claim it again.
    victim.proxy.stall();
    await blocked.evict();
    await fleet.untilTeams(ORGANIZATION, TITLES);
    await next.run.waitForLog('pass completed', 1, '"writes":');
    expect(fleet.writes().map(({ operation }) => operation)).toEqual(TITLES.map(() => 'createTeam'));
    expect(epochsOf(fleet)).toHaveLength(2);
    expect(findEpochFaults(fleet.writes())).toEqual([]);
  }, 400_000);
});
