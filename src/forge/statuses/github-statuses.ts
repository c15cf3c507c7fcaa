/** Commit statuses and deployments at GitHub. */
import { askGitHub, GITHUB, githubClient } from '../clients/github-client.ts';
import { type CommitStatuses, type Deployments, PLAIN_STATES, type StatusTarget } from './commit-statuses.ts';

/** Maximum length of a description, in characters (GitHub REST API, commit statuses and deployment statuses). */
const MAX_DESCRIPTION = 140;

type Client = ReturnType<typeof githubClient>;
type Owner = { readonly owner: string; readonly repo: string };

/** Opens the commit statuses of a repository at github.com, ghe.com or GitHub Enterprise Server. */
export function openGitHubStatuses(
  { apiUrl, repository }: StatusTarget,
  token: string,
  signal: AbortSignal,
  userAgent: string,
): CommitStatuses {
  const [owner = '', repo = ''] = repository.split('/');
  const octokit = githubClient(apiUrl, token, signal, userAgent);
  return {
    label: GITHUB,
    maxDescription: MAX_DESCRIPTION,
    deployments: openDeployments(octokit, { owner, repo }),
    setStatus: (sha, { state, context, description, url }) =>
      askGitHub('set the commit status', async () => {
        await octokit.request('POST /repos/{owner}/{repo}/statuses/{sha}', {
          ...{ owner, repo, sha, context, description, state: PLAIN_STATES[state] },
          ...(url === null ? {} : { target_url: url }),
        });
      }),
  };
}

function openDeployments(octokit: Client, at: Owner): Deployments {
  return {
    createdState: null,
    create: ({ commit, environment, description }) =>
      askGitHub('create the deployment', async () => {
        const { data } = await octokit.request('POST /repos/{owner}/{repo}/deployments', {
          ...at,
          ...{ ref: commit, environment, description: description.slice(0, MAX_DESCRIPTION) },
          // The commit is already on its branch, and whether it may be applied is decided by Octavo's own rules.
          auto_merge: false,
          required_contexts: [],
        });
        if (!('id' in data)) {
          throw new Error('the answer has no deployment');
        }
        return String(data.id);
      }),
    find: ({ commit, environment }) =>
      askGitHub('find the deployment', async () => {
        const { data } = await octokit.request('GET /repos/{owner}/{repo}/deployments', {
          ...{ ...at, sha: commit, environment, per_page: 1 },
        });
        const [newest] = data;
        return newest === undefined ? null : String(newest.id);
      }),
    setState: (id, state, { description, url }) =>
      askGitHub('set the state of the deployment', async () => {
        await octokit.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', {
          ...{ ...at, deployment_id: Number(id), state, description },
          ...(url === null ? {} : { log_url: url }),
        });
      }),
  };
}
