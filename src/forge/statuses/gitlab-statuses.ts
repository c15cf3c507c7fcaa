/** Commit statuses and deployments at GitLab. */
import { Commits, GitbeakerRequestError, Deployments as GitLabDeployments } from '@gitbeaker/rest';
import { askGitLab, GITLAB, gitlabOptions } from '../clients/gitlab-client.ts';
import type { CommitState, CommitStatuses, DeploymentState, Deployments, StatusTarget } from './commit-statuses.ts';

/** Maximum length of the link of a commit status, in characters; GitLab rejects a longer one. */
const MAX_TARGET_LENGTH = 255;
/** Maximum length of a description, in characters. */
const MAX_DESCRIPTION = 255;
const STATES = {
  pending: 'pending',
  running: 'running',
  success: 'success',
  failure: 'failed',
  error: 'failed',
  superseded: 'canceled',
} as const satisfies Record<CommitState, string>;
const DEPLOYMENT_STATES = {
  in_progress: 'running',
  success: 'success',
  failure: 'failed',
  inactive: 'canceled',
} as const satisfies Record<DeploymentState, string>;

/** Opens the commit statuses of a project. `ref`: its branch; undefined: the one that GitLab selects. */
export function openGitLabStatuses(
  { apiUrl, repository: project }: StatusTarget,
  token: string,
  signal: AbortSignal,
  ref?: string,
): CommitStatuses {
  const options = gitlabOptions(apiUrl, token, signal);
  const commits = new Commits(options);
  return {
    label: GITLAB,
    maxDescription: MAX_DESCRIPTION,
    deployments: openDeployments(new GitLabDeployments(options), project, ref),
    setStatus: (commit, { state, context, description, url }) =>
      askGitLab('set the commit status', () =>
        ignoreRepeated(async () => {
          const isLinked = url !== null && url.length <= MAX_TARGET_LENGTH;
          await commits.editStatus(project, commit, STATES[state], {
            ...{ name: context, description },
            ...(isLinked ? { targetUrl: url } : {}),
            ...(ref === undefined ? {} : { ref }),
          });
        }),
      ),
  };
}

function openDeployments(api: GitLabDeployments, project: string, ref: string | undefined): Deployments {
  return {
    createdState: 'in_progress',
    create: ({ commit, environment }) =>
      askGitLab('create the deployment', async () => {
        const { id } = await api.create(project, environment, commit, ref ?? commit, false, { status: 'running' });
        return String(id);
      }),
    find: ({ commit, environment }) =>
      askGitLab('find the deployment', async () => {
        const newest = await api.all(project, {
          ...{ environment, orderBy: 'id', sort: 'desc', perPage: 20, maxPages: 1 },
        });
        const found = newest.find(({ sha }) => sha === commit);
        return found === undefined ? null : String(found.id);
      }),
    setState: (id, state) =>
      askGitLab('set the state of the deployment', () =>
        ignoreRepeated(async () => {
          await api.edit(project, Number(id), DEPLOYMENT_STATES[state]);
        }),
      ),
  };
}

/** GitLab refuses a state that a status or a deployment already has. */
async function ignoreRepeated(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const response = error instanceof GitbeakerRequestError ? error.cause?.response : undefined;
    const isRepeated = response?.status === 400 && /Cannot transition status/i.test(await response.clone().text());
    if (!isRepeated) {
      throw error;
    }
  }
}
