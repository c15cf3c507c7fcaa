import { z } from 'zod';
import { ConfigError, messageOf } from '../core/errors.ts';
import {
  type Environment,
  gitlabToken,
  isGiteaJob,
  isSet,
  isWorkflowJob,
  link,
  NUMBER,
  REPOSITORY,
  tokenOf,
  URL_TEXT,
  variable,
  workflowRun,
  workflowToken,
} from './ci-variables.ts';

export type ForgeName = 'github' | 'gitlab' | 'gitea' | 'bitbucket';

/** Number of a run; later runs have greater numbers. Parts are compared in order. */
export type RunNumber = readonly [run: number, attempt: number];

/** The pull request that a CI job runs for. */
export interface PullRequest {
  readonly forge: ForgeName;
  /** Without a slash at its end. */
  readonly apiUrl: string;
  /** `owner/name`; at GitLab the project's number. */
  readonly repository: string;
  readonly number: number;
  /** The commit that the pull request proposes. */
  readonly head: string;
  /** Commit that it is based on, or its target branch; null if the forge does not report it. */
  readonly base: string | null;
  readonly run: RunNumber;
  /** Page of the job; null if unknown. */
  readonly runUrl: string | null;
  readonly token: string | null;
  /** Variable that should contain the token. */
  readonly tokenVariable: string;
}

/** CI job of a command, from the environment. */
export interface CiJob {
  /** `GitHub Actions`; null outside of a CI job. */
  readonly label: string | null;
  /** Pull request of the job; null if the job runs for something else, such as a push. */
  readonly pull: PullRequest | null;
  /**
   * Set if the checkout may contain the changes of a pull request. This includes jobs that a comment on a pull request
   * or a workflow of one triggered. `base` is the trusted commit or branch; null if the forge does not report it.
   */
  readonly proposal: { readonly base: string | null } | null;
  /** File whose Markdown the forge shows with the job; null if there is none. */
  readonly summaryFile: string | null;
}

const COMMIT = z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/);
const BRANCH = /^[\w][\w./-]*$/;

const EVENT = z.object({
  pull_request: z
    .object({ number: NUMBER, head: z.object({ sha: COMMIT }), base: z.object({ sha: COMMIT }) })
    .optional(),
  issue: z.object({ pull_request: z.object({}).optional() }).optional(),
  workflow_run: z.object({ event: z.string() }).optional(),
});

/**
 * Detects the CI job from the variables of GitHub Actions, Gitea and Forgejo Actions, GitLab CI and Bitbucket Pipelines.
 * `OCTAVO_FORGE_TOKEN` takes precedence over the token variables of the forges.
 *
 * @param readFile reads the event that a workflow runs for
 * @throws ConfigError if the variables of a forge contradict each other
 */
export async function findJob(env: Environment, readFile: (path: string) => Promise<string>): Promise<CiJob> {
  if (isSet(env.GITLAB_CI)) {
    return jobOf('GitLab CI', gitlabPull(env));
  }
  if (isWorkflowJob(env)) {
    return workflowJob(env, readFile);
  }
  if (isSet(env.BITBUCKET_BUILD_NUMBER)) {
    return jobOf('Bitbucket Pipelines', bitbucketPull(env));
  }
  return jobOf(null, null);
}

function jobOf(label: string | null, pull: PullRequest | null, summaryFile: string | null = null): CiJob {
  return { label, pull, proposal: pull === null ? null : { base: pull.base }, summaryFile };
}

async function workflowJob(env: Environment, readFile: (path: string) => Promise<string>): Promise<CiJob> {
  const isGitea = isGiteaJob(env);
  const label = isGitea ? 'Gitea Actions' : 'GitHub Actions';
  const summaryFile = isSet(env.GITHUB_STEP_SUMMARY) ? env.GITHUB_STEP_SUMMARY : null;
  const event = await readEvent(label, env.GITHUB_EVENT_PATH ?? '', readFile);
  if (event.pull_request === undefined) {
    // Jobs that a comment or a finished workflow triggers run on the default branch, but usually check out the pull
    // request.
    const isOfPull =
      event.issue?.pull_request !== undefined || (event.workflow_run?.event.startsWith('pull_request') ?? false);
    const base = COMMIT.safeParse(env.GITHUB_SHA).data ?? null;
    return { ...jobOf(label, null, summaryFile), proposal: isOfPull ? { base } : null };
  }
  const { number, head, base } = event.pull_request;
  const repository = variable(label, env, 'GITHUB_REPOSITORY', REPOSITORY);
  const pull: PullRequest = {
    forge: isGitea ? 'gitea' : 'github',
    apiUrl: variable(label, env, 'GITHUB_API_URL', URL_TEXT),
    repository,
    number,
    head: head.sha,
    base: base.sha,
    run: [Number(env.GITHUB_RUN_ID) || 0, Number(env.GITHUB_RUN_ATTEMPT) || 0],
    runUrl: workflowRun(env, repository),
    ...workflowToken(env),
  };
  return jobOf(label, pull, summaryFile);
}

async function readEvent(label: string, path: string, readFile: (path: string) => Promise<string>) {
  try {
    return EVENT.parse(JSON.parse(await readFile(path)));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error).replaceAll('\n', ' ') : messageOf(error);
    throw new ConfigError(`cannot read the event of ${label} (GITHUB_EVENT_PATH): ${why}`, { cause: error });
  }
}

function gitlabPull(env: Environment): PullRequest | null {
  if (!isSet(env.CI_MERGE_REQUEST_IID)) {
    return null;
  }
  const label = 'GitLab CI';
  // In a merged-results pipeline, CI_COMMIT_SHA is the merge; this variable is the tip of the merge request.
  const head = isSet(env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA) ? 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA' : 'CI_COMMIT_SHA';
  // A merged-results pipeline runs on the current target branch and reports its commit.
  const base = isSet(env.CI_MERGE_REQUEST_TARGET_BRANCH_SHA)
    ? 'CI_MERGE_REQUEST_TARGET_BRANCH_SHA'
    : 'CI_MERGE_REQUEST_DIFF_BASE_SHA';
  return {
    forge: 'gitlab',
    apiUrl: variable(label, env, 'CI_API_V4_URL', URL_TEXT),
    // A pipeline of a fork runs in the fork's project.
    repository: String(
      variable(
        label,
        env,
        isSet(env.CI_MERGE_REQUEST_PROJECT_ID) ? 'CI_MERGE_REQUEST_PROJECT_ID' : 'CI_PROJECT_ID',
        NUMBER,
      ),
    ),
    number: variable(label, env, 'CI_MERGE_REQUEST_IID', NUMBER),
    head: variable(label, env, head, COMMIT),
    base: isSet(env[base]) ? variable(label, env, base, COMMIT) : null,
    run: [Number(env.CI_PIPELINE_ID) || 0, Number(env.CI_JOB_ID) || 0],
    runUrl: link(env.CI_JOB_URL),
    // A GitLab job token cannot write comments.
    ...gitlabToken(env),
  };
}

function bitbucketPull(env: Environment): PullRequest | null {
  if (!isSet(env.BITBUCKET_PR_ID)) {
    return null;
  }
  const label = 'Bitbucket Pipelines';
  const branch = env.BITBUCKET_PR_DESTINATION_BRANCH ?? '';
  return {
    forge: 'bitbucket',
    apiUrl: 'https://api.bitbucket.org/2.0',
    repository: variable(label, env, 'BITBUCKET_REPO_FULL_NAME', REPOSITORY),
    number: variable(label, env, 'BITBUCKET_PR_ID', NUMBER),
    head: variable(label, env, 'BITBUCKET_COMMIT', COMMIT),
    base: BRANCH.test(branch) ? `origin/${branch}` : null,
    run: [Number(env.BITBUCKET_BUILD_NUMBER) || 0, 0],
    runUrl: null,
    ...tokenOf(env, [], 'OCTAVO_FORGE_TOKEN'),
  };
}
