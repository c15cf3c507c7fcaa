import { ignoreNotFound } from './clients/forge-error.ts';
import { askGitHub, GITHUB, githubClient, readGitHubPages } from './clients/github-client.ts';
import type { Forge } from './forge.ts';
import type { PullRequest } from './pull-request.ts';
import { openGitHubStatuses } from './statuses/github-statuses.ts';

/**
 * Maximum length of a comment, in characters: one less than GitHub's limit, because in some versions its message
 * "maximum is 65536 characters" means fewer than 65,536.
 */
export const GITHUB_MAX_LENGTH = 65_535;
const PAGE = 100;

/** Opens a pull request at GitHub (github.com, or GitHub Enterprise Server by the address of its API). */
export function openGitHub(pull: PullRequest, token: string, signal: AbortSignal, userAgent: string): Forge {
  const [owner = '', repo = ''] = pull.repository.split('/');
  const octokit = githubClient(pull.apiUrl, token, signal, userAgent);
  const statuses = openGitHubStatuses(pull, token, signal, userAgent);
  const at = { owner, repo };
  const comments = { ...at, issue_number: pull.number };
  return {
    label: GITHUB,
    maxLength: GITHUB_MAX_LENGTH,
    listOwn: () =>
      askGitHub('list the comments', async () => {
        // The token of a workflow cannot read its user from the REST API.
        const { viewer } = await octokit.graphql<{ viewer: { databaseId: number } }>('{ viewer { databaseId } }');
        const path = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments';
        const all = await readGitHubPages((page) => octokit.request(path, { ...comments, per_page: PAGE, page }));
        return all
          .filter(({ user }) => user?.id === viewer.databaseId)
          .map(({ id, body }) => ({ id: Number(id), body: body ?? '' }))
          .sort((a, b) => a.id - b.id);
      }),
    create: (body) =>
      askGitHub('write a comment', async () => {
        const comment = { ...comments, body };
        const { data } = await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', comment);
        return { id: Number(data.id), body };
      }),
    update: (id, body) =>
      askGitHub('update the comment', async () => {
        const comment = { ...at, comment_id: id, body };
        await octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', comment);
      }),
    remove: (id) =>
      askGitHub('remove a comment', async () => {
        await octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at, comment_id: id });
      }).catch(ignoreNotFound),
    setStatus: (status) => statuses.setStatus(pull.head, { ...status, url: pull.runUrl }),
  };
}
