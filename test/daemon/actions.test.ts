/** Approvals, rejections and pauses by commands that ask the daemon. */
import { expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, teams } from './daemon-process.ts';

const BOTH = 'collections:\n  a: { title: A }\n  b: { title: B }\n';
const ONE = 'collections:\n  a: { title: A }\n';

function run(work: Workspace, ...args: string[]) {
  return work.inside([...args, '--config', 'config.yaml'], {}, '..');
}

/** Starts a daemon that holds a deletion. Returns the daemon, the line of its log and the digits that it suggests. */
async function holding(work: Workspace, organization: Readonly<Record<string, unknown>> = {}) {
  work.repository.commit('Two', { 'a.yaml': BOTH });
  const daemon = await startDaemon(work, { organization });
  await daemon.run.waitForLog('change applied', 2, '"action":"create"');
  work.repository.commit('One, and a team', { 'a.yaml': `${ONE}${teams('New')}` });
  const line = await daemon.run.waitForLog('changes held');
  await work.untilTeams('New');
  return { daemon, line, checksum: / approve ([0-9a-f]{8}) /.exec(String(line.approve))?.[1] ?? '' };
}

test('a held deletion waits for an approval with its checksum, which counts once, also after a rejection', async () => {
  await using work = await openWorkspace();
  const { daemon, checksum, line } = await holding(work);
  expect(line).toMatchObject({
    held: ['collection/b: deleting collections needs approval'],
    approve: expect.stringMatching(/^octavo approve [0-9a-f]{8} --config \/.*config\.yaml$/),
  });
  await daemon.pass();
  const wrong = await run(work, 'approve', 'sha256:0000');
  expect(wrong).toMatchObject({ code: 4, stdout: '' });
  expect(wrong.stderr).toContain('"sha256:0000" is too short; type at least 8 digits of the checksum; choose from ');
  const unknown = await run(work, 'approve', '00000000');
  expect(unknown).toMatchObject({ code: 4, stdout: '' });
  expect(unknown.stderr).toContain(`no plan has the checksum "00000000" now; review the plan again; choose from `);
  expect(unknown.stderr).toContain(`${checksum} (only what is held of org_acme)`);
  expect(await run(work, 'reject', checksum, '--reason', 'not today')).toMatchObject({ code: 0 });
  await daemon.pass();
  expect(work.emulator.requests.count('deleteCollection')).toBe(0);
  const approved = await run(work, 'approve', checksum);
  expect(approved.code).toBe(0);
  expect(approved.stdout).toMatch(
    /^Approved for org_acme, only what is held: Deletes the collection B\n {2}sha256:[0-9a-f]{64}\n$/,
  );
  await daemon.run.waitForLog('change applied', 1, '"action":"delete"');
  const { entries } = JSON.parse((await run(work, 'audit', '--format', 'json')).stdout);
  const whole = approved.stdout.trim().split('  ').at(-1);
  expect(entries).toContainEqual(expect.objectContaining({ action: 'approve', subject: whole, outcome: 'done' }));
  const done = (each: { action: string; outcome: string }) => each.action === 'approve' && each.outcome === 'done';
  expect(entries.filter(done)).toHaveLength(1);
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
