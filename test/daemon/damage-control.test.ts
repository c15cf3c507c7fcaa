import { expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { startDaemon, teams } from './daemon-process.ts';

const BOTH = 'collections:\n  a: { title: A }\n  b: { title: B }\n';
const ONE = 'collections:\n  a: { title: A }\n';

function approve(work: Workspace, checksum: string) {
  return work.inside(['approve', checksum, '--config', 'config.yaml'], {}, '..');
}

test('a held deletion waits for an approval with its checksum', async () => {
  await using work = await openWorkspace();
  work.repository.commit('Two', { 'a.yaml': BOTH });
  const daemon = await startDaemon(work);
  await daemon.run.waitForLog('change applied', 2, '"action":"create"');
  work.repository.commit('One, and a team', { 'a.yaml': `${ONE}${teams('New')}` });
  const line = await daemon.run.waitForLog('changes held');
  expect(line.held).toEqual(['collection/b: deleting collection needs approval']);
  await work.untilTeams('New');
  await daemon.pass();
  const checksum =
    /^octavo approve (sha256:[0-9a-f]{64}) --config \/.*config\.yaml$/.exec(String(line.approve))?.[1] ?? '';
  const wrong = await approve(work, 'sha256:0000');
  expect(wrong).toMatchObject({ code: 4, stdout: '' });
  expect(wrong.stderr).toContain('no held plan has the checksum sha256:0000');
  expect(work.emulator.requests.count('deleteCollection')).toBe(0);
  const right = await approve(work, checksum);
  expect(right).toMatchObject({ code: 0, stdout: 'Approved for org_acme: collection/b\n' });
  await daemon.run.waitForLog('change applied', 1, '"action":"delete"');
  // An approval can be used only once.
  await daemon.pass();
  const again = await approve(work, checksum);
  expect(again.code).toBe(4);
  expect(again.stderr).toContain('nothing is held now');
});

test('approve names the socket it tried when no daemon is running', async () => {
  await using work = await openWorkspace();
  work.configure();
  const { code, stderr } = await approve(work, 'sha256:0000');
  expect(stderr).toContain('no daemon responds on');
  expect(stderr).toContain('octavo run');
  expect(code).toBe(3);
});

test('plans but does not apply in a deny window', async () => {
  await using work = await openWorkspace();
  work.repository.commit('One', { 'a.yaml': teams('Writers') });
  const daemon = await startDaemon(work, { organization: { syncWindows: [{ deny: '* * * * *', duration: '1h' }] } });
  await daemon.run.waitForLog('plan created', 1, '1 to create');
  expect((await daemon.run.waitForLog('plan not applied now')).reason).toContain('deny window');
  await daemon.pass();
  expect(work.writes()).toBe(0);
});

test('a dry run follows commits and never writes', async () => {
  await using work = await openWorkspace();
  work.repository.commit('One', { 'a.yaml': teams('Writers') });
  const daemon = await startDaemon(work, {}, '--dry-run');
  await daemon.run.waitForLog('plan not applied now', 1, 'dry run');
  work.repository.commit('Two', { 'a.yaml': teams('Writers', 'More') });
  await daemon.run.waitForLog('plan created', 1, '2 to create');
  expect(work.writes()).toBe(0);
});

test('an organization with a refused token does not affect others', async () => {
  await using work = await openWorkspace();
  work.repository.commit('One', { 'a.yaml': teams('Writers') });
  const source = { git: { url: work.repository.directory, pollInterval: '100ms' } };
  const daemon = await startDaemon(work, {
    others: [{ id: 'org_other', token: 'a-refused-token', source }],
  });
  await work.untilTeams('Writers');
  const line = await daemon.run.waitForLog('pass failed', 1, 'the platform does not accept the token (401)');
  expect(line.organization).toBe('org_other');
  await daemon.untilMetric('octavo_reconcile_passes_total{organization="org_acme",outcome="done"}', 1);
  expect(
    await daemon.metric('octavo_reconcile_passes_total{organization="org_other",outcome="failed"}'),
  ).toBeGreaterThan(0);
  const ready = await fetch(`${daemon.address}/readyz`);
  expect(ready.status).toBe(200);
  work.repository.commit('Two', { 'a.yaml': teams('Writers', 'More') });
  await work.untilTeams('Writers', 'More');
  expect(daemon.run.stderr).not.toContain('a-refused-token');
});
