/** Detects the forge of a repository, and the CI job that a command runs in: its repository and its pull request. */
import { z } from 'zod';
import { ConfigError, messageOf } from '../core/errors.ts';
import { withoutTrailingSlashes } from '../core/url.ts';

/** Environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type ForgeName = 'github' | 'gitlab' | 'gitea' | 'bitbucket';

/** Number of a run; later runs have greater numbers. Parts are compared in order. */
export type RunNumber = readonly [run: number, attempt: number];

/** The repository that a CI job runs in, at its forge. */
export interface ForgeRepository {
  readonly forge: Exclude<ForgeName, 'bitbucket'>;
  /** Without a slash at its end. */
  readonly apiUrl: string;
  /** `owner/name`; at GitLab the project's number. */
  readonly repository: string;
  /** Page of the job; null if unknown. */
  readonly runUrl: string | null;
  readonly token: string | null;
  /** Variable that should contain the token. */
  readonly tokenVariable: string;
}

/** The pull request that a CI job runs for. */
export interface PullRequest extends Omit<ForgeRepository, 'forge'> {
  readonly forge: ForgeName;
  readonly number: number;
  /** The commit that the pull request proposes. */
  readonly head: string;
  /** Commit that it is based on, or its target branch; null if the forge does not report it. */
  readonly base: string | null;
  /** Address of the files of `head` at the forge, with a slash at its end; null if unknown. */
  readonly filesUrl: string | null;
  readonly run: RunNumber;
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

/** Files and directories that only one forge reads. */
const SIGNS: readonly (readonly [path: string, forge: ForgeName])[] = [
  ['.gitlab-ci.yml', 'gitlab'],
  ['.gitea', 'gitea'],
  ['.forgejo', 'gitea'],
  ['bitbucket-pipelines.yml', 'bitbucket'],
  ['.github', 'github'],
];

/** Words in the host names of forges. */
const HOSTS: readonly (readonly [word: RegExp, forge: ForgeName])[] = [
  [/(?:^|[.-])github(?:[.-]|$)/, 'github'],
  [/(?:^|[.-])gitlab(?:[.-]|$)/, 'gitlab'],
  [/(?:^|[.-])(?:gitea|forgejo|codeberg)(?:[.-]|$)/, 'gitea'],
  [/(?:^|[.-])bitbucket(?:[.-]|$)/, 'bitbucket'],
];

/**
 * Detects the forge of a repository: by its pipeline files, otherwise by the host name of its remote. Null if neither
 * identifies one.
 *
 * @param origin the URL of the remote, also as `git@host:path`; null if there is none
 */
export function findForge(origin: string | null, isThere: (path: string) => boolean): ForgeName | null {
  const sign = SIGNS.find(([path]) => isThere(path));
  if (sign !== undefined) {
    return sign[1];
  }
  const [, host = ''] = /^(?:\w+:\/\/)?(?:[^@/\s]*@)?([\w.-]+)/.exec(origin ?? '') ?? [];
  return HOSTS.find(([word]) => word.test(host.toLowerCase()))?.[1] ?? null;
}

const GITLAB_CI = 'GitLab CI';
const REPOSITORY = z.string().regex(/^[\w.-]+\/[\w.-]+$/);
const NUMBER = z.coerce.number().int().positive();
/** URL without a trailing slash. */
const URL_TEXT = z.url({ protocol: /^https?$/ }).transform((url) => withoutTrailingSlashes(url));
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
    return jobOf(GITLAB_CI, gitlabPull(env));
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
  const label = workflowLabel(env);
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
  const repository = workflowRepository(env);
  const page = repositoryPage(env, repository.repository);
  // A forge shows the commits of a fork in the repository of the pull request, too.
  const files = repository.forge === 'gitea' ? 'src/commit' : 'blob';
  const pull: PullRequest = {
    ...repository,
    number,
    head: head.sha,
    base: base.sha,
    filesUrl: page === null ? null : `${page}/${files}/${head.sha}/`,
    run: [Number(env.GITHUB_RUN_ID) || 0, Number(env.GITHUB_RUN_ATTEMPT) || 0],
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
  // In a merged-results pipeline, CI_COMMIT_SHA is the merge; this variable is the tip of the merge request.
  const head = isSet(env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA) ? 'CI_MERGE_REQUEST_SOURCE_BRANCH_SHA' : 'CI_COMMIT_SHA';
  // A merged-results pipeline runs on the current target branch and reports its commit.
  const base = isSet(env.CI_MERGE_REQUEST_TARGET_BRANCH_SHA)
    ? 'CI_MERGE_REQUEST_TARGET_BRANCH_SHA'
    : 'CI_MERGE_REQUEST_DIFF_BASE_SHA';
  const commit = variable(GITLAB_CI, env, head, COMMIT);
  const page = link(env.CI_MERGE_REQUEST_SOURCE_PROJECT_URL);
  return {
    // A pipeline of a fork runs in the fork's project.
    ...gitlabRepository(env, isSet(env.CI_MERGE_REQUEST_PROJECT_ID) ? 'CI_MERGE_REQUEST_PROJECT_ID' : 'CI_PROJECT_ID'),
    number: variable(GITLAB_CI, env, 'CI_MERGE_REQUEST_IID', NUMBER),
    head: commit,
    filesUrl: page === null ? null : `${page}/-/blob/${commit}/`,
    base: isSet(env[base]) ? variable(GITLAB_CI, env, base, COMMIT) : null,
    run: [Number(env.CI_PIPELINE_ID) || 0, Number(env.CI_JOB_ID) || 0],
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
    filesUrl: null,
    run: [Number(env.BITBUCKET_BUILD_NUMBER) || 0, 0],
    runUrl: null,
    token: tokenOf(env, []),
    tokenVariable: 'OCTAVO_FORGE_TOKEN',
  };
}

/**
 * Detects the repository of any CI job; null outside of one, and for Bitbucket, where no pull requests are opened.
 *
 * @throws ConfigError if the variables of a forge contradict each other
 */
export function findRepository(env: Environment): ForgeRepository | null {
  if (isSet(env.GITLAB_CI)) {
    return gitlabRepository(env, 'CI_PROJECT_ID');
  }
  return isWorkflowJob(env) ? workflowRepository(env) : null;
}

/** Returns the repository of a GitLab job. Its predefined token may neither write comments nor open merge requests. */
function gitlabRepository(env: Environment, project: string): ForgeRepository {
  return {
    forge: 'gitlab',
    apiUrl: variable(GITLAB_CI, env, 'CI_API_V4_URL', URL_TEXT),
    repository: String(variable(GITLAB_CI, env, project, NUMBER)),
    runUrl: link(env.CI_JOB_URL),
    token: tokenOf(env, ['GITLAB_TOKEN']),
    tokenVariable: 'OCTAVO_FORGE_TOKEN',
  };
}

/** Returns the repository of a workflow. */
function workflowRepository(env: Environment): ForgeRepository {
  const isGitea = isGiteaJob(env);
  const label = workflowLabel(env);
  const repository = variable(label, env, 'GITHUB_REPOSITORY', REPOSITORY);
  const page = repositoryPage(env, repository);
  // Gitea and Forgejo count the runs of each repository for their pages.
  const run = (isGitea && isSet(env.GITHUB_RUN_NUMBER) ? env.GITHUB_RUN_NUMBER : env.GITHUB_RUN_ID) ?? '';
  return {
    forge: isGitea ? 'gitea' : 'github',
    apiUrl: variable(label, env, 'GITHUB_API_URL', URL_TEXT),
    repository,
    runUrl: page === null ? null : link(`${page}/actions/runs/${run}`),
    token: tokenOf(env, isGitea ? ['GITEA_TOKEN', 'GITHUB_TOKEN'] : ['GITHUB_TOKEN']),
    tokenVariable: 'GITHUB_TOKEN',
  };
}

/** Returns the page of the repository of a workflow; null if it is not known. */
function repositoryPage(env: Environment, repository: string): string | null {
  const server = env.GITHUB_SERVER_URL;
  return isSet(server) ? link(`${withoutTrailingSlashes(server)}/${repository}`) : null;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

/** Returns whether a workflow of GitHub, Gitea or Forgejo runs. */
function isWorkflowJob(env: Environment): boolean {
  return isSet(env.GITHUB_ACTIONS) || isSet(env.GITEA_ACTIONS) || isSet(env.FORGEJO_ACTIONS);
}

/** Returns whether a workflow of Gitea or Forgejo runs. */
function isGiteaJob(env: Environment): boolean {
  return isSet(env.GITEA_ACTIONS) || isSet(env.FORGEJO_ACTIONS) || /\/api\/v1\/?$/.test(env.GITHUB_API_URL ?? '');
}

function workflowLabel(env: Environment): string {
  return isGiteaJob(env) ? 'Gitea Actions' : 'GitHub Actions';
}

/** Returns the token. `OCTAVO_FORGE_TOKEN` takes precedence over the variables of the forge. */
function tokenOf(env: Environment, names: readonly string[]): string | null {
  return ['OCTAVO_FORGE_TOKEN', ...names].map((name) => env[name]).find(isSet) ?? null;
}

/** Returns a link that is safe in Markdown; null for anything else. */
export function link(url: string | undefined): string | null {
  return url !== undefined && /^https?:\/\/[\w.:/~-]+$/.test(url) ? url : null;
}

/** Returns a required variable. Throws ConfigError. */
function variable<T>(label: string, env: Environment, name: string, schema: z.ZodType<T>): T {
  const { success, data } = schema.safeParse(env[name]);
  if (!success) {
    throw new ConfigError(`${label} sets no ${name} that can be used`);
  }
  return data;
}
