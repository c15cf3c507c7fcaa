import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runGit } from '../git/repository.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const REF = 'refs/octavo/org_acme/applied';
/** The commit that was applied is the parent of the record. */
const APPLIED = `${REF}^`;

interface Answer {
  readonly baseCommit: string | null;
  readonly changes: readonly { readonly action: string; readonly address: string }[];
  readonly unmanaged: readonly { readonly title: string }[];
}

async function planned(work: Workspace, ...args: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await work.inside(['plan', '--format', 'json', ...args]);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Answer;
}

const changesOf = ({ changes }: Answer) => changes.map(({ action, address }) => `${action} ${address}`);

/** Applied once by another machine; another team was created manually. */
async function applied(): Promise<Workspace> {
  const work = await openWorkspace();
  work.repository.write('teams.yaml', 'teams:\n  writers: { title: Writers }\n  old: { title: Old }\n');
  work.repository.commit('Two teams');
  const { code } = await work.inside(['apply', '--yes', '--record']);
  expect(code).toBe(0);
  await work.call('PUT', '/teams', { title: 'By hand' });
  return work;
}

function bareRemote(work: Workspace): string {
  const remote = join(work.folder, 'remote.git');
  runGit(work.folder, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', remote]);
  work.repository.git('remote', 'add', 'origin', remote);
  return remote;
}

test('plans a rename as a rename and deletes only what the base declared', async () => {
  await using work = await applied();
  work.repository.commit('Rename one, drop one', { 'teams.yaml': 'teams:\n  writers: { title: Docs writers }\n' });
  const withBase = await planned(work, '--base', 'HEAD~1');
  expect(changesOf(withBase).toSorted()).toEqual(['delete team/old', 'update team/writers']);
  expect(withBase.baseCommit).toBe(work.repository.git('rev-parse', 'HEAD~1'));
  expect(withBase.unmanaged.map(({ title }) => title)).toEqual(['By hand']);
  const without = await planned(work, '--base', 'none');
  expect(changesOf(without)).toEqual(['create team/writers']);
  expect(without.baseCommit).toBe(null);
  expect((await work.inside(['plan', '--base', 'none'])).stdout).toContain(
    'there is no base, so nothing is deleted and renames are not recognized',
  );
});

test('plans over the recorded commit by default, also with uncommitted files and in a fresh clone', async () => {
  await using work = await applied();
  bareRemote(work);
  work.repository.git('push', '--quiet', 'origin', 'main', REF);
  work.repository.write('teams.yaml', 'teams:\n  writers: { title: Docs writers }\n');
  const expected = ['delete team/old', 'update team/writers'];
  expect(changesOf(await planned(work)).toSorted()).toEqual(expected);
  work.repository.commit('Rename one, drop one');
  expect((await planned(work)).baseCommit).toBe(work.repository.git('rev-parse', APPLIED));
  work.repository.git('update-ref', '-d', REF);
  expect(changesOf(await planned(work)).toSorted()).toEqual(expected);
  const recorded = await work.inside(['apply', '--yes', '--record']);
  expect(recorded).toMatchObject({ code: 0, stderr: expect.stringContaining(' and pushed it') });
  expect(work.teams()).toEqual(['By hand', 'Docs writers']);
});

test('applies over the recorded base of the remote, and not over an older one if the remote cannot be reached', async () => {
  await using work = await applied();
  work.repository.commit('Drop one', { 'teams.yaml': 'teams:\n  writers: { title: Writers }\n' });
  work.repository.git('remote', 'add', 'origin', join(work.folder, 'gone.git'));
  const { code, stderr } = await work.inside(['apply', '--yes']);
  expect(code, stderr).not.toBe(0);
  expect(stderr).toContain('the recorded base may be outdated');
  expect(work.teams()).toContain('Old');
  expect((await work.inside(['apply', '--yes', '--base', 'none'])).code).toBe(0);
  work.repository.git('update-ref', '-d', REF);
  const unrecorded = await work.inside(['apply', '--yes']);
  expect(unrecorded.code, unrecorded.stderr).toBe(0);
  expect(unrecorded.stderr).toContain('The recorded base and other scopes were not checked');
});

test('holds a published section that a rename without a base would show empty, until it is approved', async () => {
  await using work = await openWorkspace();
  const site =
    'sites:\n  help:\n    title: Help\n    published: true\n    visibility: public\n    structure:\n      - { key: en, space: guides, path: guides }\n';
  work.repository.commit('A site', { 'sites.yaml': site, 'spaces.yaml': 'spaces:\n  guides: { title: Guides }\n' });
  expect((await work.inside(['apply', '--yes', '--record'])).code).toBe(0);
  work.repository.commit('Rename the space', { 'spaces.yaml': 'spaces:\n  guides: { title: Handbook }\n' });
  expect(changesOf(await planned(work))).toEqual(['update space/guides']);
  for (const _again of [1, 2]) {
    const held = await work.inside(['apply', '--yes', '--base', 'none', '--format', 'json']);
    expect(held.code, held.stderr).toBe(4);
    expect(held.stderr).toContain('readers would see the new space/guides instead of the current content');
  }
  const { heldChecksum } = JSON.parse((await work.inside(['plan', '--base', 'none', '--format', 'json'])).stdout);
  expect((await work.inside(['apply', '--base', 'none', '--yes', '--approve', heldChecksum])).code).toBe(0);
});

test('moves the ref with --record only after everything was applied, and reads it with --base applied', async () => {
  await using work = await applied();
  const first = work.repository.git('rev-parse', 'HEAD');
  expect(work.repository.git('rev-parse', APPLIED)).toBe(first);
  work.repository.write('teams.yaml', 'teams:\n  writers: { title: Docs writers }\n  more: { title: More }\n');
  const second = work.repository.commit('Rename, drop, add');
  work.emulator.setFaults([{ match: { method: 'PUT' }, fault: { kind: 'status', status: 422 } }]);
  const failed = await work.inside(['apply', '--yes', '--record', '--base', 'applied']);
  expect(failed.code).toBe(1);
  expect(work.repository.git('rev-parse', APPLIED)).toBe(first);
  // The failed run lost no ownership: the rest is still recognized.
  work.emulator.setFaults([]);
  expect(changesOf(await planned(work, '--base', 'applied'))).toEqual(['create team/more']);
  const done = await work.inside(['apply', '--yes', '--record', '--base', 'applied']);
  expect(done.code).toBe(0);
  expect(done.stderr).toContain(`Recorded ${second.slice(0, 7)} as applied in ${REF}\n`);
  expect(work.repository.git('rev-parse', APPLIED)).toBe(second);
  expect(work.teams()).toEqual(['By hand', 'Docs writers', 'More']);
});

test('does not move the ref while changes are paused', async () => {
  await using work = await applied();
  const first = work.repository.git('rev-parse', 'HEAD');
  work.repository.write(
    'teams.yaml',
    'teams:\n  writers: { title: Docs writers, paused: { reason: Launch, until: 2999-01-01 } }\n  old: { title: Old }\n',
  );
  work.repository.commit('Rename, but later');
  const { code, stderr } = await work.inside(['apply', '--yes', '--record', '--base', 'applied']);
  expect(code).toBe(0);
  expect(stderr).toContain(`${REF} was not updated; still to apply: team/writers`);
  expect(work.repository.git('rev-parse', APPLIED)).toBe(first);
});

test('reports a refused push after applying, and records nothing locally', async () => {
  await using work = await openWorkspace();
  const remote = bareRemote(work);
  work.repository.commit('One', { 'teams.yaml': 'teams:\n  writers: { title: Writers }\n' });
  work.repository.git('push', '--quiet', 'origin', 'main');
  runGit(remote, ['config', 'receive.denyCurrentBranch', 'refuse']);
  runGit(remote, ['config', 'receive.hideRefs', 'refs/octavo']);
  const { code, stdout, stderr } = await work.inside(['apply', '--yes', '--record']);
  expect(code).toBe(1);
  expect(stdout).toContain('1 applied');
  expect(stderr).toContain(`cannot move ${REF}`);
  expect(work.repository.git('for-each-ref', 'refs/octavo')).toBe('');
});

test('applies nothing when the remote does not respond and the result could not be recorded', async () => {
  await using work = await openWorkspace();
  work.repository.git('remote', 'add', 'origin', join(work.folder, 'nowhere.git'));
  work.repository.commit('One', { 'teams.yaml': 'teams:\n  writers: { title: Writers }\n' });
  const { code, stderr } = await work.inside(['apply', '--yes', '--record']);
  expect(code).toBe(1);
  expect(stderr).toContain('cannot ask origin for refs/octavo/org_acme/*');
  expect(work.teams()).toEqual([]);
});

test.each([
  ['--base', 'nowhere', 3, '--base "nowhere" is not a commit, branch or tag of this repository'],
  ['--base', '--upload-pack=x', 3, 'is not a commit'],
])('%s %s', async (option, ref, exit, words) => {
  await using work = await applied();
  const { code, stderr } = await work.inside(['plan', `${option}=${ref}`]);
  expect(stderr).toContain(words);
  expect(code).toBe(exit);
});

test('reports that the result cannot be recorded before it applies anything', async () => {
  await using work = await applied();
  work.repository.write('new.yaml', 'teams:\n  new: { title: New }\n');
  const before = work.writes();
  const { code, stderr } = await work.inside(['apply', '--yes', '--record']);
  expect(stderr).toContain('--record requires all manifests to be committed');
  expect(code).toBe(3);
  expect(work.writes()).toBe(before);
});

test('reports problems in the manifests of the base as problems of the base', async () => {
  await using work = await openWorkspace();
  work.repository.write('teams.yaml', 'teams:\n  writers: { title: Writers, colour: red }\n');
  const base = work.repository.commit('From another time');
  work.repository.commit('Now', { 'teams.yaml': 'teams:\n  writers: { title: Writers }\n' });
  const { code, stderr } = await work.inside(['plan', '--base', 'HEAD~1']);
  expect(stderr).toContain(`${base.slice(0, 7)}:teams.yaml:2:30: team/writers: unknown field "colour"`);
  expect(stderr).toContain('in the base, checked against the current rules');
  expect(code).toBe(3);
  expect(work.emulator.requests.total).toBe(0);
});

test('owns nothing with a base from before the first manifest', async () => {
  await using work = await openWorkspace();
  const base = work.repository.commit('Begin', { 'README.md': '# Acme\n' });
  work.repository.commit('One', { 'teams.yaml': 'teams:\n  writers: { title: Writers }\n' });
  const answer = await planned(work, '--base', 'HEAD~1');
  expect([answer.baseCommit, ...changesOf(answer)]).toEqual([base, 'create team/writers']);
});
