/** A daemon that follows its source: commits in a row, drift that is only reported, and a directory. */
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
