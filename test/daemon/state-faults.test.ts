/** State files that cannot be used, from the start of a daemon or while it runs. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, teams } from './daemon-process.ts';
import { startInside } from './inside.ts';

/** More than fits into one page of the file. */
const MANY = Array.from({ length: 60 }, (_, index) => `T${index}-${'x'.repeat(60)}`);

async function withTeams(...titles: string[]): Promise<Workspace> {
  const work = await openWorkspace();
  work.repository.commit('Begin', { 'teams.yaml': teams(...titles) });
  return work;
}

function stateOf(work: Workspace): string {
  return join(work.folder, 'state', 'octavo.db');
}

test('refuses a state file that cannot be used in one line, and adopts everything after it is moved away', async () => {
  await using work = await withTeams('A', 'B', 'C');
  await (await startInside(work))[Symbol.asyncDispose]();
  const path = stateOf(work);
  writeFileSync(path, 'neither text nor database \0\x01\x02'.repeat(300));
  const before = work.emulator.requests.total;
  const { code, stdout, stderr } = await work.beginInside('run', '--config', work.configure()).ended;
  expect({ code, stdout, stderr }).toEqual({
    ...{ code: 1, stdout: '' },
    stderr: expect.stringMatching(/^octavo: .*octavo\.db is damaged;.*\n$/),
  });
  expect(work.emulator.requests.total).toBe(before);
  renameSync(path, `${path}.away`);
  const writes = work.writes();
  await using daemon = await startInside(work);
  expect(await daemon.pass()).toMatchObject({ outcome: 'done', requests: { writes: 0 } });
  expect(work.writes()).toBe(writes);
  expect(work.teams()).toEqual(['A', 'B', 'C']);
});

test('fails passes with a message if the folder for clones cannot be created', async () => {
  await using work = await withTeams('A');
  mkdirSync(join(work.folder, 'state'));
  const clones = join(work.folder, 'state', 'checkouts');
  writeFileSync(clones, 'a file in its place');
  const daemon = await startDaemon(work);
  const line = await daemon.run.waitForLog('cannot read manifests');
  expect(line.reason).toContain(`cannot use the directory ${join(clones, 'org_acme')}`);
  expect((await fetch(`${daemon.address}/healthz`)).status).toBe(200);
  rmSync(clones);
  daemon.run.hangUp();
  await work.untilTeams('A');
});

describe('a state file that fails while the daemon runs', () => {
  const failing = (metrics: string) =>
    Number(/octavo_reconcile_passes_total\{organization="org_acme",outcome="failed"\} (\d+)/.exec(metrics)?.[1] ?? 0);

  /** The state file is checked every 10 seconds. */
  const hasty: Clock = {
    ...systemClock,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds === 10_000 ? 20 : milliseconds, signal),
  };
  const ready = async ({ address }: { readonly address: string }) => {
    const response = await fetch(`${address}/readyz`);
    return `${response.status} ${JSON.stringify(await response.json())}`;
  };
  const PROBLEM = 'the state file cannot be written; see the log';

  test('is not ready while the file is read-only, and ready again', async () => {
    await using work = await withTeams('A');
    await using daemon = await startInside(work, { clock: hasty });
    expect(await ready(daemon)).toContain('200');
    daemon.database.exec('PRAGMA query_only = ON');
    await expect.poll(() => ready(daemon), { timeout: 10_000 }).toBe(`503 {"ready":false,"reasons":["${PROBLEM}"]}`);
    expect(daemon.log.filter(({ level }) => level >= 50).map(({ msg }) => msg)).toEqual([
      'the state file cannot be written',
    ]);
    daemon.database.exec('PRAGMA query_only = OFF');
    await expect.poll(() => ready(daemon), { timeout: 10_000 }).toContain('200');
  });

  test.each(['file', 'directory', 'replacement'])(
    'is not ready after the %s was removed, and stores nothing',
    async (what) => {
      await using work = await withTeams('A');
      await using daemon = await startInside(work, { clock: hasty });
      rmSync(what === 'directory' ? join(work.folder, 'state') : stateOf(work), { recursive: true });
      if (what === 'replacement') {
        writeFileSync(stateOf(work), '');
      }
      await expect.poll(() => ready(daemon), { timeout: 10_000 }).toContain(PROBLEM);
      work.repository.commit('More', { 'teams.yaml': teams('A', 'B') });
      expect(await daemon.pass()).toMatchObject({ outcome: 'failed' });
      expect(await ready(daemon)).toContain('org_acme: the last pass could not use the state file');
      expect(daemon.log.map(({ reason }) => reason)).toContainEqual(
        expect.stringContaining('was deleted or replaced while it was in use, so nothing is stored; stop Octavo'),
      );
    },
  );

  test('on a full disk sends only recorded changes, logs one error, and continues when there is space', async () => {
    await using work = await withTeams('First');
    await using daemon = await startInside(work);
    const pages = Number(daemon.database.prepare('PRAGMA page_count').get()?.page_count);
    daemon.database.exec(`PRAGMA max_page_count = ${pages}`);
    work.repository.commit('Many', { 'teams.yaml': teams('First', ...MANY) });
    expect(await daemon.pass()).toMatchObject({ outcome: 'failed', retryIn: expect.any(Number) });
    await daemon.pass();
    await daemon.pass();
    expect(await ready(daemon)).toContain('org_acme: the last pass could not use the state file; see the log');
    const creates = work.emulator.requests.count('createTeam');
    expect(creates).toBeLessThan(MANY.length);
    const recorded = Number(daemon.database.prepare('SELECT count(*) AS n FROM entry').get()?.n);
    expect(recorded).toBeGreaterThanOrEqual(creates);
    const errors = daemon.log.filter(({ level }) => level >= 40).map(({ msg, reason }) => `${msg}: ${reason}`);
    expect(errors).toEqual([
      `pass failed: ${stateOf(work)} cannot be written: the disk is full; free some space; a running daemon then continues by itself`,
    ]);
    expect((await fetch(`${daemon.address}/healthz`)).status).toBe(200);
    expect(failing(await daemon.metrics())).toBeGreaterThanOrEqual(3);
    expect(await daemon.metrics()).toContain('octavo_organization_failing{organization="org_acme",reason="state"} 1');
    daemon.database.exec('PRAGMA max_page_count = 100000');
    expect(await daemon.pass()).toMatchObject({ outcome: 'done' });
    expect(work.teams()).toHaveLength(MANY.length + 1);
    expect(work.emulator.requests.count('createTeam')).toBe(MANY.length + 1);
    expect(daemon.log.at(-1)).toMatchObject({ msg: 'pass completed', outcome: 'done' });
  });

  test('stops applying when the file is damaged', async () => {
    await using work = await withTeams('A');
    await using daemon = await startInside(work);
    daemon.database.exec("UPDATE entry SET fields = '{\"tit'");
    work.repository.commit('More', { 'teams.yaml': teams('A', 'B') });
    const before = work.writes();
    expect(await daemon.pass()).toMatchObject({ outcome: 'failed' });
    await daemon.pass();
    expect(work.writes()).toBe(before);
    const errors = daemon.log.filter(({ level }) => level >= 40).map(({ reason }) => reason);
    expect(errors).toEqual([expect.stringContaining(`${stateOf(work)} is damaged; move it away and start again`)]);
    expect((await fetch(`${daemon.address}/healthz`)).status).toBe(200);
  });
});
