import { mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { OctavoProcess } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, startDaemonProcess, teams } from './daemon-process.ts';
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

/** Starts a daemon that fails to start, and returns its only line of output. */
async function refusal(work: Workspace, path = work.configure()): Promise<string> {
  const before = work.emulator.requests.total;
  const { code, stdout, stderr } = await work.beginInside('run', '--config', path).ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(work.emulator.requests.total).toBe(before);
  return stderr.trimEnd();
}

/** A workspace whose daemon has applied these teams and was stopped. */
async function withState(...titles: string[]): Promise<Workspace> {
  const work = await withTeams(...titles);
  await using _daemon = await startInside(work);
  return work;
}

describe('startup with an unusable state file', () => {
  test.each<[string, (path: string) => void, string]>([
    ['random bytes', (path) => writeFileSync(path, 'neither text nor database \0\x01\x02'.repeat(300)), 'is damaged;'],
    ['a truncated file', (path) => truncateSync(path, 4096 * 2), 'is damaged;'],
    [
      'a database of another program',
      (path) => {
        rmSync(path);
        const database = new DatabaseSync(path);
        database.exec('CREATE TABLE songs (title TEXT); PRAGMA user_version = 1; PRAGMA journal_mode = DELETE');
        database.close();
      },
      'is the database of another program and was not changed;',
    ],
    [
      'a file of a newer Octavo',
      (path) => {
        const database = new DatabaseSync(path);
        database.exec('PRAGMA user_version = 99');
        database.close();
      },
      'was written by a newer Octavo (layout 99;',
    ],
  ])('reports %s in one line, and adopts everything after the file is moved away', async (_what, damage, words) => {
    await using work = await withState('A', 'B', 'C');
    const path = stateOf(work);
    damage(path);
    const bytes = readFileSync(path);
    expect(await refusal(work)).toContain(`octavo: ${path} ${words}`);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    renameSync(path, `${path}.away`);
    const before = work.writes();
    await using daemon = await startInside(work);
    expect(await daemon.pass()).toMatchObject({ outcome: 'done', requests: { writes: 0 } });
    expect(work.writes()).toBe(before);
    expect(work.teams()).toEqual(['A', 'B', 'C']);
  });

  test('reports a folder or a path below a file, and starts with another path', async () => {
    await using work = await withTeams('A');
    mkdirSync(stateOf(work), { recursive: true });
    expect(await refusal(work)).toContain(`octavo: ${stateOf(work)} cannot be opened; set store.path to a file`);
    const below = join(work.folder, 'config.yaml', 'octavo.db');
    const config = work.configure({ top: { store: { path: below } } });
    expect(await refusal(work, config)).toMatch(
      /octavo: .*config\.yaml\/octavo\.db cannot be used: .*set store\.path to/,
    );
    await using _daemon = await startInside(work, {
      top: { store: { path: join(work.folder, 'other', 'octavo.db') } },
    });
    expect(work.teams()).toEqual(['A']);
  });

  test.runIf(process.platform === 'linux')('fails at once where no directory can be created', async () => {
    await using work = await withTeams('A');
    for (const path of ['/proc/nope/x', '/proc/nope/x/y/octavo.db', '/sys/nope/octavo.db']) {
      const config = work.configure({ top: { store: { path } } });
      expect(await refusal(work, config)).toMatch(
        /^octavo: \/(?:proc|sys)\/nope.* cannot be used: .*set store\.path to/,
      );
    }
  });

  test('uses an empty file as a new one', async () => {
    await using work = await withTeams('A');
    mkdirSync(join(work.folder, 'state'));
    writeFileSync(stateOf(work), '');
    await using _daemon = await startInside(work);
    expect(work.teams()).toEqual(['A']);
  });

  test('refuses a file of a running daemon, without affecting that daemon', async () => {
    await using work = await withTeams('A');
    const first = await startDaemonProcess(work);
    await work.untilTeams('A');
    expect(await refusal(work)).toBe(
      `octavo: ${stateOf(work)} is in use by another process; only one Octavo may use a state file`,
    );
    work.repository.commit('More', { 'teams.yaml': teams('A', 'B') });
    await work.untilTeams('A', 'B');
    expect(first.run.log.filter(({ level }) => level >= 40)).toEqual([]);
    await first.run.stop();
    // The fix: the first daemon has stopped.
    const second = await startDaemon(work);
    expect((await second.pass()).outcome).toBe('done');
  });
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
      expect(await ready(daemon)).toContain(
        'org_1: the last pass could not use the state file'.replace('org_1', 'org_acme'),
      );
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

  test('finds created resources by their intent if their confirmation could not be written', async () => {
    await using work = await withTeams('First');
    await using daemon = await startInside(work);
    work.emulator.setFaults([
      {
        match: { operation: 'createTeam', nth: 5 },
        fault: { kind: 'hook', when: 'after', run: () => daemon.database.exec('PRAGMA query_only = 1') },
      },
    ]);
    work.repository.commit('Many', { 'teams.yaml': teams('First', ...MANY) });
    expect(await daemon.pass()).toMatchObject({ outcome: 'failed' });
    const creates = work.emulator.requests.count('createTeam') - 1;
    expect(creates).toBeGreaterThan(0);
    const errors = daemon.log.filter(({ level }) => level >= 40).map(({ reason }) => reason);
    expect(errors).toEqual([
      expect.stringContaining(`${stateOf(work)} cannot be written: it is read-only for this user;`),
    ]);
    work.emulator.setFaults([]);
    daemon.database.exec('PRAGMA query_only = 0');
    expect(await daemon.pass()).toMatchObject({ outcome: 'done' });
    expect(work.teams()).toHaveLength(MANY.length + 1);
    expect(work.emulator.requests.count('createTeam')).toBe(MANY.length + 1);
    // A creation without a confirmation is owned like the others: once it is removed from the manifests, it is deleted.
    work.repository.commit('Without the first', { 'teams.yaml': teams(...MANY) });
    expect(await daemon.pass()).toMatchObject({ outcome: 'done' });
    work.repository.commit('Without five', { 'teams.yaml': teams(...MANY.slice(5)) });
    expect(await daemon.pass()).toMatchObject({ outcome: 'done' });
    expect(work.teams()).toEqual(MANY.slice(5).toSorted());
  });

  test('stops applying when the file is damaged, and recovers with a new file', async () => {
    await using work = await withTeams('A');
    {
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
    }
    renameSync(stateOf(work), `${stateOf(work)}.away`);
    await using daemon = await startInside(work);
    expect(work.teams()).toEqual(['A', 'B']);
    expect(await daemon.pass()).toMatchObject({ outcome: 'done', requests: { writes: 0 } });
  });
});

test('creates nothing twice after a restart with space, when a process could not write its state file', async () => {
  await using work = await withTeams(...MANY);
  const config = work.configure();
  // A file size limit simulates a failing disk: every write beyond it is an error.
  const limited = new OctavoProcess(['run', '--config', config], {
    cwd: work.folder,
    env: work.env,
    shell: 'ulimit -S -f 560',
  });
  try {
    const line = await limited.waitForLog('pass failed');
    expect(line.reason).toContain(`${stateOf(work)} cannot be `);
    const creates = work.emulator.requests.count('createTeam');
    expect(creates).toBeLessThan(MANY.length);
    expect((await limited.stop()).code).toBe(0);
    expect(limited.logged('pass failed').filter(({ level }) => level >= 50)).toHaveLength(1);
  } finally {
    limited.child.kill('SIGKILL');
  }
  await startDaemon(work);
  await work.untilTeams(...MANY);
  expect(work.emulator.requests.count('createTeam')).toBe(MANY.length);
});
