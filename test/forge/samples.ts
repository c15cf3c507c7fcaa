/** The forges with their fakes, and the CI jobs and pull requests that they have. */
import { writeFileSync } from 'node:fs';
import type { Clock } from '../../src/core/clock.ts';
import type { ForgeName, PullRequest } from '../../src/forge/ci-job.ts';
import { ensureHook, type HookSettings } from '../../src/forge/open-forge.ts';
import { FakeForge, FakeGiteaPull, FakeGitHubPull, FakeGitLabPull } from '../support/fake-forge.ts';

export const HEAD = 'a'.repeat(40);

/** The forges, each with its fake. */
export const FORGES = [
  { name: 'github', open: () => new FakeGitHubPull().listen(), repository: 'acme/docs' },
  { name: 'gitlab', open: () => new FakeGitLabPull().listen(), repository: '5' },
  { name: 'gitea', open: () => new FakeGiteaPull().listen(), repository: 'acme/docs' },
] as const;

/** The pull request that a fake has. */
export function pullAt(fake: Pick<FakeForge, 'apiUrl'>, forge: PullRequest['forge'], repository: string): PullRequest {
  return {
    forge,
    apiUrl: fake.apiUrl,
    repository,
    number: 12,
    head: HEAD,
    base: null,
    run: [1, 1],
    runUrl: 'https://forge.example/run/1',
    filesUrl: null,
    token: FakeForge.token,
    tokenVariable: 'GITHUB_TOKEN',
  };
}

/** Pull request 12 as a CI job sees it. */
export interface JobPull {
  readonly base: string;
  readonly head: string;
  /** File for the event of a workflow. */
  readonly event: string;
  readonly run?: number;
}

/** Variables of a CI job at a forge, which runs for a pull request or none. */
export function jobAt(fake: Pick<FakeForge, 'apiUrl' | 'url'>, forge: string, pull?: JobPull): Record<string, string> {
  const { base = '', head = '', event = '', run = 1 } = pull ?? {};
  if (forge === 'gitlab') {
    const project = {
      GITLAB_CI: 'true',
      CI_API_V4_URL: fake.apiUrl,
      CI_PROJECT_ID: '5',
      GITLAB_TOKEN: FakeForge.token,
    };
    const request = { CI_MERGE_REQUEST_IID: '12', CI_MERGE_REQUEST_DIFF_BASE_SHA: base, CI_COMMIT_SHA: head };
    return pull === undefined ? project : { ...project, ...request, CI_PIPELINE_ID: String(run), CI_JOB_ID: '1' };
  }
  if (pull !== undefined) {
    writeFileSync(event, JSON.stringify({ pull_request: { number: 12, head: { sha: head }, base: { sha: base } } }));
  }
  return {
    ...(forge === 'gitea' ? { GITEA_ACTIONS: 'true' } : {}),
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: fake.apiUrl,
    GITHUB_SERVER_URL: fake.url,
    GITHUB_REPOSITORY: 'acme/docs',
    GITHUB_TOKEN: FakeForge.token,
    ...(pull === undefined ? {} : { GITHUB_EVENT_PATH: event, GITHUB_RUN_ID: String(run), GITHUB_RUN_ATTEMPT: '1' }),
  };
}

/** A clock that does not wait, and records the durations. */
export function createInstantClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    waits,
    now: () => 0,
    monotonic: () => 0,
    sleep: async (milliseconds) => {
      waits.push(milliseconds);
    },
  };
}

/** Creates or updates the webhook of a repository. */
export function ensureHookAt(apiUrl: string, forge: ForgeName, over: Partial<HookSettings> = {}) {
  const access = { forge, apiUrl, repository: 'acme/docs', token: FakeForge.token };
  const hook = {
    url: 'https://octavo.acme.example/hooks/org_1',
    secret: 'webhook-secret-never-to-be-seen',
    hasComments: false,
  };
  const { signal } = new AbortController();
  return ensureHook({ ...access, ...hook, ...over }, { clock: createInstantClock(), signal, userAgent: 'octavo/0' });
}
