/** Commands about conditions and silences, with a running daemon. */
import { expect, test } from 'vitest';
import { startDaemon } from '../daemon/daemon-process.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

function run(work: Workspace, ...args: string[]) {
  return work.inside([...args, '--config', 'config.yaml'], {}, '..');
}

/** Starts a daemon whose manifests are invalid, and waits until that fires. */
async function startInvalid(work: Workspace, notifications: object = {}) {
  work.repository.write('a.yaml', 'teams: [1]\n');
  work.repository.commit('One');
  const daemon = await startDaemon(work, { top: { notifications } });
  await eventually('the condition', async () => (await run(work, 'conditions')).code === 1);
  return daemon;
}

test('conditions says that no daemon runs', async () => {
  await using work = await openWorkspace();
  work.configure();
  const { code, stderr } = await run(work, 'conditions');
  expect(code).toBe(3);
  expect(stderr).toContain('no daemon responds on');
});

test('conditions shows what fires with its details, and ends with 0 once nothing does', async () => {
  await using work = await openWorkspace();
  await startInvalid(work);
  const { stdout } = await run(work, 'conditions', '--organization', 'org_acme');
  expect(stdout).toMatch(
    /^\d{4}-\S+ firing warning manifests-invalid org_acme: The manifests are invalid \(1 problem\).*\n {2}a\.yaml:1:\d+: /,
  );
  const json = await run(work, 'conditions', '--format', 'json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    firing: [{ code: 'manifests-invalid', organization: 'org_acme', silencedUntil: null }],
    notShown: 0,
  });
  const unknown = await run(work, 'conditions', '--organization', 'org_other');
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain('org_other');
  work.repository.write('a.yaml', '');
  work.repository.commit('Two');
  await eventually('the end', async () => (await run(work, 'conditions')).stdout === 'nothing is wrong\n');
  expect((await run(work, 'conditions')).code).toBe(0);
});

test('a silence is added, listed, shown at its condition, ended and audited', async () => {
  await using work = await openWorkspace();
  await startInvalid(work);
  expect((await run(work, 'silence', 'list')).stdout).toBe('no silences\n');
  const about = ['manifests-invalid', '--organization', 'org_acme'];
  const added = await run(work, 'silence', 'add', ...about, '--reason', 'a migration', '--for', '2h');
  expect(added.code).toBe(0);
  const [, until, id = ''] =
    /^Silenced manifests-invalid of org_acme until (\S+); end it with: octavo silence end (\S+)\n$/.exec(
      added.stdout,
    ) ?? [];
  expect(until).toBeDefined();
  expect((await run(work, 'silence', 'list')).stdout).toMatch(
    new RegExp(`^${id} manifests-invalid of org_acme until ${until} by \\S+: a migration\n$`),
  );
  const { code, stdout } = await run(work, 'conditions');
  expect(stdout).toContain(`(silenced until ${until})`);
  expect(code).toBe(1);
  expect((await run(work, 'silence', 'end', id)).stdout).toBe(`Ended the silence ${id}\n`);
  const again = await run(work, 'silence', 'end', id);
  expect(again.code).toBe(3);
  expect(again.stderr).toContain(`the silence ${id} has already ended`);
  const audit = await run(work, 'audit', '--organization', 'org_acme');
  expect(audit.stdout.split('\n').map((line) => line.split(' ').slice(3).join(' '))).toEqual([
    `org_acme silence end manifests-invalid refused the silence ${id} has already ended`,
    `org_acme silence end manifests-invalid done ${id}`,
    `org_acme silence add manifests-invalid done ${id} a migration`,
    '',
  ]);
});

test('notify retry sends nothing if nothing was given up, and is audited', async () => {
  await using work = await openWorkspace();
  await startInvalid(work, {
    channels: { ops: { slackWebhook: { url: 'https://hooks.example/x' } } },
    routes: [{ channels: ['ops'] }],
  });
  const { code, stdout } = await run(work, 'notify', 'retry', 'ops');
  expect([code, stdout]).toEqual([0, 'no delivery of an event was given up\n']);
  const unknown = await run(work, 'notify', 'retry', 'other');
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain('no channel "other" is configured');
  expect((await run(work, 'audit')).stdout).toMatch(/ notify retry ops done 0 events\n$/);
});

test.each([
  ['silence add', ['silence', 'add', '--reason', 'x', '--for', '999999999d']],
  ['pause', ['pause', '--reason', 'x', '--for', '999999999d']],
])('%s refuses an end that no clock can show, and stores nothing', async (_name, args) => {
  await using work = await openWorkspace();
  await startInvalid(work);
  const { code, stderr } = await run(work, ...args);
  expect(code).toBe(3);
  expect(stderr).toContain('until: is too late; choose an earlier end');
  expect((await run(work, 'silence', 'list')).stdout).toBe('no silences\n');
  expect((await run(work, 'conditions')).stdout).not.toContain('paused');
});
