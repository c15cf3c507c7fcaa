import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runGit } from '../git/repository.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const team = (...keys: string[]) =>
  keys.length === 0 ? 'teams: {}\n' : `teams:\n${keys.map((key) => `  ${key}: { title: Team ${key} }\n`).join('')}`;

const apply = (work: Workspace, folder: string, ...more: string[]) =>
  work.inside(['apply', folder, '--yes', '--record', '--base', 'applied', ...more]);

async function applied(work: Workspace, folder: string, ...more: string[]): Promise<string> {
  const { code, stderr } = await apply(work, folder, ...more);
  expect(code, stderr).toBe(0);
  return stderr;
}

/** Two directories of one organization, both applied. */
async function openFolders(): Promise<Workspace> {
  const work = await openWorkspace();
  work.repository.commit('Two folders', { 'a/teams.yaml': team('one', 'two'), 'b/teams.yaml': team('three', 'four') });
  await applied(work, 'a');
  await applied(work, 'b');
  return work;
}

test('records each folder separately, so that a removal in one is not lost by the record of the other', async () => {
  await using work = await openFolders();
  work.repository.commit('One less in each', { 'a/teams.yaml': team('one'), 'b/teams.yaml': team('three') });
  expect(await applied(work, 'b')).toContain('in refs/octavo/org_acme/b/applied');
  expect(await applied(work, 'a')).toContain('in refs/octavo/org_acme/a/applied');
  expect(work.teams()).toEqual(['Team one', 'Team three']);
});

test('a folder without a record does not use that of the root', async () => {
  await using work = await openWorkspace();
  const files = { '.octavoignore': 'b/\n', 'teams.yaml': team('one'), 'b/teams.yaml': team('two') };
  work.repository.commit('A root and a folder', files);
  await applied(work, '.');
  const { stdout } = await work.inside(['plan', 'b', '--base', 'applied', '--format', 'json']);
  const { baseCommit, changes } = JSON.parse(stdout);
  expect(baseCommit).toBeNull();
  expect(changes).toMatchObject([{ action: 'create', address: 'team/two' }]);
});

test('refuses a resource that two folders declare, and names both positions', async () => {
  await using work = await openFolders();
  work.repository.commit('Two in both', { 'b/teams.yaml': team('three', 'four', 'two') });
  const writes = work.writes();
  for (const args of [
    ['apply', 'b', '--yes', '--record'],
    ['plan', 'b'],
    ['apply', 'b', '--yes', '--base', 'applied'],
  ]) {
    const { code, stderr } = await work.inside(args);
    expect(stderr).toContain('b/teams.yaml:4:3: team/two: scope "a" also declares it, at a/teams.yaml:3;');
    expect(code).toBe(3);
  }
  expect((await work.inside(['plan', 'a'])).stderr).toContain(
    'a/teams.yaml:3:3: team/two: scope "b" also declares it, at b/teams.yaml:4;',
  );
  expect(work.writes()).toBe(writes);
});

test('refuses a resource that two folders declare under different keys', async () => {
  await using work = await openFolders();
  work.repository.commit('Another key', { 'b/teams.yaml': `${team('three', 'four')}  other: { title: Team two }\n` });
  const { code, stderr } = await work.inside(['plan', 'b']);
  expect(stderr).toContain('team/other: scope "a" also declares the same resource (as team/two), at a/teams.yaml:3;');
  expect(code).toBe(3);
});

test.each([
  ['a', 'b'],
  ['b', 'a'],
])('keeps the resource of a declaration that moves to another folder, %s first', async (first, second) => {
  await using work = await openFolders();
  const before = work.emulator.state().teams?.find(({ title }) => title === 'Team two')?.id;
  work.repository.commit('Move two', { 'a/teams.yaml': team('one'), 'b/teams.yaml': team('three', 'four', 'two') });
  await applied(work, first);
  await applied(work, second);
  expect(work.emulator.state().teams?.find(({ title }) => title === 'Team two')?.id).toBe(before);
  work.repository.commit('Remove two', { 'b/teams.yaml': team('three', 'four') });
  await applied(work, 'a');
  await applied(work, 'b');
  expect(work.teams()).toEqual(['Team four', 'Team one', 'Team three']);
});

test('keeps resources of other folders with prune: all', async () => {
  await using work = await openFolders();
  await work.call('PUT', '/teams', { title: 'By hand' });
  const config = work.configure({
    organization: { prune: { team: 'all' }, limits: { maxDeletions: 9, maxChangedPercent: 100 } },
  });
  await applied(work, 'a', '--config', config);
  expect(work.teams()).toEqual(['Team four', 'Team one', 'Team three', 'Team two']);
});

test('keeps the identity of a renamed folder with an explicit scope', async () => {
  await using work = await openWorkspace();
  work.repository.commit('A folder', { 'a/teams.yaml': team('one', 'two') });
  await applied(work, 'a', '--scope', 'docs');
  work.repository.git('mv', 'a', 'z');
  work.repository.commit('Rename the folder, drop a team', { 'z/teams.yaml': team('one') });
  await applied(work, 'z', '--scope', 'docs');
  expect(work.teams()).toEqual(['Team one']);
});

test('refuses one scope for two folders, and two scopes for one folder', async () => {
  await using work = await openFolders();
  const shared = await apply(work, 'b', '--scope', 'a');
  expect(shared.stderr).toContain('scope "a" was last applied from a, which still declares resources (a/teams.yaml:2)');
  expect(shared.code).toBe(3);
  const second = await apply(work, 'a', '--scope', 'other');
  expect(second.stderr).toContain(
    'a was last applied as scope "a" and not "other"; use --scope a, or delete refs/octavo/org_acme/a/applied',
  );
  expect(second.code).toBe(3);
  const bad = await apply(work, 'a', '--scope', '../x');
  expect([bad.code, bad.stderr]).toEqual([3, expect.stringContaining('--scope "../x" is not a scope')]);
});

test('reads the records of other folders from the remote in a clone without refs', async () => {
  await using work = await openFolders();
  const remote = join(work.folder, 'remote.git');
  runGit(work.folder, ['clone', '--quiet', '--bare', work.repository.directory, remote]);
  runGit(work.repository.directory, ['remote', 'add', 'origin', remote]);
  runGit(work.repository.directory, ['push', '--quiet', 'origin', 'refs/octavo/*:refs/octavo/*']);
  for (const depth of [[], ['--depth=1']]) {
    const clone = join(work.folder, `clone${depth.length}`);
    runGit(work.folder, ['clone', '--quiet', ...depth, `file://${remote}`, clone]);
    const { code, stderr } = await work.inside(['apply', join(clone, 'b'), '--yes', '--record']);
    expect(code, stderr).toBe(0);
    const wrong = await work.inside(['apply', join(clone, 'a'), '--yes', '--record', '--scope', 'other']);
    expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('was last applied as scope "a"')]);
  }
});

test('includes the scope in the checksum of a plan', async () => {
  await using work = await openWorkspace();
  work.repository.commit('A folder', { 'a/teams.yaml': team('one') });
  const checksum = async (...more: string[]) =>
    (JSON.parse((await work.inside(['plan', 'a', '--format', 'json', ...more])).stdout) as { checksum: string })
      .checksum;
  expect(await checksum('--scope', 'b')).not.toBe(await checksum());
  expect(await checksum('--scope', 'a')).toBe(await checksum());
});
