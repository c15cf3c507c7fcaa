/** The forges with their fakes, and sample comments. */
import type { Clock } from '../../src/core/clock.ts';
import type { PullRequest } from '../../src/forge/ci-job.ts';
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
    token: FakeForge.token,
    tokenVariable: 'GITHUB_TOKEN',
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
