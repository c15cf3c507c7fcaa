import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runGit } from '../git/repository.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const NO_TOKEN = { OCTAVO_TOKEN: '' };
const inNew = (work: Workspace, path: string) => join(work.folder, 'new', path);
const init = (work: Workspace, env: Record<string, string>, ...more: string[]) =>
  work.inside(['init', '../new', ...more], env);

describe('octavo init in a new folder', () => {
  test.each([
    ['github', '.github/workflows/octavo.yaml', 'github.yaml'],
    ['gitlab', '.gitlab-ci.yml', 'gitlab.yaml'],
    ['gitea', '.gitea/workflows/octavo.yaml', 'gitea.yaml'],
    ['bitbucket', 'bitbucket-pipelines.yml', 'bitbucket.yaml'],
  ])('creates a repository for %s with valid manifests', async (forge, workflow, example) => {
    await using work = await openWorkspace();
    const ended = await init(work, NO_TOKEN, '--forge', forge);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`+ ../new/${workflow}\n`) });
    expect(readFileSync(inNew(work, workflow), 'utf8')).toBe(
      readFileSync(new URL(`../../examples/pull-request/${example}`, import.meta.url), 'utf8'),
    );
    const schema = JSON.parse(readFileSync(inNew(work, '.octavo/schema.json'), 'utf8')) as object;
    expect(schema).toHaveProperty('properties.teams');
    expect(existsSync(inNew(work, '.git'))).toBe(true);
    expect(await work.inside(['validate', '../new'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Valid: 1 /),
    });
    expect(work.emulator.requests.total).toBe(0);
  });

  test.each([
    ['github', '.github/workflows/octavo-drift.yaml'],
    ['gitea', '.gitea/workflows/octavo-drift.yaml'],
  ])('creates the drift workflow for %s with --drift', async (forge, path) => {
    await using work = await openWorkspace();
    mkdirSync(inNew(work, ''));
    runGit(inNew(work, ''), ['init', '-q']);
    const ended = await work.inside(['init', '../new/docs', '--forge', forge, '--drift'], NO_TOKEN);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`+ ../new/${path}\n`) });
    expect(readFileSync(inNew(work, path), 'utf8')).toMatch(/run: octavo import --drift --pull-request --out docs$/m);
    const gitlab = await work.inside(['init', '../other', '--forge', 'gitlab', '--drift'], NO_TOKEN);
    expect(gitlab).toMatchObject({ code: 0, stderr: expect.stringContaining('includes the drift job') });
  });

  test.each([
    ['none', [], false],
    ['github', ['--drift'], true],
  ] as const)(
    'imports the organization if a token is set, so that the plan is empty (%s)',
    async (forge, more, hasDrift) => {
      await using work = await openWorkspace();
      await work.call('PUT', '/teams', { title: 'Writers' });
      const ended = await init(work, {}, '--forge', forge, ...more);
      expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Imported') });
      expect(existsSync(inNew(work, '.github/workflows/octavo-drift.yaml'))).toBe(hasDrift);
      const plan = await work.inside(['plan', '../new', '--detailed-exitcode']);
      expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
      expect(readFileSync(inNew(work, 'teams.yaml'), 'utf8')).toContain('title: Writers');
    },
  );

  test('does not import with --no-import or after a no', async () => {
    await using work = await openWorkspace();
    expect(await init(work, {}, '--forge', 'none', '--no-import')).toMatchObject({ code: 0 });
    expect(readFileSync(inNew(work, 'organization.yaml'), 'utf8')).toContain('organization: {}');
    expect(work.emulator.requests.total).toBe(0);
  });
});

describe('octavo init in an existing repository', () => {
  test('puts manifests into the given folder, and the workflow where the forge expects it', async () => {
    await using work = await openWorkspace();
    mkdirSync(inNew(work, ''));
    runGit(inNew(work, ''), ['init', '-q']);
    const into = (folder: string, ...more: string[]) => work.inside(['init', `../new/${folder}`, ...more], NO_TOKEN);
    expect(await into('docs/acme', '--forge', 'github')).toMatchObject({
      code: 0,
      stdout:
        '+ ../new/docs/acme/.octavo/schema.json\n+ ../new/.vscode/extensions.json\n' +
        '+ ../new/.github/workflows/octavo.yaml\n+ ../new/docs/acme/organization.yaml\n',
    });
    const workflow = readFileSync(inNew(work, '.github/workflows/octavo.yaml'), 'utf8');
    const named = workflow.match(/octavo (?:validate|plan|apply) \S+/g);
    expect(named).toEqual(['validate', 'plan', 'plan', 'apply'].map((command) => `octavo ${command} docs/acme`));
    // The forge is detected from the repository, also for a directory that does not exist yet.
    expect(await into('docs/acme')).toMatchObject({ code: 0, stdout: '' });
    expect(await into('other/folder')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('.github/workflows/octavo.yaml already exists'),
    });
    expect(await into('docs & more', '--forge', 'gitlab')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('"docs & more"'),
    });
    expect(existsSync(inNew(work, '.gitlab-ci.yml'))).toBe(false);
  });

  test('keeps existing manifests and workflows unchanged', async () => {
    await using work = await openWorkspace();
    const mine = { 'teams.yaml': 'teams: {} # mine\n', '.github/workflows/octavo.yaml': 'name: mine\n' };
    for (const [path, text] of Object.entries(mine)) {
      work.repository.write(path, text);
    }
    const ended = await work.inside(['init']);
    expect(ended).toMatchObject({ code: 0, stdout: '+ .octavo/schema.json\n+ .vscode/extensions.json\n' });
    expect(ended.stderr).toContain('.github/workflows/octavo.yaml already exists; it was kept unchanged');
    for (const [path, text] of Object.entries(mine)) {
      expect(readFileSync(join(work.repository.directory, path), 'utf8')).toBe(text);
    }
    expect(existsSync(join(work.repository.directory, 'organization.yaml'))).toBe(false);
    expect(work.emulator.requests.total).toBe(0);
  });

  test('detects the forge from the remote, and creates nothing when run again', async () => {
    await using work = await openWorkspace();
    work.repository.git('remote', 'add', 'origin', 'https://oauth2:a-password@gitlab.example/acme/docs.git');
    const first = await work.inside(['init'], NO_TOKEN);
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('+ .gitlab-ci.yml\n') });
    expect(first.stdout + first.stderr).not.toContain('a-password');
    expect(await work.inside(['init'], NO_TOKEN)).toMatchObject({ code: 0, stdout: '' });
  });
});

test('writes nothing and names --forge when it cannot detect the forge', async () => {
  await using work = await openWorkspace();
  const ended = await init(work, NO_TOKEN);
  expect(ended).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('--forge with one of github, gitlab'),
  });
  expect(existsSync(join(work.folder, 'new'))).toBe(false);
  work.repository.write('a-file', '');
  expect(await work.inside(['init', 'a-file', '--forge', 'none'], NO_TOKEN)).toMatchObject({ code: 3 });
});

test('asks for the forge on a terminal', async () => {
  await using work = await openWorkspace();
  await work.call('PUT', '/teams', { title: 'Writers' });
  const questions: string[] = [];
  const answers = ['GitLab', 'n'];
  const { code } = await work.inside(['init', 'new'], {}, '..', {
    isOutTerminal: true,
    isErrTerminal: true,
    ask: async (question) => {
      questions.push(question);
      return answers.shift() ?? '';
    },
  });
  expect(code).toBe(0);
  expect(questions).toEqual([
    expect.stringMatching(/^Forge that hosts [^ ]+ \(github/),
    expect.stringMatching(/^Import the existing resources of org_acme\? /),
  ]);
  expect(existsSync(inNew(work, '.gitlab-ci.yml'))).toBe(true);
  expect(existsSync(inNew(work, 'teams.yaml'))).toBe(false);
  expect(runGit(inNew(work, ''), ['symbolic-ref', '--short', 'HEAD']).trim()).toBe('main');
});
