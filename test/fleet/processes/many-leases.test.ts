/** Three processes that divide 2,000 organizations, and are all replaced while every organization has an owner. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openPostgresDatabase } from '../../../src/store/postgres/database.ts';
import { eventually } from '../../support/octavo-process.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../../support/postgres.ts';
import { spawn } from '../../support/programs.ts';
import { LeaseLog } from './lease-log.ts';

const PROGRAM = fileURLToPath(new URL('lease-process.ts', import.meta.url));
const ORGANIZATIONS = 2000;
/** Milliseconds without a holder. */
const HAND_OVER = 5000;
/** Number of steps of a hand-over that wait for the processor, as one statement of the test does. */
const PATIENCE = 5;

/** Processes with their ids; they are killed in the end. */
class LeaseProcesses implements AsyncDisposable {
  /** Longest time of a statement in milliseconds: on a busy machine, everything takes longer. */
  slowest = 0;
  readonly #cluster: PostgresCluster;
  readonly #database: string;
  readonly #children = new Map<string, ChildProcess>();

  constructor(cluster: PostgresCluster, database: string) {
    this.#cluster = cluster;
    this.#database = database;
  }

  /** Starts processes that join at the same time, and waits until they have made their first claims. */
  async start(...ids: readonly string[]): Promise<void> {
    const children = await Promise.all(ids.map((id) => this.#start(id)));
    await Promise.all(
      children.map(async (child) => {
        child.stdin?.write('join\n');
        await once(child.stdout ?? child, 'data');
      }),
    );
  }

  /** Starts a process that is ready to join. */
  async #start(id: string): Promise<ChildProcess> {
    const child = spawn(process.execPath, [PROGRAM, this.#database, id, String(ORGANIZATIONS)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#children.set(id, child);
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${id} ended with ${code} before it had joined`);
    });
    ended.catch(() => undefined);
    await Promise.race([once(child.stdout ?? child, 'data'), ended]);
    return child;
  }

  /** Ends a process in order. */
  async drain(id: string): Promise<void> {
    const child = this.#children.get(id) as ChildProcess;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const [code] = await exited;
    this.#children.delete(id);
    expect(code).toBe(0);
  }

  /** Waits until these processes, and no others, have all organizations, and returns the number of each. */
  async untilShared(...ids: readonly string[]): Promise<readonly number[]> {
    return eventually('holders of all organizations', async () => {
      const began = performance.now();
      const rows = await this.#cluster.query(
        "SELECT holder, count(*) AS n FROM octavo.lease WHERE name LIKE 'organization/%' GROUP BY holder",
        new URL(this.#database).pathname.slice(1),
      );
      this.slowest = Math.max(this.slowest, performance.now() - began);
      const counts = new Map(rows.map(({ holder, n }) => [holder, Number(n)]));
      const shares = ids.map((id) => counts.get(id) ?? 0);
      return shares.reduce((sum, share) => sum + share, 0) === ORGANIZATIONS ? shares : null;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      [...this.#children.values()].map(async (child) => {
        if (child.exitCode === null && child.signalCode === null) {
          const exited = once(child, 'exit');
          child.kill('SIGKILL');
          await exited;
        }
      }),
    );
  }
}

function expectEven(shares: readonly number[]): void {
  const even = ORGANIZATIONS / shares.length;
  for (const share of shares) {
    expect(Math.abs(share / even - 1), shares.join()).toBeLessThanOrEqual(0.1);
  }
}

describe.skipIf(!hasPostgres)('three processes with 2,000 organizations', () => {
  test('have even shares, and a rolling restart leaves no organization without an owner', async () => {
    await using cluster = await startPostgres();
    const database = await cluster.createDatabase();
    await (await openPostgresDatabase({ url: database, pool: 1 })).close();
    await using processes = new LeaseProcesses(cluster, database);
    await processes.start('a', 'b', 'c');
    expectEven(await processes.untilShared('a', 'b', 'c'));
    const log = await LeaseLog.open(cluster, database);
    await processes.start('d');
    const first = processes.untilShared('b', 'c', 'd');
    await processes.drain('a');
    await first;
    await processes.start('e');
    const second = processes.untilShared('c', 'd', 'e');
    await processes.drain('b');
    await second;
    await processes.start('f');
    const third = processes.untilShared('d', 'e', 'f');
    await processes.drain('c');
    expectEven(await third);
    // Every organization was released and claimed at least once.
    expect(await log.count()).toBeGreaterThanOrEqual(2 * ORGANIZATIONS);
    expect(await log.longestFree()).toBeLessThan(HAND_OVER + PATIENCE * processes.slowest);
  }, 400_000);
});
