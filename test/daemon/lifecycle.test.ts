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

test('is healthy immediately, is ready after the first sync, and exposes the documented metrics', async () => {
  await using work = await openWorkspace({ latency: 300 });
  work.repository.commit('One', { 'teams.yaml': teams('Writers') });
  const { address, run } = await startDaemonProcess(work);
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  const early = await fetch(`${address}/readyz`);
  expect(early.status).toBe(503);
  expect(await early.json()).toEqual({ ready: false, reasons: ['org_acme: the first pass has not ended'] });
  await eventually('readiness', async () => (await fetch(`${address}/readyz`)).status === 200);
  const metrics = await (await fetch(`${address}/metrics`)).text();
  for (const name of [
    'octavo_reconcile_passes_total',
    'octavo_reconcile_last_duration_seconds',
    'octavo_reconcile_last_success_timestamp_seconds',
    'octavo_changes_total',
    'octavo_changes_pending',
    'octavo_drifted_resources_total',
    'octavo_source_ready',
    'octavo_source_commit_info',
    'octavo_requests_total',
    'octavo_request_wait_seconds',
    'octavo_rate_limited_total',
    'octavo_queue_waiting',
    'octavo_queue_oldest_wait_seconds',
    'octavo_budget_limit',
    'octavo_budget_remaining',
    'octavo_process_cpu_seconds_total',
  ]) {
    expect(metrics).toContain(`# TYPE ${name} `);
  }
  expect(metrics).not.toContain('Writers');
  expect((await fetch(`${address}/other`)).status).toBe(404);
  expect((await run.stop('SIGINT')).code).toBe(0);
});

test('converges without duplicates after it was killed during an apply', async () => {
  await using work = await withMany();
  const first = await startDaemonProcess(work);
  await eventually('the apply to be under way', () => work.teams().length > 5);
  first.run.child.kill('SIGKILL');
  await first.run.ended;
  expect(work.teams().length).toBeLessThan(MANY.length);
  work.emulator.setLatency(0);
  const second = await startDaemon(work);
  await work.untilTeams(...MANY);
  await second.pass();
  expect(work.teams()).toHaveLength(MANY.length);
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

test('reports a port in use and exits', async () => {
  await using work = await openWorkspace();
  work.repository.commit('One', { 'teams.yaml': teams('Writers') });
  const first = await startDaemon(work);
  const listen = new URL(first.address).host;
  const path = work.configure({
    name: 'other.yaml',
    top: { server: { listen }, store: { path: join(work.folder, 'other', 'octavo.db') } },
  });
  const { code, stderr } = await work.begin('run', '--config', path).ended;
  expect(stderr).toContain(`octavo: cannot listen on ${listen}`);
  expect(code).toBe(3);
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
