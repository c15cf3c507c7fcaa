import type { PullRequest } from 'gitea-js';
import { link } from './ci-variables.ts';
import { askGitea, GITEA, giteaClient, readGiteaPages } from './clients/gitea-client.ts';
import { GITEA_MAX_LENGTH } from './gitea.ts';
import type { Pulls } from './pulls.ts';
import type { ForgeRepository } from './repository.ts';

/** Maximum page size of Gitea (`MAX_RESPONSE_ITEMS`). */
const PAGE = 50;

/** Opens the pull requests of a repository at Gitea or Forgejo. */
export function openGiteaPulls(at: ForgeRepository, token: string, signal: AbortSignal): Pulls {
  const api = giteaClient(at.apiUrl, token, signal);
  const [owner = '', repo = ''] = at.repository.split('/');
  // The list has no filter for branches.
  const list = async (from: string, into: string, state: 'open' | 'closed') => {
    const all = await readGiteaPages((page) =>
      api.repos.repoListPullRequests(owner, repo, { state, sort: 'recentupdate', limit: PAGE, page }),
    );
    return all.filter((pull) => isFrom(pull, from, into, at.repository));
  };
  return {
    label: GITEA,
    maxLength: GITEA_MAX_LENGTH,
    findOpen: ({ from, into }) =>
      askGitea('find the pull request', async () => {
        const [found] = await list(from, into, 'open');
        return found === undefined ? null : shown(found);
      }),
    findDeclined: ({ from, into }, commit) =>
      askGitea('find closed pull requests', async () => {
        const closed = await list(from, into, 'closed');
        return closed.find(({ merged, head }) => merged !== true && head?.sha === commit)?.number ?? null;
      }),
    findMerged: ({ from, into }, commit) =>
      askGitea('find merged pull requests', async () => {
        const closed = await list(from, into, 'closed');
        return closed.find(({ merged, head }) => merged === true && head?.sha === commit)?.number ?? null;
      }),
    open: ({ from, into }, { title, body }) =>
      askGitea('open a pull request', async () => {
        const made = { head: from, base: into, title, body };
        return shown((await api.repos.repoCreatePullRequest(owner, repo, made)).data);
      }),
    update: (number, { title, body }) =>
      askGitea('update the pull request', async () => {
        await api.repos.repoEditPullRequest(owner, repo, number, { title, body });
      }),
    comment: (number, body) =>
      askGitea('write a comment', async () => {
        await api.repos.issueCreateComment(owner, repo, number, { body });
      }),
    close: (number) =>
      askGitea('close the pull request', async () => {
        await api.repos.repoEditPullRequest(owner, repo, number, { state: 'closed' });
      }),
  };
}

function isFrom({ head, base }: PullRequest, from: string, into: string, repository: string): boolean {
  const isOwn = head?.repo?.full_name?.toLowerCase() === repository.toLowerCase();
  return head?.ref === from && base?.ref === into && isOwn;
}

function shown({ number = 0, html_url, title = '', body }: PullRequest) {
  return { number, url: link(html_url), title, body: body ?? '' };
}
