import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runGit } from '../git/repository.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const REF = 'refs/octavo/org_acme/applied';

const TEAM = 'teams:\n  writers: { title: Writers }\n';
const SITE = `spaces:
  guides: { title: Guides }
sites:
  help:
    title: Acme Help
    structure:
      - { key: guides, space: guides, path: guides }
`;

async function applied(): Promise<Workspace> {
  const work = await openWorkspace();
  work.repository.commit('A team and a site', { 'teams.yaml': TEAM, 'sites.yaml': SITE });
  const { code, stderr } = await work.inside(['apply', '--yes', '--record']);
  expect(code, stderr).toBe(0);
  return work;
}

interface Titled {
  readonly id: string;
  readonly title: string;
}

async function renameByHand(work: Workspace): Promise<void> {
  const { organization } = work.emulator;
  const { teams = [], sites = [] } = work.emulator.state() as unknown as { teams?: Titled[]; sites?: Titled[] };
  expect([teams.length, sites.length], organization).toEqual([1, 1]);
  await work.call('PATCH', `/teams/${teams[0]?.id}`, { title: 'Renamed by hand' });
  await work.call('PATCH', `/sites/${sites[0]?.id}`, { title: 'Renamed by hand' });
}

test('finds a resource that was renamed on the platform by its recorded id, and creates nothing', async () => {
  await using work = await applied();
  await renameByHand(work);
  const { code, stdout, stderr } = await work.inside(['apply', '--yes', '--record', '--base', 'applied']);
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '2 applied; 2 writes\n' });
  const { teams = [], sites = [] } = work.emulator.state() as unknown as { teams?: Titled[]; sites?: Titled[] };
  expect([...teams, ...sites].map(({ title }) => title)).toEqual(['Writers', 'Acme Help']);
});

test('deletes a resource that was renamed on the platform and is no longer declared', async () => {
  await using work = await applied();
  await renameByHand(work);
  work.repository.commit('No team', { 'teams.yaml': 'teams: {}\n' });
  const { code, stderr } = await work.inside(['apply', '--yes', '--base', 'applied']);
  expect(code, stderr).toBe(0);
  expect(work.teams()).toEqual([]);
});

test('uses a ref of the old form, which points to the commit itself, as a base without ids', async () => {
  await using work = await applied();
  const commit = work.repository.git('rev-parse', 'HEAD');
  work.repository.git('update-ref', REF, commit);
  work.repository.commit('Rename', { 'teams.yaml': 'teams:\n  writers: { title: Docs writers }\n' });
  const { stdout } = await work.inside(['plan', '--base', 'applied', '--format', 'json']);
  expect(JSON.parse(stdout)).toMatchObject({
    baseCommit: commit,
    changes: [{ action: 'update', address: 'team/writers' }],
  });
  expect((await work.inside(['apply', '--yes', '--record', '--base', 'applied'])).code).toBe(0);
  expect(work.repository.git('show', `${REF}:.octavo-applied.json`)).toContain('"team/writers"');
});

test('moves the ref in an apply without changes only if an id has changed', async () => {
  await using work = await applied();
  const before = work.repository.git('rev-parse', REF);
  expect((await work.inside(['apply', '--yes', '--record', '--base', 'applied'])).code).toBe(0);
  expect(work.repository.git('rev-parse', REF)).toBe(before);
  const { teams = [] } = work.emulator.state() as unknown as { teams?: Titled[] };
  await work.call('DELETE', `/teams/${teams[0]?.id}`);
  expect((await work.inside(['apply', '--yes', '--record', '--base', 'applied'])).code).toBe(0);
  expect(work.repository.git('rev-parse', REF)).not.toBe(before);
  expect(work.repository.git('rev-parse', `${REF}^`)).toBe(work.repository.git('rev-parse', `${before}^`));
});

/** Writes a record as anyone with push access could, with an index of its own. */
function forge(work: Workspace, change: (record: Record<string, unknown>) => unknown): void {
  const file = join(work.folder, 'record.json');
  const git = (...args: string[]) =>
    runGit(work.repository.directory, args, { GIT_INDEX_FILE: join(work.folder, 'index') }).trim();
  const written = change(JSON.parse(git('show', `${REF}:.octavo-applied.json`)) as Record<string, unknown>);
  writeFileSync(file, typeof written === 'string' ? written : JSON.stringify(written));
  git('update-index', '--add', '--cacheinfo', `100644,${git('hash-object', '-w', file)},.octavo-applied.json`);
  git('update-ref', REF, git('commit-tree', git('write-tree'), '-p', `${REF}^`, '-m', 'x'));
}

const ids = (record: Record<string, unknown>) => record.ids as Record<string, string>;

const DAMAGES: readonly (readonly [string, (record: Record<string, unknown>) => unknown, string])[] = [
  ['is not JSON', () => '{', 'it is not JSON'],
  ['is of another version', (record) => ({ ...record, format: 'octavo.applied/9' }), 'format: '],
  ['has unknown members', (record) => ({ ...record, more: 1 }), 'more'],
  [
    'is of another organization',
    (record) => ({ ...record, organization: 'org_2' }),
    'it belongs to another organization',
  ],
  [
    'names another commit',
    (record) => ({ ...record, commit: '0'.repeat(40) }),
    'the commit that it names is not its parent',
  ],
  [
    'names a directory outside',
    (record) => ({ ...record, directory: '../x' }),
    'directory: is not a directory inside the repository',
  ],
  ['has an id with a line break', (record) => ({ ...record, ids: { ...ids(record), 'team/x': 'a\nb' } }), 'ids: '],
  [
    'has one id twice',
    (record) => ({ ...record, ids: { ...ids(record), 'team/x': ids(record)['team/writers'] } }),
    'have the same id',
  ],
];

test('refuses a damaged record, and suggests a fix', async () => {
  await using work = await applied();
  const record = work.repository.git('rev-parse', REF);
  const writes = work.writes();
  for (const [how, change, words] of DAMAGES) {
    work.repository.git('update-ref', REF, record);
    forge(work, change);
    const { code, stderr } = await work.inside(['apply', '--yes', '--base', 'applied']);
    expect(stderr, `a record that ${how}`).toContain(`${REF}:1:1: is damaged: `);
    expect(stderr).toContain(words);
    expect(stderr).toContain(`git push --force origin COMMIT:${REF}`);
    expect(code).toBe(3);
  }
  expect(work.writes()).toBe(writes);
});

test('ignores recorded ids of undeclared resources and of other kinds', async () => {
  await using work = await applied();
  const theirs = (await work.call('PUT', '/teams', { title: 'Theirs' })) as { id: string };
  forge(work, (record) => ({ ...record, ids: { ...ids(record), 'team/theirs': theirs.id, 'site/help': theirs.id } }));
  const { stdout } = await work.inside(['plan', '--base', 'applied', '--format', 'json']);
  expect(JSON.parse(stdout).changes).toEqual([]);
});

const SECTIONS = (first: string, second: string) => `spaces:
  guides: { title: Guides }
  more: { title: More }
sites:
  help:
    title: Acme Help
    structure:
      - section: one
        title: One
        spaces: [{ key: more, space: more, path: more }${first}]
      - section: two
        title: Two
        spaces: [{ key: more, space: more, path: more }${second}]
`;
const GUIDES = ', { key: guides, space: guides, path: guides }';

test('finishes an interrupted replacement without repeating it', async () => {
  await using work = await applied();
  work.repository.commit('In one', { 'sites.yaml': SECTIONS(GUIDES, '') });
  const first = await work.inside(['apply', '--yes', '--record', '--base', 'applied', '--allow-deletes', '9']);
  expect(first.code, first.stderr).toBe(0);
  work.repository.commit('In two', { 'sites.yaml': SECTIONS('', GUIDES) });
  work.emulator.setFaults([{ match: { method: 'DELETE' }, fault: { kind: 'status', status: 400 } }]);
  const args = ['apply', '--yes', '--record', '--base', 'applied', '--allow-deletes', '9'];
  expect((await work.inside(args)).code).toBe(1);
  work.emulator.setFaults([]);
  const finished = await work.inside(args);
  expect(finished.code, finished.stderr).toBe(0);
  const { siteSpaces = [] } = work.emulator.state() as unknown as { siteSpaces?: unknown[] };
  expect(siteSpaces).toHaveLength(3);
  expect((await work.inside(['plan', '--base', 'applied', '--detailed-exitcode'])).code).toBe(0);
});
