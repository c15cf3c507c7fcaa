import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { LeaseWork } from '../../src/fleet/fleet-leases.ts';
import { SharedLeases } from '../../src/fleet/shared-leases.ts';
import type { FleetSignals, Lease } from '../../src/store/leases.ts';
import type { PostgresDatabase } from '../../src/store/postgres/database.ts';
import { PostgresLeases } from '../../src/store/postgres/store.ts';
import { countCases, pickCases, SEED } from '../support/campaign.ts';
import { hasPgBouncer } from '../support/pgbouncer.ts';
import { hasPostgres, startPostgres } from '../support/postgres.ts';
import { causeFaults, createDice, openProxied, WAYS } from './fault-schedule.ts';

/*
 * Replicas that share organizations while their database fails. They have one monotonic clock, so two of them that believe
 * in the same lease at the same time are seen, and the order of what they wrote shows writes after the loss of a lease.
 */

const FAULTS = countCases({ sample: 2, ci: 3, full: 200 });
/** Milliseconds of the longest fault: longer than a lease. */
const LONGEST = 3000;
/** Milliseconds of a lease. */
const TTL = 2000;
const REPLICAS = 3;
const ORGANIZATIONS = 9;
/** Milliseconds after the last fault until every organization has an owner. */
const RECOVERY = TTL + 5000;

/** Every message is lost. */
const NO_SIGNALS: FleetSignals = { isConnected: false, send: async () => undefined, listen: () => () => undefined };

describe.skipIf(!hasPostgres)('a fleet whose database fails', () => {
  for (const [way, { pool, isPooled }] of pickCases(Object.entries(WAYS), 1)) {
    test.skipIf(isPooled && !hasPgBouncer).concurrent(
      `through ${way}, has one owner of each organization, and all are owned again soon`,
      async () => {
        const limits = { connectTimeout: 500, statementTimeout: 1000 };
        await using cluster = await startPostgres();
        await using opened = await openProxied(cluster, REPLICAS, { pool, isPooled }, 2 * pool, limits);
        const { name, proxies } = opened;
        await using cleanup = new AsyncDisposableStack();
        const watch = new OwnerWatch();
        const replicas = opened.databases.map((database, number) =>
          cleanup.use(new TestReplica(`replica-${number}`, database, watch)),
        );
        await cluster.query(TABLES, name);
        await Promise.all(replicas.map((replica) => replica.start()));
        const isOwned = () => watch.owned() === ORGANIZATIONS;
        await until('the first claims', isOwned);
        const dice = createDice(SEED + pool);
        const caused = await causeFaults({ cluster, proxies }, dice, { count: FAULTS, longest: LONGEST });
        const story = `seed ${SEED}: ${caused.join(', ')}`;
        await until(`owners of all organizations after ${story}`, isOwned);
        const written = watch.written;
        await until(`writes after ${story}`, () => watch.written > written + ORGANIZATIONS);
        expect(watch.shared, story).toEqual([]);
        const acknowledged = watch.written;
        const rows = await cluster.query('SELECT organization, epoch FROM octavo.written ORDER BY number', name);
        expect(rows.length, story).toBeGreaterThanOrEqual(acknowledged);
        expect(findOldWrites(rows), story).toEqual([]);
      },
      60_000 + FAULTS * LONGEST * 3,
    );
  }
});

const TABLES = `CREATE TABLE octavo.written (
  number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, organization TEXT NOT NULL, epoch BIGINT NOT NULL
);`;

/** Returns the writes that follow one of a later lease. */
function findOldWrites(rows: readonly Record<string, unknown>[]): readonly string[] {
  const last = new Map<string, number>();
  const old: string[] = [];
  for (const row of rows) {
    const [organization, epoch] = [String(row.organization), Number(row.epoch)];
    const before = last.get(organization) ?? 0;
    if (epoch < before) {
      old.push(`${organization}: ${epoch} after ${before}`);
    }
    last.set(organization, Math.max(epoch, before));
  }
  return old;
}

/** Knows which replica believes that it has a lease. */
class OwnerWatch {
  /** Leases that two replicas believed in at the same time. */
  readonly shared: string[] = [];
  written = 0;
  readonly #leases = new Map<string, Set<Lease>>();

  /** Number of organizations with an owner. */
  owned(): number {
    return [...this.#leases].filter(([name, leases]) => name.startsWith('organization/') && this.#live(leases) > 0)
      .length;
  }

  add(lease: Lease): void {
    const leases = this.#leases.get(lease.name) ?? new Set();
    this.#leases.set(lease.name, leases.add(lease));
    this.check(lease);
  }

  remove(lease: Lease): void {
    this.#leases.get(lease.name)?.delete(lease);
  }

  check({ name }: Lease): void {
    if (this.#live(this.#leases.get(name) ?? new Set()) > 1) {
      this.shared.push(name);
    }
  }

  #live(leases: ReadonlySet<Lease>): number {
    return [...leases].filter((lease) => lease.left() > 0 && !lease.lost.aborted).length;
  }
}

/** A replica that writes under its leases, again and again. */
class TestReplica implements AsyncDisposable {
  readonly #leases: SharedLeases;
  readonly #database: PostgresDatabase;
  readonly #watch: OwnerWatch;
  readonly #running = new Map<Lease, { readonly stop: AbortController; readonly ended: Promise<void> }>();

  constructor(id: string, database: PostgresDatabase, watch: OwnerWatch) {
    this.#database = database;
    this.#watch = watch;
    const work: LeaseWork = {
      begin: (lease) => {
        const stop = new AbortController();
        watch.add(lease);
        this.#running.set(lease, { stop, ended: this.#work(lease, AbortSignal.any([stop.signal, lease.lost])) });
      },
      end: async (lease) => {
        const running = this.#running.get(lease);
        running?.stop.abort();
        await running?.ended;
        watch.remove(lease);
      },
    };
    this.#leases = new SharedLeases({
      isComplete: () => true,
      store: {
        leases: new PostgresLeases(database),
        signals: NO_SIGNALS,
      },
      clock: systemClock,
      random: Math.random,
      replica: { id, version: '1', address: id, weight: 1 },
      ...{ ttl: TTL, split: 'token', work },
    });
  }

  async start(): Promise<void> {
    await this.#leases.start();
    this.#leases.setOrganizations(
      Array.from({ length: ORGANIZATIONS }, (_, number) => ({ id: `org-${number}`, shard: `shard-${number}` })),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leases.drain(1000);
  }

  async #work(lease: Lease, over: AbortSignal): Promise<void> {
    const database = this.#database.fenced(lease);
    while (!over.aborted) {
      await pause(20);
      try {
        await database.write(lease.name, async (sql) => {
          await sql.run('INSERT INTO written (organization, epoch) VALUES (?, ?)', lease.name, lease.epoch);
        });
        this.#watch.written += 1;
      } catch (error) {
        if (!['StoreError', 'LeaseLostError'].includes((error as Error).name)) {
          throw error;
        }
      }
      this.#watch.check(lease);
    }
  }
}

async function until(what: string, isDone: () => boolean): Promise<void> {
  const limit = performance.now() + RECOVERY;
  while (!isDone()) {
    if (performance.now() > limit) {
      throw new Error(`waited ${RECOVERY} ms for ${what}`);
    }
    await pause(10);
  }
}
