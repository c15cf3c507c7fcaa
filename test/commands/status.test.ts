/** Commands that print what the web page shows: status, history and audit. */
import { expect, test } from 'vitest';
import { startDaemon, teams } from '../daemon/daemon-process.ts';
import { eventually } from '../support/octavo-process.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

function run(work: Workspace, ...args: string[]) {
  return work.inside([...args, '--config', 'config.yaml'], {}, '..');
}

test('status says that no daemon runs', async () => {
  await using work = await openWorkspace();
  work.configure();
  const { code, stderr } = await run(work, 'status');
  expect(code).toBe(3);
  expect(stderr).toContain('no daemon responds on');
});

test('status, history and audit print the views of a running daemon, and exit by its state', async () => {
  await using work = await openWorkspace();
  work.repository.commit('Two', { 'a.yaml': 'collections:\n  a: { title: A }\n  b: { title: B }\n' });
  const daemon = await startDaemon(work);
  await daemon.run.waitForLog('pass completed');
  const inSync = await run(work, 'status');
  expect(inSync.stdout).toMatch(
    /^org_acme: In sync with [0-9a-f]{7}, checked \d+ seconds? ago\nnext check: in \d+[smhd]\n$/,
  );
  expect(inSync.code).toBe(0);
  // A deletion is held.
  work.repository.commit('One', { 'a.yaml': 'collections:\n  a: { title: A }\n' });
  await daemon.run.waitForLog('changes held');
  await daemon.pass();
  const held = await run(work, 'status');
  expect(held.stdout).toMatch(
    /^org_acme: 1 change waits for approval.*\napprove with:\n {2}octavo approve [0-9a-f]{8} --config config\.yaml --organization org_acme\nnext check: /,
  );
  expect(held.code).toBe(4);
  // The condition is reported after the pass.
  await eventually('the condition', async () => (await run(work, 'conditions')).stdout.includes('approve with:'));
  const conditions = await run(work, 'conditions');
  expect(conditions.stdout).toMatch(
    /^SINCE +STATE +SEVERITY +CODE +ORGANIZATION +SUMMARY\n\d+s +firing +warning +waiting-for/,
  );
  expect(conditions.stdout).toMatch(/^ {2}approve with:\n {4}octavo approve [0-9a-f]{8} --config config\.yaml --org/m);
  const all = await run(work, 'status', '--format', 'json');
  const view = JSON.parse(all.stdout);
  expect(view).toMatchObject({
    organization: { id: 'org_acme', state: 'held', held: 1 },
    conversations: { isConfigured: false },
    clusters: { isEnabled: false },
  });
  for (const view of ['status', 'history', 'audit', 'conditions']) {
    const terminal = { isOutTerminal: true, columns: 80, env: { NO_COLOR: '1' } };
    const { stdout } = await work.inside([view, '--config', 'config.yaml'], {}, '..', terminal);
    const wide = stdout.split('\n').filter((line) => line.length > 80 && !/^ *octavo /.test(line));
    expect(wide, view).toEqual([]);
  }
  await run(work, 'pause', '--reason', 'a freeze');
  const history = await run(work, 'history');
  const [headings = '', newest = ''] = history.stdout.split('\n');
  expect(headings).toMatch(/^AGE +PASS +(TIMES +)?OUTCOME +COMMIT +CHANGES +MESSAGE$/);
  expect(newest).toMatch(/^\d+s +\d+ +(\d+ +)?held +[0-9a-f]{7} +1 held +One$/);
  expect(newest.indexOf('1 held')).toBe(headings.indexOf('CHANGES'));
  expect(history.stdout).toMatch(/^approve with:\n {2}octavo approve [0-9a-f]{8} --config config\.yaml --org/m);
  // All of them approve only what is held.
  const approvals = [held, conditions, history].flatMap(
    ({ stdout }) => stdout.match(/octavo approve [0-9a-f]{8}/g) ?? [],
  );
  expect(new Set(approvals).size).toBe(1);
  const audit = await run(work, 'audit');
  expect(audit.stdout).toMatch(
    /^TIME .*\n\d{4}-\d\d-\d\d \d\d:\d\d +\d+s +\S+ \(socket\) +org_acme +pause +done +a freeze\n$/,
  );
  const { entries } = JSON.parse((await run(work, 'audit', '--organization', 'org_acme', '--format', 'json')).stdout);
  expect(entries).toMatchObject([{ action: 'pause', reason: 'a freeze', organization: 'org_acme' }]);
  const unknown = await run(work, 'status', '--organization', 'org_other');
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain('there is no page "/o/org_other"');
});

test('status exits with 1 while the manifests are invalid', async () => {
  await using work = await openWorkspace();
  work.repository.commit('One', { 'a.yaml': teams('A') });
  const daemon = await startDaemon(work);
  await work.untilTeams('A');
  work.repository.commit('Two', { 'a.yaml': 'teams: [1]\n' });
  await daemon.run.waitForLog('manifests are invalid');
  // The pass is logged before it ends.
  await eventually('the end of the pass', async () => (await run(work, 'status')).code === 1);
  const { code, stdout } = await run(work, 'status');
  expect(stdout).toMatch(
    /^org_acme: Manifests have been invalid for \d+ \w+: 1 problem; the last valid commit is [0-9a-f]{7}\nnext check: /,
  );
  expect(code).toBe(1);
});
