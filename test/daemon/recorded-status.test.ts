/** Commit statuses after a daemon that died before it could show its last result. */
import { expect, test } from 'vitest';
import { FakeGitHubStatuses, FakeStatusForge } from '../support/fake-status-forge.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { teams } from './daemon-process.ts';
import { startInside } from './inside.ts';

const forgeOf = (fake: FakeStatusForge) => ({
  forge: { type: 'github', repository: 'acme/docs', apiUrl: fake.apiUrl, token: FakeStatusForge.token },
});

/** Applies a commit with two teams, and dies before its status is recorded. */
async function openAfterDeath() {
  const work = await openWorkspace();
  const commit = work.repository.commit('Begin', { 'teams.yaml': teams('Writers', 'More') });
  // Without a forge, a pass ends in the history alone.
  await using daemon = await startInside(work);
  await eventually('the pass', () => daemon.database.prepare('SELECT * FROM pass').all().length === 1);
  return { work, commit };
}

test('a commit that was applied is shown with all of its changes', async () => {
  await using fake = await new FakeGitHubStatuses().listen();
  const { work, commit } = await openAfterDeath();
  await using _ = work;
  await using __ = await startInside(work, { organization: forgeOf(fake) });
  await eventually('the status', () => fake.statuses.length > 0);
  expect(fake.of(commit)).toEqual(['success: 2 changes applied']);
});

test('a commit that was applied is a success, although a newer one has come meanwhile', async () => {
  await using fake = await new FakeGitHubStatuses().listen();
  const { work, commit } = await openAfterDeath();
  await using _ = work;
  const next = work.repository.commit('Add a team', { 'teams.yaml': teams('Writers', 'More', 'Third') });
  await using __ = await startInside(work, { organization: forgeOf(fake) });
  await eventually('the status', () => fake.of(next).at(-1)?.startsWith('success') === true);
  expect(fake.of(commit)).toEqual(['success: 2 changes applied']);
  expect(fake.of(next)).toEqual(['pending: applying 1 change', 'success: 1 change applied']);
  expect(fake.problems).toEqual([]);
});

test('a pass with invalid manifests is in the history under the commit that is invalid', async () => {
  await using work = await openWorkspace();
  const first = work.repository.commit('Begin', { 'teams.yaml': teams('Writers') });
  await using daemon = await startInside(work);
  const invalid = work.repository.commit('A mistake', { 'teams.yaml': 'teams: [1]\n' });
  await daemon.pass();
  const rows = daemon.database.prepare('SELECT commit_id, subject, author, outcome FROM pass ORDER BY number');
  await eventually('two passes', () => rows.all().length === 2);
  expect(rows.all()).toMatchObject([
    { commit_id: first, subject: 'Begin', outcome: 'done' },
    { commit_id: invalid, subject: 'A mistake', author: expect.stringContaining('@'), outcome: 'failed' },
  ]);
  // What is applied meanwhile comes from the last valid commit.
  const { items } = await work.call('GET', '/teams');
  await work.call('PATCH', `/teams/${items[0].id}`, { title: 'Changed' });
  await daemon.pass();
  await eventually('three passes', () => rows.all().length === 3);
  expect(rows.all().at(-1)).toMatchObject({ commit_id: first, subject: 'Begin', outcome: 'failed' });
});
