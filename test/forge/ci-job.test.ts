/** Detection of forges and of CI jobs, with their pull requests. */
import { describe, expect, test } from 'vitest';
import { type Environment, findForge, findJob } from '../../src/forge/ci-job.ts';

const HEAD = 'a'.repeat(40);
const BASE = 'b'.repeat(40);
const MERGE = 'c'.repeat(40);
const EVENT = {
  pull_request: { number: 12, head: { sha: HEAD, repo: { full_name: 'bo/docs' } }, base: { sha: BASE } },
};

const jobOf = (env: Environment, event: unknown = EVENT) =>
  findJob(env, async (path) => {
    expect(path).toBe('/event.json');
    return typeof event === 'string' ? event : JSON.stringify(event);
  });

const GITHUB = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_API_URL: 'https://api.github.example',
  GITHUB_SERVER_URL: 'https://github.example',
  GITHUB_REPOSITORY: 'acme/docs',
  GITHUB_EVENT_PATH: '/event.json',
  GITHUB_RUN_ID: '16000000123',
  GITHUB_RUN_ATTEMPT: '2',
  GITHUB_STEP_SUMMARY: '/summary.md',
  GITHUB_TOKEN: 'ghs_1',
  GITHUB_SHA: MERGE,
};

const GITLAB = {
  CI: 'true',
  GITLAB_CI: 'true',
  CI_API_V4_URL: 'https://gitlab.example/sub/api/v4',
  CI_MERGE_REQUEST_SOURCE_PROJECT_URL: 'https://gitlab.example/sub/acme/docs',
  CI_PROJECT_ID: '5',
  CI_MERGE_REQUEST_IID: '12',
  CI_MERGE_REQUEST_DIFF_BASE_SHA: BASE,
  CI_COMMIT_SHA: HEAD,
  CI_PIPELINE_ID: '900',
  CI_JOB_ID: '901',
  CI_JOB_URL: 'https://gitlab.example/sub/acme/docs/-/jobs/901',
  CI_JOB_TOKEN: 'not-used',
  GITLAB_TOKEN: 'glpat-1',
};

describe('GitHub Actions', () => {
  test('returns the pull request of the event', async () => {
    expect(await jobOf(GITHUB)).toEqual({
      label: 'GitHub Actions',
      summaryFile: '/summary.md',
      proposal: { base: BASE },
      pull: {
        forge: 'github',
        apiUrl: 'https://api.github.example',
        repository: 'acme/docs',
        number: 12,
        head: HEAD,
        base: BASE,
        filesUrl: `https://github.example/acme/docs/blob/${HEAD}/`,
        run: [16_000_000_123, 2],
        runUrl: 'https://github.example/acme/docs/actions/runs/16000000123',
        token: 'ghs_1',
        tokenVariable: 'GITHUB_TOKEN',
      },
    });
  });

  test.each([
    ['a comment on a pull request', { issue: { number: 12, pull_request: { url: 'https://x.example' } } }, true],
    ['a comment on an issue', { issue: { number: 12 } }, false],
    ['a workflow of a pull request', { workflow_run: { event: 'pull_request' } }, true],
    ['a workflow of a push', { workflow_run: { event: 'push' } }, false],
  ])('detects whether the checkout is that of a pull request after %s', async (_, event, isProposal) => {
    const job = await jobOf({ ...GITHUB, GITHUB_SHA: MERGE }, event);
    expect(job).toMatchObject({ pull: null, proposal: isProposal ? { base: MERGE } : null });
  });

  test('returns no token without a variable, and prefers OCTAVO_FORGE_TOKEN', async () => {
    expect((await jobOf({ ...GITHUB, GITHUB_TOKEN: '' })).pull?.token).toBeNull();
    expect((await jobOf({ ...GITHUB, OCTAVO_FORGE_TOKEN: 'mine' })).pull?.token).toBe('mine');
  });

  test('ignores a link with unsafe characters', async () => {
    const { pull } = await jobOf({ ...GITHUB, GITHUB_RUN_ID: '1) @everyone [x](y' });
    expect(pull).toMatchObject({ runUrl: null, run: [0, 2] });
  });

  test.each([
    ['an event that is not JSON', GITHUB, '{'],
    ['a head that is not a commit', GITHUB, { pull_request: { ...EVENT.pull_request, head: { sha: 'main; rm' } } }],
    ['an invalid number', GITHUB, { pull_request: { ...EVENT.pull_request, number: '../1' } }],
    ['a repository that is a path', { ...GITHUB, GITHUB_REPOSITORY: 'acme/docs/../x' }, EVENT],
    ['no API', { ...GITHUB, GITHUB_API_URL: undefined }, EVENT],
    ['an API address with another scheme', { ...GITHUB, GITHUB_API_URL: 'file:///etc' }, EVENT],
  ])('refuses %s', async (_what, env, event) => {
    await expect(jobOf(env, event)).rejects.toMatchObject({ code: 'invalid-config' });
  });
});

describe('Gitea and Forgejo Actions', () => {
  test.each([
    [{ GITEA_ACTIONS: 'true' }],
    [{ FORGEJO_ACTIONS: 'true' }],
    [{ GITHUB_API_URL: 'https://git.example/api/v1' }],
  ])('are detected by %j', async (more) => {
    const { label, pull } = await jobOf({ ...GITHUB, GITHUB_API_URL: 'https://git.example/api/v1', ...more });
    expect(label).toBe('Gitea Actions');
    expect(pull).toMatchObject({ forge: 'gitea', apiUrl: 'https://git.example/api/v1', number: 12, token: 'ghs_1' });
  });
});

test('links the run of Gitea by its number in the repository', async () => {
  const env = { ...GITHUB, GITEA_ACTIONS: 'true', GITHUB_API_URL: 'https://git.example/sub/api/v1' };
  const server = { GITHUB_SERVER_URL: 'https://git.example/sub', GITHUB_RUN_NUMBER: '3' };
  const { pull } = await jobOf({ ...env, ...server });
  expect(pull).toMatchObject({
    apiUrl: 'https://git.example/sub/api/v1',
    run: [16_000_000_123, 2],
    runUrl: 'https://git.example/sub/acme/docs/actions/runs/3',
    filesUrl: `https://git.example/sub/acme/docs/src/commit/${HEAD}/`,
  });
});

describe('GitLab CI', () => {
  test('returns the merge request of the pipeline', async () => {
    expect(await jobOf(GITLAB)).toEqual({
      label: 'GitLab CI',
      summaryFile: null,
      proposal: { base: BASE },
      pull: {
        forge: 'gitlab',
        apiUrl: 'https://gitlab.example/sub/api/v4',
        repository: '5',
        number: 12,
        head: HEAD,
        base: BASE,
        filesUrl: `https://gitlab.example/sub/acme/docs/-/blob/${HEAD}/`,
        run: [900, 901],
        runUrl: 'https://gitlab.example/sub/acme/docs/-/jobs/901',
        token: 'glpat-1',
        tokenVariable: 'OCTAVO_FORGE_TOKEN',
      },
    });
  });

  test('returns the tip of the merge request for a merge pipeline, and the target project for a fork', async () => {
    const more = { CI_COMMIT_SHA: MERGE, CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: HEAD, CI_MERGE_REQUEST_PROJECT_ID: '3' };
    expect((await jobOf({ ...GITLAB, ...more })).pull).toMatchObject({ head: HEAD, repository: '3' });
  });

  test('uses the current target branch as base for a merged-result pipeline', async () => {
    const target = 'd'.repeat(40);
    expect((await jobOf({ ...GITLAB, CI_MERGE_REQUEST_TARGET_BRANCH_SHA: target })).pull?.base).toBe(target);
    expect((await jobOf({ ...GITLAB, CI_MERGE_REQUEST_TARGET_BRANCH_SHA: '' })).pull?.base).toBe(BASE);
  });

  test('returns no merge request for a branch, and ignores the job token', async () => {
    expect((await jobOf({ ...GITLAB, CI_MERGE_REQUEST_IID: undefined })).pull).toBeNull();
    expect((await jobOf({ ...GITLAB, GITLAB_TOKEN: undefined })).pull?.token).toBeNull();
  });
});

describe('the forge of a repository', () => {
  test.each([
    ['https://github.com/acme/docs.git', 'github'],
    ['git@github.com:acme/docs.git', 'github'],
    ['ssh://git@github.acme.example:2222/acme/docs.git', 'github'],
    ['https://oauth2:secret@gitlab.com/acme/docs.git', 'gitlab'],
    ['https://code.gitlab.example/acme/docs', 'gitlab'],
    ['https://gitea.example/acme/docs.git', 'gitea'],
    ['git@codeberg.org:acme/docs.git', 'gitea'],
    ['https://my-forgejo.example/acme/docs', 'gitea'],
    ['git@bitbucket.org:acme/docs.git', 'bitbucket'],
    ['https://git.example/acme/github', null],
    ['https://notgithub.example/acme/docs', null],
    ['/srv/github.com/docs.git', null],
    ['', null],
    [null, null],
  ] as const)('of a clone from %j is %s', (origin, forge) => {
    expect(findForge(origin, () => false)).toBe(forge);
  });

  test.each([
    ['.github', 'github'],
    ['.gitlab-ci.yml', 'gitlab'],
    ['.gitea', 'gitea'],
    ['.forgejo', 'gitea'],
    ['bitbucket-pipelines.yml', 'bitbucket'],
  ] as const)('is found by the file %s before the remote', (sign, forge) => {
    expect(findForge('https://github.com/acme/docs.git', (path) => path === sign)).toBe(forge);
  });
});
