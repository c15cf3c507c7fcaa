import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addForeign } from '../support/foreign.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

function filesIn(work: Workspace): string[] {
  return readdirSync(work.repository.directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('.git'))
    .map((entry) => join(entry.parentPath, entry.name).slice(work.repository.directory.length + 1))
    .sort();
}

function read(work: Workspace, path: string): string {
  return readFileSync(join(work.repository.directory, path), 'utf8');
}

test('turns an existing organization into a repository with an empty plan, in two commands', async () => {
  await using work = await openWorkspace();
  await addForeign(work);
  const imported = await work.inside(['import']);
  expect(imported).toMatchObject({ code: 0 });
  expect(filesIn(work)).toEqual([
    '.octavo/schema.json',
    'collections.yaml',
    'members.yaml',
    'openapi.yaml',
    'organization.yaml',
    'saml.yaml',
    'sites/foreign-site.yaml',
    'spaces.yaml',
    'teams.yaml',
    'translations.yaml',
  ]);
  expect(read(work, 'sites/foreign-site.yaml')).toMatch(
    /^# yaml-language-server: \$schema=\.\.\/\.octavo\/schema\.json\nsites:\n {2}foreign-site:\n/,
  );
  expect(await work.inside(['plan', '--detailed-exitcode'])).toMatchObject({ code: 0 });
  expect(work.writes()).toBe(10);
});

test('keeps every byte of an existing repository, and has nothing to do the next time', async () => {
  await using work = await openWorkspace();
  await addForeign(work);
  const teams = '# ours\nteams:\n    # four columns\n    f: { title: Foreign team }   # adopted\n    # last\n\n# end\n';
  const collections = 'collections: { shelf: { title: Foreign shelf } }\n';
  await work.call('PUT', '/teams', { title: 'Second team' });
  await work.call('POST', '/collections', { title: 'Second shelf' });
  work.repository.write('people/teams.yaml', teams);
  work.repository.write('collections.yaml', collections);
  const { code, stdout, stderr } = await work.inside(['import']);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout.split('\n')).toContain('~ people/teams.yaml  1 entry');
  expect(read(work, 'people/teams.yaml')).toBe(
    '# ours\nteams:\n    # four columns\n    f: { title: Foreign team }   # adopted\n    # last\n' +
      '    second-team: { title: Second team, members: {} }\n\n# end\n',
  );
  // In flow style (braces) there is no line after which to add an entry, so it goes into a file of its own.
  expect(read(work, 'collections.yaml')).toBe(collections);
  expect(read(work, 'collections-2.yaml')).toContain('second-shelf: { title: Second shelf');
  expect(read(work, 'spaces.yaml')).toContain('collection: shelf');
  expect(await work.inside(['plan', '--detailed-exitcode'])).toMatchObject({ code: 0 });
  const files = filesIn(work).map((path) => [path, read(work, path)]);
  expect(await work.inside(['import'])).toMatchObject({ code: 0, stdout: '' });
  expect(filesIn(work).map((path) => [path, read(work, path)])).toEqual(files);
});

test('does not overwrite files that are not manifests', async () => {
  await using work = await openWorkspace();
  const others: Readonly<Record<string, string>> = {
    '.gitlab-ci.yml': 'plan: { script: octavo plan }\n',
    'config.yaml': `platform: { baseUrl: ${work.emulator.url}, token: ${work.env.OCTAVO_TOKEN} }\norganizations: [{ id: org_acme, source: { directory: . } }]\n`,
    'teams.yaml': 'not: ours\n',
    'members.yaml.orig': '',
    '.octavoignore': 'teams.yaml\n',
    'README.md': '# Acme\n',
  };
  for (const [path, text] of Object.entries(others)) {
    work.repository.write(path, text);
  }
  await work.call('PUT', '/teams', { title: 'Writers' });
  expect(await work.inside(['import'])).toMatchObject({ code: 0, stderr: 'Imported 5 entries\n' });
  expect(Object.keys(others).map((path) => [path, read(work, path)])).toEqual(Object.entries(others));
  expect(read(work, 'teams-2.yaml')).toContain('writers: { title: Writers, members: {} }');
  expect(await work.inside(['plan', '--detailed-exitcode'])).toMatchObject({ code: 0 });
});

test('keeps a byte order mark and Windows line ends', async () => {
  await using work = await openWorkspace();
  await work.call('PUT', '/teams', { title: 'Writers' });
  await work.call('PUT', '/teams', { title: 'Readers' });
  const teams = '\ufeffteams:\r\n  writers: { title: Writers }\r\n';
  work.repository.write('teams.yaml', teams);
  expect(await work.inside(['import', '--kind', 'team'])).toMatchObject({ code: 0 });
  expect(read(work, 'teams.yaml')).toBe(`${teams}  readers: { title: Readers, members: {} }\r\n`);
});

test('--dry-run prints and writes nothing', async () => {
  await using work = await openWorkspace();
  const { code, stdout } = await work.inside(['import', '--dry-run', '--out', 'there']);
  expect(code).toBe(0);
  expect(stdout).toContain('--- members.yaml\n');
  expect(existsSync(join(work.repository.directory, 'there'))).toBe(false);
});

test('--kind and --site select resources, and those they refer to', async () => {
  await using work = await openWorkspace();
  await addForeign(work);
  expect(await work.inside(['import', '--kind', 'saml', '--out', 'one'])).toMatchObject({ code: 0 });
  expect(filesIn(work).filter((path) => path.endsWith('.yaml'))).toEqual(['one/saml.yaml', 'one/teams.yaml']);
  expect(await work.inside(['plan', 'one', '--detailed-exitcode'])).toMatchObject({ code: 0 });
  expect(await work.inside(['import', '--site', 'Foreign site', '--out', 'two'])).toMatchObject({ code: 0 });
  const ofSite = ['collections.yaml', 'sites/foreign-site.yaml', 'spaces.yaml'];
  const manifestsIn = (folder: string) =>
    filesIn(work).flatMap((path) =>
      path.startsWith(folder) && path.endsWith('.yaml') ? path.slice(folder.length) : [],
    );
  expect(manifestsIn('two/')).toEqual(ofSite);
  expect(await work.inside(['plan', 'two', '--detailed-exitcode'])).toMatchObject({ code: 0 });
  await work.call('POST', '/sites', { title: 'Other site' });
  const both = ['--kind', 'team', '--site', 'Foreign site', '--out', 'three'];
  expect(await work.inside(['import', ...both])).toMatchObject({ code: 0 });
  expect(manifestsIn('three/')).toEqual([...ofSite, 'teams.yaml']);
});

test('--unmanaged writes into one folder what the manifests around it do not declare', async () => {
  await using work = await openWorkspace();
  await addForeign(work);
  work.repository.write('teams.yaml', 'teams:\n  f: { title: Foreign team }\n');
  const kinds = ['--kind', 'saml', 'team'];
  expect(await work.inside(['import', '--unmanaged', '--out', 'new', ...kinds])).toMatchObject({ code: 0 });
  expect(filesIn(work).filter((path) => path.endsWith('.yaml'))).toEqual(['new/saml.yaml', 'teams.yaml']);
  expect(read(work, 'new/saml.yaml')).toContain('defaultTeam: f');
  expect(await work.inside(['plan', '--detailed-exitcode'])).toMatchObject({ code: 0 });
});

test('rejects invalid input, and writes nothing', async () => {
  await using work = await openWorkspace();
  await addForeign(work);
  work.repository.write('teams.yaml', 'teams: {}\n');
  const cases: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['--kind', 'spaces'], /cannot import kind "spaces"; use one of member, team/],
    [['--kind', 'section'], /it is imported with its site/],
    [['--site', 'Nowhere'], /no site has the title or id "Nowhere"; the sites are "Foreign site"/],
    [['--unmanaged', 'a', '--out', 'b'], /--out b is outside a/],
    [['--out', 'teams.yaml'], /teams\.yaml is not a directory/],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await work.inside(['import', ...args]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(message) });
  }
  expect(filesIn(work)).toEqual(['teams.yaml']);
});

test('reports invalid manifests, and writes nothing', async () => {
  await using work = await openWorkspace();
  work.repository.write('teams.yaml', 'teams:\n  a: { tilte: A }\n');
  const { code, stderr } = await work.inside(['import']);
  expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('teams.yaml:2:8') });
  expect(filesIn(work)).toEqual(['teams.yaml']);
});

describe('writes only files that a plan reads', () => {
  const cases: Readonly<
    Record<string, readonly [files: Readonly<Record<string, string>>, out: string[], message: RegExp]>
  > = {
    'an ignored folder': [
      { '.octavoignore': 'found/\n', 'teams.yaml': 'teams: {}\n' },
      ['--unmanaged', '.', '--out', 'found'],
      /found\/collections\.yaml would not be read by any plan, .*\.octavoignore/,
    ],
    'a hidden folder': [
      { 'teams.yaml': 'teams: {}\n' },
      ['--unmanaged', '.', '--out', '.found'],
      /\.found\/collections\.yaml would/,
    ],
    'an ignored file': [{ '.octavoignore': '/members.yaml\n' }, [], /members\.yaml would not be read by any plan/],
    'a file where a folder is needed': [
      { sites: '' },
      [],
      /cannot write sites\/foreign-site\.yaml: sites is not a directory/,
    ],
  };
  test.each(Object.entries(cases))('%s', async (_name, [files, out, message]) => {
    await using work = await openWorkspace();
    await addForeign(work);
    for (const [path, text] of Object.entries(files)) {
      work.repository.write(path, text);
    }
    const { code, stderr } = await work.inside(['import', ...out]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(message) });
    expect(filesIn(work)).toEqual(Object.keys(files).sort());
  });

  test('a link that leaves the folder', async () => {
    await using work = await openWorkspace();
    await addForeign(work);
    mkdirSync(join(work.folder, 'outside'));
    symlinkSync(join(work.folder, 'outside'), join(work.repository.directory, 'sites'));
    const { code, stderr } = await work.inside(['import']);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/sites is a link that leaves the manifest directory/),
    });
    expect(readdirSync(join(work.folder, 'outside'))).toEqual([]);
    expect(existsSync(join(work.repository.directory, 'members.yaml'))).toBe(false);
  });
});

test('accepts a folder with the name of a manifest', async () => {
  await using work = await openWorkspace();
  work.repository.write('members.yaml/notes.txt', 'ours');
  expect(await work.inside(['import'])).toMatchObject({ code: 0 });
  expect(read(work, 'members-2.yaml')).toContain('ana@acme.example');
});
