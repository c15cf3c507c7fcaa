/** Approvals, rejections and pauses by commands that ask the daemon. */
import { expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, teams } from './daemon-process.ts';

const BOTH = 'collections:\n  a: { title: A }\n  b: { title: B }\n';
const ONE = 'collections:\n  a: { title: A }\n';

function run(work: Workspace, ...args: string[]) {
  return work.inside([...args, '--config', 'config.yaml'], {}, '..');
}

/** Starts a daemon that holds a deletion. Returns the daemon, the line of its log and the checksum. */
async function holding(work: Workspace, organization: Readonly<Record<string, unknown>> = {}) {
  work.repository.commit('Two', { 'a.yaml': BOTH });
  const daemon = await startDaemon(work, { organization });
  await daemon.run.waitForLog('change applied', 2, '"action":"create"');
  work.repository.commit('One, and a team', { 'a.yaml': `${ONE}${teams('New')}` });
  const line = await daemon.run.waitForLog('changes held');
  await work.untilTeams('New');
  return { daemon, line, checksum: /sha256:[0-9a-f]{64}/.exec(String(line.approve))?.[0] ?? '' };
}

test('a held deletion waits for an approval with its checksum, which counts once, also after a rejection', async () => {
  await using work = await openWorkspace();
  const { daemon, checksum, line } = await holding(work);
  expect(line).toMatchObject({
    held: ['collection/b: deleting collection needs approval'],
    approve: expect.stringMatching(/^octavo approve sha256:[0-9a-f]{64} --config \/.*config\.yaml$/),
  });
  await daemon.pass();
  const wrong = await run(work, 'approve', 'sha256:0000');
  expect(wrong).toMatchObject({ code: 4, stdout: '' });
  expect(wrong.stderr).toContain('no held plan has the checksum sha256:0000');
  expect(await run(work, 'reject', checksum, '--reason', 'not today')).toMatchObject({ code: 0 });
  expect((await run(work, 'reject', 'sha256:0')).stderr).toContain('no held plan has the checksum sha256:0');
  await daemon.pass();
  expect(work.emulator.requests.count('deleteCollection')).toBe(0);
  expect(await run(work, 'approve', checksum)).toMatchObject({
    code: 0,
    stdout: 'Approved for org_acme: collection/b\n',
  });
  await daemon.run.waitForLog('change applied', 1, '"action":"delete"');
  await daemon.pass();
  const again = await run(work, 'approve', checksum);
  expect(again.code).toBe(4);
  expect(again.stderr).toContain('nothing is held now');
});

test('a plan that is refused cannot be approved', async () => {
  await using work = await openWorkspace();
  work.repository.commit('Two', { 'a.yaml': BOTH });
  const daemon = await startDaemon(work);
  await daemon.run.waitForLog('change applied', 2, '"action":"create"');
  work.repository.commit('Lock out', { 'a.yaml': `${ONE}organization: { sso: true }\n` });
  await daemon.run.waitForLog('plan refused');
  const checksum = String(daemon.run.logged('plan created').at(-1)?.checksum);
  const { code, stderr } = await run(work, 'approve', checksum);
  expect(stderr).toContain('refused, and cannot be approved: it would leave single sign-on enforced');
  expect(code).toBe(4);
  await daemon.pass();
  expect(work.emulator.requests.count('deleteCollection')).toBe(0);
});

test('a plan that needs two people is not applied after one approval', async () => {
  await using work = await openWorkspace();
  const { daemon, checksum } = await holding(work, { approvals: { count: 2 } });
  const { stdout } = await run(work, 'approve', checksum);
  expect(stdout).toBe('Approved for org_acme: collection/b; more people have to approve it\n');
  await run(work, 'approve', checksum);
  await daemon.pass();
  expect(work.emulator.requests.count('deleteCollection')).toBe(0);
});

test('a paused organization plans and does not write, until it is resumed', async () => {
  await using work = await openWorkspace();
  work.repository.commit('One', { 'a.yaml': teams('Writers') });
  const daemon = await startDaemon(work);
  await work.untilTeams('Writers');
  expect((await run(work, 'pause', '--reason', 'migration', '--for', '2h')).stdout).toMatch(
    /^Paused organization org_acme until \d{4}-/,
  );
  work.repository.commit('Two', { 'a.yaml': teams('Writers', 'More') });
  const line = await daemon.run.waitForLog('plan not applied now', 1, 'migration');
  expect(line.reason).toMatch(/^paused by .* until \d{4}-\d\d-\d\dT\d\d:\d\dZ: migration$/);
  expect((await run(work, 'resume')).stdout).toBe('Resumed organization org_acme\n');
  await work.untilTeams('More', 'Writers');
  expect(await run(work, 'resume')).toMatchObject({ code: 3 });
});

test('a paused resource keeps its drift, and the others are applied', async () => {
  await using work = await openWorkspace();
  work.repository.commit('One', { 'a.yaml': 'teams:\n  a: { title: A }\n' });
  await startDaemon(work);
  await work.untilTeams('A');
  expect((await run(work, 'pause', 'team/z', '--reason', 'x')).stderr).toContain('no manifest declares "team/z"');
  expect((await run(work, 'pause', 'team/a', '--reason', 'x', '--forever')).stdout).toBe(
    'Paused team/a until it is resumed\n',
  );
  work.repository.commit('Two', { 'a.yaml': 'teams:\n  a: { title: A2 }\n  b: { title: B }\n' });
  await work.untilTeams('A', 'B');
  await run(work, 'resume', 'team/a');
  await work.untilTeams('A2', 'B');
});
