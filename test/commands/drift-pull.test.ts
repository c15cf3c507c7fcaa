import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { jobAt } from '../forge/samples.ts';
import { runGit } from '../git/repository.ts';
import { pickCases } from '../support/campaign.ts';
import { FakeForge, FakeGiteaPull, FakeGitHubPull, FakeGitLabPull } from '../support/fake-forge.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

type Name = 'github' | 'gitlab' | 'gitea';
const FORGES = ['github', 'gitlab', 'gitea'] as const;
const BRANCH = 'octavo/drift/org_acme.manifests';
const SAML = `saml:
  writers:
    label: One
    # what it is known by
    entityID: Writers # for now
  editors: { label: Two, entityID: Editors }
`;

/** The initial state of every scene: a repository, a bare clone of it, and the platform after an apply. */
const template = await openWorkspace();
afterAll(() => template[Symbol.asyncDispose]());
template.repository.commit('Two providers', { 'manifests/saml.yaml': SAML });
runGit(template.folder, [
  'clone',
  '--quiet',
  '--bare',
  template.repository.directory,
  join(template.folder, 'bare.git'),
]);
expect(await template.inside(['apply', 'manifests', '--yes', '--record'])).toMatchObject({ code: 0 });
const seed = template.emulator.state();

/** A repository on a forge, whose manifests have been applied. */
class Scene implements AsyncDisposable {
  readonly work: Workspace;
  readonly fake: FakeForge;
  readonly name: Name;
  readonly bare: string;

  private constructor(work: Workspace, fake: FakeForge, name: Name, bare: string) {
    this.work = work;
    this.fake = fake;
    this.name = name;
    this.bare = bare;
  }

  static async open(name: Name = 'github'): Promise<Scene> {
    const work = await openWorkspace({ seed });
    const bare = join(work.folder, 'bare.git');
    cpSync(template.folder, work.folder, { recursive: true, preserveTimestamps: true });
    work.repository.git('remote', 'add', 'origin', bare);
    const fake = await new { github: FakeGitHubPull, gitlab: FakeGitLabPull, gitea: FakeGiteaPull }[name](
      bare,
    ).listen();
    return new Scene(work, fake, name, bare);
  }

  get env(): Record<string, string> {
    return jobAt(this.fake, this.name);
  }

  run(...args: string[]) {
    return this.work.inside(['import', '--drift', '--pull-request', '--out', 'manifests', ...args], this.env);
  }

  /** Changes the name of a provider manually. */
  async change(from: string, to: string): Promise<void> {
    const all = (await this.work.call('GET', '/saml')).items as { id: string; entityID: string }[];
    await this.work.call('PATCH', `/saml/${all.find(({ entityID }) => entityID === from)?.id}`, { entityID: to });
  }

  git(...args: string[]): string {
    return runGit(this.bare, args).trim();
  }

  tip(branch = BRANCH): string | null {
    return this.fake.pulls.tipOf(branch);
  }

  at(commit = BRANCH): string {
    return runGit(this.bare, ['show', `${commit}:manifests/saml.yaml`]);
  }

  /** A person commits to a branch on the forge. */
  commit(branch: string, path: string, text: string, message = 'By a person'): string {
    const folder = join(this.work.folder, `person-${this.git('rev-list', '--all', '--count')}`);
    runGit(this.work.folder, ['clone', '--quiet', '--branch', branch, this.bare, folder]);
    writeFileSync(join(folder, path), text);
    runGit(folder, ['add', '--all']);
    runGit(folder, ['commit', '--quiet', '-m', message]);
    runGit(folder, ['push', '--quiet', 'origin', branch]);
    return runGit(folder, ['rev-parse', 'HEAD']).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fake[Symbol.asyncDispose]();
    await this.work[Symbol.asyncDispose]();
  }
}

function hook(folder: string, name: string, script: string): void {
  const path = join(folder, 'hooks', name);
  mkdirSync(join(folder, 'hooks'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

// The forges differ in their API only: the sample uses one of them.
describe.each(pickCases(FORGES, 1))('at %s', (name) => {
  test('opens a pull request for drift, updates it, and closes it when the drift is gone', async () => {
    await using scene = await Scene.open(name);
    const { fake } = scene;
    expect(await scene.run()).toEqual({ code: 0, stdout: '', stderr: 'No drift to write\n' });
    expect(scene.tip()).toBeNull();

    await scene.change('Writers', 'By hand');
    const first = await scene.run('--author', 'Ana Writes <ana@acme.example>');
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('entityID  "Writers" → "By hand"') });
    expect(first.stderr).toMatch(
      /^Pull request 31 \(http.*\) at \w+ is opened: 1 resource on octavo\/drift\/org_acme\.manifests\n$/,
    );
    expect(scene.at()).toBe(SAML.replace('Writers #', 'By hand #'));
    expect(scene.git('log', '-1', '--format=%an <%ae>%n%P%n%B', BRANCH).split('\n')).toEqual([
      'Ana Writes <ana@acme.example>',
      scene.tip('main'),
      'Drift: 1 resource of org_acme changed on the platform',
      '',
      '- saml/writers: entityID',
      '',
      `Octavo-Tree: ${scene.git('rev-parse', `${BRANCH}^{tree}`)}`,
    ]);
    const [pull] = fake.pulls.open;
    expect(pull).toMatchObject({
      from: BRANCH,
      into: 'main',
      title: 'Drift: 1 resource of org_acme changed on the platform',
    });
    expect(pull?.body).toContain('  ~ saml/writers  manifests/saml.yaml:2\n      entityID  "Writers" → "By hand"\n');

    const tip = scene.tip();
    expect((await scene.run()).stderr).toContain(' is unchanged: ');
    expect(scene.tip()).toBe(tip);

    await scene.change('Editors', 'Readers');
    expect((await scene.run()).stderr).toContain(' is updated: 2 resources on ');
    expect(scene.git('rev-list', '--count', `main..${BRANCH}`)).toBe('1');
    expect(fake.pulls.all).toHaveLength(1);
    expect(pull?.title).toContain('2 resources');

    await scene.change('By hand', 'Writers');
    await scene.change('Readers', 'Editors');
    expect((await scene.run()).stderr).toMatch(/^No drift to write; closed Pull request 31 .*\n$/);
    expect(scene.tip()).toBeNull();
    expect(pull).toMatchObject({ state: 'closed', comments: [expect.stringContaining('The drift is gone')] });
    expect((await scene.run()).stderr).toBe('No drift to write\n');
    expect(pull?.comments).toHaveLength(1);
    expect(JSON.stringify([first, fake.pulls.all])).not.toContain(FakeForge.token);
  });
});

// The rest of the behavior is the same at every forge: CI uses one of them, which changes with the commit.
describe.each(pickCases(FORGES, 1, 1))('at %s', (name) => {
  test('opens one pull request in concurrent runs', async () => {
    await using scene = await Scene.open(name);
    await scene.change('Writers', 'By hand');
    const ended = await Promise.all([scene.run(), scene.run(), scene.run()]);
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(scene.fake.pulls.all).toHaveLength(1);
    expect(scene.git('rev-list', '--count', `main..${BRANCH}`)).toBe('1');
  });

  test('does not reopen a declined pull request until other drift appears', async () => {
    await using scene = await Scene.open(name);
    await scene.change('Writers', 'By hand');
    await scene.run();
    const [pull] = scene.fake.pulls.all;
    scene.fake.pulls.edit(31, {}, true);
    expect((await scene.run()).stderr).toMatch(/^Pull request 31 with the same changes was closed/);
    expect(scene.fake.pulls.open).toEqual([]);
    // Other commits on the other branch do not cause another check.
    scene.commit('main', 'README.md', 'Read me\n');
    expect((await scene.run()).stderr).toMatch(/^Pull request 31 with the same changes was closed/);
    await scene.change('Editors', 'Readers');
    expect((await scene.run()).stderr).toContain(' is opened: 2 resources ');
    expect(pull?.state).toBe('closed');
  });

  test('creates a deleted branch again', async () => {
    await using scene = await Scene.open(name);
    await scene.change('Writers', 'By hand');
    await scene.run();
    scene.git('branch', '-D', BRANCH);
    expect((await scene.run()).code).toBe(0);
    expect(scene.at()).toContain('By hand');
    expect(scene.fake.pulls.open).toHaveLength(1);
  });

  test('ignores a pull request of a fork with the same branch name', async () => {
    await using scene = await Scene.open(name);
    const forks = scene.fake.pulls.addForks(BRANCH, 'main');
    await scene.change('Writers', 'By hand');
    expect((await scene.run()).stderr).toContain('Pull request 32 ');
    expect(forks).toMatchObject({ title: 'From a fork', state: 'open', comments: [] });
  });
});

test('keeps commits of other authors, and explains it in the pull request', async () => {
  await using scene = await Scene.open();
  await scene.change('Writers', 'By hand');
  await scene.run();
  const theirs = scene.commit(BRANCH, 'manifests/note.txt', 'mine\n');
  await scene.change('Editors', 'Readers');
  const ended = await scene.run();
  expect(ended).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/has other commits and is kept unchanged; .* explains it/),
  });
  expect(scene.tip()).toBe(theirs);
  const [pull] = scene.fake.pulls.open;
  expect(pull?.body).toContain('Another author has committed to this branch');
  expect(pull?.body).toContain('"Editors" → "Readers"');
  await scene.change('By hand', 'Writers');
  await scene.change('Readers', 'Editors');
  await scene.run();
  expect(scene.tip()).toBe(theirs);
});

test.each([true, false])('treats a merged pull request as done, with its branch deleted: %s', async (deletes) => {
  await using scene = await Scene.open();
  await scene.change('Writers', 'By hand');
  await scene.run();
  const [pull] = scene.fake.pulls.open;
  scene.fake.pulls.merge(pull as never, deletes);
  expect((await scene.run()).stderr).toMatch(/^No drift to write/);
  expect(scene.tip()).toBeNull();
  expect(pull).toMatchObject({ state: 'merged', comments: [] });
  await scene.change('Editors', 'Readers');
  expect((await scene.run()).stderr).toMatch(/^Pull request 32 .* is opened: 1 resource /);
});

test.each(pickCases(FORGES, 1, 1))(
  'treats a squashed commit of another author at %s as merged, though its branch remains',
  async (name) => {
    await using scene = await Scene.open(name);
    await scene.change('Writers', 'By hand');
    await scene.run();
    const theirs = scene.commit(BRANCH, 'manifests/note.txt', 'mine\n');
    const [pull] = scene.fake.pulls.open;
    scene.fake.pulls.merge(pull as never, false, true);
    expect(scene.tip()).toBe(theirs);
    await scene.change('Editors', 'Readers');
    expect((await scene.run()).stderr).toMatch(/^Pull request 32 .* is opened: 1 resource /);
    expect(scene.git('rev-list', '--count', `main..${BRANCH}`)).toBe('1');
    expect(scene.git('show', `${BRANCH}:manifests/note.txt`)).toBe('mine');
  },
);

test('keeps the branch when the token cannot open a pull request, and opens it in the next run', async () => {
  await using scene = await Scene.open();
  await scene.change('Writers', 'By hand');
  scene.fake.pulls.may.open = false;
  const refused = await scene.run();
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/was pushed but has no pull request yet.*\n.* answers with 403 when asked to open /);
  scene.fake.pulls.may.open = true;
  expect((await scene.run()).stderr).toContain(' is opened: ');
});

test.each([
  ['a lost response', 'dropped'],
  ['a rate limit has passed', { status: 429, headers: { 'retry-after': '1' } }],
] as const)('opens one pull request after %s', async (_what, fault) => {
  await using scene = await Scene.open();
  await scene.change('Writers', 'By hand');
  let isFirst = true;
  scene.fake.fault = (request) => {
    const isOpening = /^POST .*(pulls|merge_requests)$/.test(request) && isFirst;
    isFirst &&= !isOpening;
    return isOpening ? fault : null;
  };
  expect((await scene.run()).code).toBe(0);
  expect(scene.fake.pulls.all).toHaveLength(1);
});

test('ignores and keeps the work tree and the index, and runs no hook', async () => {
  await using scene = await Scene.open();
  const { repository } = scene.work;
  const ran = join(scene.work.folder, 'ran');
  const names = ['pre-commit', 'pre-push', 'commit-msg', 'post-commit', 'reference-transaction', 'post-checkout'];
  for (const name of names) {
    hook(join(repository.directory, '.git'), name, `echo ${name} >> ${ran}`);
  }
  repository.write('manifests/saml.yaml', 'teams: { half: { written');
  repository.write('manifests/new.yaml', 'teams: {}\n');
  runGit(repository.directory, ['-c', 'core.hooksPath=/dev/null', 'add', 'manifests/new.yaml']);
  // A user's own push settings: neither tags nor a signature are pushed.
  runGit(repository.directory, ['-c', 'core.hooksPath=/dev/null', 'tag', '-a', '-m', 'mine', 'v1']);
  repository.git('config', 'push.followTags', 'true');
  repository.git('config', 'push.gpgSign', 'true');
  const state = () => [
    runGit(repository.directory, ['status', '--porcelain']),
    runGit(repository.directory, ['for-each-ref', 'refs/heads', 'refs/tags', 'refs/octavo']),
    readFileSync(join(repository.directory, '.git/index')).toString('hex'),
    readFileSync(join(repository.directory, 'manifests/saml.yaml'), 'utf8'),
  ];
  const before = state();
  await scene.change('Writers', 'By hand');
  expect(await scene.run()).toMatchObject({ code: 0 });
  expect(state()).toEqual(before);
  expect(existsSync(ran)).toBe(false);
  expect(scene.git('tag')).toBe('');
  expect(scene.git('diff', '--name-only', 'main', BRANCH)).toBe('manifests/saml.yaml');
});

test('starts again when the target branch moves during the run', async () => {
  await using scene = await Scene.open();
  await scene.change('Writers', 'By hand');
  await scene.run();
  await scene.change('Editors', 'Readers');
  // The merge happens between the push and the check of the pull request.
  const [pull] = scene.fake.pulls.open;
  hook(scene.bare, 'post-receive', `rm -f "$0"; git update-ref refs/heads/main refs/heads/${BRANCH}`);
  (pull as { state: string }).state = 'merged';
  const ended = await scene.run();
  expect(ended).toMatchObject({ code: 0, stderr: `No drift to write; deleted ${BRANCH}\n` });
  expect(scene.fake.pulls.open).toEqual([]);
});

test('includes deleted and moved resources, and leaves an empty plan on its branch', async () => {
  await using scene = await Scene.open();
  const { work } = scene;
  const site = (...keys: string[]) =>
    `spaces: { one: { title: One } }\nsites:\n  help:\n    title: Help\n    structure:\n${keys
      .map(
        (key) =>
          `      # ${key}\n      - { section: ${key}, title: The ${key}, spaces: [{ key: s, space: one, path: ${key} }] }\n`,
      )
      .join('')}`;
  work.repository.commit('A site', { 'manifests/site.yaml': site('a', 'b', 'c') });
  work.repository.git('push', '--quiet', 'origin', 'main');
  expect(await work.inside(['apply', 'manifests', '--yes', '--record'])).toMatchObject({ code: 0 });
  work.repository.write('manifests/site.yaml', site('c', 'a', 'b'));
  expect(await work.inside(['apply', 'manifests', '--yes'])).toMatchObject({ code: 0 });
  const all = (await work.call('GET', '/saml')).items as { id: string; entityID: string }[];
  await work.call('DELETE', `/saml/${all.find(({ entityID }) => entityID === 'Editors')?.id}`);
  work.repository.git('checkout', '--quiet', '--', '.');

  const ended = await scene.run();
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining(' is opened: 2 resources ') });
  expect(ended.stdout).toMatch(/^ {2}- saml\/editors {2}manifests\/saml.yaml:6 {2}gone$/m);
  expect(ended.stdout).toMatch(/^ {2}→ section\/help\/c {2}manifests\/site.yaml:\d+$/m);
  expect(scene.git('log', '-1', '--format=%b', BRANCH)).toMatch(/^- saml\/editors: gone\n- section\/help\/c: moved\n/);
  expect(scene.fake.pulls.open[0]?.body).toContain('**1 moved, 1 gone**');
  expect(runGit(scene.bare, ['show', `${BRANCH}:manifests/site.yaml`])).toBe(site('c', 'a', 'b'));
  work.repository.git('fetch', '--quiet', 'origin', BRANCH);
  work.repository.git('checkout', '--quiet', '--detach', 'FETCH_HEAD');
  const plan = await work.inside(['plan', 'manifests', '--base', 'applied', '--detailed-exitcode']);
  expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
});

test('does not treat unapplied commits as drift, and uses the recorded commit as base', async () => {
  await using scene = await Scene.open();
  scene.commit('main', 'manifests/saml.yaml', SAML.replace('entityID: Writers', 'entityID: Authors'));
  expect(await scene.run()).toMatchObject({ code: 0, stderr: 'No drift to write\n' });
});

test('writes to the targets of symbolic links, and keeps file modes', async () => {
  await using scene = await Scene.open();
  const { repository } = scene.work;
  repository.git('mv', 'manifests/saml.yaml', 'manifests/real.txt');
  repository.git('update-index', '--chmod=+x', 'manifests/real.txt');
  symlinkSync('real.txt', join(repository.directory, 'manifests/saml.yaml'));
  repository.git('add', 'manifests/saml.yaml');
  repository.git('commit', '--quiet', '-m', 'A link');
  repository.git('push', '--quiet', 'origin', 'main');
  await scene.change('Writers', 'By hand');
  expect(await scene.run()).toMatchObject({ code: 0 });
  expect(scene.git('diff', '--name-only', 'main', BRANCH)).toBe('manifests/real.txt');
  expect(scene.git('ls-tree', BRANCH, 'manifests/real.txt')).toMatch(/^100755 /);
});

test('changes nothing with --dry-run, and needs no forge', async () => {
  await using scene = await Scene.open();
  await scene.change('Writers', 'By hand');
  const args = ['import', '--drift', '--pull-request', '--out', 'manifests', '--dry-run'];
  expect(await scene.work.inside(args)).toEqual({
    code: 0,
    stdout: '  ~ saml/writers  manifests/saml.yaml:2\n      entityID  "Writers" → "By hand"\n',
    stderr: `"Drift: 1 resource of org_acme changed on the platform" would be a pull request from ${BRANCH} into main\n`,
  });
  expect(scene.tip()).toBeNull();
});

test.each([
  [{}, [], 3, /--pull-request requires a CI job/],
  [
    { GITHUB_ACTIONS: '1', GITHUB_API_URL: 'http://127.0.0.1:1', GITHUB_REPOSITORY: 'a/b' },
    [],
    3,
    /GITHUB_TOKEN is not set/,
  ],
  [null, ['--onto', 'nowhere'], 3, /the remote has no branch "nowhere"/],
  [null, ['--onto', '--all'], 1, /is not a valid branch, tag or commit name/],
  [null, ['--author', 'Nobody'], 3, /--author "Nobody" is not an author/],
] as const)('with environment %j and arguments %j exits with %d', async (env, args, code, message) => {
  await using scene = await Scene.open();
  const ended = await scene.work.inside(
    ['import', '--drift', '--pull-request', '--out', 'manifests', ...args],
    env ?? scene.env,
  );
  expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(message) });
});

test('reports a repository without a remote, and a folder outside of a repository', async () => {
  await using scene = await Scene.open();
  scene.work.repository.git('remote', 'remove', 'origin');
  expect(await scene.run()).toMatchObject({ code: 1, stderr: expect.stringContaining('has no remote') });
});

test('reports a refused push, and opens no pull request', async () => {
  await using scene = await Scene.open();
  await scene.change('Writers', 'By hand');
  hook(scene.bare, 'pre-receive', 'echo no pushes here >&2; exit 1');
  expect(await scene.run()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`cannot push ${BRANCH} to origin`),
  });
  expect(scene.fake.pulls.all).toEqual([]);
});

test('continues from the previous run in a shallow, detached clone of a CI job', async () => {
  await using scene = await Scene.open();
  for (const at of [1, 2, 3]) {
    scene.commit('main', 'README.md', `Read me, ${at}\n`);
  }
  let jobs = 0;
  const job = () => {
    jobs += 1;
    const checkout = join(scene.work.folder, `job-${jobs}`);
    runGit(scene.work.folder, ['clone', '--quiet', '--depth=1', `file://${scene.bare}`, checkout]);
    runGit(checkout, ['checkout', '--quiet', '--detach']);
    const args = ['import', '--drift', '--pull-request', '--out', join(checkout, 'manifests')];
    return scene.work.inside(args, scene.env);
  };
  await scene.change('Writers', 'By hand');
  expect((await job()).stderr).toMatch(/ is opened: 1 resource /);
  const first = scene.tip();
  scene.commit('main', 'README.md', 'Read me, once more\n');
  expect((await job()).stderr).toMatch(/ is unchanged: 1 resource /);
  expect(scene.tip()).toBe(first);
  await scene.change('Editors', 'Readers');
  expect((await job()).stderr).toMatch(/ is updated: 2 resources /);
  expect(scene.git('rev-list', '--count', `main..${BRANCH}`)).toBe('1');
  const [pull] = scene.fake.pulls.open;
  scene.fake.pulls.merge(pull as never, false);
  scene.commit('main', 'README.md', 'Read me, at last\n');
  expect((await job()).stderr).toMatch(/^No drift to write/);
  expect(scene.tip()).toBeNull();
});
