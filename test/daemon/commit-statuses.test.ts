/** Commit statuses of a daemon: real git, the embedded platform, and a fake of GitHub that validates requests. */
import { expect, test } from 'vitest';
import { FakeGitHubStatuses, FakeGitLabStatuses, FakeStatusForge } from '../support/fake-status-forge.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { startDaemon, teams } from './daemon-process.ts';
import { startInside } from './inside.ts';

const UI = { listen: '127.0.0.1:0', publicUrl: 'https://octavo.acme.example' };

const forgeAt = (fake: FakeStatusForge, settings: object = {}) => {
  const isGitLab = fake instanceof FakeGitLabStatuses;
  return {
    ...{ type: isGitLab ? 'gitlab' : 'github', repository: isGitLab ? 'acme/team/docs' : 'acme/docs' },
    ...{ apiUrl: fake.apiUrl, token: FakeStatusForge.token, ...settings },
  };
};

const until = (fake: FakeStatusForge, sha: string, status: string) =>
  eventually(`the status ${status}`, () => fake.of(sha).at(-1)?.startsWith(status) === true);

test('shows each commit as it is applied, invalid, waiting and superseded', async () => {
  await using fake = await new FakeGitHubStatuses().listen();
  await using work = await openWorkspace();
  const first = work.repository.commit('Begin', { 'teams.yaml': teams('Writers', 'More') });
  const settings = { organization: { forge: forgeAt(fake), requireApproval: ['team'] }, top: { ui: UI } };
  const daemon = await startDaemon(work, settings);
  await until(fake, first, 'success');
  expect(fake.of(first)).toEqual(['pending: applying 2 changes', 'success: 2 changes applied']);
  expect(fake.statuses.at(-1)).toMatchObject({
    name: 'octavo/org_acme',
    url: 'https://octavo.acme.example/o/org_acme/history/1',
  });

  // Drift that is undone later says nothing about the commit.
  const { items } = await work.call('GET', '/teams');
  await work.call('PATCH', `/teams/${items[0].id}`, { title: 'Changed' });
  await daemon.pass();
  expect([...work.teams()].sort()).toEqual(['More', 'Writers']);

  const invalid = work.repository.commit('A mistake', { 'teams.yaml': 'teams:\n  writers: { titel: Writers }\n' });
  await until(fake, invalid, 'error');
  expect(fake.of(invalid)).toEqual([expect.stringMatching(/^error: teams\.yaml:2:\d+: team\/writers: /)]);
  expect(fake.statuses.at(-1)?.url).toMatch(/\/o\/org_acme\/history\/\d+$/);

  // Nothing changes, so nothing is sent.
  const sent = fake.requests.length;
  await daemon.pass();
  await daemon.pass();
  expect(fake.requests).toHaveLength(sent);

  const waiting = work.repository.commit('Delete a team', { 'teams.yaml': teams('Writers') });
  await until(fake, waiting, 'pending');
  expect(fake.of(waiting)).toEqual([
    expect.stringMatching(/^pending: 1 change planned; waits for approval of [0-9a-f]{8}/),
  ]);
  const last = work.repository.commit('Keep it', { 'teams.yaml': teams('Writers', 'More', 'Third') });
  await until(fake, last, 'success');
  await until(fake, waiting, 'success');
  expect(fake.of(waiting).at(-1)).toBe(`success: superseded by ${last.slice(0, 7)}`);
  expect(fake.of(last)).toEqual(['pending: applying 1 change', 'success: 1 change applied']);
  expect(fake.of(first)).toHaveLength(2);
  expect(fake.of(invalid)).toHaveLength(1);
  // One request for each change of state.
  expect(fake.requests).toHaveLength(fake.statuses.length);
  expect(fake.problems).toEqual([]);
  expect(await daemon.metric('octavo_commit_status_requests_total{organization="org_acme",outcome="sent"}')).toBe(
    fake.requests.length,
  );
  expect(fake.requests.every((request) => /\/statuses\/[0-9a-f]{40}$/.test(request))).toBe(true);
});

test('a forge that refuses the token fails no pass', async () => {
  await using fake = await new FakeGitHubStatuses().listen();
  await using work = await openWorkspace();
  work.repository.commit('Begin', { 'teams.yaml': teams('Writers') });
  await using daemon = await startInside(work, { organization: { forge: forgeAt(fake, { token: 'another-token' }) } });
  expect(await daemon.pass()).toMatchObject({ outcome: 'done', error: null });
  await eventually('a refusal', async () =>
    (await daemon.metrics()).includes(
      'octavo_commit_status_requests_total{organization="org_acme",outcome="refused"} 1',
    ),
  );
  expect(fake.requests).toHaveLength(1);
  await daemon.pass();
  const facts = daemon.database.prepare("SELECT fact FROM fact WHERE reporter = 'statuses/org_acme'");
  await eventually('the fact', () => facts.all().length > 0);
  expect(facts.all().map(({ fact }) => JSON.parse(String(fact)))).toEqual([
    expect.objectContaining({
      code: 'status-failing',
      summary: 'Commit statuses cannot be set: GitHub answers with 401 when asked to set the commit status',
    }),
  ]);
  const [line] = daemon.log.filter(({ msg }) => msg === 'cannot set the commit status');
  expect(line).toMatchObject({ reason: 'GitHub answers with 401 when asked to set the commit status' });
  expect(JSON.stringify(daemon.log)).not.toContain('another-token');
});

test('a commit that writes becomes a deployment, and one without changes does not', async () => {
  await using fake = await new FakeGitLabStatuses().listen();
  await using work = await openWorkspace();
  const commit = work.repository.commit('Begin', { 'teams.yaml': teams('Writers') });
  const forge = forgeAt(fake, { environment: 'docs/acme', statusContext: 'docs' });
  const daemon = await startDaemon(work, { organization: { forge } });
  await eventually('the deployment', () => fake.deployments[0]?.states.at(-1) === 'success');
  expect(fake.of(commit)).toEqual(['running: applying 1 change', 'success: 1 change applied']);
  const plain = work.repository.commit('Explain', { 'README.md': 'Only a text.\n' });
  await until(fake, plain, 'success');
  expect(fake.of(plain)).toEqual(['success: nothing to do']);
  await daemon.pass();
  expect(fake.deployments).toEqual([{ id: 1, sha: commit, environment: 'docs/acme', states: ['running', 'success'] }]);
  expect(fake.statuses.map(({ name }) => name)).toEqual(['docs', 'docs', 'docs']);
  expect(fake.problems).toEqual([]);
});

test('a single round sends the result of its pass, and nothing in a dry run', async () => {
  await using fake = await new FakeGitHubStatuses().listen();
  await using work = await openWorkspace();
  const commit = work.repository.commit('Begin', { 'teams.yaml': teams('Writers') });
  const config = work.configure({ organization: { forge: forgeAt(fake) } });
  expect((await work.inside(['run', '--once', '--dry-run', '--config', config])).code).toBe(0);
  expect(fake.requests).toEqual([]);
  expect((await work.inside(['run', '--once', '--config', config])).code).toBe(0);
  expect(fake.of(commit)).toEqual(['success: 1 change applied']);
});

/** Opens a workspace whose commit with two teams was applied by a daemon that died before it showed a status. */
async function openAfterDeath() {
  const work = await openWorkspace();
  const commit = work.repository.commit('Begin', { 'teams.yaml': teams('Writers', 'More') });
  // Without a forge, a pass ends in the history alone.
  await using daemon = await startInside(work);
  await eventually('the pass', () => daemon.database.prepare('SELECT * FROM pass').all().length === 1);
  return { work, commit };
}

test('a commit that was applied before a kill is shown with all of its changes', async () => {
  await using fake = await new FakeGitHubStatuses().listen();
  const { work, commit } = await openAfterDeath();
  await using _work = work;
  await using _daemon = await startInside(work, { organization: { forge: forgeAt(fake) } });
  await until(fake, commit, 'success');
  expect(fake.of(commit)).toEqual(['success: 2 changes applied']);
});

test('a commit that was applied before a kill is a success, although a newer one has come meanwhile', async () => {
  await using fake = await new FakeGitHubStatuses().listen();
  const { work, commit } = await openAfterDeath();
  await using _work = work;
  const next = work.repository.commit('Add a team', { 'teams.yaml': teams('Writers', 'More', 'Third') });
  await using _daemon = await startInside(work, { organization: { forge: forgeAt(fake) } });
  await until(fake, next, 'success');
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
