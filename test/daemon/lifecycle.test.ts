/** Start and stop of a daemon as a process. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { eventually, OctavoProcess, TOKEN } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, startDaemonProcess, teams } from './daemon-process.ts';

const MANY = Array.from({ length: 60 }, (_, index) => `T${index}`);

async function withMany(): Promise<Workspace> {
  const work = await openWorkspace({ latency: 100 });
  work.repository.commit('Many', { 'teams.yaml': teams(...MANY) });
  return work;
}

test('is healthy immediately, and ready after the first pass', async () => {
  await using work = await openWorkspace({ latency: 300 });
  work.repository.commit('One', { 'teams.yaml': teams('Writers') });
  const { address, run } = await startDaemonProcess(work);
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  const early = await fetch(`${address}/readyz`);
  expect(early.status).toBe(503);
  expect(await early.json()).toEqual({ ready: false, reasons: ['org_acme: the first pass has not ended'] });
  await eventually('readiness', async () => (await fetch(`${address}/readyz`)).status === 200);
  expect((await run.stop('SIGINT')).code).toBe(0);
});

test.concurrent('stops in time while the platform hangs', async () => {
  await using work = await withMany();
  work.emulator.setLatency(60_000);
  const daemon = await startDaemonProcess(work);
  await eventually('a request', () => work.emulator.requests.total > 0);
  const start = performance.now();
  expect((await daemon.run.stop()).code).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test.concurrent('stops in time while git hangs, and ends git', async () => {
  await using work = await openWorkspace();
  const mark = join(work.folder, 'ssh-is-waiting');
  const config = work.configure({ organization: { source: { git: { url: 'git@git.example:acme/docs.git' } } } });
  const env = { ...work.env, GIT_SSH_COMMAND: `sh -c "touch ${mark}; exec cat"` };
  const daemon = new OctavoProcess(['run', '--config', config], { cwd: work.folder, env });
  await eventually('git to wait for ssh', () => existsSync(mark));
  const start = performance.now();
  expect((await daemon.stop()).code).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('uses the rest of a rate-limit window after a restart, without a 429', async () => {
  await using work = await openWorkspace({ limits: { write: { kind: 'first-call', limit: 20, window: 86_400_000 } } });
  work.repository.commit('Fifteen', { 'teams.yaml': teams(...MANY.slice(0, 15)) });
  const first = await startDaemon(work);
  await eventually('the teams', () => work.teams().length === 15);
  await first.run.stop();
  const file = new DatabaseSync(join(work.folder, 'state', 'octavo.db'), { readOnly: true });
  const notes = file.prepare("SELECT value FROM note WHERE topic LIKE 'budgets/%'").all();
  file.close();
  expect(notes).toHaveLength(1);
  expect(JSON.stringify(notes)).not.toContain(TOKEN);
  work.repository.commit('Sixty', { 'teams.yaml': teams(...MANY) });
  const second = await startDaemon(work);
  await eventually('the plan', () => second.run.logged('plan created', '45 to create').length > 0);
  await second.run.stop();
  expect(work.writes()).toBeLessThanOrEqual(20);
  expect(work.emulator.requests.entries.filter(({ status }) => status === 429)).toEqual([]);
});
