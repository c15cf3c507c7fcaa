/** A daemon whose state file was lost, and the ref in the repository from which it reads what it owns. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, teams } from './daemon-process.ts';

const REF = 'refs/octavo/org_acme/applied';
const LIMITS = { limits: { maxDeletions: 5, maxChangedPercent: 100 } };

function recording(work: Workspace): { organization: Record<string, unknown> } {
  const source = { git: { url: work.repository.directory, pollInterval: '100ms', recordApplied: true } };
  return { organization: { ...LIMITS, source } };
}
const appliedCommit = (work: Workspace) => work.repository.git('for-each-ref', '--format=%(parent)', REF);

async function stopAndForget(work: Workspace, daemon: Awaited<ReturnType<typeof startDaemon>>): Promise<void> {
  await daemon.run.stop();
  rmSync(join(work.folder, 'state'), { recursive: true });
}

test('a daemon without its state file reads from the repository what it owns', async () => {
  await using work = await openWorkspace();
  const first = work.repository.commit('Three', { 'teams.yaml': teams('A', 'B', 'C') });
  const before = await startDaemon(work, recording(work));
  await work.untilTeams('A', 'B', 'C');
  await eventually('the ref', () => appliedCommit(work) === first);
  const ids = new Map(work.emulator.state().teams?.map(({ id, title }) => [title, id]));
  await stopAndForget(work, before);
  // In the meantime one is renamed and one is no longer declared; the other person's team is left alone.
  await work.call('PUT', '/teams', { title: 'Theirs' });
  work.repository.write('teams.yaml', 'teams:\n  a: { title: Renamed }\n  b: { title: B }\n');
  const second = work.repository.commit('Renamed, and one less');
  const after = await startDaemon(work, recording(work));
  await work.untilTeams('B', 'Renamed', 'Theirs');
  expect(work.emulator.state().teams?.find(({ title }) => title === 'Renamed')?.id).toBe(ids.get('A'));
  expect(after.run.logged('no local record')).toMatchObject([{ commit: first, resources: 3 }]);
  await eventually('the ref', () => appliedCommit(work) === second);
});

test('neither adopts nor deletes resources of another folder of the organization', async () => {
  await using work = await openWorkspace();
  work.repository.commit('Two folders', { 'a/teams.yaml': teams('A', 'B'), 'b/teams.yaml': teams('C') });
  expect((await work.inside(['apply', 'b', '--yes', '--record'])).code).toBe(0);
  const source = { git: { url: work.repository.directory, path: 'a', pollInterval: '100ms', recordApplied: true } };
  const daemon = await startDaemon(work, { organization: { ...LIMITS, source } });
  await work.untilTeams('A', 'B', 'C');
  await eventually('the ref', () => work.repository.git('for-each-ref', 'refs/octavo/org_acme/a/applied') !== '');
  // B moves to the other directory: it stays there. C is declared twice, which is rejected.
  work.repository.commit('B moves', { 'a/teams.yaml': teams('A'), 'b/teams.yaml': teams('B', 'C') });
  const before = daemon.run.logged('plan created').length;
  await eventually('another plan', () => daemon.run.logged('plan created').length > before);
  await daemon.pass();
  expect(work.teams()).toEqual(['A', 'B', 'C']);
  work.repository.commit('C twice', { 'a/teams.yaml': teams('A', 'C') });
  const words = 'teams.yaml:3:3: team/c: scope "b" also declares it, at b/teams.yaml:3;';
  await eventually('the problem', () =>
    daemon.run.logged('').some((line) => JSON.stringify(line).includes(JSON.stringify(words).slice(1, -1))),
  );
  expect(work.teams()).toEqual(['A', 'B', 'C']);
});

test('a dry run reads the ref and records nothing', async () => {
  await using work = await openWorkspace();
  work.repository.commit('Two', { 'teams.yaml': teams('A', 'B') });
  const before = await startDaemon(work, recording(work));
  await work.untilTeams('A', 'B');
  await eventually('the ref', () => appliedCommit(work) !== '');
  await stopAndForget(work, before);
  work.repository.commit('One', { 'teams.yaml': teams('A') });
  const writes = work.writes();
  const dry = await startDaemon(work, recording(work), '--dry-run');
  await dry.pass();
  await dry.pass();
  expect(dry.run.logged('no local record').length).toBeGreaterThan(1);
  expect(dry.run.logged('plan created')[0]?.summary).toContain('1 to delete');
  expect(work.writes()).toBe(writes);
});

test('warns about a repository that refuses the ref, and keeps applying', async () => {
  await using work = await openWorkspace();
  const hook = join(work.repository.directory, '.git', 'hooks', 'update');
  work.repository.commit('One', { 'teams.yaml': teams('A') });
  work.repository.git('config', 'core.hooksPath', join(work.repository.directory, '.git', 'hooks'));
  rmSync(join(work.repository.directory, '.git', 'hooks'), { recursive: true, force: true });
  work.repository.write('.git/hooks/update', '');
  writeFileSync(hook, '#!/bin/sh\necho "no refs from you" >&2\nexit 1\n');
  chmodSync(hook, 0o755);
  const daemon = await startDaemon(work, recording(work));
  await work.untilTeams('A');
  const [warning] = await eventually('the warning', () => {
    const lines = daemon.run.logged('cannot record the applied commit');
    return lines.length > 0 ? lines : null;
  });
  expect(warning?.reason).toMatch(/cannot move refs\/octavo\/org_acme\/applied in .*/);
  expect(appliedCommit(work)).toBe('');
  await daemon.untilMetric('octavo_reconcile_passes_total{organization="org_acme",outcome="done"}', 1);
});
