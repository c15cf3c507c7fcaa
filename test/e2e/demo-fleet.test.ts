import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, OctavoProcess } from '../support/octavo-process.ts';
import { hasPostgres, reportMissingPostgres, startPostgres } from '../support/postgres.ts';

const cwd = mkdtempSync(join(tmpdir(), 'octavo-demo-test-'));
// The user of the server enters it.
chmodSync(cwd, 0o755);

beforeAll(() => {
  if (!hasPostgres) {
    reportMissingPostgres('the demonstration of a fleet');
  }
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

function demo(flags: readonly string[], env: Readonly<Record<string, string>> = {}): OctavoProcess {
  return new OctavoProcess(['demo', '--fleet', ...flags], { cwd, env: { TMPDIR: cwd, ...env } });
}

/** Files that a demo left behind, except for the compile cache of Node. */
function left(): readonly string[] {
  return readdirSync(cwd).filter((name) => name.startsWith('octavo-'));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!hasPostgres)('octavo demo --fleet', () => {
  test('shows a take-over, a hand-over and a change with --once, and deletes its files', async () => {
    const { code, stdout, stderr } = await demo(['3', '--once']).ended;
    expect(stderr).toBe('');
    const steps = [
      'a fleet of 3 replicas on PostgreSQL',
      'a temporary PostgreSQL',
      '1. A replica is killed',
      '$ kill -9',
      'has ended',
      '2. A replica is stopped',
      'has ended',
      '3. All manifests change',
      '✓ 9 organizations applied',
      'The demonstration is complete.',
    ];
    let from = 0;
    for (const step of steps) {
      const at = stdout.indexOf(step, from);
      expect(at, `${step}\n\n${stdout}`).toBeGreaterThanOrEqual(from);
      from = at + 1;
    }
    expect(stdout).toMatch(/→ replica \d has .* \((?:it|they) had no owner for \d+\.\d s\)/);
    expect(code).toBe(0);
    expect(left()).toEqual([]);
  }, 180_000);

  test('uses a database of its own on the server of DATABASE_URL, and ends all replicas when it is stopped', async () => {
    await using cluster = await startPostgres();
    const url = `postgres://postgres:${cluster.password}@/postgres?host=${cluster.folder}&port=${cluster.port}`;
    const once = await demo(['2', '--once'], { DATABASE_URL: url }).ended;
    expect(once).toMatchObject({ code: 0, stdout: expect.stringContaining('2. All manifests change') });
    const running = demo(['2'], { DATABASE_URL: cluster.url() });
    await eventually('its turn', () => running.stdout.includes('Press Ctrl-C'), 60);
    const [, page = ''] = /replica 1 +(http\S+)/.exec(running.stdout) ?? [];
    expect((await fetch(page)).status).toBeLessThan(500);
    const pids = [...running.stdout.matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid));
    expect(pids.map(isRunning)).toEqual([true, true]);
    const names = async () => (await cluster.query('SELECT datname FROM pg_database')).map(({ datname }) => datname);
    expect(await names()).toContainEqual(expect.stringMatching(/^octavo_demo_/));
    const { code } = await running.stop('SIGINT');
    expect(code).toBe(0);
    expect(pids.map(isRunning)).toEqual([false, false]);
    expect(await names()).not.toContainEqual(expect.stringMatching(/^octavo_demo_/));
    expect(left()).toEqual([]);
  }, 180_000);

  test('leaves no process and no file behind when it is killed', async () => {
    const running = demo(['2']);
    await eventually('its turn', () => running.stdout.includes('Press Ctrl-C'), 60);
    const replicas = [...running.stdout.matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid));
    const [server = ''] = left().filter((name) => name.startsWith('octavo-demo-postgres-'));
    const [line = ''] = readFileSync(join(cwd, server, 'data', 'postmaster.pid'), 'utf8').split('\n', 1);
    const pids = [...replicas, Number(line)];
    expect(pids.map(isRunning)).toEqual([true, true, true]);
    running.child.kill('SIGKILL');
    await eventually('the end of all processes', () => !pids.some(isRunning), 60);
    await eventually('the removal of all files', () => left().length === 0, 60);
  }, 180_000);

  test('says what to do without a server', async () => {
    const { code, stderr } = await demo(['2'], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/postgres' }).ended;
    expect(stderr).toContain('DATABASE_URL cannot be used');
    expect(stderr).toContain('name a server and a user who may create databases');
    expect(code).toBe(3);
    expect(left()).toEqual([]);
  });
});
