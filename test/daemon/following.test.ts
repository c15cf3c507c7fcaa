import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, teams } from './daemon-process.ts';

async function withTeams(...titles: string[]): Promise<Workspace> {
  const work = await openWorkspace();
  work.repository.commit('Begin', { 'teams.yaml': teams(...titles) });
  return work;
}

test('applies a commit, and writes nothing without changes', async () => {
  await using work = await withTeams('Writers');
  const daemon = await startDaemon(work);
  await work.untilTeams('Writers');
  work.repository.write('teams.yaml', 'teams:\n  writers: { title: Docs writers }\n  more: { title: More }\n');
  const commit = work.repository.commit('Rename, and add');
  await work.untilTeams('Docs writers', 'More');
  await daemon.untilMetric(`octavo_source_commit_info{organization="org_acme",commit="${commit}"}`, 1);
  const before = work.writes();
  const { requests, outcome } = await daemon.pass();
  expect(outcome).toBe('done');
  expect(requests).toMatchObject({ writes: 0 });
  expect(work.writes()).toBe(before);
  expect(
    await daemon.metric('octavo_changes_total{organization="org_acme",kind="team",action="create",status="applied"}'),
  ).toBe(2);
  const { code } = await daemon.run.stop();
  expect(code).toBe(0);
  expect(daemon.run.logged('octavo stopped')).toHaveLength(1);
});

test('several commits during a slow pass become one more pass', async () => {
  await using work = await withTeams('One');
  work.emulator.setLatency(400);
  const daemon = await startDaemon(work);
  await eventually('the first pass to read', () => work.emulator.requests.total > 0);
  for (const title of ['Two', 'Three', 'Four']) {
    work.repository.commit(title, { 'teams.yaml': teams('One', title) });
    daemon.run.hangUp();
  }
  await work.untilTeams('One', 'Four');
  await daemon.run.waitForLog('pass completed', 2);
  await daemon.pass();
  // The first, one for everything in between (plus one if it began between two commits), and the last.
  expect(daemon.run.logged('pass started').length).toBeLessThanOrEqual(4);
  expect(work.teams()).not.toContain('Three');
});

test('undoes drift', async () => {
  await using work = await withTeams('Writers');
  const daemon = await startDaemon(work);
  await work.untilTeams('Writers');
  await daemon.pass();
  const { items } = await work.call('GET', '/teams');
  await work.call('PATCH', `/teams/${items[0].id}`, { title: 'By hand' });
  await daemon.pass();
  expect(work.teams()).toEqual(['Writers']);
  const [line] = daemon.run.logged('drift found');
  expect(line?.drift).toEqual(['team/writers']);
  expect(await daemon.metric('octavo_drifted_resources_total{organization="org_acme",kind="team"}')).toBe(1);
});

test('only reports drift with selfHeal: false, and still applies commits', async () => {
  await using work = await withTeams('Writers');
  const daemon = await startDaemon(work, { organization: { selfHeal: false } });
  await work.untilTeams('Writers');
  await daemon.pass();
  const { items } = await work.call('GET', '/teams');
  await work.call('PATCH', `/teams/${items[0].id}`, { title: 'By hand' });
  const before = work.writes();
  await daemon.pass();
  expect(work.writes()).toBe(before);
  expect(daemon.run.logged('drift found').length).toBeGreaterThan(0);
  expect(await daemon.metric('octavo_drifted_resources_total{organization="org_acme",kind="team"}')).toBe(1);
  expect(await daemon.metric('octavo_changes_pending{organization="org_acme",status="held"}')).toBe(1);
  work.repository.commit('More', { 'teams.yaml': teams('Writers', 'More') });
  await work.untilTeams('By hand', 'More');
});

test('keeps the last valid commit after an invalid one, and applies the next valid one', async () => {
  await using work = await withTeams('Writers');
  const daemon = await startDaemon(work);
  await work.untilTeams('Writers');
  const good = work.repository.git('rev-parse', 'HEAD');
  work.repository.commit('A mistake', { 'teams.yaml': 'teams:\n  writers: { titel: Docs writers }\n' });
  const line = await daemon.run.waitForLog('manifests are invalid');
  expect(line).toMatchObject({ msg: expect.stringContaining('keeping the last valid commit'), lastValidCommit: good });
  expect(line.problems).toEqual([expect.stringContaining('teams.yaml:2:14: team/writers: ')]);
  await daemon.untilMetric('octavo_source_ready{organization="org_acme"}', 0);
  expect(await daemon.metric(`octavo_source_commit_info{organization="org_acme",commit="${good}"}`)).toBe(1);
  // In the meantime drift is undone.
  const { items } = await work.call('GET', '/teams');
  await work.call('PATCH', `/teams/${items[0].id}`, { title: 'By hand' });
  daemon.run.hangUp();
  await work.untilTeams('Writers');
  work.repository.commit('Mended', { 'teams.yaml': teams('Writers', 'More') });
  await work.untilTeams('Writers', 'More');
  await daemon.untilMetric('octavo_source_ready{organization="org_acme"}', 1);
});

test('changes nothing while the repository is unreachable', async () => {
  await using work = await withTeams('Writers');
  const daemon = await startDaemon(work);
  await work.untilTeams('Writers');
  const away = join(work.folder, 'away');
  renameSync(work.repository.directory, away);
  await daemon.run.waitForLog('cannot read manifests');
  const before = work.writes();
  renameSync(away, work.repository.directory);
  work.repository.commit('Back', { 'teams.yaml': teams('Writers', 'More') });
  await work.untilTeams('Writers', 'More');
  expect(work.writes()).toBe(before + 1);
});

test('follows a directory that git-sync replaces', async () => {
  await using work = await openWorkspace();
  const root = join(work.folder, 'sync');
  const swap = (name: string, text: string) => {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, 'teams.yaml'), text);
    symlinkSync(name, join(root, 'next'));
    renameSync(join(root, 'next'), join(root, 'now'));
  };
  swap('one', teams('Writers'));
  const daemon = await startDaemon(work, { organization: { source: { directory: join(root, 'now') } } });
  await work.untilTeams('Writers');
  await daemon.pass();
  swap('two', teams('Writers', 'More'));
  await work.untilTeams('Writers', 'More');
  writeFileSync(join(root, 'two', 'teams.yaml'), teams('Writers', 'More', 'Last'));
  await work.untilTeams('Writers', 'More', 'Last');
});
