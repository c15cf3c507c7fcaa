import { link } from './ci-variables.ts';
import { askGitHub, GITHUB, githubClient, readGitHubPages } from './clients/github-client.ts';
import { GITHUB_MAX_LENGTH } from './github.ts';
import type { PullBranches, Pulls } from './pulls.ts';
import type { ForgeRepository } from './repository.ts';

/** Opens the pull requests of a repository at GitHub. */
export function openGitHubPulls(at: ForgeRepository, token: string, signal: AbortSignal, userAgent: string): Pulls {
  const [owner = '', repo = ''] = at.repository.split('/');
  const octokit = githubClient(at.apiUrl, token, signal, userAgent);
  const list = (branches: PullBranches, state: 'open' | 'closed') => listPulls(octokit, at.repository, branches, state);
  return {
    label: GITHUB,
    maxLength: GITHUB_MAX_LENGTH,
    findOpen: (branches) =>
      askGitHub('find the pull request', async () => {
        const [found] = await list(branches, 'open');
        return found === undefined ? null : shown(found);
      }),
    findDeclined: (branches, commit) =>
      askGitHub('find closed pull requests', async () => {
        const closed = await list(branches, 'closed');
        return closed.find(({ merged_at, head }) => !merged_at && head.sha === commit)?.number ?? null;
      }),
    findMerged: (branches, commit) =>
      askGitHub('find merged pull requests', async () => {
        const closed = await list(branches, 'closed');
        return closed.find(({ merged_at, head }) => merged_at && head.sha === commit)?.number ?? null;
      }),
    open: ({ from, into }, { title, body }) =>
      askGitHub('open a pull request', async () => {
        const made = { owner, repo, head: from, base: into, title, body };
        return shown((await octokit.request('POST /repos/{owner}/{repo}/pulls', made)).data);
      }),
    update: (number, { title, body }) =>
      askGitHub('update the pull request', async () => {
        const changed = { owner, repo, pull_number: number, title, body };
        await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', changed);
      }),
    comment: (number, body) =>
      askGitHub('write a comment', async () => {
        const comment = { owner, repo, issue_number: number, body };
        await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', comment);
      }),
    close: (number) =>
      askGitHub('close the pull request', async () => {
        const closed = { owner, repo, pull_number: number, state: 'closed' as const };
        await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', closed);
      }),
  };
}

async function listPulls(
  octokit: ReturnType<typeof githubClient>,
  repository: string,
  { from, into }: PullBranches,
  state: 'open' | 'closed',
) {
  const [owner = '', repo = ''] = repository.split('/');
  const filter = { owner, repo, state, head: `${owner}:${from}`, base: into, per_page: 100 };
  const all = await readGitHubPages((page) => octokit.request('GET /repos/{owner}/{repo}/pulls', { ...filter, page }));
  // GitHub ignores a filter that it does not understand.
  return all.filter(
    ({ head, base }) =>
      head.ref === from && base.ref === into && head.repo?.full_name?.toLowerCase() === repository.toLowerCase(),
  );
}

function shown(pull: { number: number; html_url: string; title: string; body: string | null }) {
  return { number: pull.number, url: link(pull.html_url), title: pull.title, body: pull.body ?? '' };
}
