/** Commit statuses at Gitea and Forgejo. */
import { askGitea, GITEA, giteaClient } from '../clients/gitea-client.ts';
import { type CommitStatuses, PLAIN_STATES, type StatusTarget } from './commit-statuses.ts';

/** Maximum length of a description, in characters. Gitea documents no limit. */
const MAX_DESCRIPTION = 255;

/** Opens the commit statuses of a repository. */
export function openGiteaStatuses(
  { apiUrl, repository }: StatusTarget,
  token: string,
  signal: AbortSignal,
): CommitStatuses {
  const api = giteaClient(apiUrl, token, signal);
  const [owner = '', repo = ''] = repository.split('/');
  return {
    label: GITEA,
    maxDescription: MAX_DESCRIPTION,
    deployments: null,
    setStatus: (commit, { state, context, description, url }) =>
      askGitea('set the commit status', async () => {
        const target = url === null ? {} : { target_url: url };
        await api.repos.repoCreateStatus(owner, repo, commit, {
          ...{ state: PLAIN_STATES[state], context, description },
          ...target,
        });
      }),
  };
}
