/** Fleets on PostgreSQL: leases, the outbox, and what organizations cost that do nothing. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasPostgres, type PostgresCluster, startPostgres } from '../../test/support/postgres.ts';
import { execFileSync } from '../../test/support/programs.ts';
import { startDaemon } from '../daemon.ts';
import { ratios } from '../figures.ts';
import { cpuSeconds, residentMegabytes } from '../machine.ts';
import { writeTeams } from '../manifests.ts';
import { alternate, runOnce } from '../measure.ts';
import { startPlatform } from '../platform.ts';
import type { Case, CaseContext } from '../runner.ts';

const LEASES = 5000;
const CONVERSATIONS = 6000;
const REPLICAS = 3;
/** Organizations of the replica that does nothing but poll. One in a hundred has a commit in each interval. */
const IDLE_ORGANIZATIONS = 200;
const POLL_SECONDS = 30;
const MEASURED_SECONDS = 120;

/** Time of deposits in seconds. */
interface DepositTimes {
  readonly wall: number;
  readonly cpu: number;
}

export const FLEET_CASES: readonly Case[] = [
  {
    name: 'fleet-leases',
    title: `Claim and renew ${LEASES.toLocaleString('en-US')} leases in PostgreSQL`,
    async measure(context) {
      const cluster = await openCluster(context);
      const claims: number[] = [];
      const renewals: number[] = [];
      for (let run = 0; run < context.runs; run += 1) {
        const args = ['leases', await cluster.createDatabase(), String(LEASES)];
        const { output } = await runOnce(context, [context.installed.program('fleet-store'), ...args]);
        const found = JSON.parse(output) as { claimed: number; claim: number; renewals: readonly number[] };
        if (found.claimed !== LEASES) {
          throw new Error(`only ${found.claimed} leases were claimed`);
        }
        claims.push(found.claim);
        renewals.push(found.renewals.toSorted((a, b) => a - b)[Math.floor(found.renewals.length / 2)] ?? 0);
      }
      context.record('claim of all', 'milliseconds', claims, 2000);
      context.record('renewal of all', 'milliseconds', renewals, 100);
    },
  },
  {
    name: 'fleet-outbox',
    title: `Put ${CONVERSATIONS.toLocaleString('en-US')} conversations into the outbox: SQLite, PostgreSQL, and PostgreSQL by ${REPLICAS} replicas`,
    async measure(context) {
      const cluster = await openCluster(context);
      let files = 0;
      const sqlite = () => {
        files += 1;
        return deposit(context, join(context.folder, `outbox-${files}.db`), 'org_0', CONVERSATIONS);
      };
      const one = async () => deposit(context, await cluster.createDatabase(), 'org_0', CONVERSATIONS);
      const three = async () => {
        const url = await cluster.createDatabase();
        const part = (index: number) => deposit(context, url, `org_${index}`, CONVERSATIONS / REPLICAS);
        const all = await Promise.all(Array.from({ length: REPLICAS }, (_, index) => part(index)));
        return { wall: Math.max(...all.map(({ wall }) => wall)), cpu: all.reduce((sum, { cpu }) => sum + cpu, 0) };
      };
      const found = await alternate(context.runs, { sqlite, one, three });
      const each = (times: readonly DepositTimes[], of: keyof DepositTimes) =>
        times.map((time) => (1e6 * time[of]) / CONVERSATIONS);
      for (const [name, times] of Object.entries({ SQLite: found.sqlite, PostgreSQL: found.one })) {
        context.record(`${name}: wall each`, 'microseconds', each(times, 'wall'));
        context.record(`${name}: CPU each`, 'microseconds', each(times, 'cpu'));
      }
      context.record(`PostgreSQL, ${REPLICAS} replicas: wall each`, 'microseconds', each(found.three, 'wall'));
      const walls = (times: readonly DepositTimes[]) => times.map(({ wall }) => wall);
      context.record(
        `${REPLICAS} replicas over 1: wall`,
        'time ratio',
        ratios(walls(found.three), walls(found.one)),
        1,
      );
    },
  },
  {
    name: 'fleet-idle',
    title: `A replica of ${IDLE_ORGANIZATIONS} organizations that polls every ${POLL_SECONDS} s, one in a hundred with a commit`,
    long: true,
    measure: measureIdle,
  },
];

async function measureIdle(context: CaseContext): Promise<void> {
  const cluster = await openCluster(context);
  const url = await cluster.createDatabase();
  const ids = Array.from({ length: IDLE_ORGANIZATIONS }, (_, index) => `org_${index}`);
  const platform = await startPlatform(context, 0, 0, ids);
  const [quiet, busy] = [makeRepository(context, 'quiet'), makeRepository(context, 'busy')];
  const config = join(context.folder, 'idle.json');
  const organizations = ids.map((id, index) => {
    const git = { url: index % 100 === 0 ? busy : quiet, pollInterval: `${POLL_SECONDS}s` };
    return { id, source: { git }, schedule: { drift: '0 0 1 1 *' } };
  });
  writeFileSync(
    config,
    JSON.stringify({
      platform: { baseUrl: platform.url, token: platform.token },
      organizations,
      store: url,
      server: { listen: '127.0.0.1:0' },
      log: { level: 'debug', format: 'json' },
    }),
  );
  const daemon = startDaemon(context, config);
  for (let passes = 0; passes < IDLE_ORGANIZATIONS; passes += 1) {
    await daemon.waitFor(({ outcome }) => outcome !== undefined);
  }
  // The rest of the log is not needed, but the daemon must be able to write it.
  daemon.child.stderr?.resume();
  const pid = daemon.child.pid ?? 0;
  // The first minute has the work of the start.
  await sleep(60_000, undefined, { signal: context.signal });
  const [before, cpu] = [await statementsOf(cluster, url), cpuSeconds(pid)];
  for (let second = 0; second < MEASURED_SECONDS; second += POLL_SECONDS) {
    commitTo(busy, second);
    await sleep(1000 * POLL_SECONDS, undefined, { signal: context.signal });
  }
  const [after, used] = [await statementsOf(cluster, url), cpuSeconds(pid) - cpu];
  const minutes = (MEASURED_SECONDS / 60) * IDLE_ORGANIZATIONS;
  context.record('statements per organization and minute', 'varying count', (after.calls - before.calls) / minutes, 20);
  context.record('database time per organization and minute', 'milliseconds', (after.ms - before.ms) / minutes, 5);
  context.record('CPU per organization and minute', 'milliseconds', (1000 * used) / minutes, 60);
  context.record('memory', 'memory', residentMegabytes(pid).now);
}

async function statementsOf(cluster: PostgresCluster, url: string): Promise<{ calls: number; ms: number }> {
  const name = new URL(url).pathname.slice(1);
  await cluster.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  const [row] = await cluster.query(
    `SELECT sum(calls) AS calls, sum(total_exec_time) AS ms FROM pg_stat_statements
     JOIN pg_database ON pg_database.oid = dbid WHERE datname = '${name}'`,
  );
  return { calls: Number(row?.calls), ms: Number(row?.ms) };
}

/** Starts a server that stores commits durably. It ends with the case. */
async function openCluster(context: CaseContext): Promise<PostgresCluster> {
  if (!hasPostgres) {
    throw new Error("PostgreSQL's programs are missing; install them, or name the cases to run");
  }
  const settings = { fsync: 'on', shared_preload_libraries: "'pg_stat_statements'", shared_buffers: '128MB' };
  const cluster = await startPostgres({ settings });
  context.signal.addEventListener('abort', () => context.atEnd(cluster.stop()));
  return cluster;
}

async function deposit(
  context: CaseContext,
  place: string,
  organization: string,
  count: number,
): Promise<DepositTimes> {
  const args = ['deposits', place, organization, String(count)];
  const { output } = await runOnce(context, [context.installed.program('fleet-store'), ...args]);
  return JSON.parse(output) as DepositTimes;
}

function makeRepository(context: CaseContext, name: string): string {
  const folder = join(context.folder, name);
  mkdirSync(folder);
  writeTeams(folder, 5, { single: true });
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '-m', 'Start');
  return folder;
}

function commitTo(folder: string, number: number): void {
  writeFileSync(join(folder, 'more.yaml'), `teams:\n  more:\n    title: More ${number}\n`);
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '-m', `Change ${number}`);
}

function git(folder: string, ...args: readonly string[]): void {
  const person = ['-c', 'user.name=Bench', '-c', 'user.email=bench@bench.example'];
  execFileSync('git', [...person, ...args], { cwd: folder, stdio: 'ignore' });
}
