import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { commandLinesIn, faultOf } from '../docs/command-lines.ts';
import { jobAt } from '../forge/samples.ts';
import { runGit } from '../git/repository.ts';
import { type CiMachine, filled, makeMachine, runGitLabJob, runSteps, type Step } from '../support/ci-steps.ts';
import { FakeForge, FakeGiteaPull, FakeGitHubPull, FakeGitLabPull } from '../support/fake-forge.ts';
import { TOKEN } from '../support/octavo-process.ts';
import { spawnSync } from '../support/programs.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';
import { ROOT } from './pruned.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const TEAMS = 'teams:\n  writers: { title: Writers }\n  editors: { title: Editors }\n';

interface Workflow {
  readonly env: Readonly<Record<string, string>>;
  readonly defaults: { readonly run: { readonly shell: string } };
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

interface GitLabJob {
  readonly before_script: readonly string[];
  readonly script: readonly string[];
  readonly after_script: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

const workflow = parseYaml(read('examples/pull-request/github.yaml')) as Workflow;
const action = parseYaml(read('action.yml')) as {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};

/** A repository with `main`, which has been applied, and a branch that renames a team and removes another. */
async function openPull(
  change = TEAMS.replace(/ {2}editors.*\n/, '').replace('title: Writers', 'title: Docs writers'),
) {
  const work = await openWorkspace();
  work.repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true');
  const base = work.repository.commit('Two teams', { 'teams.yaml': TEAMS });
  await work.inside(['apply', '--yes', '--record']);
  work.repository.git('checkout', '--quiet', '-b', 'change');
  const head = work.repository.commit('A change', { 'teams.yaml': change });
  work.repository.git('checkout', '--quiet', 'main');
  return { work, base, head };
}

type Pull = Awaited<ReturnType<typeof openPull>>;

function gitHubMachine(fake: FakeForge, { work, base, head }: Pull, forge = 'github'): CiMachine {
  const folder = join(work.folder, 'machine');
  const machine = makeMachine(folder, {
    ...jobAt(fake, forge, { base, head, event: join(work.folder, 'event.json'), run: 77 }),
    CI: 'true',
    ORIGIN: work.repository.directory,
    GITHUB_SHA: head,
    GITHUB_TOKEN: '',
  });
  return {
    ...machine,
    expressions: {
      'vars.OCTAVO_BASE_URL': work.emulator.url,
      'vars.OCTAVO_ORGANIZATION': work.emulator.organization,
      'secrets.OCTAVO_READ_TOKEN': TOKEN,
      'secrets.OCTAVO_TOKEN': TOKEN,
      'github.token': FakeForge.token,
      'github.event.pull_request.head.sha': head,
      'github.event.pull_request.base.sha': base,
      'github.event.pull_request.number': '12',
      'github.run_id': '77',
      'github.run_attempt': '1',
      'runner.temp': join(folder, 'temp'),
    },
  };
}

/** A job of an example, with the variables of its workflow. */
function runJob(name: string, machine: CiMachine, from: Workflow = workflow) {
  const { OCTAVO_SOURCE = '', OCTAVO_COMMIT = '' } = machine.env;
  const env = { ...machine.env, ...filled(from.env, machine.expressions), OCTAVO_SOURCE, OCTAVO_COMMIT };
  const withEnv = { ...machine, env };
  return runSteps(from.jobs[name]?.steps ?? [], withEnv, from.defaults.run.shell);
}

const artifactOf = (machine: CiMachine) => readFileSync(join(machine.folder, 'temp/octavo-plan.md'), 'utf8');
const summaryOf = (machine: CiMachine) => readFileSync(join(machine.folder, 'summary.md'), 'utf8');

function expectPlan(text: string | undefined): void {
  expect(text).toMatch(/^! .*\(team\/writers\)$/m);
  expect(text).toMatch(/^- .*Writers$/m);
  expect(text).toMatch(/^\+ .*Docs writers$/m);
  expect(text).toMatch(/^- Editors \(team\/editors\)$/m);
}

describe('examples/pull-request/github.yaml', () => {
  test('a pull request gets its plan as a comment, a status and an artifact', async () => {
    await using fake = await new FakeGitHubPull().listen();
    const pull = await openPull();
    await using _work = pull.work;
    const machine = gitHubMachine(fake, pull);
    const plan = await runJob('plan', machine);
    expect(plan).toMatchObject({ code: 0 });
    expect(fake.comments).toHaveLength(1);
    expectPlan(fake.comments[0]?.body);
    expectPlan(artifactOf(machine));
    expect(fake.statuses).toEqual([expect.objectContaining({ sha: pull.head, state: 'success' })]);
    const upload = plan.used.find(({ uses }) => uses.startsWith('actions/upload-artifact@'));
    expect(upload?.with.path).toBe(join(machine.folder, 'temp/octavo-plan.md'));
    expect(readFileSync(join(machine.folder, 'npm.log'), 'utf8')).toBe(
      'npm ci --omit=dev --ignore-scripts --no-audit --no-fund\n',
    );
    expect(plan.stdout + plan.stderr).not.toContain(FakeForge.token);
  });

  test('manifests with problems fail their jobs, with annotations and a comment', async () => {
    await using fake = await new FakeGitHubPull().listen();
    const pull = await openPull('teams: { writers: { titel: Writers } }\n');
    await using _work = pull.work;
    const machine = gitHubMachine(fake, pull);
    const plan = await runJob('plan', machine);
    expect(plan.code).toBe(3);
    expect(fake.comments[0]?.body).toContain('teams.yaml:1:21');
    const validate = await runJob('validate', { ...machine, checkout: join(machine.folder, 'again') });
    expect(validate).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('::error file=teams.yaml,line=1,col=21'),
    });
  });

  test('a fork gets the same plan from the snapshot in the job summary, without a token', async () => {
    await using fake = await new FakeGitHubPull().listen();
    fake.may.comment = false;
    fake.may.status = false;
    const pull = await openPull();
    await using work = pull.work;
    const machine = gitHubMachine(fake, pull);
    expect(await runJob('snapshot', { ...machine, checkout: machine.folder })).toMatchObject({ code: 0 });
    const before = work.emulator.requests.total;
    // Variables and secrets are not available to a fork.
    const { 'secrets.OCTAVO_READ_TOKEN': _read, 'secrets.OCTAVO_TOKEN': _token, ...rest } = machine.expressions;
    const expressions = { ...rest, 'vars.OCTAVO_BASE_URL': '', 'vars.OCTAVO_ORGANIZATION': '' };
    expect(await runJob('plan-of-a-fork', { ...machine, expressions })).toMatchObject({ code: 0 });
    expect(fake.comments).toEqual([]);
    expectPlan(summaryOf(machine));
    expectPlan(artifactOf(machine));
    expect(work.emulator.requests.total).toBe(before);
  });

  test('applies a merged commit with the last applied commit as base', async () => {
    await using fake = await new FakeGitHubPull().listen();
    const pull = await openPull();
    await using work = pull.work;
    const machine = gitHubMachine(fake, pull);
    expect(await runJob('apply', machine)).toMatchObject({ code: 0 });
    expect(work.teams()).toEqual(['Docs writers']);
    expect(work.repository.git('rev-parse', 'refs/octavo/org_acme/applied^')).toBe(pull.head);
  });
});

test('examples/pull-request/gitea.yaml: a pull request gets its plan as a comment', async () => {
  await using fake = await new FakeGiteaPull().listen();
  fake.self = -2;
  const pull = await openPull();
  await using _work = pull.work;
  const machine = gitHubMachine(fake, pull, 'gitea');
  const example = parseYaml(read('examples/pull-request/gitea.yaml')) as Workflow;
  expect(await runJob('plan', machine, example)).toMatchObject({ code: 0 });
  expect(fake.comments).toHaveLength(1);
  expectPlan(fake.comments[0]?.body);
});

test('examples/pull-request/bitbucket.yaml: a pull request gets its plan in the output of its job', async () => {
  const pull = await openPull();
  await using work = pull.work;
  const { pipelines } = parseYaml(read('examples/pull-request/bitbucket.yaml')) as {
    pipelines: { 'pull-requests': { '**': readonly { step: { script: readonly string[] } }[] } };
  };
  const machine = makeMachine(join(work.folder, 'machine'), {
    ...work.env,
    ORIGIN: work.repository.directory,
    BITBUCKET_BUILD_NUMBER: '1',
    BITBUCKET_PR_ID: '12',
    BITBUCKET_REPO_FULL_NAME: 'acme/docs',
    BITBUCKET_COMMIT: pull.head,
    BITBUCKET_PR_DESTINATION_BRANCH: 'main',
  });
  const full = { ...machine, expressions: {} };
  await runSteps([{ uses: 'actions/checkout@v4', with: { ref: pull.head } }], full);
  runGit(machine.checkout, ['fetch', '--quiet', '--unshallow', 'origin', pull.head]);
  const { OCTAVO_SOURCE, OCTAVO_COMMIT } = machine.env;
  // As a reader of the example sets them.
  const script = (pipelines['pull-requests']['**'][0]?.step.script ?? []).map((line) =>
    line
      .replace(/(?<=^export OCTAVO_SOURCE=).*$/m, `"${OCTAVO_SOURCE}"`)
      .replace(/(?<=^export OCTAVO_COMMIT=).*$/m, `"${OCTAVO_COMMIT}"`),
  );
  const ended = await runGitLabJob({ before_script: [], script, after_script: [] }, full);
  expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Octavo does not comment on Bitbucket') });
  expect(ended.stdout).toMatch(/"Writers" → "Docs writers"/);
  expect(ended.stdout).toMatch(/^ {2}- team\/editors/m);
});

describe('action.yml', () => {
  const runAction = (machine: CiMachine, inputs: Readonly<Record<string, string>>) => {
    const names = Object.keys(action.inputs);
    expect(Object.keys(inputs).filter((name) => !names.includes(name))).toEqual([]);
    const given = names.map((name) => [`inputs.${name}`, inputs[name] ?? action.inputs[name]?.default ?? ''] as const);
    const expressions = { ...machine.expressions, ...filled(Object.fromEntries(given), machine.expressions) };
    const env = { ...machine.env, GITHUB_ACTION_PATH: ROOT };
    return runSteps(action.runs.steps, { ...machine, env, expressions });
  };
  const platform = ({ emulator }: Workspace) => ({
    'base-url': emulator.url,
    organization: emulator.organization,
    token: TOKEN,
  });

  test.each([
    ['the whole history', { 'fetch-depth': '0' }],
    ['a checkout without its history', {}],
  ])('a pull request gets its plan: %s', async (_what, depth) => {
    await using fake = await new FakeGitHubPull().listen();
    const pull = await openPull();
    await using work = pull.work;
    const machine = gitHubMachine(fake, pull);
    await runSteps([{ uses: 'actions/checkout@v4', with: depth }], machine);
    const ended = await runAction(machine, { ...platform(work), artifact: 'plan-of-one' });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.used[1]?.with.name).toBe('plan-of-one');
    expectPlan(fake.comments[0]?.body);
    expectPlan(artifactOf(machine));
    expect(ended.used.map(({ uses }) => uses)).toEqual([
      expect.stringMatching(/^actions\/setup-node@[0-9a-f]{40}$/),
      expect.stringMatching(/^actions\/upload-artifact@[0-9a-f]{40}$/),
    ]);
    expect(ended.used[1]?.with.path).toBe(join(machine.folder, 'temp/octavo-plan.md'));
    expect(ended.stdout + ended.stderr).not.toContain(FakeForge.token);
  });

  test('treats inputs as values, never as script', async () => {
    await using fake = await new FakeGitHubPull().listen();
    const pull = await openPull();
    await using work = pull.work;
    const machine = gitHubMachine(fake, pull);
    await runSteps([{ uses: 'actions/checkout@v4', with: { 'fetch-depth': '0' } }], machine);
    const evil = '$(touch evil); `touch evil`; " ; touch evil #';
    const ended = await runAction(machine, { ...platform(work), directory: evil });
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('is not a directory') });
    expect(existsSync(join(machine.checkout, 'evil'))).toBe(false);
  });
});

describe('GitLab', () => {
  /** A pipeline as GitLab makes it of a template: inputs are inserted into the text before it is parsed as YAML. */
  const template = (): GitLabJob => {
    const [header = '', body = ''] = read('templates/gitlab/octavo-plan.yml').split('\n---\n');
    const { spec } = parseYaml(header) as { spec: { inputs: Record<string, { default: string }> } };
    const text = body.replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_all, name: string) =>
      String(spec.inputs[name]?.default),
    );
    return (parseYaml(text) as Record<'octavo-plan', GitLabJob>)['octavo-plan'];
  };
  const example = (): GitLabJob => {
    const file = parseYaml(read('examples/pull-request/gitlab.yaml')) as {
      readonly default: Pick<GitLabJob, 'before_script'>;
      readonly plan: GitLabJob;
    };
    return { ...file.default, ...file.plan };
  };

  test.each([
    ['templates/gitlab/octavo-plan.yml', template],
    ['examples/pull-request/gitlab.yaml', example],
  ])('%s: a merge request gets its plan as a note and an artifact', async (_path, job) => {
    await using fake = await new FakeGitLabPull().listen();
    const pull = await openPull();
    await using work = pull.work;
    const { before_script, script, after_script, variables } = job();
    const project: Record<string, string> = { ...work.env, OCTAVO_READ_TOKEN: TOKEN, OCTAVO_TOKEN: '' };
    const filledIn = (text: unknown) =>
      String(text).replaceAll(/\$(\w+)/g, (_all, name: string) => project[name] ?? '');
    // The installed version is set by the machine, like a reader would.
    const others = Object.entries(variables).filter(([name]) => !/^OCTAVO_(?:SOURCE|COMMIT)$/.test(name));
    const own = Object.fromEntries(others.map(([name, value]) => [name, filledIn(value)]));
    const machine = makeMachine(join(work.folder, 'machine'), {
      ...project,
      ...own,
      ORIGIN: work.repository.directory,
      ...jobAt(fake, 'gitlab', { ...pull, event: '' }),
    });
    const full = { ...machine, expressions: {} };
    await runSteps([{ uses: 'actions/checkout@v4', with: { 'fetch-depth': '0', ref: pull.head } }], full);
    // A fixed path on this machine would be shared by all tests.
    const local = (lines: readonly string[]) =>
      lines.map((line) => line.replaceAll('/tmp/', `${machine.folder}/temp/`));
    const ended = await runGitLabJob({ before_script, script: local(script), after_script: local(after_script) }, full);
    expect(ended).toMatchObject({ code: 0 });
    expect(fake.comments).toHaveLength(1);
    expectPlan(fake.comments[0]?.body);
    expect(fake.comments[0]?.body).toContain(`commit ${pull.head.slice(0, 7)} over ${pull.base.slice(0, 7)}`);
    expectPlan(readFileSync(join(machine.checkout, 'octavo-plan.md'), 'utf8'));
  });
});

describe('the scheduled drift job', () => {
  async function openDrift() {
    const work = await openWorkspace();
    const base = work.repository.commit('Okta', { 'saml.yaml': 'saml:\n  okta: { label: Okta, entityID: one }\n' });
    await work.inside(['apply', '--yes', '--record']);
    const [okta] = (await work.call('GET', '/saml')).items as { id: string }[];
    await work.call('PATCH', `/saml/${okta?.id}`, { entityID: 'by-hand' });
    return { work, base, head: base };
  }

  test.each(['github', 'gitea'] as const)(
    'of examples/pull-request/%s-drift.yaml opens a pull request for drift',
    async (forge) => {
      const drift = await openDrift();
      await using work = drift.work;
      const { directory } = work.repository;
      await using fake = await (forge === 'github'
        ? new FakeGitHubPull(directory)
        : new FakeGiteaPull(directory)
      ).listen();
      const machine = gitHubMachine(fake, drift, forge);
      const expressions = { ...machine.expressions, 'secrets.DRIFT_TOKEN': FakeForge.token };
      const file = parseYaml(read(`examples/pull-request/${forge}-drift.yaml`)) as Workflow;
      const ended = await runJob('drift', { ...machine, expressions }, file);
      expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining(' is opened: 1 resource ') });
      expect(fake.pulls.open).toMatchObject([{ from: 'octavo/drift/org_acme', into: 'main' }]);
      expect(runGit(directory, ['show', 'octavo/drift/org_acme:saml.yaml'])).toContain('entityID: by-hand');
    },
  );

  test('of examples/pull-request/gitlab.yaml opens a merge request for drift', async () => {
    const drift = await openDrift();
    await using work = drift.work;
    await using fake = await new FakeGitLabPull(work.repository.directory).listen();
    const file = parseYaml(read('examples/pull-request/gitlab.yaml')) as {
      readonly default: { readonly before_script: readonly string[] };
      readonly drift: { readonly script: readonly string[] };
    };
    const machine = makeMachine(join(work.folder, 'machine'), {
      ORIGIN: work.repository.directory,
      ...jobAt(fake, 'gitlab'),
      OCTAVO_TOKEN: TOKEN,
      OCTAVO_BASE_URL: work.emulator.url,
      OCTAVO_ORGANIZATION: work.emulator.organization,
    });
    const full = { ...machine, expressions: {} };
    await runSteps([{ uses: 'actions/checkout@v4', with: { 'fetch-depth': '0', ref: drift.base } }], full);
    // The only line that needs a GitLab machine.
    expect(file.drift.script).toContain('git remote set-url origin "$CI_PROJECT_URL.git"');
    const script = file.drift.script.filter((line) => !line.startsWith('git remote set-url'));
    const ended = await runGitLabJob({ before_script: file.default.before_script, script, after_script: [] }, full);
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining(' is opened: 1 resource ') });
    expect(fake.pulls.open).toMatchObject([{ from: 'octavo/drift/org_acme', into: 'main' }]);
    expect(ended.stdout + ended.stderr).not.toContain(FakeForge.token);
    // Git gets the token from its variable, and it is not written anywhere.
    const asked = spawnSync('git', ['credential', 'fill'], {
      cwd: machine.checkout,
      env: machine.env,
      input: 'protocol=https\nhost=gitlab.invalid\n\n',
      encoding: 'utf8',
    });
    expect(asked.stdout).toContain(`username=oauth2\npassword=${FakeForge.token}\n`);
    expect(readFileSync(join(machine.checkout, '.git/config'), 'utf8')).not.toContain(FakeForge.token);
  });
});

test.each(['gitlab.yaml', 'github.yaml', 'github-drift.yaml', 'gitea.yaml', 'gitea-drift.yaml', 'bitbucket.yaml'])(
  'examples/pull-request/%s puts no token into a URL, which git would store',
  (path) => {
    expect(read(`examples/pull-request/${path}`)).not.toMatch(/:\/\/[^\s/"]*@/);
  },
);

test('refuses to run a commit other than the pinned one', async () => {
  await using fake = await new FakeGitHubPull().listen();
  const pull = await openPull();
  await using _ = pull.work;
  const machine = gitHubMachine(fake, pull);
  mkdirSync(machine.checkout);
  const steps = (workflow.jobs.validate?.steps ?? []).filter(({ uses }) => uses === undefined);
  const end = (commit: string) =>
    runSteps(steps, { ...machine, env: { ...machine.env, OCTAVO_COMMIT: commit } }, workflow.defaults.run.shell);
  const right = machine.env.OCTAVO_COMMIT ?? '';
  for (const commit of ['main', '', '0'.repeat(40), right.slice(0, 12)]) {
    const ended = await end(commit);
    expect([commit, ended.code]).not.toEqual([commit, 0]);
    expect(readFileSync(join(machine.folder, 'npm.log'), 'utf8')).toBe('');
    expect(readFileSync(join(machine.folder, 'path'), 'utf8')).toBe('');
  }
  await end(right);
  expect(readFileSync(join(machine.folder, 'path'), 'utf8')).toMatch(/^\/.*\/bin\n$/);
});

test.each(['github', 'gitlab', 'gitea', 'bitbucket'])(
  'examples/pull-request/%s.yaml runs only existing commands',
  (forge) => {
    const text = read(`examples/pull-request/${forge}.yaml`);
    expect(parseAllDocuments(text).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    const scripts: string[] = [];
    JSON.stringify(parseYaml(text), (key, value) => {
      if ((key === 'run' || key === 'script' || key === 'before_script') && value !== undefined) {
        scripts.push([value].flat().join('\n'));
      }
      return value;
    });
    const lines = scripts.flatMap((script) => commandLinesIn(script.replaceAll(/"\$\([^)]*\)"/g, 'COMMIT')));
    expect(lines.filter((line) => faultOf(line) !== null)).toEqual([]);
    for (const start of ['validate .', 'plan . --comment', 'apply . --record --yes']) {
      expect(lines).toContainEqual(expect.stringMatching(`^${start}`));
    }
  },
);
