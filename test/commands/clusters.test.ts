import { expect, test } from 'vitest';
import { withCluster } from '../support/cluster-tickets.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const open = () => openWorkspace({ processing: { openapi: 0, translation: 0, conversations: 0 } });
const requests = (work: Workspace) => work.emulator.state().changeRequests ?? [];

test('lists for each cluster whether a change request would be opened, why, and in which space', async () => {
  await using work = await open();
  const { cluster, space } = await withCluster(work);
  const config = work.configure({ organization: { clusters: { defaultSpace: space } } });
  const clusters = (...args: string[]) => work.inside(['clusters', ...args, '--config', config]);
  const list = await clusters('list');
  expect(list).toMatchObject({ code: 0, stderr: '' });
  expect(list.stdout.split('\n')).toEqual([
    expect.stringMatching(`^${cluster}  .*Invoice export`),
    '  high, 3 issues, 3 conversations',
    `  opens in Guides (${space}): the default; the search found nothing`,
    '',
  ]);
  // The result is the same without more arguments.
  expect((await clusters()).stdout).toBe(list.stdout);
  const json = JSON.parse((await clusters('list', '--format', 'json')).stdout);
  expect(json).toMatchObject({
    format: 'octavo.clusters/2',
    clusters: [{ id: cluster, impact: 'high', issues: 3, selected: true, wouldOpen: true, space: { id: space } }],
  });
  expect(work.writes()).toBe(2);
  const strict = work.configure({ organization: { clusters: { select: { minIssues: 9 } } }, name: 'strict.yaml' });
  const refused = await work.inside(['clusters', 'list', '--config', strict]);
  expect(refused.stdout).toContain('not opened: it has 3 issues, and the configuration asks for at least 9');
});

test('opens one change request, and reports an existing one', async () => {
  await using work = await open();
  const { cluster, space } = await withCluster(work);
  const config = work.configure({ organization: { clusters: { search: { enabled: false } } } });
  const clusters = (...args: string[]) => work.inside(['clusters', ...args, '--config', config]);
  const nowhere = await clusters('open', cluster);
  expect(nowhere.code).toBe(1);
  expect(nowhere.stderr).toContain('choose one with --space');
  const dry = await clusters('open', cluster, '--space', space, '--dry-run');
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.stdout).toMatch(/^Would open "Docs gap: .*Invoice export.*" in Guides \(.*\): chosen with --space\n$/);
  expect(requests(work)).toEqual([]);
  const opened = await clusters('open', cluster, '--space', space);
  expect(opened.code).toBe(0);
  expect(opened.stdout).toMatch(/^Opened a change request for .* in Guides \(.*\): http:/);
  expect(requests(work).map(({ status }) => status)).toEqual(['open']);
  const again = await clusters('open', cluster, '--format', 'json');
  expect(JSON.parse(again.stdout)).toMatchObject({ format: 'octavo.cluster/2', outcome: 'exists', status: 'open' });
  expect(requests(work)).toHaveLength(1);
});

test('mutes and unmutes a cluster, and reports an unknown one', async () => {
  await using work = await open();
  const { cluster } = await withCluster(work);
  const muted = () => work.emulator.state().issuesClusters?.[0]?.muted;
  expect((await work.inside(['clusters', 'mute', cluster, '--dry-run'])).stdout).toMatch(/ would be muted\n$/);
  expect(muted()).toBe(false);
  const mute = ['clusters', 'mute', cluster, '--reason', 'Fixed in 4.2', '--for', '14d'];
  expect((await work.inside(mute)).stdout).toMatch(/ is now muted until \d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
  expect(muted()).toBe(true);
  const refused = await work.inside(['clusters', 'open', cluster]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain(`${cluster} is muted; unmute it first with octavo clusters unmute`);
  expect((await work.inside(['clusters', 'unmute', cluster])).stdout).toMatch(/ is now unmuted\n$/);
  expect((await work.inside(['clusters', 'unmute', cluster])).stdout).toMatch(/ is already unmuted\n$/);
  const none = await work.inside(['clusters', 'mute', 'c_none']);
  expect(none.code).toBe(3);
  expect(none.stderr).toContain('issue cluster "c_none" not found; run octavo clusters list to see them');
});

test('reports a platform without issue clusters in one line', async () => {
  await using work = await openWorkspace({ features: { conversations: false } });
  for (const args of [['list'], ['open', 'c_1'], ['mute', 'c_1']]) {
    const { code, stdout, stderr } = await work.inside(['clusters', ...args]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringContaining('this platform has no issue clusters (404)'),
    ]);
  }
});

test('prints every label on one line, also with control characters and line breaks', async () => {
  await using work = await open();
  const { id } = await work.call('POST', '/spaces', { title: 'Guides\u001b[31m' });
  const ticket = (index: number) => ({
    id: `t${index}`,
    subject: 'Export \u001b[2J\r\nis \u202edown',
    parts: [{ type: 'message', role: 'user', body: 'Export is completely down, everything is blocked' }],
  });
  await work.call('POST', '/conversations', [ticket(1), ticket(2), ticket(3)]);
  const config = work.configure({ organization: { clusters: { defaultSpace: id } } });
  const { stdout } = await work.inside(['clusters', 'list', '--config', config]);
  expect(stdout).toContain('opens in');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not occur
  expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  expect(stdout.trimEnd().split('\n')).toHaveLength(3);
});
